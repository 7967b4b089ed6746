"""Where a sentence ends: at a full stop that is one, at other marks, at the end of a line."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.breaks import Breaks
from mirza.speech.text.dots import GOES_ON, HALVES, Dots
from mirza.speech.text.lengths import IS_CJK

CLOSERS = "\"'“”’»›)]}」』】）》〉*"
_CLOSERS_CHARS = 6
_BETWEEN_CHARS = 12
_ENDS = "。！？｡．।॥؟۔։።။"
_EQUALS = "=≠≈≤≥×÷^"
_OPERATORS = f"{_EQUALS}+-−*/·"
_OPERAND_CHARS = 5
_OPERAND = re.compile(r" [+\-−*/·] ?(?:\d|\(|[a-z](?!\w))")
"""What goes on with a factorial: `3! + 2!`, but not `Give me 5! - he said`."""
_CHOICE = re.compile(r"(?<![A-Za-z\d])[A-Hア-オ]\Z")
"""Before a dot and a CJK letter: `A.苹果 B.香蕉`"""
_ALWAYS_END = frozenset(_ENDS)
STOPS = f".!?…\n{_ENDS}"
"""Where a sentence may end."""
_BEFORE_CAPITAL = re.compile(r"[.!?] (?=[A-Z])|[。！？](?=[\u4e00-\u9fff])")
"""How most sentences end. No other rule has a say here, but for what is before a full stop."""
_RUN = re.compile(rf"[.!?…{_ENDS}]{{1,8}}[\"'“”’»›)\]}}」』】）》〉]{{0,{_CLOSERS_CHARS}}}(?:[ \xa0\u202f]»)?")
_BETWEEN = re.compile(rf"[\s\"'“„«‘(¿¡\[]{{0,{_BETWEEN_CHARS}}}")


class Stops:
    """Decides whether a mark ends a sentence."""

    def __init__(self, breaks: Breaks) -> None:
        self._breaks = breaks
        self._dots = Dots(breaks)
        self._short = breaks.titles | breaks.known | HALVES

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
        if stops == "．" and after.isdigit() and text[at - 1 : at].isalnum() and not IS_CJK.match(text[at - 1 : at]):
            return -1  # full-width decimals, Ｎｏ．３
        if not _ALWAYS_END.isdisjoint(stops):
            return -1 if _quoted_on(run.group(), after) else end
        if not after.isspace():
            if stops == "." and (text[at - 1 : at].isdigit() or text[max(0, at - 3) : at].lower() in HALVES):
                return -1  # 1.打开, 3:00 a.m.起床
            if stops == "." and _CHOICE.search(text, max(0, at - 2), at):
                return -1
            parts = IS_CJK.match(after) or unicodedata.category(after) == "So"
            return end if parts and stops != "…" * len(stops) else -1
        if begins is None:
            return end
        if stops == ".":
            ends = self._dots.end(text, at, end, begins, final=final)
            return None if ends is None else end if ends else -1
        if stops == "!" and begins in _OPERATORS and text[at - 1 : at].isalnum():
            if begins not in _EQUALS and len(text) < end + _OPERAND_CHARS and not final:
                return None
            if begins in _EQUALS or _OPERAND.match(text, end):
                return -1  # a factorial
        lower = begins.islower()
        if stops.startswith("..") or stops[0] == "…":
            return end if not lower and begins not in f",;:{GOES_ON}" else -1
        return -1 if lower or begins in ",;" else end

    def _is_word_before(self, text: str, at: int) -> bool:
        """Whether there is a word before `at`, and no abbreviation: a full stop there ends a sentence before a capital."""
        word = text[text.rfind(" ", 0, at) + 1 : at]
        if len(word) < 2 or not word.isalpha() or word[-1].isupper():
            return False
        name = word.lower()
        return name not in self._short and not name.endswith(self._breaks.title_ends)


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
