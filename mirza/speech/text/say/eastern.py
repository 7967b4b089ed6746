"""What Chinese and Japanese share: amounts for each litre, ratios, powers of ten, items, Roman numerals."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.language import units
from mirza.speech.text.places import CJK, any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number
from mirza.speech.text.say.clock import Times
from mirza.speech.text.say.powers import SUBSCRIPTS, exponent_of
from mirza.speech.text.say.units import per_name
from mirza.speech.text.say.web import EXTENSIONS
from mirza.speech.text.say.words import roman_value

_NUMERAL = r"X{0,3}(?:IX|IV|V?I{0,3})"
_ROMAN = re.compile(
    rf"(?<![A-Za-z])(?:(?=[IVX]{{2}}){_NUMERAL}(?=[{CJK}・])(?![注滴])|[IVX](?=[期型級类類卷章節节度相部]))|"
    rf"(?<=[{CJK}])(?=[IVX]{{2}}){_NUMERAL}(?![A-Za-z\d])"
)
_CIRCLED_SIGNS = "①-⑳❶-❿"
_CIRCLED = re.compile(rf"[{_CIRCLED_SIGNS}](?=\s?[^\W_])(?!\s?(?:[和与及或得式可所中是的とはがをのに]|より|から))")
_ANY_CIRCLED = re.compile(f"[{_CIRCLED_SIGNS}]")
_BEGINS = re.compile(r"(?:[\s。；;，,、：:！!？?…」]|\A)\Z")
_FILE = re.compile(rf"\.({EXTENSIONS})(?![A-Za-z\d])")
_RATIOS = re.compile(r"\d+(?::\d+){2,}(?![\d:])")
_RATIO_BEFORE = re.compile(r"(?:[A-Za-z]:[A-Za-z] ?=|比[例为是值]?[为是：]?|割合は) ?\Z")
_RATIO = re.compile(r"(?<![A-Za-z][A-Za-z])(?<=[A-Za-z]):(?=[A-Za-z](?![A-Za-z]))")
"""`a:b`"""
_MODEL = re.compile(r"(?<=[A-Z][A-Z] )\d{4}(?!\d|[.,]\d|[年个名人次元円万億亿%％]| ?[a-zA-Zµμ]{1,3}(?![A-Za-z]))")
"""`RTX 4070`"""
_WEEKDAYS = re.compile(r"(?<=[月火水木金土日一二三四五六七][)）])[〜～~–—-](?=\d)")
"""From one date with its day to another."""
_WEEKDAY_BEFORE = re.compile(r"(?:周[一二三四五六日天]|[月火水木金土日]曜日?|期[一二三四五六日天])[(（]\Z")
_DAY_HALF = re.compile(r"(\d{1,2})(?::(\d{2}))? ?([AaPp])\.? ?[Mm](?:\.(?! ?[A-Z])|(?![A-Za-z]))")
_FROM_TIME = re.compile(r"(?<=\d:\d\d)(?: ?[—–]+ ?|[~～〜-])(?=\d{1,2}:\d\d)")
_CHOICE = re.compile(rf"(?<![A-Za-z\d])([A-H])\.(?=[{CJK}])")
"""`A.苹果 B.香蕉`"""
_ANSWER = re.compile(rf"(\d{{1,3}})\.(?=[{CJK}]|[A-F](?![A-Za-z])) ?([A-Fア-オ](?![A-Za-zァ-ヶー]))?")
"""`1.打开`, `1.A 2.B`"""
_GROUPS = re.compile(r"\d{3,4}(?:[ -]\d{3,4}){1,3}(?![\d年])")
_NUMBERED = re.compile(r"(?:ID|番号|会[议議]号|号码|コード|密码)[：:はが为是]? ?\Z")
_LASTED = re.compile(
    r"(?:(\d{1,3})° ?)?(\d{1,3})['′’](?: ?(\d{1,2})(?:[\"″”]|''|′′)(?:/(km))?|(?<=°\d['′’])|(?<=°\d\d['′’]))"
)
_LOGARITHM = re.compile(r"(?<=log)([₀-₉]+) ?(\d+|[A-Za-z](?![A-Za-z]))")
_LETTERS_BELOW = dict(zip("ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼ", "aeoxhklmnpstij", strict=True))
_BELOW = "₀-₉ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼ₊₋"
_INDEX = re.compile(rf"[₀-₉]*[ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼ₊₋][{_BELOW}]*")
"""`aₙ₊₁`"""
_LIMIT = re.compile(r"(?:→|->)(?= ?[-+−]?[\d∞a-z])")
_AFTER_LIMIT = re.compile(r"lim[^a-z]{0,6}[a-z] ?\Z")
_TREND = re.compile(r"([↑↓])(?![\w])")
_MEASURED = re.compile(r"(?:\d[%℃]?|/[A-Za-zμ²³]+|\d ?[a-zμ]+[A-Za-z]*)\Z")
"""Before an arrow that says how a value is, and not of a gas: `H₂↑`."""
_ALL = re.compile(r"(?<=[A-Za-z]{2} )\*(?= ?[A-Za-z]{2})")
"""`SELECT * FROM`"""
_SHARES = "L mL ml dL dl μL µL uL mm³ cm³ m³ m² km² mm2 HPF".split()
"""What a count is for each of; a letter that may be a variable is none of these."""
_NO_UNIT_ALONE = frozenset(["ha", "m/s^2"])
_WORDS = {
    "zh": {"'": "的导数", "→": "趋于", "↑": "偏高", "↓": "偏低", "*": "星号"},
    "ja": {"'": "ダッシュ", "→": "矢印", "↑": "上昇", "↓": "低下", "*": "アスタリスク"},
}


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.spaced:
        return []
    own = _Eastern(speaker)
    words, called = _WORDS[speaker.code], [name for name in speaker.language.abbreviations if name[0].isdecimal()]
    shares = any_of([name for name in _SHARES if name in units(speaker.code)])
    symbols = any_of(units(speaker.code))
    alone = any_of([name for name in units(speaker.code) if len(name) > 1 and name not in _NO_UNIT_ALONE])
    ten = re.compile(rf"10(?:\^\{{?(-?\d+)\}}?|([⁻⁰¹²³⁴-⁹]+)) ?({symbols})(?:/({shares}))?(?![A-Za-z\d²³])")
    to = speaker.words.to
    return [
        Rule("0", _LASTED, own.lasted, then="[°'′’]"),
        Rule("0", ten, own.ten, then=r"[\^⁻⁰¹²³⁴-⁹]", least=2),
        Rule("$", re.compile(rf"[(（]({alone})(?:/({shares}|s|min|h))?[)）]"), own.alone, first="(（"),
        Rule("$", re.compile(r"(?<=[)）])['′]{1,2}(?= ?=)"), lambda _: words["'"], tight=True, first="'′"),
        Rule("$", _LIMIT, own.limit, first="→\\-"),
        Rule("$", _ALL, lambda _: words["*"], first="*"),
        Rule("$", re.compile(r"[)）](?=[²³⁴-⁹^])"), own.whole, first=")）"),
        Rule("$a", re.compile(r"π/(\d+)"), own.part_of_pi, first="π"),
        Rule("0", re.compile(r"(\d{1,2})秒(\d{2,3})(?![\d.])"), own.split_second, then="秒"),
        Rule("0", re.compile(r"(?<=[万億亿兆])0,?0*([1-9]\d*)(?![\d.,])"), own.rest, zero=True),
        Rule("0", _DAY_HALF, own.day_half, then=f"(?::|{SPACE}?[AaPp])"),
        Rule("$", _FROM_TIME, lambda _: to, first="—–~～〜\\-"),
        Rule("$", re.compile(r"(?<=[A-Z]{2})/(?=\d(?:\.\d)?(?![\d.]))"), lambda _: " ", tight=True, first="/"),
        Rule("a$", re.compile(rf"(?<=[万億亿])({symbols})(?![A-Za-z\d])"), lambda match: per_name(speaker, match[1])),
        Rule("a", _CHOICE, own.choice, first="A-H"),
        Rule(
            "$", re.compile(rf"(?<=[ア-オ])(?<![{CJK}][ア-オ])\.(?=[{CJK}])"), lambda _: speaker.words.pause, first="."
        ),
        Rule("0", _ANSWER, own.answer, then=r"\."),
        Rule("$", re.compile(r"[(（](\d{1,2})[)）](?=[班組组])"), lambda match: speaker.number(match[1]), first="(（"),
        Rule("0", re.compile(r"(\d{1,2})[·・](\d{1,2})(?![\d·・])"), own.dated, then="[·・]"),
        Rule("0", _GROUPS, own.groups, then="[ -]", least=3),
        Rule("$", re.compile("[·・]"), own.between, first="·・"),
        Rule("$", _FILE, lambda match: f" {speaker.words.dot} {match[1]}", first="."),
        Rule("0", _RATIOS, own.ratios, then=r":\d"),
        Rule("$", _RATIO, lambda _: speaker.words.ratio, first=":：", tight=True),
        Rule("$a", _LOGARITHM, own.logarithm, first="₀-₉"),
        Rule("$a", _INDEX, own.index, first=_BELOW),
        Rule("$a", re.compile(r"([³⁴-⁹])√"), own.root, first="³⁴-⁹"),
        Rule("0", _MODEL, lambda match: speaker.numbers.digits(match.group()), least=4),
        Rule("$", _TREND, own.trend, first="↑↓"),
        Rule("$", _WEEKDAYS, lambda _: to, first="〜～~–—\\-"),
        Rule("0", re.compile(r"(\d{1,2})/(\d{1,2})(?=[)）])"), own.day, then="/"),
        Rule("0", re.compile(rf"(?:{any_of(called)})(?![-\d天日个個])"), own.called, then="-"),
        Rule("$a", _ROMAN, own.roman, first="IVX"),
        Rule("$a", _CIRCLED, own.circled, first=_CIRCLED_SIGNS),
        Rule(
            "0", re.compile(rf"({speaker.number_pattern})/({shares})(?![A-Za-z\d])"), own.each, then=after_number("/")
        ),
        Rule("$", re.compile(rf"(?<=[\d⁰¹²³⁴-⁹])/({shares})(?![A-Za-z\d])"), own.share, first="/"),
        Rule("$a", re.compile(rf"π ?({symbols})(?![A-Za-z\d²³^])"), own.pi, first="π"),
    ]


class _Eastern:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._words = speaker.words
        self._own = _WORDS[speaker.code]
        self._chinese = speaker.code == "zh"

    def each(self, match: re.Match[str]) -> str:
        """*每微升七千五百*, *一マイクロリットルあたり七千五百*"""
        return self._each(per_name(self._speaker, match[2]), self._speaker.number(match[1]))

    def _each(self, name: str, count: str) -> str:
        return f"每{name}{count}" if self._chinese else f"一{name}あたり{count}"

    def share(self, match: re.Match[str]) -> str:
        return self._words.per + per_name(self._speaker, match[1])

    def alone(self, match: re.Match[str]) -> str:
        """A unit in brackets: `质量（kg）`"""
        pause, name = self._words.pause, per_name(self._speaker, match[1])
        return pause + name + (self._words.per + per_name(self._speaker, match[2]) if match[2] else "") + pause

    def ten(self, match: re.Match[str]) -> str:
        """*十的负七次方摩尔每升*"""
        speaker, exponent = self._speaker, exponent_of(match[1] or match[2])
        minus = self._words.minus if exponent.startswith("-") else ""
        power = self._words.power.format(minus + speaker.number(exponent.lstrip("-")))
        per = self._words.per + per_name(speaker, match[4]) if match[4] else ""
        return speaker.number("10") + power + per_name(speaker, match[3]) + per

    def pi(self, match: re.Match[str]) -> str:
        return self._speaker.language.symbols["π"] + per_name(self._speaker, match[1])

    def lasted(self, match: re.Match[str]) -> str:
        """*五分零六秒*, *北纬三十五度十二分*"""
        said = ""
        for count, name in ((match[1], "度"), (match[2], "分"), (match[3], "秒")):
            zero = "零" if self._chinese and said and count and int(count) < 10 else ""
            said += zero + self._speaker.number(str(int(count))) + name if count else ""
        return self._each(per_name(self._speaker, match[4]), said) if match[4] else said

    def whole(self, match: re.Match[str]) -> str | None:
        """*a加b整体的平方*, for the power of a bracket with a sum in it."""
        text, end = match.string, match.start()
        opened = max(text.rfind("(", 0, end), text.rfind("（", 0, end))
        if opened < 0 or not re.search(r"[+\-−×*/÷]", text[opened:end]):
            return ""
        return "整体" if self._chinese else "全体"

    def part_of_pi(self, match: re.Match[str]) -> str:
        """*二分之派*"""
        return self._speaker.number(match[1]) + self._words.over + self._speaker.language.symbols["π"]

    def split_second(self, match: re.Match[str]) -> str:
        """*九秒五八*, of a race"""
        return f"{self._speaker.number(match[1])}秒{self._speaker.numbers.digits(match[2])}"

    def rest(self, match: re.Match[str]) -> str:
        """`4万0,109`"""
        return ("零" if self._chinese else "") + self._speaker.number(match[1])

    def day_half(self, match: re.Match[str]) -> str | None:
        """*下午四点十五分*"""
        hour, minute = int(match[1]), int(match[2] or 0)
        if not 0 < hour <= 12 or minute > 59:
            return None
        morning = match[3] in "Aa"
        half = ("上午" if morning else "下午") if self._chinese else ("午前" if morning else "午後")
        return half + Times(self._speaker).say(hour, minute, "")

    def choice(self, match: re.Match[str]) -> str:
        """*A，苹果，B，香蕉*"""
        return self._words.pause + match[1] + self._words.pause

    def answer(self, match: re.Match[str]) -> str:
        """*一，打开*; *一，A，二，B*"""
        pause = self._words.pause
        return self._speaker.number(match[1]) + pause + (match[2] + pause if match[2] else "")

    def dated(self, match: re.Match[str]) -> str | None:
        """*九一一*, of a day that is a name"""
        if re.search(r"[=^²³]", match.string) or not (int(match[1]) <= 12 and int(match[2]) <= 31):
            return None
        digits = self._speaker.numbers.digits
        return digits(match[1]) + ("" if self._chinese else "・") + digits(match[2])

    def groups(self, match: re.Match[str]) -> str | None:
        """`会议号 123 456 789`"""
        if not _NUMBERED.search(match.string, 0, match.start()):
            return None
        return self._words.pause.join(self._speaker.numbers.called(part) for part in re.split("[ -]", match.group()))

    def limit(self, match: re.Match[str]) -> str | None:
        return self._own["→"] if _AFTER_LIMIT.search(match.string, 0, match.start()) else None

    def between(self, match: re.Match[str]) -> str | None:
        """Nothing between names, 列夫·托尔斯泰; in a formula it is a product."""
        if match.group() == "・" or re.search(r"[=^²³]", match.string):
            return None
        return ""

    def ratios(self, match: re.Match[str]) -> str | None:
        """*八比十二比十五*, which `8:12:15` is behind another ratio only."""
        if not _RATIO_BEFORE.search(match.string, 0, match.start()):
            return None
        return self._words.ratio.join(self._speaker.number(part) for part in match.group().split(":"))

    def logarithm(self, match: re.Match[str]) -> str:
        base, of = self._speaker.number(match[1].translate(SUBSCRIPTS)), match[2]
        said = self._speaker.number(of) if of.isdecimal() else of
        return f"以{base}为底{said}的对数" if self._chinese else f"{base}の{said}"

    def index(self, match: re.Match[str]) -> str:
        """*a n加一*"""
        plain = match.group().translate(SUBSCRIPTS).translate(str.maketrans(_LETTERS_BELOW))
        signs = {"₊": self._words.plus, "₋": self._words.subtracted}
        parts: list[str] = re.findall(r"\d+|[a-z]|[₊₋]", plain)
        said = "".join(self._speaker.number(part) if part.isdecimal() else signs.get(part, part) for part in parts)
        return f" {said}"

    def root(self, match: re.Match[str]) -> str:
        degree = self._speaker.number(str(unicodedata.digit(match[1])))
        return f"{degree}次根号" if self._chinese else f"{degree}乗根"

    def trend(self, match: re.Match[str]) -> str | None:
        before = match.string[max(0, match.start() - 8) : match.start()]
        return self._words.pause + self._own[match[1]] if _MEASURED.search(before) else None

    def day(self, match: re.Match[str]) -> str | None:
        """`周四（5/16）`"""
        month, day = int(match[1]), int(match[2])
        named = _WEEKDAY_BEFORE.search(match.string, 0, match.start())
        if named is None or not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        return f"{self._speaker.numbers.cardinal(month)}月{self._speaker.numbers.cardinal(day)}日"

    def called(self, match: re.Match[str]) -> str:
        return self._speaker.language.abbreviations[match.group()]

    def roman(self, match: re.Match[str]) -> str:
        return self._speaker.number(str(roman_value(match.group())))

    def circled(self, match: re.Match[str]) -> str | None:
        """The number of an item, ①打开盒子；②取出说明书; none that is spoken of, 如①所示."""
        text = match.string
        if not _BEGINS.search(text, 0, match.start()) and len(_ANY_CIRCLED.findall(text)) < 2:
            return None
        pause = self._words.pause
        return pause + self._speaker.number(str(int(unicodedata.numeric(match.group())))) + pause


def fraction_span(match: re.Match[str]) -> bool:
    """Whether `1/4~1/2` goes from a fraction to a greater one, which days would not."""
    near = match.string[max(0, match.start() - 6) : match.end() + 6]
    span = re.search(r"(\d{1,2})/(\d{1,2})[~～〜–—-](\d{1,2})/(\d{1,2})", near)
    if span is None:
        return False
    first, last = int(span[1]) / int(span[2]), int(span[3]) / int(span[4])
    return first < last <= 1
