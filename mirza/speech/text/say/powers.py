"""Powers: *squared*, *to the power of six*, *times ten to the power of eight*; small digits below the line."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker, after_number

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_POWER = re.compile(r"\^\(?(-?\d+|[a-z](?![a-z]))\)?|\^\{(-?\d+|[a-z])\}|([⁻⁰¹²³⁴-⁹]+)")
_BASE = re.compile(r"(?:[^\W_\u3040-\u30ff\u3400-\u9fff])*\)?\Z")
_SUBSCRIPT = re.compile(r"[₀-₉]+")


def rules(speaker: Speaker) -> list[Rule]:
    """`3e8` whole, else what stands after its base."""
    powers = _Powers(speaker)
    scientific = re.compile(rf"({speaker.number_pattern})[eE]([+-]?\d{{1,3}})(?!\w)")
    return [
        Rule("0", scientific, powers.scientific, then=after_number("[eE]")),
        Rule("$a", _POWER, powers.power, first=r"\^⁻⁰¹²³⁴-⁹"),
        Rule("$a", _SUBSCRIPT, powers.subscript, first="₀-₉"),
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
    plain = written.translate(_SUPERSCRIPTS).replace("−", "-").lstrip("+")
    return str(int(plain)) if plain.lstrip("-").isdigit() else plain


class _Powers:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def power(self, match: re.Match[str]) -> str | None:
        exponent = match[1] or match[2] or match[3].translate(_SUPERSCRIPTS)
        text, start = match.string, match.start()
        base = _BASE.search(text, 0, start)
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
