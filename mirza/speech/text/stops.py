"""Where a sentence ends: at a full stop that is one, at other marks, at the end of a line."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.breaks import Breaks
from mirza.speech.text.lengths import CJK

CLOSERS = "\"'“”’»›)]}」』】）》〉*"
_CLOSERS_CHARS = 6
_BETWEEN_CHARS = 12
_STARTER_CHARS = 24
"""So far after a full stop the next word is looked for."""
_TOKEN_CHARS = 40
_IS_CJK = re.compile(f"[{CJK}]")
_ENDS = "。！？｡．।॥؟۔։።။"
_EQUALS = "=≠≈≤≥×÷^"
_AMOUNTS = "~≈+−±$€£"
"""What an amount may begin with, beside a digit."""
_CODE, _CODE_CHARS = re.compile(r"\s?[A-Z]{1,4}-?\d"), 8
_GOES_ON = "+=×<>"
"""After three dots a sum goes on with these: `1 + 2 + ... + n`."""
_OPERATORS = f"{_EQUALS}+-−*/·"
_OPERAND_CHARS = 5
_OPERAND = re.compile(r" [+\-−*/·] ?(?:\d|\(|[a-z](?!\w))")
"""What goes on with a factorial: `3! + 2!`, but not `Give me 5! - he said`."""
_CHOICE = re.compile(r"(?<![A-Za-z\d])[A-Hア-オ]\Z")
"""Before a dot and a CJK letter: `A.苹果 B.香蕉`"""
_HALVES = frozenset(["a.m", "p.m", "am", "pm"])
_ALWAYS_END = frozenset(_ENDS)
STOPS = f".!?…\n{_ENDS}"
"""Where a sentence may end."""
_BEFORE_CAPITAL = re.compile(r"[.!?] (?=[A-Z])|[。！？](?=[\u4e00-\u9fff])")
"""How most sentences end. No other rule has a say here, but for what is before a full stop."""
_RUN = re.compile(rf"[.!?…{_ENDS}]{{1,8}}[\"'“”’»›)\]}}」』】）》〉]{{0,{_CLOSERS_CHARS}}}(?:[ \xa0\u202f]»)?")
_TOKEN = re.compile(r"(?:.*[\s(\[{\"“„«‘¿¡/–—'’：；，。、！？])?(.*)", re.DOTALL)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]\Z")
_BETWEEN = re.compile(rf"[\s\"'“„«‘(¿¡\[]{{0,{_BETWEEN_CHARS}}}")
_WORD = re.compile(r"\w[\w'’.-]*")

_ALONE, _DOTTED = re.compile("[A-ZÄÖÜ]"), re.compile(r"\.\s?\Z")
_ROMAN_ORDINAL = re.compile(r"\b(?:[Dd]er|[Dd]ie|[Dd]as|dem|den|des|[Ii]m|zum|vom|am|beim) [IVX]+\Z")
"""*das II. Vatikanische Konzil*"""
_MOVE_BEGINS = "KQRBNOabcdefgh"
_MOVE = re.compile(r"\s*(?:[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8]|O-O)")
"""A move of chess behind its number."""
_MOVE_CHARS = 8


class Stops:
    """Decides whether a mark ends a sentence."""

    def __init__(self, breaks: Breaks) -> None:
        self._breaks = breaks
        self._short = breaks.titles | breaks.known | _HALVES

    def cut(self, text: str, at: int, *, final: bool) -> int | None:
        """The cut that the mark at `at` makes, -1 for none, `None` when more text is needed to know."""
        if text[at] == "\n":
            return _newline(text, at, final)
        if _BEFORE_CAPITAL.match(text, at) and (text[at] != "." or self._is_word_before(text, at)):
            return at + 1
        return self.weighed(text, at, final=final)

    def weighed(self, text: str, at: int, *, final: bool) -> int | None:
        """The same by all that may speak for and against it."""
        run = _RUN.match(text, at)
        assert run is not None
        end = run.end()
        if end == len(text):
            return end if final else None
        begins = following(text, end)
        if begins is None and not final:
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
            if stops == "." and (text[at - 1 : at].isdigit() or text[max(0, at - 3) : at].lower() in _HALVES):
                return -1  # 1.打开, 3:00 a.m.起床
            if stops == "." and _CHOICE.search(text, max(0, at - 2), at):
                return -1
            parts = _IS_CJK.match(after) or unicodedata.category(after) == "So"
            return end if parts and stops != "…" * len(stops) else -1
        if begins is None:
            return end
        if stops == ".":
            ends = self._dot(text, at, end, begins, final)
            return None if ends is None else end if ends else -1
        if stops == "!" and begins in _OPERATORS and text[at - 1 : at].isalnum():
            if begins not in _EQUALS and len(text) < end + _OPERAND_CHARS and not final:
                return None
            if begins in _EQUALS or _OPERAND.match(text, end):
                return -1  # a factorial
        lower = begins.islower()
        if stops.startswith("..") or stops[0] == "…":
            return end if not lower and begins not in f",;:{_GOES_ON}" else -1
        return -1 if lower or begins in ",;" else end

    def _is_word_before(self, text: str, at: int) -> bool:
        """Whether there is a word before `at`, and no abbreviation: a full stop there ends a sentence before a capital."""
        word = text[text.rfind(" ", 0, at) + 1 : at]
        if len(word) < 2 or not word.isalpha() or word[-1].isupper():
            return False
        name = word.lower()
        return name not in self._short and not name.endswith(self._breaks.title_ends)

    def _dot(self, text: str, at: int, end: int, begins: str, final: bool) -> bool | None:
        """Whether the full stop at `at` ends a sentence, with the next one beginning with `begins`; `None` if that is not known yet."""
        token = _token_before(text, at)
        name = token.lower()
        if text[at - 1 : at] == "." and begins in _GOES_ON:
            return False
        if begins in ",;:":
            return False
        if (
            self._breaks.ordinal_dot
            and _ALONE.fullmatch(token)
            and not _DOTTED.search(text, 0, at - 1)
            and begins.isupper()
        ):
            return self._starts(text, end, final)  # Vitamin D. Das; no part of z. B.
        if name in self._breaks.titles or name.endswith(self._breaks.title_ends):
            return False
        if begins.isdigit() and name in self._breaks.short_days:
            return False
        if token in self._breaks.numbered:
            if begins.isdigit() or begins in _AMOUNTS:
                return False
            if begins.isupper():
                if len(text) < end + _CODE_CHARS and not final:
                    return None
                if _CODE.match(text, end):
                    return False  # no. X123
        if name in _HALVES and begins.isupper() and self._breaks.after_time:
            word = _word_after(text, end, final)
            return None if word is None else word not in self._breaks.after_time
        if name in self._breaks.closing:
            return begins.isupper() or (not begins.islower() and self._starts(text, end, final))
        if _INITIALS.match(token):
            return False if begins.islower() else self._starts(text, end, final)
        if len(token) == 1 and token.isupper() and begins.isupper():
            return self._starts(text, end, final)
        if len(token) == 1 and token.isupper() and begins.isdigit():
            return False  # art. L. 121, K. 550
        if token.isdigit() and begins in _MOVE_BEGINS:
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
                if begins.islower():
                    return False
                return self._starts(text, end, final, day=True)
        if self._breaks.ordinal_dot and _ROMAN_ORDINAL.search(text, max(0, at - 20), at):
            return False
        if self._breaks.ordinal_dot and name in self._breaks.known:
            return False if begins.islower() else self._starts(text, end, final)  # a noun may follow: § 823 ff. BGB
        if begins.islower():
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


def _word_after(text: str, end: int, final: bool) -> str | None:
    """The word after `end`, lower case; `None` while it may go on, empty when there is none."""
    word = _WORD.search(text, end, end + _STARTER_CHARS)
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


def _newline(text: str, at: int, final: bool) -> int | None:
    """A line's end parts sentences, unless the sentence plainly goes on in the next line."""
    if at == 0:
        return -1
    begins = following(text, at)
    if begins is None:
        return at if final else None
    if begins.islower() and text[:at].rstrip()[-1:] not in ".!?…:;":
        return -1
    return at


def following(text: str, at: int) -> str | None:
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
