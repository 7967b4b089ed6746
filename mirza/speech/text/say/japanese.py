"""What only Japanese says: *三割一分二厘*, *三階*, *四十五ページ*, *十五時から*."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language
from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.eastern_days import fraction_span

_AVERAGE = re.compile(r"(?<=率)(0?\.)(\d)(\d)(\d)(?!\d)")
_POSTCODE = re.compile(r"〒 ?(\d{3})[-‐ー]?(\d{4})(?!\d)")
_STOREY = re.compile(r"(B)?(\d{1,3})[Ff](?![A-Za-z\d])")
_PAGES = re.compile(r"[Pp][Pp]?\.? ?(\d{1,4})(?: ?[-–—~～〜] ?[Pp]?\.?(\d{1,4}))?(?![\w.]*[\dA-Za-z])")
_KANA = "\u3041-\u3096"
_NOUN = "\u30a1-\u30fa\u3400-\u9fff"
LAUGH = r"(?<=[^\x00-\x7f])w++(?![A-Za-z\d.])"
"""`そうだねｗｗ`"""
_LONG_VOWEL = re.compile(rf"(?<=[{_KANA}])[〜～~]+(?!\d)")
_BETWEEN = re.compile(rf"(?<=[{_NOUN}])(?<![月火水木金土日])[〜～~](?=[{_NOUN}])")
_FIGURE = re.compile(r"(?:(?<=[図表式])|(?<=[図表式] ))(\d{1,3}) ?[-–—] ?(\d{1,3})(?![\d.])")
_DAY = re.compile(
    r"(\d{1,2})/(\d{1,2})(?=発売|発送|着|必着|締切|開[催始幕演]|公開|頃|付|現在|以降|出発|未明|早朝|深夜|[朝夜]|[〜～~–—-]\d{1,2}/\d{1,2}(?!\d))|"
    r"(?<=\d[〜～~–—-])(\d{1,2})/(\d{1,2})(?![\d/])"
)
"""A day where something happens on it; any other is a fraction."""
_FROM = re.compile(r"[〜～~](?= ?(?:[、。）)」』\n]|OK|\Z))")
_COUNTED = re.compile(r"[\d%円時分日月年歳才名人個回泊階度ℊ]\Z")


def spans(language: Language) -> str:
    """A pattern for words that are not said as they are written, wherever they stand; empty in other languages."""
    return LAUGH if language.code == "ja" else ""


def names(language: Language) -> frozenset[str]:
    """What they begin with."""
    return frozenset("w") if language.code == "ja" else frozenset()


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.code != "ja":
        return []
    own = _Japanese(speaker)
    return [
        Rule("0$", _AVERAGE, own.average, then=r"\.\d", first="."),
        Rule("$", _POSTCODE, own.postcode, first="〒"),
        Rule("0a", _STOREY, own.storey, then="[Ff]", first="B"),
        Rule("a", _PAGES, own.pages, first="Pp"),
        Rule("a", re.compile(LAUGH), own.laugh, first="w"),
        Rule("0", _DAY, own.day, then="/"),
        Rule("0", re.compile(r"(?<=\d[あ-ん])(\d{1,2})-(\d{2})(?!\d)"), own.figure, then="-"),
        Rule("0", _FIGURE, own.figure, then=" ?[-–—]"),
        Rule("$", re.compile(r"(?<=\d)-(?=の|で|（|[、。]|\Z)"), lambda _: "", tight=True, first=r"\-"),
        Rule("$", re.compile(r"[▲△](?=\d)"), lambda _: speaker.words.minus, first="▲△"),
        Rule("$", _BETWEEN, lambda _: speaker.words.to, first="〜～~"),
        Rule("$", _LONG_VOWEL, lambda _: "ー", tight=True, first="〜～~"),
        Rule("$", _FROM, own.onward, tight=True, first="〜～~"),
    ]


class _Japanese:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def laugh(self, match: re.Match[str]) -> str:
        """Nothing, but what follows does not run on."""
        return self._speaker.words.pause if re.search(r"\w", match.string[match.end() :]) else ""

    def average(self, match: re.Match[str]) -> str:
        """*三割一分二厘*"""
        names = zip(match.groups()[1:], "割分厘", strict=True)
        return "".join(self._numbers.digits(digit) + name for digit, name in names if digit != "0")

    def postcode(self, match: re.Match[str]) -> str:
        """The sign is said, and there is a pause before the place."""
        return f"郵便番号、{self._numbers.digits(match[1])}、{self._numbers.digits(match[2])}、"

    def storey(self, match: re.Match[str]) -> str | None:
        """*三階*, *地下一階*"""
        before = match.string[match.start() - 1 : match.start()]
        if before.isascii() and (before.isalnum() or before in ".=") and before:
            return None
        return ("地下" if match[1] else "") + self._speaker.number(match[2]) + "階"

    def pages(self, match: re.Match[str]) -> str | None:
        """*四十五ページから四十八ページ*"""
        if not match[2] and "." not in match.group():
            return None  # a name, P40
        last = f"から{self._speaker.number(match[2])}ページ" if match[2] else ""
        return f"{self._speaker.number(match[1])}ページ{last}"

    def figure(self, match: re.Match[str]) -> str:
        """*図一の二*"""
        return f"{self._speaker.number(match[1])}の{self._speaker.number(match[2])}"

    def day(self, match: re.Match[str]) -> str | None:
        """*三月五日*"""
        month, day = int(match[1] or match[3]), int(match[2] or match[4])
        if not (1 <= month <= 12 and 1 <= day <= 31) or fraction_span(match):
            return None
        return f"{self._numbers.cardinal(month)}月{self._numbers.cardinal(day)}日"

    def onward(self, match: re.Match[str]) -> str | None:
        """*十五時から*"""
        return "から" if _COUNTED.search(match.string, 0, match.start()) else None
