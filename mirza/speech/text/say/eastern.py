"""Measures and formulas as Chinese and Japanese share them: *每微升七千五百*, *十的负七次方摩尔每升*, *八比十二比十五*."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.language import units
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import Rule, Speaker, after_number
from mirza.speech.text.say.powers import SUBSCRIPTS, exponent_of
from mirza.speech.text.say.unit_names import each, per_name

_RATIOS = re.compile(r"\d+(?::\d+){2,}(?![\d:])")
_RATIO_BEFORE = re.compile(r"(?:[A-Za-z]:[A-Za-z] ?=|比[例为是值]?[为是：]?|割合は) ?\Z")
_RATIO = re.compile(r"(?<![A-Za-z][A-Za-z])(?<=[A-Za-z]):(?=[A-Za-z](?![A-Za-z]))")
"""`a:b`"""
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
    words = _WORDS[speaker.code]
    shares = any_of([name for name in _SHARES if name in units(speaker.code)])
    symbols = any_of(units(speaker.code))
    alone = any_of([name for name in units(speaker.code) if len(name) > 1 and name not in _NO_UNIT_ALONE])
    ten = re.compile(rf"10(?:\^\{{?(-?\d+)\}}?|([⁻⁰¹²³⁴-⁹]+)) ?({symbols})(?:/({shares}))?(?![A-Za-z\d²³])")
    return [
        Rule("0", ten, own.ten, then=r"[\^⁻⁰¹²³⁴-⁹]", least=2),
        Rule("$", re.compile(rf"[(（]({alone})(?:/({shares}|s|min|h))?[)）]"), own.alone, first="(（"),
        Rule("$", re.compile(r"(?<=[)）])['′]{1,2}(?= ?=)"), lambda _: words["'"], tight=True, first="'′"),
        Rule("$", _LIMIT, own.limit, first="→\\-"),
        Rule("$", _ALL, lambda _: words["*"], first="*"),
        Rule("$", re.compile(r"[)）](?=[²³⁴-⁹^])"), own.whole, first=")）"),
        Rule("$a", re.compile(r"π/(\d+)"), own.part_of_pi, first="π"),
        Rule("0", re.compile(r"(?<=[万億亿兆])0,?0*([1-9]\d*)(?![\d.,])"), own.rest, zero=True),
        Rule("a$", re.compile(rf"(?<=[万億亿])({symbols})(?![A-Za-z\d])"), lambda match: per_name(speaker, match[1])),
        Rule("0", _RATIOS, own.ratios, then=r":\d"),
        Rule("$", _RATIO, lambda _: speaker.words.ratio, first=":：", tight=True),
        Rule("$a", _LOGARITHM, own.logarithm, first="₀-₉"),
        Rule("$a", _INDEX, own.index, first=_BELOW),
        Rule("$a", re.compile(r"([³⁴-⁹])√"), own.root, first="³⁴-⁹"),
        Rule("$", _TREND, own.trend, first="↑↓"),
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
        return each(self._speaker, match[2], self._speaker.number(match[1]))

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

    def rest(self, match: re.Match[str]) -> str:
        """`4万0,109`"""
        return ("零" if self._chinese else "") + self._speaker.number(match[1])

    def limit(self, match: re.Match[str]) -> str | None:
        return self._own["→"] if _AFTER_LIMIT.search(match.string, 0, match.start()) else None

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
