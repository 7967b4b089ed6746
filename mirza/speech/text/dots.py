"""Whether a full stop ends a sentence: it may also belong to a title, an abbreviation, initials, a number.

Each of these has its say in turn; the first that has one decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

from mirza.speech.text.breaks import Breaks

_STARTER_CHARS = 24
"""So far after a full stop the next word is looked for."""
_TOKEN_CHARS = 40
_AMOUNTS = "~≈+−±$€£"
"""What an amount may begin with, beside a digit."""
_ADDED, _AMOUNT_CHARS = re.compile(rf"\s?(?:\(|[{_AMOUNTS}-] ?\d)"), 4
"""What is added to an abbreviation, and begins no sentence."""
_CODE, _CODE_CHARS = re.compile(r"\s?[A-Z]{1,4}-?\d"), 8
HALVES = frozenset(["a.m", "p.m", "am", "pm"])
_TOKEN = re.compile(r"(?:.*[\s(\[{\"“„«‘¿¡/–—'’：；，。、！？])?(.*)", re.DOTALL)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
WORD = re.compile(r"\w[\w'’.-]*")
_ALONE, _DOTTED = re.compile("[A-ZÄÖÜ]"), re.compile(r"\.\s?\Z")
_ROMAN_ORDINAL = re.compile(r"\b(?:[Dd]er|[Dd]ie|[Dd]as|dem|den|des|[Ii]m|zum|vom|am|beim) [IVX]+\Z")
"""*das II. Vatikanische Konzil*"""
_MOVE_BEGINS = "KQRBNOabcdefgh"
_MOVE = re.compile(r"\s*(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O)")
"""A move of chess behind its number."""
_MOVE_CHARS = 8
GOES_ON = "+=×<>"
"""After three dots a sum goes on with these: `1 + 2 + ... + n`."""


class _Say(Enum):
    """What one thing about a full stop says."""

    ENDS = auto()
    GOES_ON = auto()
    UNKNOWN = auto()
    """More text is needed."""
    NOTHING = auto()
    """Something else decides."""


@dataclass(frozen=True, slots=True)
class _Dot:
    """A full stop at `at` in `text`, and the marks that close with it up to `end`; `begins` is what follows them."""

    text: str
    at: int
    end: int
    begins: str
    final: bool
    token: str
    """What is before it, from the last space on."""

    @property
    def name(self) -> str:
        """That as abbreviations are listed."""
        return self.token.lower()


class Dots:
    """Decides about full stops in one language."""

    def __init__(self, breaks: Breaks) -> None:
        self._breaks = breaks

    def end(self, text: str, at: int, end: int, begins: str, *, final: bool) -> bool | None:
        """Whether the full stop at `at` ends a sentence, `begins` being what follows; `None` if that is not known yet."""
        dot = _Dot(text, at, end, begins, final, _token_before(text, at))
        for says in (
            self._by_what_follows,
            self._after_what_goes_on,
            self._after_what_may_close,
            self._after_initials,
            self._after_number,
            self._after_abbreviation,
        ):
            verdict = says(dot)
            if verdict is not _Say.NOTHING:
                return {_Say.ENDS: True, _Say.GOES_ON: False}.get(verdict)
        return True

    def _by_what_follows(self, dot: _Dot) -> _Say:
        goes_on = dot.begins in ",;:" or (dot.text[dot.at - 1 : dot.at] == "." and dot.begins in GOES_ON)
        return _Say.GOES_ON if goes_on else _Say.NOTHING

    def _after_what_goes_on(self, dot: _Dot) -> _Say:
        """After a title, or an abbreviation that a number belongs to."""
        breaks, text, begins = self._breaks, dot.text, dot.begins
        alone = breaks.ordinal_dot and _ALONE.fullmatch(dot.token) and not _DOTTED.search(text, 0, dot.at - 1)
        if alone and begins.isupper():
            return self._starts(dot)  # Vitamin D. Das; no part of z. B.
        if dot.name in breaks.titles or dot.name.endswith(breaks.title_ends):
            return _Say.GOES_ON
        if begins.isdigit() and dot.name in breaks.short_days:
            return _Say.GOES_ON
        if dot.name in breaks.known and dot.name not in breaks.closing:
            if begins in f"{_AMOUNTS}-" and len(text) < dot.end + _AMOUNT_CHARS and not dot.final:
                return _Say.UNKNOWN
            if _ADDED.match(text, dot.end):
                return _Say.GOES_ON  # Pop. (2020), Temp. −3 °C
        if dot.token not in breaks.numbered:
            return _Say.NOTHING
        if begins.isdigit() or begins in _AMOUNTS:
            return _Say.GOES_ON
        if begins.isupper():
            if len(text) < dot.end + _CODE_CHARS and not dot.final:
                return _Say.UNKNOWN
            if _CODE.match(text, dot.end):
                return _Say.GOES_ON  # no. X123
        return _Say.NOTHING

    def _after_what_may_close(self, dot: _Dot) -> _Say:
        """After `etc.`, `p.m.`"""
        breaks, begins = self._breaks, dot.begins
        if dot.name in HALVES and begins.isupper() and breaks.after_time:
            word = _word_after(dot)
            return _Say.UNKNOWN if word is None else _say(word not in breaks.after_time)
        if dot.name not in breaks.closing:
            return _Say.NOTHING
        if begins.isupper():
            return _Say.ENDS
        return _Say.GOES_ON if begins.islower() else self._starts(dot)

    def _after_initials(self, dot: _Dot) -> _Say:
        begins = dot.begins
        if _INITIALS.match(dot.token):
            return _Say.GOES_ON if begins.islower() else self._starts(dot)
        if len(dot.token) != 1 or not dot.token.isupper():
            return _Say.NOTHING
        if begins.isupper():
            return self._starts(dot)
        return _Say.GOES_ON if begins.isdigit() else _Say.NOTHING  # art. L. 121, K. 550

    def _after_number(self, dot: _Dot) -> _Say:
        """After the number of a move, of an item, or an ordinal."""
        text, token, begins = dot.text, dot.token, dot.begins
        if token.isdigit() and begins in _MOVE_BEGINS:
            if len(text) < dot.end + _MOVE_CHARS and not dot.final:
                return _Say.UNKNOWN
            if _MOVE.match(text, dot.end):
                return _Say.GOES_ON  # 2. Nf3
        if token.isdigit() and len(token) <= 3:
            lead = text[: dot.at - len(token)].rstrip()[-1:]
            if not lead or lead in ";：；。、" or (lead == ":" and token == "1"):
                return _Say.GOES_ON
            if lead == "," and f"{int(token) - 1}. " in text[: dot.at]:
                return _Say.GOES_ON  # 1. Pogačar, 2. Vingegaard
            if self._breaks.ordinal_dot and lead != "=" and dot.end == dot.at + 1:
                return _Say.GOES_ON if begins.islower() else self._starts(dot, day=True)
        roman = self._breaks.ordinal_dot and _ROMAN_ORDINAL.search(text, max(0, dot.at - 20), dot.at)
        return _Say.GOES_ON if roman else _Say.NOTHING

    def _after_abbreviation(self, dot: _Dot) -> _Say:
        """Before a small letter a sentence goes on, unless the word is one that is never cut short."""
        known = dot.name in self._breaks.known
        if self._breaks.ordinal_dot and known:
            return _Say.GOES_ON if dot.begins.islower() else self._starts(dot)  # a noun may follow: § 823 ff. BGB
        if not dot.begins.islower():
            return _Say.NOTHING
        plain = len(dot.token) > 3 and dot.token.isalpha() and dot.token.islower() and not known
        return self._starts(dot) if plain else _Say.GOES_ON

    def _starts(self, dot: _Dot, *, day: bool = False) -> _Say:
        """Ends, if the next word is one that begins sentences, and no short `day`, as in `am 1. So.`"""
        word = _word_after(dot)
        if word is None or word not in self._breaks.starters:
            return _Say.UNKNOWN if word is None else _Say.GOES_ON
        if not day or word not in self._breaks.short_days:
            return _Say.ENDS
        after = dot.text.lower().index(word, dot.end) + len(word)
        if after >= len(dot.text) and not dot.final:
            return _Say.UNKNOWN
        return _say(dot.text[after : after + 1] != ".")


def _say(ends: bool) -> _Say:
    return _Say.ENDS if ends else _Say.GOES_ON


def _word_after(dot: _Dot) -> str | None:
    """The word after the full stop, lower case; `None` while it may go on, empty when there is none."""
    text, end, final = dot.text, dot.end, dot.final
    word = WORD.search(text, end, end + _STARTER_CHARS)
    if word is None:
        return None if len(text) < end + _STARTER_CHARS and not final else ""
    if word.end() >= len(text) and not final and word.end() < end + _STARTER_CHARS:
        return None
    return word.group().rstrip(".-'’").lower()


def _token_before(text: str, at: int) -> str:
    """What is before the full stop at `at`, from the last space, quote or dash on."""
    found = _TOKEN.fullmatch(text, max(0, at - _TOKEN_CHARS), at)
    assert found is not None
    return found[1]
