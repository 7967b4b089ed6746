"""What is a name and no amount in Chinese and Japanese: items, choices, Roman numerals, models, numbers that are called."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.places import CJK, any_of
from mirza.speech.text.say.base import Rule, Speaker
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
_MODEL = re.compile(r"(?<=[A-Z][A-Z] )\d{4}(?!\d|[.,]\d|[年个名人次元円万億亿%％]| ?[a-zA-Zµμ]{1,3}(?![A-Za-z]))")
"""`RTX 4070`"""
_CHOICE = re.compile(rf"(?<![A-Za-z\d])([A-H])\.(?=[{CJK}])")
"""`A.苹果 B.香蕉`"""
_NAMED_SPAN = re.compile(r"([A-Z]{1,2})(\d{1,3})[-–~～〜]\1(\d{1,3})(?![A-Za-z\d])")
"""`P50-P75`"""
_ANSWER = re.compile(rf"(\d{{1,3}})\.(?=[{CJK}]|[A-F](?![A-Za-z])) ?([A-Fア-オ](?![A-Za-zァ-ヶー]))?")
"""`1.打开`, `1.A 2.B`"""
_GROUPS = re.compile(
    r"(?!(?:19|20)\d\d-\d\d-\d\d(?!\d))(?:\d{1,4}(?:[ -]\d{1,6}){2,5}|\d{3,4}[ -]\d{3,4})(?![\d年]|[:.]\d)"
)
_NUMBERED = re.compile(r"(?:ID|番号|[单编议議]号|号码|コード|[密件餐证]码)[：:はが是为]? ?\Z")


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages."""
    if speaker.spaced:
        return []
    own = _Labels(speaker)
    called = [name for name in speaker.language.abbreviations if name[0].isdecimal()]
    return [
        Rule("$", re.compile(r"(?<=[A-Z]{2})/(?=\d(?:\.\d)?(?![\d.]))"), lambda _: " ", tight=True, first="/"),
        Rule("a", _NAMED_SPAN, own.named_span, first="A-Z"),
        Rule("a", _CHOICE, own.choice, first="A-H"),
        Rule(
            "$", re.compile(rf"(?<=[ア-オ])(?<![{CJK}][ア-オ])\.(?=[{CJK}])"), lambda _: speaker.words.pause, first="."
        ),
        Rule("0", _ANSWER, own.answer, then=r"\."),
        Rule("$", re.compile(r"[(（](\d{1,2})[)）](?=[班組组])"), lambda match: speaker.number(match[1]), first="(（"),
        Rule("0", _GROUPS, own.groups, then=r"[ -]\d"),
        Rule("$", re.compile("[·・]"), own.between, first="·・"),
        Rule("$", _FILE, lambda match: f" {speaker.words.dot} {match[1]}", first="."),
        Rule("0", _MODEL, lambda match: speaker.numbers.digits(match.group()), least=4),
        Rule("0", re.compile(rf"(?:{any_of(called)})(?![-\d天日个個])"), own.called, then="-"),
        Rule("$a", _ROMAN, own.roman, first="IVX"),
        Rule("$a", _CIRCLED, own.circled, first=_CIRCLED_SIGNS),
    ]


class _Labels:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._words = speaker.words

    def choice(self, match: re.Match[str]) -> str:
        """*A，苹果，B，香蕉*"""
        return self._words.pause + match[1] + self._words.pause

    def named_span(self, match: re.Match[str]) -> str:
        number = self._speaker.number
        return f"{match[1]} {number(match[2])}{self._words.to}{match[1]} {number(match[3])}"

    def answer(self, match: re.Match[str]) -> str:
        """*一，打开*; *一，A，二，B*"""
        pause = self._words.pause
        return self._speaker.number(match[1]) + pause + (match[2] + pause if match[2] else "")

    def groups(self, match: re.Match[str]) -> str | None:
        """`会议号 123 456 789`"""
        if not _NUMBERED.search(match.string, 0, match.start()):
            return None
        return self._words.pause.join(self._speaker.numbers.called(part) for part in re.split("[ -]", match.group()))

    def between(self, match: re.Match[str]) -> str | None:
        """Nothing between names, 列夫·托尔斯泰; in a formula it is a product."""
        if match.group() == "・" or re.search(r"[=^²³]", match.string):
            return None
        return ""

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
