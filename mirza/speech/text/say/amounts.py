"""Numbers as such: ranges, fractions, powers, years, and what is left."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.numbers import FEMININE, MASCULINE
from mirza.speech.text.say.base import IN_NUMBER, SPACE, Rule, Speaker

VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞⅐⅑⅒"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_YEAR = re.compile(r"(1[1-9]\d\d|20\d\d)(?![\d.,]*\d)(?!['’]?s?\w)")
_FRACTION = re.compile(r"(?:(\d+) )?(\d{1,4})[/⁄](\d{1,4})(?![\d/])")
_SIZE = re.compile(r"(\d+(?:[.,]\d+)?)( ?)[x×✕]( ?)(\d+(?:[.,]\d+)?)(?:\2[x×✕]\3(\d+(?:[.,]\d+)?))?(?![\w^⁰-⁹²³¹])")
_POWER = re.compile(r"\^\(?(-?\d+|[a-z](?![a-z]))\)?|\^\{(-?\d+|[a-z])\}|([⁻⁰¹²³⁴-⁹]+)")
_SUBSCRIPT = re.compile(r"[₀-₉]+")
_NUMBERED_PLACES = frozenset(
    "exit gate room unit apt seat platform track bus route building block suite flat row".split()
)
"""After these `12B` is a name."""
_RANKED = re.compile(r"第(?:\d+[、，,])*\Z")
_BLOOD_PRESSURE = re.compile(r"(?:[12]\d\d)[/⁄](?:\d\d|1\d\d)(?!\d)")
_FEW = {"fr": ("demi", "tiers", "quart"), "de": ("halb", "Drittel", "Viertel"), "es": ("medio", "tercio", "cuarto")}


def rules(speaker: Speaker) -> list[Rule]:
    """From the narrowest form to a plain number."""
    number = speaker.number_pattern
    counts = _Counts(speaker)
    powers = _Powers(speaker)
    to = re.compile(rf"({number})(?:[-–—]|[ \xa0][–—][ \xa0]|～|~)({number})(?![\d-])")
    scales = "|".join(re.escape(name) for name in speaker.language.money.scales if name.isascii() and "=" not in name)
    return [
        Rule("0", to, counts.range, then=rf"{IN_NUMBER}|{SPACE}?[-–—～~]"),
        Rule("0", _FRACTION, counts.fraction, then=r"[/⁄ ]\d"),
        Rule("0", re.compile(rf"(\d+){SPACE}?([{VULGAR}])"), counts.mixed, then=f"{SPACE}?[{VULGAR}]"),
        Rule("$a", re.compile(f"[{VULGAR}]"), counts.vulgar, first=VULGAR),
        Rule("0", _SIZE, counts.size, then=r"[.,]\d| ?[x×✕]"),
        Rule("0", re.compile(rf"({number})[eE]([+-]?\d{{1,3}})(?!\w)"), powers.scientific, then=f"{IN_NUMBER}|[eE]"),
        Rule("0", re.compile(r"(\d{1,3})[x×](?=[ \xa0][^\W\d_]{2}|/[^\W\d_])"), counts.times, then="[x×]"),
        Rule("0", re.compile(rf"({number})({scales})(?![^\W_])"), counts.scaled, then=f"{IN_NUMBER}|[A-Za-z]"),
        Rule(
            "0",
            re.compile(rf"({number}){SPACE}(M|Mds?)(?=[ \xa0]d(?:['’]|e[ \xa0]))"),
            counts.scaled,
            then=f"{IN_NUMBER}|{SPACE}M",
        ),
        Rule("0", _YEAR, counts.year, least=4),
        Rule("0", re.compile(number), counts.plain),
        Rule("$a", _POWER, powers.power, first=r"\^⁻⁰¹²³⁴-⁹"),
        Rule("$a", _SUBSCRIPT, powers.subscript, first="₀-₉"),
        Rule("$a", re.compile(r"[^\x00-\x7f]"), counts.numeral, first=r"^\x00-\x7f"),
    ]


MIXED = rf"(?:\d+[ ])?\d{{1,3}}[/⁄]\d{{1,3}}|\d*[ ]?[{VULGAR}]"
"""A number with a fraction: `1/2`, `1 1/2`, `1½`, `½`."""


def mixed(speaker: Speaker, written: str) -> str | None:
    """How such a number is said."""
    counts = _Counts(speaker)
    if match := _FRACTION.fullmatch(written):
        return counts.fraction(match)
    if match := re.fullmatch(rf"(\d+) ?([{VULGAR}])", written):
        return counts.mixed(match)
    return counts.vulgar(vulgar) if (vulgar := re.fullmatch(f"[{VULGAR}]", written)) else None


def times_ten(speaker: Speaker, exponent: str) -> str:
    """*times ten to the power of six*"""
    ten = speaker.numbers.cardinal(10)
    return speaker.join(
        speaker.words.times,
        ten + ("" if not speaker.language.spaced else " ") + speaker.words.power.format(_exponent(speaker, exponent)),
    )


def exponent_of(written: str) -> str:
    """An exponent in plain digits: `⁻³`, `+06`, `−3`."""
    plain = written.translate(_SUPERSCRIPTS).replace("−", "-").lstrip("+")
    return str(int(plain)) if plain.lstrip("-").isdigit() else plain


class _Counts:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def range(self, match: re.Match[str]) -> str | None:
        speaker, words = self._speaker, self._speaker.words
        first, second = match[1], match[2]
        after = match.string[match.end() :].lstrip()
        if after.startswith("=") and "-" in match.group():
            return speaker.join(speaker.number(first), words.minus, speaker.number(second))
        years = re.fullmatch(r"1[1-9]\d\d|20\d\d", first) is not None
        if years and re.fullmatch(r"\d{4}|\d{2}", second):
            cjk = after.startswith("年")
            end = self._numbers.year(int(second)) if len(second) == 4 else self._numbers.cardinal(int(second))
            start = self._numbers.year(int(first)) + ("年" if cjk and speaker.code == "zh" else "")
            return speaker.join(start, words.to, end)
        if "-" in match.group() and min(len(first), len(second)) >= 3 and _falls(first, second) and not _scored(match):
            return speaker.join(speaker.number(first), speaker.number(second))  # a name, Boeing 747-400
        between = words.ratio if _scored(match) else words.to
        return speaker.join(speaker.number(first), between, speaker.counted(second, match.string, match.end()))

    def fraction(self, match: re.Match[str]) -> str | None:
        top, bottom = int(match[2]), int(match[3])
        if (top, bottom) in ((24, 7), (9, 11)) and not match[1]:
            return self._speaker.join(self._numbers.cardinal(top), self._numbers.cardinal(bottom))
        if bottom == 0 or (match[1] and top >= bottom):
            return None
        if self._speaker.code in ("zh", "ja") and _BLOOD_PRESSURE.fullmatch(match.group()):
            between = "比" if self._speaker.code == "zh" else "の"
            return self._numbers.cardinal(top) + between + self._numbers.cardinal(bottom)
        if (
            self._speaker.code == "es"
            and self._speaker.word_after(match.string, match.end()) == "partes"
            and bottom > 2
        ):
            part = "tercera" if bottom == 3 else self._numbers.ordinal(bottom, FEMININE)
            return f"{self._numbers.cardinal(top, FEMININE)} {part}{'s' if top > 1 else ''}"
        if self._speaker.code == "fr" and (top, bottom) == (1, 2) and not match[1]:
            return "une demi" if self._speaker.gender_after(match.string, match.end()) == FEMININE else "un demi"
        return self._mixed(int(match[1]) if match[1] else 0, top, bottom)

    def mixed(self, match: re.Match[str]) -> str:
        return self._mixed(int(match[1]), *_ratio(match[2]))

    def vulgar(self, match: re.Match[str]) -> str:
        return self._mixed(0, *_ratio(match.group()))

    def _mixed(self, whole: int, top: int, bottom: int) -> str:
        speaker, cardinal = self._speaker, self._numbers.cardinal
        part = _fraction(speaker, top, bottom)
        if not whole:
            return part
        match speaker.code:
            case "en" if (top, bottom) == (1, 2):
                return f"{cardinal(whole)} and a half"
            case "en":
                return f"{cardinal(whole)} and {part}"
            case "fr" if bottom in (2, 3, 4):
                return f"{cardinal(whole)} et {'demi' if bottom == 2 else part}"
            case "de" if (top, bottom) == (1, 2):
                return "eineinhalb" if whole == 1 else f"{cardinal(whole)}einhalb"
            case "de":
                return f"{cardinal(whole)} {part}"
            case "es":
                return f"{cardinal(whole)} y {'medio' if bottom == 2 else part}"
            case "zh":
                return f"{cardinal(whole)}又{part}"
            case "ja":
                return f"{cardinal(whole)}と{part}"
            case _:
                return speaker.join(cardinal(whole), part)

    def size(self, match: re.Match[str]) -> str:
        speaker = self._speaker
        spaced = bool(match[2]) and speaker.code == "en"
        by = speaker.words.times if spaced or speaker.code != "en" else "by"
        parts = [self._side(part) for part in (match[1], match[4], match[5]) if part]
        return speaker.join(*[word for part in parts for word in (by, part)][1:])

    def _side(self, literal: str) -> str:
        """*nineteen twenty by ten eighty*"""
        if self._speaker.code == "en" and re.fullmatch(r"[1-9]\d[1-9]\d|[1-9]\d\d[1-9]", literal):
            return self._numbers.year(int(literal))
        return self._speaker.number(literal)

    def times(self, match: re.Match[str]) -> str | None:
        """*five times faster*, *dreimal*"""
        count = int(match[1])
        match self._speaker.code:
            case "en":
                return f"{self._numbers.cardinal(count)} times"
            case "fr":
                return f"{self._numbers.cardinal(count, FEMININE)} fois"
            case "de":
                return ("ein" if count == 1 else self._numbers.cardinal(count)) + "mal"
            case "es":
                return f"{self._numbers.cardinal(count, FEMININE)} {'vez' if count == 1 else 'veces'}"
            case _:
                return None

    def scaled(self, match: re.Match[str]) -> str | None:
        scale = self._speaker.language.money.scales[match[2]]
        if match[2] in ("T", "b") and self._speaker.code == "en":
            return None
        if self._speaker.word_before(match.string, match.start()).lower() in _NUMBERED_PLACES:
            return None
        if match[2] == "K" and len(match[1]) == 1:
            return f"{self._speaker.number(match[1])} K"  # a race, a resolution
        many = self._speaker.value(match[1]) >= 2
        if self._speaker.code == "fr" and scale in ("million", "milliard") and many:
            scale += "s"
        if self._speaker.code == "es" and scale.endswith("ones"):
            scale = scale if many else scale.replace("ones", "ón")
            return self._speaker.join(self._speaker.number(match[1], MASCULINE), scale)
        return self._speaker.join(self._speaker.number(match[1]), scale)

    def year(self, match: re.Match[str]) -> str | None:
        if self._speaker.code in ("en", "de"):
            return self._numbers.year(int(match[1]))
        return None

    def plain(self, match: re.Match[str]) -> str:
        speaker = self._speaker
        ranked = _RANKED.search(match.string[: match.start()]) is not None
        if speaker.code == "zh" and match.group() == "2" and _measure_word(match) and not ranked:
            return "两"
        if speaker.code == "de" and speaker.cue_before(match.string, match.start()) in speaker.language.roman_cues:
            return speaker.number(match.group())  # Seite eins
        return speaker.counted(match.group(), match.string, match.end())

    def numeral(self, match: re.Match[str]) -> str | None:
        """A number in one character, `①`, `Ⅳ`, `٣`: any that Unicode knows the value of."""
        value = unicodedata.numeric(match.group(), None)
        if value is None or unicodedata.category(match.group())[0] != "N":
            return None
        return self._numbers.cardinal(int(value)) if value == int(value) else self._speaker.number(f"{value:.3g}")


class _Powers:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def power(self, match: re.Match[str]) -> str | None:
        exponent = match[1] or match[2] or match[3].translate(_SUPERSCRIPTS)
        text, start = match.string, match.start()
        base = re.search(r"[^\W_]*\)?\Z", text[:start])
        if match[3] and (base is None or not base.group() or (len(base.group()) > 4 and base.group()[-1] != ")")):
            return ""  # a footnote
        if match[3] and exponent == "1":
            return ""
        words = self._speaker.words
        if exponent in ("2", "3"):
            return words.squared if exponent == "2" else words.cubed
        return words.power.format(_exponent(self._speaker, exponent))

    def scientific(self, match: re.Match[str]) -> str:
        return self._speaker.join(self._speaker.number(match[1]), times_ten(self._speaker, exponent_of(match[2])))

    def subscript(self, match: re.Match[str]) -> str:
        return self._speaker.number(match.group().translate(_SUBSCRIPTS))


def _exponent(speaker: Speaker, exponent: str) -> str:
    if exponent.isalpha():
        return exponent
    minus = speaker.words.minus if exponent.startswith("-") else ""
    return speaker.join(minus, speaker.numbers.cardinal(int(exponent.lstrip("-"))))


def _fraction(speaker: Speaker, top: int, bottom: int) -> str:
    cardinal, words = speaker.numbers.cardinal, speaker.words
    match speaker.code:
        case "en":
            return _english_fraction(speaker, top, bottom)
        case "fr" if bottom in (2, 3, 4) and top < bottom:
            part = _FEW["fr"][bottom - 2]
            return f"{cardinal(top)} {part}{'s' if top > 1 and bottom == 4 else ''}"
        case "fr" if top < bottom <= 9:
            return f"{cardinal(top, MASCULINE)} {speaker.numbers.ordinal(bottom, MASCULINE)}{'s' if top > 1 else ''}"
        case "de" if bottom == 2 and top == 1:
            return "ein halb"
        case "de" if top < bottom <= 19:
            part = _FEW["de"][bottom - 2] if bottom <= 4 else speaker.numbers.ordinal(bottom).capitalize()[:-1] + "el"
            return f"{speaker.numbers.cardinal(top, MASCULINE)} {part}"
        case "es" if top < bottom <= 10:
            part = _FEW["es"][bottom - 2] if bottom <= 4 else speaker.numbers.ordinal(bottom)
            return f"{cardinal(top, MASCULINE)} {part}{'s' if top > 1 else ''}"
        case "zh" | "ja":
            return f"{cardinal(bottom)}{'分之' if speaker.code == 'zh' else '分の'}{cardinal(top)}"
        case _:
            return speaker.join(cardinal(top), words.over, cardinal(bottom))


def _english_fraction(speaker: Speaker, top: int, bottom: int) -> str:
    cardinal = speaker.numbers.cardinal
    if top == bottom:
        return f"{cardinal(top)} {cardinal(bottom)}"
    if bottom in (10, 100) and top < bottom:
        return f"{cardinal(top)} out of {cardinal(bottom)}"
    if bottom == 1 or top >= bottom or bottom > 100:
        return f"{cardinal(top)} over {cardinal(bottom)}"
    part = {2: "half", 4: "quarter"}.get(bottom) or speaker.numbers.ordinal(bottom)
    plural = "halves" if part == "half" else part + "s"
    return f"{cardinal(top)} {part if top == 1 else plural}"


def _ratio(character: str) -> tuple[int, int]:
    top, bottom = unicodedata.normalize("NFKC", character).split("\u2044")
    return int(top), int(bottom)


def _falls(first: str, second: str) -> bool:
    return first.isdigit() and second.isdigit() and int(first) > int(second)


def _scored(match: re.Match[str]) -> bool:
    """Whether `3-1` is a score: Chinese and Japanese have another word between."""
    text = match.string
    near = text[max(0, match.start() - 8) : match.start()] + text[match.end() : match.end() + 4]
    return re.search(r"比分|比赛|战胜|击败|赢|输|で勝|で敗|で負|スコア", near) is not None


def _measure_word(match: re.Match[str]) -> bool:
    """Before a measure word two is 两: 两个, 两年, 两公里."""
    after = match.string[match.end() : match.end() + 1]
    return (
        bool(after)
        and after
        in "个個只隻条本张位名家台辆件种次年天周岁杯碗瓶块元点小分秒米公千克斤倍层间座部篇句页份人口颗粒把片双对套门场遍回步项类组排段节根枝棵头匹"
    )
