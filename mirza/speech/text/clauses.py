"""Where a first piece may end that is shorter than a sentence, so that the first sound is soon there."""

from __future__ import annotations

import re

from mirza.speech.text.breaks import Breaks
from mirza.speech.text.dots import WORD
from mirza.speech.text.lengths import IS_CJK
from mirza.speech.text.stops import following

FIRST_WORDS = 3
FIRST_CHARS = 10
"""The first piece may be a clause of so many words and characters."""
FIRST_CHARS_CJK = 5
FIRST_CONJUNCTION_CHARS = 45
"""Without a comma, the first piece may be cut before a conjunction after this many characters."""
HURRIED_CHARS = 3
"""In a hurry, a clause of one word is enough: *Hello,*"""
PHRASE_CHARS = 14
"""In a hurry, before anything that opens a phrase after this many: about a second of sound."""
CLAUSE_ENDS = ",;:，、；：—"
"""Where a clause may end; and at a space, before a phrase."""
_OPENER_CHARS = 16
"""No word that opens a phrase is longer."""
_ITEM_NUMBER = re.compile(r"(?:\A|[；;。\s])\d{1,2}\Z")
"""`2、等待`"""


class Clauses:
    """Decides where a clause ends, and a phrase where the voice is in a hurry."""

    def __init__(self, breaks: Breaks) -> None:
        self._breaks = breaks

    def cut(self, text: str, at: int, *, final: bool, hurried: bool) -> int | None:
        """The cut at `at`, one of `CLAUSE_ENDS` or a space: long enough, and cutting nothing. -1 for none, `None` for not yet."""
        char = text[at]
        if char == " ":
            return self._phrase(text, at, final, hurried)
        end = at + 1
        cjk = char in "，、；：" or bool(IS_CJK.match(text[at - 1] if at else ""))
        if end >= len(text):
            return -1 if final else None
        if char == "、" and _ITEM_NUMBER.search(text, max(0, at - 4), at):
            return -1
        if cjk and char != ",":
            return end if end >= FIRST_CHARS_CJK and not text[end].isdigit() else -1
        if not text[end].isspace():
            return -1
        after = following(text, end)
        if after is None:
            return -1 if final else None
        if text[at - 1 : at].isdigit() and after.isdigit():
            return -1
        enough = at >= HURRIED_CHARS if hurried else at >= FIRST_CHARS and _enough_words(text, at)
        return end if enough and (after.isalpha() or after in "\"'“«(¿¡") else -1

    def _phrase(self, text: str, at: int, final: bool, hurried: bool) -> int | None:
        """A cut before a conjunction, or in a hurry before anything that opens a phrase."""
        least, openers = FIRST_CONJUNCTION_CHARS, self._breaks.conjunctions
        if hurried:
            least, openers = PHRASE_CHARS, self._breaks.openers
        if at < least or not _enough_words(text, at):
            return -1
        word = WORD.match(text, at + 1)
        if word is None:
            return -1
        if word.end() >= len(text) and not final and word.end() - at < _OPENER_CHARS:
            return None
        before = text[text.rfind(" ", 0, at) + 1 : at].lower()
        return at if word.group().lower() in openers and before not in self._breaks.openers else -1


def _enough_words(text: str, at: int) -> bool:
    return len(WORD.findall(text, 0, at)) >= FIRST_WORDS
