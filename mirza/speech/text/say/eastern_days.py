"""Days and times as Chinese and Japanese share them: *下午四点十五分*, *五分零六秒*, *四月三日から*."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import SPACE, Rule, Speaker
from mirza.speech.text.say.clock import Times
from mirza.speech.text.say.unit_names import each

_WEEKDAYS = re.compile(r"(?<=[月火水木金土日一二三四五六七][)）])[〜～~–—-](?=\d)")
"""From one date with its day to another."""
_WEEKDAY_BEFORE = re.compile(r"(?:周[一二三四五六日天]|[月火水木金土日]曜日?|期[一二三四五六日天])[(（]\Z")
_DAY_HALF = re.compile(r"(\d{1,2})(?::(\d{2}))? ?([AaPp])\.? ?[Mm](?:\.(?! ?[A-Z])|(?![A-Za-z]))")
_FROM_TIME = re.compile(r"(?<=\d:\d\d)(?: ?[—–]+ ?|[~～〜-])(?=\d{1,2}:\d\d)")
_LASTED = re.compile(
    r"(?:(\d{1,3})° ?)?(\d{1,3})['′’](?: ?(\d{1,2})(?:[\"″”]|''|′′)(?:/(km))?|(?<=°\d['′’])|(?<=°\d\d['′’]))"
)


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.spaced:
        return []
    own, to = _Days(speaker), speaker.words.to
    return [
        Rule("0", _LASTED, own.lasted, then="[°'′’]"),
        Rule("0", re.compile(r"(\d{1,2})秒(\d{2,3})(?![\d.])"), own.split_second, then="秒"),
        Rule("0", _DAY_HALF, own.day_half, then=f"(?::|{SPACE}?[AaPp])"),
        Rule("$", _FROM_TIME, lambda _: to, first="—–~～〜\\-"),
        Rule("0", re.compile(r"(\d{1,2})[·・](\d{1,2})(?![\d·・])"), own.dated, then="[·・]"),
        Rule("$", _WEEKDAYS, lambda _: to, first="〜～~–—\\-"),
        Rule("0", re.compile(r"(\d{1,2})/(\d{1,2})(?=[)）])"), own.day, then=r"/\d{1,2}[)）]"),
    ]


class _Days:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._words = speaker.words
        self._chinese = speaker.code == "zh"

    def lasted(self, match: re.Match[str]) -> str:
        """*五分零六秒*, *北纬三十五度十二分*"""
        said = ""
        for count, name in ((match[1], "度"), (match[2], "分"), (match[3], "秒")):
            zero = "零" if self._chinese and said and count and int(count) < 10 else ""
            two = self._chinese and count == "2" and name != "度"
            said += zero + ("两" if two else self._speaker.number(str(int(count)))) + name if count else ""
        return each(self._speaker, match[4], said) if match[4] else said

    def split_second(self, match: re.Match[str]) -> str:
        """*九秒五八*, of a race"""
        return f"{self._speaker.number(match[1])}秒{self._speaker.numbers.digits(match[2])}"

    def day_half(self, match: re.Match[str]) -> str | None:
        """*下午四点十五分*"""
        hour, minute = int(match[1]), int(match[2] or 0)
        if not 0 < hour <= 12 or minute > 59:
            return None
        morning = match[3] in "Aa"
        half = ("上午" if morning else "下午") if self._chinese else ("午前" if morning else "午後")
        return half + Times(self._speaker).say(hour, minute, "")

    def dated(self, match: re.Match[str]) -> str | None:
        """*九一一*, of a day that is a name"""
        if re.search(r"[=^²³]", match.string) or not (int(match[1]) <= 12 and int(match[2]) <= 31):
            return None
        digits = self._speaker.numbers.digits
        return digits(match[1]) + ("" if self._chinese else "・") + digits(match[2])

    def day(self, match: re.Match[str]) -> str | None:
        """`周四（5/16）`"""
        month, day = int(match[1]), int(match[2])
        named = _WEEKDAY_BEFORE.search(match.string, 0, match.start())
        if named is None or not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        return f"{self._speaker.numbers.cardinal(month)}月{self._speaker.numbers.cardinal(day)}日"


def fraction_span(match: re.Match[str]) -> bool:
    """Whether `1/4~1/2` goes from a fraction to a greater one, which days would not."""
    near = match.string[max(0, match.start() - 6) : match.end() + 6]
    span = re.search(r"(\d{1,2})/(\d{1,2})[~～〜–—-](\d{1,2})/(\d{1,2})", near)
    if span is None:
        return False
    first, last = int(span[1]) / int(span[2]), int(span[3]) / int(span[4])
    return first < last <= 1
