"""Powers: *squared*, *to the power of six*, *times ten to the power of eight*; small digits below the line."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.say.base import Rule, Speaker, after_number

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉₋₌ᵢₙₖⁿ", "0123456789-=inkn")
_ANY_POWER = re.compile(r"\^(?=\{?\(?[-−]?\w)")
_BOUNDS = re.compile(r"([∑∫∏])_?\{?([^{}^\s]{1,12})\}?\^(?:\{([^{}]{1,12})\}|([^{}\s]))")
_SMALL_BOUNDS = re.compile(r"([∑∫∏Σ])([₀-₉ₐ-ₜᵢⱼᵣᵤᵥ₊₋₌]+)([⁰¹²³⁴-⁹ⁿᵐᵏ⁺⁻]+|\^∞|\^\{?[\w∞]+\}?)")
_FROM_TO = {
    "en": "{} from {} to {} of", "fr": "{} de {} à {} de", "de": "{} von {} bis {} über", "es": "{} de {} a {} de",
    "zh": "从{1}到{2}{0}", "ja": "{1}から{2}までの{0}",
}  # fmt: skip
_POWER = re.compile(r"\^\(?(-?\d+|[a-z](?![a-z]))\)?|\^\{(-?\d+|[a-z])\}|(⁻?[⁰¹²³⁴-⁹]+(?![⁰¹²³⁴-⁹⁺⁻]))")
_BASE = re.compile(r"(?:[^\W_\u3040-\u30ff\u3400-\u9fff])*[)|]?\Z")
_NO_BASE = ("", " ", "@", '"', "'", "(", ":")
_SUBSCRIPT = re.compile(r"[₀-₉]+")
_LETTERS_ABOVE, _LETTERS_BELOW = "ᵀⁿᵐᵏˣⁱʲ", "ₐₑₒₓₕₖₗₘₙₚₛₜᵢⱼᵣᵤᵥ"
_RAISED, _LOWERED = (
    re.compile(f"(?<=[^\\W_])[{_LETTERS_ABOVE}](?!\\w)"),
    re.compile(f"[{_LETTERS_BELOW}][{_LETTERS_BELOW}₀-₉₊₋]*"),
)
_ACCENTS = "\u0302\u0303\u0304\u0305\u0307\u20d7"
_ACCENT = re.compile(f"(?<=(?<![^\\W_])[A-Za-zα-ω])[{_ACCENTS}](?![^\\W_])")
_OVER = {
    "en": ("hat", "tilde", "bar", "bar", "dot", "vector"), "fr": ("chapeau", "tilde", "barre", "barre", "point", "vecteur"),
    "de": ("Dach", "Tilde", "quer", "quer", "Punkt", "Vektor"), "es": ("gorro", "tilde", "barra", "barra", "punto", "vector"),
}  # fmt: skip
"""What is over a letter, in the order of `_ACCENTS`."""
_TRANSPOSED = {
    "en": "transpose",
    "fr": "transposée",
    "de": "transponiert",
    "es": "transpuesta",
    "zh": "的转置",
    "ja": "転置",
}
_BASES = {"fr": "en base {} de", "de": "zur Basis {} von", "es": "en base {} de"}
"""Of a logarithm."""
_CHARGE = re.compile(r"(?P<size>[⁰¹²³⁴-⁹]*)(?P<sign>[⁺⁻]+)")


def rules(speaker: Speaker) -> list[Rule]:
    """`3e8` whole, else what stands after its base."""
    powers = _Powers(speaker)
    scientific = re.compile(rf"({speaker.number_pattern})[eE]([+-]?\d{{1,3}})(?!\w)")
    return [
        Rule("0", scientific, powers.scientific, then=after_number("[eE]")),
        Rule("$", _BOUNDS, powers.bounds, first="∑∫∏"),
        Rule("$a", _SMALL_BOUNDS, powers.small_bounds, first="∑∫∏Σ"),
        Rule("$a", _POWER, powers.power, first=r"\^⁻⁰¹²³⁴-⁹"),
        *([Rule("$", _ANY_POWER, powers.any_power, first=r"\^")] if speaker.words.power.endswith("{}") else []),
        Rule("$a", _CHARGE, powers.charge, first="⁰¹²³⁴-⁹⁺⁻"),
        Rule("$a", _SUBSCRIPT, powers.subscript, first="₀-₉"),
        Rule("a$", _RAISED, powers.raised, first=_LETTERS_ABOVE),
        Rule("a", _LOWERED, powers.lowered, first=_LETTERS_BELOW),
        *([Rule("$", _ACCENT, powers.accent, first=_ACCENTS)] if speaker.code in _OVER else []),
    ]


def times_ten(speaker: Speaker, exponent: str) -> str:
    """*times ten to the power of six*"""
    ten = speaker.numbers.cardinal(10)
    return speaker.join(
        speaker.words.times,
        ten + ("" if not speaker.language.spaced else " ") + speaker.words.power.format(_exponent(speaker, exponent)),
    )


def exponent_of(written: str) -> str:
    """An exponent in plain digits: `⁻³`, `+06`, `−3`."""
    plain = written.translate(SUPERSCRIPTS).replace("−", "-").lstrip("+")
    return str(int(plain)) if plain.lstrip("-").isdigit() else plain


class _Powers:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def power(self, match: re.Match[str]) -> str | None:
        exponent = match[1] or match[2] or match[3].translate(SUPERSCRIPTS)
        text, start = match.string, match.start()
        base = _BASE.search(text, 0, start)
        if match[3] and (
            base is None
            or not base.group()
            or (len(base.group()) > 4 and base.group()[-1] not in ")|" and "=" not in text)
        ):
            isotope = base is not None and not base.group() and re.match("[A-Z]", text[match.end() :])
            return self._speaker.number(exponent) if isotope and exponent.isdecimal() else ""  # or a footnote
        if match[3] and exponent == "1":
            return ""
        words = self._speaker.words
        if not match[3] and text[start - 1 : start] in _NO_BASE:
            return ""  # a version from there on, `^8.0.0`
        if exponent in ("2", "3"):
            return words.squared if exponent == "2" else words.cubed
        return words.power.format(_exponent(self._speaker, exponent))

    def charge(self, match: re.Match[str]) -> str:
        """*two plus*, of an ion."""
        size = match["size"].translate(SUPERSCRIPTS)
        words = self._speaker.words
        signs = [words.plus if sign == "⁺" else words.minus for sign in match["sign"]]
        return self._speaker.join(self._speaker.number(size) if size else "", *signs)

    def raised(self, match: re.Match[str]) -> str:
        """*to the power of n*, *transpose*"""
        letter = unicodedata.normalize("NFKC", match.group())
        return _TRANSPOSED[self._speaker.code] if letter == "T" else self._speaker.words.power.format(letter)

    def lowered(self, match: re.Match[str]) -> str:
        """*a n plus one*"""
        return self._terms(unicodedata.normalize("NFKC", match.group()))

    def accent(self, match: re.Match[str]) -> str:
        """*x bar*, *p hat*"""
        return _OVER[self._speaker.code][_ACCENTS.index(match.group())]

    def any_power(self, _match: re.Match[str]) -> str:
        """*to the power of*, before what is not a number or a letter only."""
        return self._speaker.words.power.format("").strip()

    def bounds(self, match: re.Match[str]) -> str | None:
        """*sum from i equals one to n of*"""
        words = self._speaker.words
        name = {"∑": words.sum, "∫": words.integral}.get(match[1])
        if name is None:
            return None
        return _FROM_TO[self._speaker.code].format(name, self._terms(match[2]), self._terms(match[3] or match[4]))

    def small_bounds(self, match: re.Match[str]) -> str:
        """`∫₀¹`, `Σᵢ₌₁ⁿ`"""
        words = self._speaker.words
        name = {"∫": words.integral, "∏": "product" if self._speaker.code == "en" else ""}.get(match[1], words.sum)
        first, last = (unicodedata.normalize("NFKC", part).strip("^{}") for part in match.groups()[1:])
        return _FROM_TO[self._speaker.code].format(name, self._terms(first), self._terms(last))

    def _terms(self, written: str) -> str:
        """Numbers, letters and signs of a bound."""
        words = self._speaker.words
        signs = {"=": words.equals, "+": words.plus, "-": words.minus, "−": words.minus, "∞": words.infinity}
        plain = written.translate(SUPERSCRIPTS).translate(SUBSCRIPTS)
        parts: list[str] = re.findall(r"\d+|[^\W\d_]+|[=+\-−∞]", plain)
        return self._speaker.join(
            *(self._speaker.number(part) if part.isdecimal() else signs.get(part, part) for part in parts)
        )

    def scientific(self, match: re.Match[str]) -> str:
        return self._speaker.join(self._speaker.number(match[1]), times_ten(self._speaker, exponent_of(match[2])))

    def subscript(self, match: re.Match[str]) -> str:
        """*x deux*, *log en base dix de*"""
        written = self._speaker.number(match.group().translate(SUBSCRIPTS))
        if match.string.endswith("log", 0, match.start()) and (base := _BASES.get(self._speaker.code)):
            return base.format(written)
        return written


def _exponent(speaker: Speaker, exponent: str) -> str:
    if exponent.isalpha():
        return exponent
    minus = speaker.words.minus if exponent.startswith("-") else ""
    return speaker.join(minus, speaker.numbers.cardinal(int(exponent.lstrip("-"))))
