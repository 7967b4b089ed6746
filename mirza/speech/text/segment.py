"""Where clean text may be cut: after a sentence as soon as that is certain, and before a piece grows too long.

`Segmenter.cut` looks at the text from the last cut on. It decides about one place after the other, each by the text
before it and by a few characters after it; while these are missing it waits. So the cuts do not depend on how the text
arrived, and a text of a million characters is read once.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

SOFT_CHARS = 220
"""A piece that grows longer than this is cut at the last comma, or the last space."""
SOFT_CHARS_CJK = 80
FIRST_WORDS = 3
FIRST_CHARS = 10
"""The first piece may be a clause of so many words and characters: the first sound is soon there."""
FIRST_CHARS_CJK = 5
FIRST_CONJUNCTION_CHARS = 45
"""Without a comma, the first piece may be cut before a conjunction after this many characters."""
HURRIED_CHARS = 3
"""In a hurry, a clause of one word is enough: *Hello,*"""
PHRASE_CHARS = 14
"""In a hurry, before anything that opens a phrase after this many: about a second of sound."""
CLOSERS = "\"'“”’»›)]}」』】）》〉*"
_CLOSERS_CHARS = 6
_BETWEEN_CHARS = 12
_STARTER_CHARS = 24
"""So far after a full stop the next word is looked for."""
_OPENER_CHARS = 16
"""No word that opens a phrase is longer."""

_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_IS_CJK = re.compile(f"[{_CJK}]")
_ENDS = "。！？｡．।॥؟۔։።။"
_EQUALS = "=≠≈≤≥×÷^"
_GOES_ON = "+=×<>"
"""After three dots a sum goes on with these: `1 + 2 + ... + n`."""
_OPERATORS = f"{_EQUALS}+-−*/·"
_OPERAND_CHARS = 5
_OPERAND = re.compile(r" [+\-−*/·] ?(?:\d|\(|[a-z](?!\w))")
"""What goes on with a factorial: `3! + 2!`, but not `Give me 5! - he said`."""
_HALVES = frozenset(["a.m", "p.m", "am", "pm"])
_ALWAYS_END = frozenset(_ENDS)
STOPS = f".!?…\n{_ENDS}"
"""Where a sentence may end."""
_CANDIDATE = re.compile(f"[{STOPS}]")
_CANDIDATE_FIRST = re.compile(rf"[{STOPS},;:，、；：—]| (?=[^\W\d_])")
_RUN = re.compile(rf"[.!?…{_ENDS}]{{1,8}}[\"'“”’»›)\]}}」』】）》〉]{{0,{_CLOSERS_CHARS}}}(?:[ \xa0\u202f]»)?")
_TOKEN = re.compile(r"[^\s(\[{\"“„«‘¿¡/–—'’：；，。、！？]*\Z")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
_CLAUSE = re.compile(r"[,;:，；：](?=\s|[\u3000-\u9fff])|\s[—–-](?=\s)|[，、；：—]")
_BETWEEN = re.compile(rf"[\s\"'“„«‘(¿¡\[]{{0,{_BETWEEN_CHARS}}}")
_WORD = re.compile(r"\w[\w'’.-]*")

_ROMAN_ORDINAL = re.compile(r"\b(?:[Dd]er|[Dd]ie|[Dd]as|dem|den|des|[Ii]m|zum|vom|am|beim) [IVX]+\Z")
"""*das II. Vatikanische Konzil*"""
_MOVE_BEGINS = "KQRBNOabcdefgh"
_MOVE = re.compile(r"\s*(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O)")
"""A move of chess behind its number."""
_MOVE_CHARS = 8


@dataclass(frozen=True, slots=True)
class Breaks:
    """What a language says about where sentences end."""

    titles: frozenset[str]
    """Abbreviations that something always follows, lower case, without the last dot: `dr`, `e.g`."""
    title_ends: tuple[str, ...] = ()
    """What such abbreviations end in: German `Hauptstr.`."""
    known: frozenset[str] = frozenset()
    """All abbreviations that have words: a small letter after one goes on with the sentence."""
    short_days: frozenset[str] = frozenset()
    """After these, as in `mar. 4 févr.`, a number goes on with the sentence."""
    numbered: frozenset[str] = frozenset()
    """After these, as they are written, too: `Matt. 5:3`, `Apt. 4B`."""
    closing: frozenset[str] = frozenset()
    """Abbreviations that may end a sentence: `etc`, `p.m`."""
    starters: frozenset[str] = frozenset()
    """Words that begin sentences more often than names do: `the`, `it`."""
    conjunctions: frozenset[str] = frozenset()
    """Words before which a clause may end: `because`, `which`."""
    openers: frozenset[str] = frozenset()
    """Words that open a phrase, before which a speaker may draw breath: the conjunctions, `to`, `with`."""
    ordinal_dot: bool = False
    """Whether `3.` may be an ordinal in the middle of a sentence, as in German."""
    after_time: frozenset[str] = frozenset()
    """Words that begin no sentence after a time of day, lower case: `est`, `monday`."""


class Segmenter:
    """Finds cuts in the text from the last cut on."""

    def __init__(self, breaks: Breaks, *, quick_first: bool) -> None:
        self._breaks = breaks
        self._first = quick_first
        self._hurried = False
        self._scanned = 0
        self._waits = False

    @property
    def settled(self) -> bool:
        """Whether no place waits for more, so that letters alone make no cut."""
        return not self._first and not self._waits

    def start(self, *, spoken: bool) -> None:
        """The text before the last cut has gone, and `spoken` if there was something to say in it."""
        self._scanned = 0
        self._waits = False
        if spoken:
            self._first = self._hurried = False

    def hurry(self) -> None:
        """The next piece may be a clause, as a first one may, or a phrase; also at a place that was passed over."""
        if not self._hurried:
            self._first = self._hurried = True
            self._scanned = 0

    def cut(self, text: str, *, final: bool) -> int:
        """The offset of the next cut in `text`, or -1 when there is none yet."""
        pattern = _CANDIDATE_FIRST if self._first else _CANDIDATE
        while found := pattern.search(text, self._scanned):
            at = found.start()
            long = self._long(text, at)
            if long >= 0:
                return long
            decided = self._decide(text, at, final)
            self._waits = decided is None
            if decided is None:
                return -1
            if decided >= 0:
                return decided
            self._scanned = at + 1
        return self._long(text, len(text))

    def _decide(self, text: str, at: int, final: bool) -> int | None:
        """The cut at a candidate, -1 for none, `None` when more text is needed."""
        char = text[at]
        if char == "\n":
            return _newline(text, at, final)
        if char in ",;:，、；：— ":
            return self._clause(text, at, final)
        return self._stop(text, at, final)

    # sentences

    def _stop(self, text: str, at: int, final: bool) -> int | None:
        run = _RUN.match(text, at)
        assert run is not None
        end = run.end()
        if end == len(text):
            return end if final else None
        following = _following(text, end)
        if following is None and not final:
            return None
        after = text[end]
        stops = run.group().rstrip(CLOSERS + " \xa0\u202f")
        if after in ".!?…" or after in _ENDS:
            return -1  # a longer run: its last mark decides
        if stops == "．" and after.isdigit() and text[at - 1 : at].isalnum() and not _IS_CJK.match(text[at - 1 : at]):
            return -1  # full-width decimals, Ｎｏ．３
        if not _ALWAYS_END.isdisjoint(stops):
            return -1 if _quoted_on(run.group(), after) else end
        if not after.isspace():
            parts = _IS_CJK.match(after) or unicodedata.category(after) == "So"
            return end if parts and stops != "…" * len(stops) else -1
        if following is None:
            return end
        if stops == ".":
            ends = self._dot(text, at, end, following, final)
            return None if ends is None else end if ends else -1
        if stops == "!" and following in _OPERATORS and text[at - 1 : at].isalnum():
            if following not in _EQUALS and len(text) < end + _OPERAND_CHARS and not final:
                return None
            if following in _EQUALS or _OPERAND.match(text, end):
                return -1  # a factorial
        lower = following.islower()
        if stops.startswith("..") or stops[0] == "…":
            return end if not lower and following not in f",;:{_GOES_ON}" else -1
        return -1 if lower or following in ",;" else end

    def _dot(self, text: str, at: int, end: int, following: str, final: bool) -> bool | None:
        """Whether the full stop at `at` ends a sentence that `following` begins after; `None` if that is not known yet."""
        found = _TOKEN.search(text, max(0, at - 40), at)
        token = found.group() if found else ""
        name = token.lower()
        if text[at - 1 : at] == "." and following in _GOES_ON:
            return False
        if following in ",;:" or name in self._breaks.titles or name.endswith(self._breaks.title_ends):
            return False
        if following.isdigit() and (name in self._breaks.short_days or token in self._breaks.numbered):
            return False
        if name in _HALVES and following.isupper() and self._breaks.after_time:
            word = _word_after(text, end, final)
            return None if word is None else word not in self._breaks.after_time
        if name in self._breaks.closing:
            return following.isupper() or (not following.islower() and self._starts(text, end, final))
        if _INITIALS.match(token):
            return False if following.islower() else self._starts(text, end, final)
        if len(token) == 1 and token.isupper() and following.isupper():
            return self._starts(text, end, final)
        if len(token) == 1 and token.isupper() and following.isdigit():
            return False  # art. L. 121, K. 550
        if token.isdigit() and following in _MOVE_BEGINS:
            if len(text) < end + _MOVE_CHARS and not final:
                return None
            if _MOVE.match(text, end):
                return False  # 2. Nf3
        if token.isdigit() and len(token) <= 3:
            lead = text[: at - len(token)].rstrip()[-1:]
            if not lead or lead in ";：；。、" or (lead == ":" and token == "1"):
                return False  # the number of an item
            if lead == "," and f"{int(token) - 1}. " in text[:at]:
                return False  # 1. Pogačar, 2. Vingegaard
            if self._breaks.ordinal_dot and lead != "=" and end == at + 1:
                if following.islower():
                    return False
                return self._starts(text, end, final, day=True)
        if self._breaks.ordinal_dot and _ROMAN_ORDINAL.search(text, max(0, at - 20), at):
            return False
        if self._breaks.ordinal_dot and name in self._breaks.known:
            return False if following.islower() else self._starts(text, end, final)  # a noun may follow: § 823 ff. BGB
        if following.islower():
            plain = len(token) > 3 and token.isalpha() and token.islower() and name not in self._breaks.known
            return self._starts(text, end, final) if plain else False
        return True

    def _starts(self, text: str, end: int, final: bool, *, day: bool = False) -> bool | None:
        """Whether the word after `end` is one that begins sentences, and not a short `day`, as in `am 1. So.`"""
        word = _word_after(text, end, final)
        if word is None or word not in self._breaks.starters:
            return None if word is None else False
        if not day or word not in self._breaks.short_days:
            return True
        after = text.lower().index(word, end) + len(word)
        return None if after >= len(text) and not final else text[after : after + 1] != "."

    # clauses

    def _clause(self, text: str, at: int, final: bool) -> int | None:
        """A first piece shorter than a sentence, if it is long enough and cuts nothing."""
        char = text[at]
        if char == " ":
            return self._phrase(text, at, final)
        end = at + 1
        cjk = char in "，、；：" or bool(_IS_CJK.match(text[at - 1] if at else ""))
        if end >= len(text):
            return -1 if final else None
        if cjk and char != ",":
            return end if end >= FIRST_CHARS_CJK and not text[end].isdigit() else -1
        if not text[end].isspace():
            return -1
        following = _following(text, end)
        if following is None:
            return -1 if final else None
        if text[at - 1 : at].isdigit() and following.isdigit():
            return -1
        enough = at >= HURRIED_CHARS if self._hurried else at >= FIRST_CHARS and _enough_words(text, at)
        return end if enough and (following.isalpha() or following in "\"'“«(¿¡") else -1

    def _phrase(self, text: str, at: int, final: bool) -> int | None:
        """A cut before a conjunction, or in a hurry before anything that opens a phrase."""
        least, openers = FIRST_CONJUNCTION_CHARS, self._breaks.conjunctions
        if self._hurried:
            least, openers = PHRASE_CHARS, self._breaks.openers
        if at < least or not _enough_words(text, at):
            return -1
        word = _WORD.match(text, at + 1)
        if word is None:
            return -1
        if word.end() >= len(text) and not final and word.end() - at < _OPENER_CHARS:
            return None
        before = text[text.rfind(" ", 0, at) + 1 : at].lower()
        return at if word.group().lower() in openers and before not in self._breaks.openers else -1

    # length

    def _long(self, text: str, upto: int) -> int:
        """Where a piece that is too long is cut, looking no further than `upto`; -1 if it is not too long."""
        if upto < SOFT_CHARS_CJK:
            return -1
        limit = SOFT_CHARS
        if len(_IS_CJK.findall(text, 0, SOFT_CHARS_CJK)) > SOFT_CHARS_CJK // 2:
            limit = SOFT_CHARS_CJK
        if upto <= limit + 1:
            return -1
        least = limit // 3
        clauses = [found.end() for found in _CLAUSE.finditer(text, least, limit)]
        for end in reversed(clauses):
            if not (text[end - 2].isdigit() and text[end : end + 2].strip()[:1].isdigit()):
                return end
        space = text.rfind(" ", least, limit)
        while space > 0 and text[space - 1].isdigit() and text[space + 1].isdigit():
            space = text.rfind(" ", least, space)
        return space if space > 0 else _between(text, limit)


def _enough_words(text: str, at: int) -> bool:
    return len(_WORD.findall(text, 0, at)) >= FIRST_WORDS


def _word_after(text: str, end: int, final: bool) -> str | None:
    """The word after `end`, lower case; `None` while it may go on, empty when there is none."""
    word = _WORD.search(text, end, end + _STARTER_CHARS)
    if word is None:
        return None if len(text) < end + _STARTER_CHARS and not final else ""
    if word.end() >= len(text) and not final and word.end() < end + _STARTER_CHARS:
        return None
    return word.group().rstrip(".-'’").lower()


def _newline(text: str, at: int, final: bool) -> int | None:
    """A line's end parts sentences, unless the sentence plainly goes on in the next line."""
    if at == 0:
        return -1
    following = _following(text, at)
    if following is None:
        return at if final else None
    if following.islower() and text[:at].rstrip()[-1:] not in ".!?…:;":
        return -1
    return at


def _following(text: str, at: int) -> str | None:
    """The first character from `at` on that is no space and opens no quote; `None` when it is not there (yet)."""
    found = _BETWEEN.match(text, at)
    assert found is not None
    end = found.end()
    if end - at == _BETWEEN_CHARS:
        return text[end - 1]
    return text[end] if end < len(text) else None


def _quoted_on(run: str, after: str) -> bool:
    """Whether speech in quotes is only part of the sentence: 「はい。」と言った。"""
    return run[-1] in "」』" and "\u3040" <= after <= "\u309f"


def _between(text: str, limit: int) -> int:
    """A cut in text without spaces: between letters, not within a number."""
    for at in range(limit, limit // 2, -1):
        if not (text[at - 1].isdigit() and text[at].isdigit()) and not text[at - 1].isascii():
            return at
    return limit
