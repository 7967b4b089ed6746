"""Brackets: a pause around what is said aside, none in a formula, a call or a law; and endings that are one of two."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.sums import CJK, LONE_LETTER

_SHORT = re.compile(r"（[A-Za-z\d ,+\-*^.]{1,10}）")
_PLURAL = re.compile(
    r"(?<=[^\W\d_²³¹]{3})\((?:s|es|e|x|n|en|er|in|innen|r|as|os|a|ne)\)s?(?!\w)|(?<=[nN]é)\(e\)s?(?!\w)"
)
_BOTH = {
    "fr": re.compile(r"(?<=[a-zé]{3})/(?:e|es|ne|nes|trice|trices|euse|euses|ère|ères|se|ve)(?!\w)"),
    "de": re.compile(r"(?<=[a-zäöü]{3})/(?:r|e|n|in|innen|en)(?!\w)|:(?=in(?:nen)?(?!\w))"),
    "es": re.compile(r"(?<=[^\W\d_]{2}[osrenl])/(?:a|as|o|os|ra|ras)(?!\w)"),
}
"""What is said of one gender: *alumnos/as*, *Schüler:innen*."""
_CLAUSE, _TIE_BREAK = re.compile(r"\(\w{1,4}\)"), re.compile(r"\d[-–]\d\Z")
"""`6(1)(f)` of a law, and `7-6(5)` in tennis."""


def rules(speaker: Speaker) -> list[Rule]:
    """Endings first, which have brackets of their own."""
    return [
        Rule("$", _PLURAL, lambda match: re.sub("[()]", "", match.group()), tight=True, first="("),
        *([Rule("$", _BOTH[speaker.code], lambda _: "", tight=True, first="/:")] if speaker.code in _BOTH else []),
        Rule("$", re.compile(r"[()（）]"), _Brackets(speaker).paren, first="()（）"),
    ]


class _Brackets:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._words = speaker.words

    def paren(self, match: re.Match[str]) -> str:
        text, start = match.string, match.start()
        if match.group() in "(（":
            before = text[start - 1 : start] if start else ""
            wide = match.group() == "（" and not (LONE_LETTER.search(text, 0, start) and _SHORT.match(text, start))
            called = self._calls(before) or (before == ")" and _CLAUSE.match(text, start) is not None)
            called = called and not wide
            if called and _TIE_BREAK.search(text, max(0, start - 5), start) and _CLAUSE.match(text, start):
                return self._words.pause
            counted = text[:start].rstrip()[-1:] in "=+-−*/×÷√^<>±(" if start else True
            return "" if called or counted else self._words.pause
        after = text[match.end() :].lstrip()[:1]
        opened = text.rfind("(" if match.group() == ")" else "（", 0, start)
        call = opened > 0 and (self._calls(text[opened - 1]) or (text[opened - 1] == ")" and start - opened < 5))
        call = call and (
            text[opened] == "("
            or (LONE_LETTER.search(text, 0, opened) is not None and _SHORT.match(text, opened) is not None)
        )
        call = call or (opened > 0 and text[:opened].rstrip()[-1:] in "=+-−*/×÷√^<>±(")
        return "" if call or not after or not (after.isalnum()) else self._words.pause

    def _calls(self, before: str) -> bool:
        """Whether a bracket after this character is part of a name, as in `f(x)`."""
        return (
            (before.isalnum() or before in ("′", "'"))
            and not CJK.match(before)
            and (self._speaker.language.spaced or not before.isdigit())
        )
