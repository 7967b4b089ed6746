"""What Chinese and Japanese share: tags of chats, faces of brackets, amounts for each litre."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.language import units
from mirza.speech.text.places import CJK, any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number
from mirza.speech.text.say.powers import SUBSCRIPTS
from mirza.speech.text.say.units import per_name
from mirza.speech.text.say.web import EXTENSIONS
from mirza.speech.text.say.words import roman_value

_WORD = rf"[{CJK}A-Za-z_]+"
_TAGGED = re.compile(rf"#({_WORD})(?:#|(?={SPACE})|\Z)")
"""`#旅行#` is how a tag is written in China, `#旅行 ` elsewhere."""
_HANDLE = re.compile(rf"(?:(?<=[\s#])|(?<!.))@([{CJK}]{{1,12}})(?={SPACE})|(?<=[\s#])@()(?=[{CJK}])")
_FACE_SIGNS = r"\^´`｀￣≧≦▽∀ω∇□°•д;；∂◕ᴗ⌒ー"
_FACE = re.compile(
    rf"[mヽヾ٩╮ᕕo＼┐ε]?[(（](?:づ?[￣^゜]3[￣^゜]|(?=[^()（）]{{0,9}}[{_FACE_SIGNS}]|[TQ]_?[TQ]|[-=]_[-=]|[oOΘ]_[oOΘ]|>[_.]?<)"
    rf"[{_FACE_SIGNS}\s<>_\-=+.,·・:'\"*~〜～oOTQuUДノﾉシツ皿益ロ口з｡。!！?？و╯︵̀́]{{2,14}})[)）][mづ❤/ﾉノو╭╯ゞ゛ｂ┌︵┻━ーε~～;；]*"
)
"""`(*´∀｀*)`, `(づ￣3￣)づ`, `m(_ _)m`"""
_ROMAN = re.compile(
    rf"(?<![A-Za-z])(?:(?=[IVX]{{2}})X{{0,3}}(?:IX|IV|V?I{{0,3}})(?=[{CJK}・])(?![注滴])|[IVX](?=[期型级類类卷章節节度相部]))|"
    rf"(?<=[{CJK}])(?=[IVX]{{2}})X{{0,3}}(?:IX|IV|V?I{{0,3}})(?![A-Za-z\d])"
)
_CIRCLED = re.compile(r"(?:(?<=[\s。；;，,、：:！!？?…」])|(?<!.))[①-⑳❶-❿](?=\s?[^\W\d])", re.DOTALL)
"""The number of an item, ①打开盒子；②取出说明书; none that is spoken of, 如①所示."""
_FILE = re.compile(rf"\.({EXTENSIONS})(?![A-Za-z\d])")
_RATIOS = re.compile(r"\d+(?::\d+){2,}(?![\d:])")
_RATIO_BEFORE = re.compile(r"(?:[A-Za-z]:[A-Za-z] ?=|比[例为是值]?[为是：]?|割合は) ?\Z")
_RATIO = re.compile(r"(?<![A-Za-z][A-Za-z])(?<=[A-Za-z]):(?=[A-Za-z](?![A-Za-z]))")
"""`a:b`"""
_MODEL = re.compile(r"(?<=[A-Z][A-Z] )\d{4}(?!\d|[.,]\d|[年个名人次元円万億亿%％]| ?[a-zA-Zµμ]{1,3}(?![A-Za-z]))")
"""`RTX 4070`"""
_WEEKDAYS = re.compile(r"(?<=[月火水木金土日一二三四五六七][)）])[〜～~–—-](?=\d)")
"""From one date with its day to another."""
_HATS = re.compile(r"\^_?[\^;ー]+;?")
_PICTURES = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u2604\u2607-\u2669\u266d-\u2775\u2794-\u27bf⭐][\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d ]*"
)
"""Where a picture stands, a clause has ended."""
_LASTED = re.compile(
    r"(?:(\d{1,3})° ?)?(\d{1,3})['′’](?: ?(\d{1,2})(?:[\"″”]|''|′′)(?:/(km))?|(?<=°\d['′’])|(?<=°\d\d['′’]))"
)
_LIMIT = re.compile(r"(?:→|->)(?= ?[-+−]?[\d∞a-z])")
_DERIVED = {"zh": "的导数", "ja": "ダッシュ"}
_SHARES = "L mL ml dL dl μL µL uL mm³ cm³ m³ m² km² mm2 HPF".split()
"""What a count is for each of; a letter that may be a variable is none of these."""


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.spaced:
        return []
    pause = speaker.words.pause
    shares = any_of([name for name in _SHARES if name in units(speaker.code)])
    alone_names = [
        name for name in units(speaker.code) if len(name) > 1 and name != "ha" and not name.startswith("m/s^")
    ]

    def tagged(match: re.Match[str]) -> str:
        return f"{pause}{speaker.words.hashtag}{match[1].replace('_', ' ')}{pause}"

    called = re.compile(
        rf"(?:{any_of([name for name in speaker.language.abbreviations if name[0].isdecimal()])})(?![-\d天日个個])"
    )

    def handle(match: re.Match[str]) -> str:
        return pause + speaker.words.at + (match[1] + pause if match[1] else "")

    def closing(match: re.Match[str]) -> str | None:
        return pause if match.string.count("#", 0, match.start()) % 2 else None

    def roman(match: re.Match[str]) -> str:
        return speaker.number(str(roman_value(match.group())))

    def circled(match: re.Match[str]) -> str:
        return speaker.number(str(int(unicodedata.numeric(match.group())))) + pause

    units_alone = re.compile(rf"[(（]({any_of(alone_names)})(?:/({shares}|s|min|h))?[)）]")

    def alone(match: re.Match[str]) -> str:
        """A unit in brackets: `质量（kg）`"""
        name = per_name(speaker, match[1])
        return pause + name + (speaker.words.per + per_name(speaker, match[2]) if match[2] else "") + pause

    def lasted(match: re.Match[str]) -> str:
        """*五分零六秒*, *北纬三十五度十二分*"""
        said = ""
        for count, name in ((match[1], "度"), (match[2], "分"), (match[3], "秒")):
            zero = "零" if speaker.code == "zh" and said and count and int(count) < 10 else ""
            said += zero + speaker.number(str(int(count))) + name if count else ""
        if not match[4]:
            return said
        each = per_name(speaker, match[4])
        return f"每{each}{said}" if speaker.code == "zh" else f"一{each}あたり{said}"

    def limit(match: re.Match[str]) -> str | None:
        if not re.search(r"lim[^a-z]{0,6}[a-z] ?\Z", match.string[: match.start()]):
            return None
        return "趋于" if speaker.code == "zh" else "矢印"

    def face(match: re.Match[str]) -> str:
        return pause if re.search(r"\w", match.string[match.end() :]) else ""

    def each(match: re.Match[str]) -> str:
        count, name = speaker.number(match[1]), per_name(speaker, match[2])
        return f"每{name}{count}" if speaker.code == "zh" else f"一{name}あたり{count}"

    def share(match: re.Match[str]) -> str:
        return speaker.words.per + per_name(speaker, match[1])

    def scaled(match: re.Match[str]) -> str:
        return (speaker.language.symbols["π"]) + per_name(speaker, match[1])

    def standing(match: re.Match[str]) -> str:
        """`。docx`"""
        return f" {speaker.words.dot} {match[1]}"

    def ratios(match: re.Match[str]) -> str | None:
        """*八比十二比十五*, which `8:12:15` is behind another ratio only."""
        if not _RATIO_BEFORE.search(match.string, 0, match.start()):
            return None
        return speaker.words.ratio.join(speaker.number(part) for part in match.group().split(":"))

    def logarithm(match: re.Match[str]) -> str:
        base, of = speaker.number(match[1].translate(SUBSCRIPTS)), match[2]
        said = speaker.number(of) if of.isdecimal() else of
        return f"以{base}为底{said}的对数" if speaker.code == "zh" else f"{base}の{said}"

    def root(match: re.Match[str]) -> str:
        degree = speaker.number(str(unicodedata.digit(match[1])))
        return f"{degree}次根号" if speaker.code == "zh" else f"{degree}乗根"

    def trend(match: re.Match[str]) -> str:
        words = {"zh": ("偏高", "偏低"), "ja": ("上昇", "低下")}[speaker.code]
        return pause + words[match[1] == "↓"]

    def named(match: re.Match[str]) -> str:
        return speaker.numbers.digits(match.group())

    return [
        Rule("0", _LASTED, lasted, then="[°'′’]"),
        Rule("$", units_alone, alone, first="(（"),
        Rule("$", re.compile(r"(?<=[)）])['′]{1,2}(?= ?=)"), lambda _: _DERIVED[speaker.code], tight=True, first="'′"),
        Rule("$", _LIMIT, limit, first="→\\-"),
        Rule("$a", _FACE, face, first="(（mヽヾ٩╮ᕕo＼┐ε"),
        Rule("$", _PICTURES, face, first="\U0001f000-\U0001faff\u2600-\u2604\u2607-\u2669\u266d-\u2775\u2794-\u27bf⭐"),
        Rule("$", _HATS, face, first=r"\^"),
        Rule("$", _FILE, standing, first="."),
        Rule("0", _RATIOS, ratios, then=r":\d"),
        Rule("$", _RATIO, lambda _: speaker.words.ratio, first=":：", tight=True),
        Rule("$a", re.compile(r"(?<=log)([₀-₉]+) ?(\d+|[A-Za-z](?![A-Za-z]))"), logarithm, first="₀-₉"),
        Rule("$a", re.compile(r"([³⁴-⁹])√"), root, first="³⁴-⁹"),
        Rule("0", _MODEL, named, least=4),
        Rule("$", re.compile(r"(?<=[\w%℃²³])([↑↓])"), trend, first="↑↓"),
        Rule("$", _WEEKDAYS, lambda _: speaker.words.to, first="〜～~–—\\-"),
        Rule("0", called, lambda match: speaker.language.abbreviations[match.group()], then="-"),
        Rule("$", re.compile(rf"(?<=[{CJK}\d])#"), closing, first="#"),
        Rule("$", _TAGGED, tagged, first="#"),
        Rule("$", re.compile(r"#(?=[^\s#]{1,20}#)(?!\d+[,，])"), lambda _: pause + speaker.words.hashtag, first="#"),
        Rule("$a", _ROMAN, roman, first="IVX"),
        Rule("$a", _CIRCLED, circled, first="①-⑳❶-❿"),
        Rule("$", _HANDLE, handle, first="@"),
        Rule("0", re.compile(rf"({speaker.number_pattern})/({shares})(?![A-Za-z\d])"), each, then=after_number("/")),
        Rule("$", re.compile(rf"(?<=[\d⁰¹²³⁴-⁹])/({shares})(?![A-Za-z\d])"), share, first="/"),
        Rule("$a", re.compile(rf"π ?({any_of(units(speaker.code))})(?![A-Za-z\d²³^])"), scaled, first="π"),
    ]


def fraction_span(match: re.Match[str]) -> bool:
    """Whether `1/4~1/2` goes from a fraction to a greater one, which days would not."""
    span = re.search(
        r"(\d{1,2})/(\d{1,2})[~～〜–—-](\d{1,2})/(\d{1,2})", match.string[max(0, match.start() - 6) : match.end() + 6]
    )
    if span is None:
        return False
    first, last = int(span[1]) / int(span[2]), int(span[3]) / int(span[4])
    return first < last <= 1
