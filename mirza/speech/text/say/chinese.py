"""What only Chinese says: *零下三到零上八摄氏度*, *每分钟七十二次*, *G幺二三四次*."""

from __future__ import annotations

import re

from mirza.speech.text.language import units
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number
from mirza.speech.text.say.units import per_name

_HAN = r"\u4e00-\u9fff"
_SIGNED = r"[-−+]?\d+(?:\.\d+)?"
_TEMPERATURES = re.compile(rf"({_SIGNED}) ?(?:[~～〜–—至到]|-(?=[-−+\d])) ?({_SIGNED}) ?(℃|°C|度)")
_PERIODS = {"分": "分钟", "秒": "秒", "时": "小时", "日": "日", "ｈ": "小时"}
"""What is short after a slash: `72次/分`."""
_RATE = r"([^\W\d_A-Za-z元块]{1,3})[/／](分钟?|秒钟?|小时|时|天|日|周|月|年|次|人|晚|位|户|亩|平米|平方米|公里|公斤|千克|吨|升)(?!之)"
_PAGES = re.compile(
    r"(?:[Pp]\.? ?(?=\d+ ?[-–—~～〜] ?\d)|[Pp][Pp]?\. ?|(?<=[见书本到在])[Pp] ?)(\d{1,4})(?: ?[-–—~～〜] ?[Pp]?\.?(\d{1,4}))?(?![\w.])"
)
_STOREY = re.compile(r"(B)?(\d{1,3})[Ff](?![A-Za-z\d])")
_VEHICLE = re.compile(r"([GDCZTKYSL]|[A-Z]{2}|\d[A-Z]|[A-Z]\d)(\d{1,4})(?![A-Za-z\d.])")
_DRAWN = re.compile(rf"(?<=[{_HAN}])[~～〜]+(?=[{_HAN}])")
"""A wave between words: 见～不见不散."""
_YIELDS = re.compile(r"(?<=[A-Za-z₀-₉\d)↑↓ ])(?:→|⟶|-+>|=+>?)(?= ?\d*[A-Z])")
_FORMULA = re.compile(r"[A-Z][a-z]?(?:[₀-₉]|\d|[A-Z]\w*[₀-₉\d])")
_STATUS = re.compile(
    r"[1-5]\d\d(?=错误|报错|状态码| (?:Not Found|Forbidden|Bad|Internal|Unauthorized|Service|Gateway))|"
    r"(?:(?<=报错)|(?<=态码)|(?<=误码)|(?<=错误))[1-5]\d\d(?!\d|[个次])"
)
_STANDARD = re.compile(r"(\d{3,6})(?:\.\d)?(?:[-—–:](\d{4}))?(?![\d%])")
_STANDARDS = re.compile(r"(?:(?:GB|HJ|YY|QB|DB|SH|JB)(?:/[TZ])?|ISO(?:/IEC)?|IEC|DIN) ?\Z")
_CALLED = re.compile(r"(?:车次|航班|列车|高铁|动车|火车|班机|改签|换乘|搭乘|乘坐)[^，。；！？]{0,8}\Z")
_FOLLOWED = re.compile(r" ?(?:次|航班|号?列车|班机|高铁|动车)")


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.code != "zh":
        return []
    own = _Chinese(speaker)
    per = any_of([name for name in units("zh") if not name.isascii() or len(name) > 1 or name in "Lm"])
    rate = re.compile(rf"({speaker.number_pattern}){_RATE}")
    return [
        Rule("0$", _TEMPERATURES, own.temperatures, then=after_number(rf"{SPACE}?[-–—~～〜至到]"), first=r"\-−+"),
        Rule("0", rate, own.rate, then=after_number(rf"[{_HAN}]{{1,3}}(?:[/／]|\Z)")),
        Rule("$", _DRAWN, lambda _: speaker.words.pause, first="~～〜"),
        Rule("$", _YIELDS, own.yields, first="→⟶\\-="),
        Rule("0", re.compile(r"(\d)米(\d{1,2})(?![\d.米])"), own.tall, then="米"),
        Rule("0", _STATUS, lambda match: speaker.numbers.digits(match.group()), least=3),
        Rule("$", re.compile(rf"(?<=[元块角分])/ ?({per})(?![A-Za-z])"), own.per, first="/"),
        Rule("0", _STANDARD, own.standard, least=3),
        Rule("a", _PAGES, own.pages, first="Pp"),
        Rule("0a", _STOREY, own.storey, then="[Ff]", first="B"),
        Rule("0a", _VEHICLE, own.vehicle, then="[A-Z]", first="A-Z"),
    ]


class _Chinese:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def temperatures(self, match: re.Match[str]) -> str | None:
        """*零下三到零上八摄氏度*"""
        if not re.search(r"[-−+]", match[1] + match[2]):
            return None
        unit = "度" if match[3] == "度" else "摄氏度"
        return f"{self._temperature(match[1])}到{self._temperature(match[2])}{unit}"

    def _temperature(self, written: str) -> str:
        plain = written.lstrip("-−+")
        side = "" if self._speaker.value(plain) == 0 else "零下" if written[0] in "-−" else "零上"
        return side + self._speaker.number(plain)

    def rate(self, match: re.Match[str]) -> str:
        """*每分钟七十二次*"""
        count = self._speaker.counted(match[1], match.string, match.start(2))
        return f"每{_PERIODS.get(match[3], match[3])}{count}{match[2]}"

    def yields(self, match: re.Match[str]) -> str | None:
        """*二H二加O二生成二H二O*"""
        before, after = match.string[: match.start()].rstrip()[-12:], match.string[match.end() :].lstrip()[:12]
        return "生成" if "+" in before + after and _FORMULA.search(before) and _FORMULA.search(after) else None

    def tall(self, match: re.Match[str]) -> str:
        """*一米八三*"""
        meters = self._speaker.counted(match[1], match.string, match.end(1))
        return f"{meters}米{self._numbers.digits(match[2])}"

    def per(self, match: re.Match[str]) -> str:
        return "每" + per_name(self._speaker, match[1])

    def standard(self, match: re.Match[str]) -> str | None:
        """`GB/T 19001-2016`, digit by digit"""
        if not _STANDARDS.search(match.string, max(0, match.start() - 8), match.start()):
            return None
        return "杠".join(self._numbers.digits(part) for part in match.groups() if part)

    def pages(self, match: re.Match[str]) -> str:
        """*第四十五到四十八页*"""
        last = f"到{self._speaker.number(match[2])}" if match[2] else ""
        return f"第{self._speaker.number(match[1])}{last}页"

    def storey(self, match: re.Match[str]) -> str | None:
        """*五楼*, *负一楼*"""
        before = match.string[match.start() - 1 : match.start()]
        if before.isascii() and (before.isalnum() or before in ".="):
            return None
        return ("负" if match[1] else "") + self._speaker.number(match[2]) + "楼"

    def vehicle(self, match: re.Match[str]) -> str | None:
        """*G幺二三四次*: trains and flights are called digit by digit."""
        text = match.string
        if not _FOLLOWED.match(text, match.end()) and _CALLED.search(text, 0, match.start()) is None:
            return None
        line = " ".join(self._numbers.called(char) if char.isdigit() else char for char in match[1])
        return f"{line} {self._numbers.called(match[2])}"
