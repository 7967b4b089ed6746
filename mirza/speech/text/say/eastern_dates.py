"""Dates with 年, 月 and 日, and days of the week in brackets."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker

_CJK_SLASH = re.compile(r"(\d{1,2})/(\d{1,2})(?=から|まで|[(（][月火水木金土日周])")
_WEEKDAY = re.compile(r"(?<=[日\d])[(（]([月火水木金土日])曜?日?[)）]")
_JAPANESE_DAYS = re.compile(
    r"(?<=[月火水木金土])(?<![\d一二三四五六七八九十今来先毎何ヶか].)[〜～~–]([火水木金土日])(?:曜日?)?(?![年間月本曜])"
)


def rules(speaker: Speaker) -> list[Rule]:
    """Years, months and days, and days of the week."""
    dates = _EasternDates(speaker)
    days = [Rule("$", _JAPANESE_DAYS, _japanese_days, tight=True, first="〜～~–")] if speaker.code == "ja" else []
    return [
        *days,
        Rule("0", re.compile(r"(\d{4})(年)(?!代|间|間|前|後|后|来)"), dates.cjk_year, then="年"),
        Rule("0", re.compile(r"(\d{1,2})月(\d{1,2})[日号]"), dates.cjk_day, then="月"),
        Rule("0", re.compile(r"(\d{1,2})月(?!间|間)"), dates.cjk_month, then="月"),
        Rule("0", _CJK_SLASH, dates.cjk_slash, then=r"/\d"),
        Rule("$", _WEEKDAY, lambda match: f"{match[1]}曜日", first="(（"),
    ]


def _japanese_days(match: re.Match[str]) -> str:
    """*月曜から金曜*"""
    following = match.string[match.end() :].lstrip()[:1]
    return f"曜から{match[1]}曜" + ("、" if following.isdecimal() else "")


class _EasternDates:
    def __init__(self, speaker: Speaker) -> None:
        self._numbers = speaker.numbers

    def cjk_year(self, match: re.Match[str]) -> str:
        return f"{self._numbers.year(int(match[1]))}年"

    def cjk_day(self, match: re.Match[str]) -> str:
        return f"{self._numbers.cardinal(int(match[1]))}月{self._numbers.cardinal(int(match[2]))}{match.group()[-1]}"

    def cjk_slash(self, match: re.Match[str]) -> str | None:
        """`5/1` from or to which something is; any other is a fraction."""
        month, day = int(match[1]), int(match[2])
        cardinal = self._numbers.cardinal
        return f"{cardinal(month)}月{cardinal(day)}日" if 1 <= month <= 12 and 1 <= day <= 31 else None

    def cjk_month(self, match: re.Match[str]) -> str:
        return f"{self._numbers.cardinal(int(match[1]))}月"
