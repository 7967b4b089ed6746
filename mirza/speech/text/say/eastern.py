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

_WORD = rf"[{CJK}A-Za-z_]+"
_TAGGED = re.compile(rf"#({_WORD})(?:#|(?={SPACE})|\Z)")
"""`#旅行#` is how a tag is written in China, `#旅行 ` elsewhere."""
_HANDLE = re.compile(rf"(?<=[\s#])@(?=[{CJK}])|@(?=[{CJK}])(?<=\A@)")
_FACE_SIGNS = r"\^´`｀￣≧≦▽∀ω∇□°•д;；<>≡∂◕ᴗ⌒ー"
_FACE = re.compile(
    rf"[mｍヽヾ٩╮ᕕo\\＼┐ε]?[(（](?=[^()（）]{{0,9}}[{_FACE_SIGNS}]|[TQ]_?[TQ]|[-=]_[-=]|[oOΘ]_[oOΘ])"
    rf"[{_FACE_SIGNS}\s_\-=+.,·・:'\"*~〜～oOTQuUДノﾉシツ皿益ロ口з｡。!！?？و╯︵̀́]{{1,14}}[)）][mｍ/ﾉノو╭╯ゞ゛ｂ┌︵┻━ーε~～;；]*"
)
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
_SHARES = "L mL ml dL dl μL µL uL mm³ cm³ m³ m² km² mm2 HPF".split()
"""What a count is for each of; a letter that may be a variable is none of these."""


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.spaced:
        return []
    pause = speaker.words.pause

    def tagged(match: re.Match[str]) -> str:
        return f"{pause}{speaker.words.hashtag}{match[1].replace('_', ' ')}{pause}"

    def face(match: re.Match[str]) -> str:
        return pause if re.search(r"\w", match.string[match.end() :]) else ""

    def each(match: re.Match[str]) -> str:
        count, name = speaker.number(match[1]), per_name(speaker, match[2])
        return f"每{name}{count}" if speaker.code == "zh" else f"一{name}あたり{count}"

    def share(match: re.Match[str]) -> str:
        return speaker.words.per + per_name(speaker, match[1])

    def scaled(match: re.Match[str]) -> str:
        return (speaker.language.symbols["π"]) + per_name(speaker, match[1])

    shares = any_of([name for name in _SHARES if name in units(speaker.code)])

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
        Rule("$a", _FACE, face, first=r"(（mｍヽヾ٩╮ᕕo\\＼┐ε"),
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
        Rule("$", _TAGGED, tagged, first="#"),
        Rule("$", _HANDLE, lambda _: pause + speaker.words.at, first="@"),
        Rule("0", re.compile(rf"({speaker.number_pattern})/({shares})(?![A-Za-z\d])"), each, then=after_number("/")),
        Rule("$", re.compile(rf"(?<=[\d⁰¹²³⁴-⁹])/({shares})(?![A-Za-z\d])"), share, first="/"),
        Rule("$a", re.compile(rf"π ?({any_of(units(speaker.code))})(?![A-Za-z\d²³^])"), scaled, first="π"),
    ]
