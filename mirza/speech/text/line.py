"""`Line`: a sentence as it is said, put together from left to right, tied to what is written where that is asked."""

from __future__ import annotations

import re
from functools import lru_cache

from mirza.speech.text.pieces import Tie

_MARK = r"[,;:.!?…。！？，、；：।]"
_WORD = r"[^\s,;:.!?…。！？，、；：।]+"
_WORDS = rf"{_WORD}(?:(?:{_MARK} ?| ){_WORD})*"
_WORDS_CJK = rf"{_WORD}(?:{_MARK}{_WORD})*"
"""Words with one mark and one space between them at the most; spaces may have to go in Chinese and Japanese."""
_TOKEN = re.compile(rf"\s+|{_WORDS}|{_MARK}+")
_TOKEN_CJK = re.compile(rf"\s+|{_WORDS_CJK}|{_MARK}+")
TIDY = re.compile(rf"{_WORDS}{_MARK}?")
TIDY_CJK = re.compile(rf"{_WORDS_CJK}{_MARK}?")
"""A sentence that is as `Line` would put it together."""
_ONLY_WORDS = re.compile(_WORDS)
_ONLY_WORDS_CJK = re.compile(_WORDS_CJK)
_MARKS = {",": 1, "、": 1, "，": 1, ";": 2, ":": 2, "；": 2, "：": 2}
_ENDS = ".!?…。！？।"
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


class Line:
    """The sentence as it is said so far: one space between words, one mark at a time, none in front.

    It is `tied` to the written sentence for who has to know which part of one is which of the other.
    """

    def __init__(self, *, spaced: bool, tied: bool = False) -> None:
        self.ties: list[Tie] = []
        self._tied = tied
        self._spaced = spaced
        self._tokens = (_TOKEN if spaced else _TOKEN_CJK).findall
        self._parts: list[str] = []
        self._gap = False
        self._glue = False

    def keep(self, text: str, start: int, end: int) -> None:
        """Says `text` from `start` to `end` as it is written."""
        kept = text[start:end]
        if self._glue:
            self._glue = False
            if kept[0].isalnum():
                self._gap = True
        self._add(kept)
        if self._tied:
            self._tie(start + len(kept.rstrip()), same=True)

    def put(self, said: str, end: int, *, tight: bool) -> None:
        """Says `said` for the text up to `end`; apart from the words beside it unless `tight`."""
        if said:
            parts = self._parts
            apart = self._spaced and not tight
            if not tight and (self._glue or (apart and parts and _parts_words(parts[-1][-1]))):
                self._gap = True
            if _is_words(said, self._spaced):
                if self._gap:
                    self._gap = False
                    if parts and (self._spaced or not _touch(parts[-1][-1], said[0])):
                        parts.append(" ")
                parts.append(said)
            else:
                self._add(said)
            self._glue = apart
        elif not tight:
            self._gap = True
        if self._tied:
            self._tie(end)

    def skip(self, end: int, *, apart: bool) -> None:
        """Passes over a sign; `apart` if it stood between words."""
        self._gap = self._gap or apart
        if self.ties:
            self._tie(end, same=self.ties[-1].same)

    def finish(self) -> str:
        """The whole sentence."""
        return "".join(self._parts)

    def _tie(self, end: int, *, same: bool = False) -> None:
        length = sum(map(len, self._parts))
        if self.ties and self.ties[-1].spoken_end == length:
            self.ties.pop()
        if length:
            self.ties.append(Tie(end, length, same))

    def _add(self, text: str) -> None:
        parts = self._parts
        for token in self._tokens(text):
            first = token[0]
            if not first.isalnum():
                if first.isspace():
                    self._gap = True
                    continue
                if first in _MARKS or first in _ENDS:
                    if parts:
                        self._mark(token)
                    continue
            if self._gap:
                self._gap = False
                if parts and (self._spaced or not _touch(parts[-1][-1], first)):
                    parts.append(" ")
            parts.append(token)

    def _mark(self, token: str) -> None:
        if len(token) > 1 and token[0] in _MARKS and token[-1] in _ENDS:
            token = token[-1]  # `auto;`.
        mark = token[:1] if len(token) > 1 and token[0] in "!?,;:" and len(set(token)) == 1 else token
        last = self._parts[-1][0]
        if last in _ENDS:
            return
        if last in _MARKS:
            if _MARKS.get(mark[0], 3) <= _MARKS[last]:
                return
            self._parts.pop()
        self._parts.append(mark)


@lru_cache(maxsize=4096)
def _is_words(said: str, spaced: bool) -> bool:
    """Whether `said` can be taken in one part; remembered, since most of it is the same few numbers."""
    return (_ONLY_WORDS if spaced else _ONLY_WORDS_CJK).fullmatch(said) is not None


def _parts_words(char: str) -> bool:
    """Whether what is said after this character needs a space: `main.py:42`."""
    return char.isalnum() or char in _MARKS


def _touch(last: str, first: str) -> bool:
    """Whether no space is wanted between two characters: Chinese and Japanese have none."""
    return bool(_CJK.match(last) and _CJK.match(first)) or last in "，。、；：！？"
