"""What only Chinese says: *零下三到零上八摄氏度*, *每分钟七十二次*, *G幺二三四次*."""

from __future__ import annotations

import re

from mirza.speech.text.language import units
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number
from mirza.speech.text.say.eastern_days import fraction_span
from mirza.speech.text.say.unit_names import per_name

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
_CHANGE = re.compile(r"(?:(?<=[同环]比)|(?<=[同环]比：))[-−+](?=[\d.]+%)")
_BORN = re.compile(r"(?<![\d满过减超:：])([05-9][05])后(?![的来续面退]?[天年月日小分秒])")
"""90后, 00后: who was born in these years."""
_SAID_BY_DIGIT = re.compile(
    r"(?:985|211|996|007|618|520|1314|666+|233+)(?![\d.,%]|[-–—~～]\d|[年个位名人次元块万亿天米克斤公千分页字条本号度只台件辆名张家路级届]| ?[a-zA-Z])"
)
"""Names and cries of the net; before a noun that is counted they are numbers."""
_PLATE = re.compile(
    r"(?<=[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼])([A-Z])[·.]?([A-Z\d]{5,6})(?![A-Za-z\d])"
)
_SERVICE = re.compile(r"(?:1[02]\d{3}|9[56]\d{3})(?!\d|[.,]\d|[年个人元块米])")
_SERVICE_BEFORE = re.compile(r"(?:打|拨|致电|热线|客服|短信.{0,12}到|或)[^，。\d]{0,4}\Z")
_SERVICE_AFTER = re.compile(r"(?:市民|投诉)?热线|客服|购票|短信")
"""Five digits that are called: 12306, 95588."""
_LASTING = re.compile(r"(\d{1,3}) ?(?:h|小时) ?(\d{1,2}) ?(?:min|m)(?![A-Za-z])")
_YEAR = re.compile(
    r"(?:19|20)\d\d(?=款|版|赛季|学年|财年|年度|届|[春夏秋冬](?![天])|高考|中考|考研|奥运|欧洲杯|世界杯|亚运|[QH][1-4](?!\d)|[上下]半|#)"
)
_FIGURE = re.compile(r"(?:(?<=[图表式])|(?<=[图表式] ))(\d{1,3}) ?[-–—] ?(\d{1,3})(?![\d.])")
_DAY = re.compile(
    r"(\d{1,2})/(\d{1,2})(?=发货|到货|截止|出发|开[始播售奖]|上[午市映]|下午|晚|早|凌晨|[之以]?前|起(?!码)|[~～〜–—-]\d{1,2}/\d{1,2}(?!\d))|"
    r"(?<=\d[~～〜–—-])(\d{1,2})/(\d{1,2})(?![\d/])"
)
"""A day where something happens on it; any other is a fraction."""
_DRAWN = re.compile(rf"(?<=[{_HAN}])[~～〜]+(?=[{_HAN}])")
"""A wave between words: 见～不见不散."""
_SPAN = re.compile(
    r"(?<=[年月日号时点一二三四五六日十])[~～〜—–-]+(?=公元|周|星期|初|次[年日月]|翌|当[年日]|[一二三四五六七八九十]月)"
)
_CASE = re.compile(rf"[(（]((?:19|20)\d\d)[)）]([{_HAN}]{{1,2}})(\d{{1,4}})([{_HAN}]{{1,4}})(\d+)号")
"""(2023)京01民终1234号, of a court."""
_DOCUMENT = re.compile(r"[〔(（]((?:19|20)\d\d)[〕)）](?=第?\d+号)")
_YIELDS = re.compile(r"(?<=[A-Za-z₀-₉\d)↑↓ ])(?:→|⟶|-+>|=+>?)(?= ?\d*[A-Z])")
_FORMULA = re.compile(r"[A-Z][a-z]?(?:[₀-₉]|\d|[A-Z]\w*[₀-₉\d])")
_STATUS = re.compile(
    r"[1-5]\d\d(?=错误|报错|状态码| (?:Not Found|Forbidden|Bad|Internal|Unauthorized|Service|Gateway))|"
    r"(?:(?<=报错)|(?<=态码)|(?<=误码)|(?<=错误))[1-5]\d\d(?!\d|[个次])"
)
_STANDARD = re.compile(r"(\d{3,6})(?:\.\d)?(?:[-—–:](\d{4}))?(?![\d%])")
_STANDARDS = re.compile(r"(?:(?:GB|HJ|YY|QB|DB|SH|JB)(?:/[TZ])?|ISO(?:/IEC)?|IEC|DIN) ?\Z")
_CALLED = re.compile(r"(?:车次|航班|列车|高铁|动车|火车|班机|飞机|改签|换乘|搭乘|乘坐)[^，。；！？]{0,8}\Z")
_FOLLOWED = re.compile(r" ?(?:次|航班|号?列车|班机|高铁|动车)")


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.code != "zh":
        return []
    own = _Chinese(speaker)
    per = any_of([name for name in units("zh") if not name.isascii() or len(name) > 1 or name in "Lm"])
    rate = re.compile(rf"(?:({speaker.number_pattern})[-–—~～至])?({speaker.number_pattern}){_RATE}")
    return [
        Rule("0$", _TEMPERATURES, own.temperatures, then=after_number(rf"{SPACE}?[-–—~～〜至到]"), first=r"\-−+"),
        Rule("0", rate, own.rate, then=after_number(rf"[{_HAN}]{{1,3}}(?:[/／]|\Z)|[-–—~～至]")),
        Rule("0", _BORN, lambda match: f"{speaker.numbers.digits(match[1])}后", then="后", least=2),
        Rule("0", _SAID_BY_DIGIT, own.cry, least=3),
        Rule("a", _PLATE, own.plate, first="A-Z"),
        Rule("0", _SERVICE, own.service, least=5),
        Rule("0", _LASTING, own.lasting, then=" ?(?:h|小)"),
        Rule(
            "0",
            re.compile(r"(\d[\d,]*)\.00?(?=[万亿]?(?:元|美元|欧元|块))"),
            lambda match: speaker.number(match[1]),
            then=after_number(r"\."),
        ),
        Rule("0", _YEAR, lambda match: speaker.numbers.year(int(match.group())), least=4),
        Rule("0", _FIGURE, own.figure, then=" ?[-–—]"),
        Rule("0", _DAY, own.day, then="/"),
        Rule("$", _CHANGE, lambda match: "下降" if match.group() in "-−" else "增长", first=r"+\-−"),
        Rule("$", _SPAN, lambda _: speaker.words.to, first="~～〜—–\\-"),
        Rule("$", _DRAWN, lambda _: speaker.words.pause, first="~～〜"),
        Rule("$", _CASE, own.case, first="(（"),
        Rule("$", _DOCUMENT, own.document, first="〔(（"),
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
        count = self._speaker.counted(match[2], match.string, match.start(3))
        first = f"{self._speaker.number(match[1])}到" if match[1] else ""
        return f"每{_PERIODS.get(match[4], match[4])}{first}{count}{match[3]}"

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

    def cry(self, match: re.Match[str]) -> str:
        """*九九六*; a pause before another, `233 666`."""
        apart = re.match(r" \d", match.string[match.end() :])
        return self._numbers.digits(match.group()) + (self._speaker.words.pause if apart else "")

    def plate(self, match: re.Match[str]) -> str:
        """*京A幺二三四五*, of a car"""
        return " ".join([match[1], *(self._numbers.called(char) if char.isdecimal() else char for char in match[2])])

    def service(self, match: re.Match[str]) -> str | None:
        text = match.string
        called = _SERVICE_BEFORE.search(text, 0, match.start()) or _SERVICE_AFTER.match(text, match.end())
        return self._numbers.called(match.group()) if called else None

    def lasting(self, match: re.Match[str]) -> str:
        """*一小时三十分钟*"""
        hours = self._speaker.counted(match[1], "小时", 0)
        return f"{hours}小时{self._speaker.number(match[2])}分钟"

    def figure(self, match: re.Match[str]) -> str:
        """*图一杠二*"""
        return f"{self._speaker.number(match[1])}杠{self._speaker.number(match[2])}"

    def day(self, match: re.Match[str]) -> str | None:
        """*三月五日*"""
        month, day = int(match[1] or match[3]), int(match[2] or match[4])
        if not (1 <= month <= 12 and 1 <= day <= 31) or fraction_span(match):
            return None
        return f"{self._numbers.cardinal(month)}月{self._numbers.cardinal(day)}日"

    def case(self, match: re.Match[str]) -> str:
        """*二零二三，京零幺民终幺二三四号*"""
        year, number = self._numbers.year(int(match[1])), self._numbers.called(match[5])
        return f"{year}，{match[2]}{self._numbers.called(match[3])}{match[4]}{number}号"

    def document(self, match: re.Match[str]) -> str:
        """*国发，二零二三，十二号*"""
        return f"，{self._numbers.year(int(match[1]))}，"

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
