"""Units made of units: `mol·L⁻¹`, `J/(kg·K)`, `kg·m²`."""

from __future__ import annotations

import re

from mirza.speech.text.language import units
from mirza.speech.text.places import any_of
from mirza.speech.text.say import powers
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number, first_of
from mirza.speech.text.say.unit_names import many_of, named, per_name

_AND = {"en": "", "fr": "et par", "de": "und", "es": "y", "zh": "", "ja": ""}
"""Between two units below the line: *par kilogramme et par kelvin*."""


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before plain measures, which would take the first unit alone."""
    if not speaker.spaced:
        return []
    symbols = any_of(name for name in units(speaker.code) if not re.search(r"[/²³\d]", name) or name[-1] in "²³")
    factor = rf"[·⋅∙](?:{symbols})(?![\w⁻^])"
    below = rf"[·⋅∙.]?{SPACE}?(?:{symbols})(?:⁻[¹²³]|\^-[123]|\^\{{-[123]\}})"
    minus = r"(?:⁻|\^-|\^\{-)"
    ahead = rf"{SPACE}?(?:{symbols})(?:{minus}|(?![A-Za-zµμ])[·⋅∙.]?{SPACE}?(?:{symbols}){minus}|[·⋅∙](?:{symbols})(?!\w)|/\()"
    bracket = rf"/\((?:{symbols})(?:[·⋅∙.](?:{symbols}))+\)"
    pattern = re.compile(
        rf"(?P<number>{speaker.number_pattern})(?P<power>{SPACE}?[×x·]{SPACE}?10(?:\^-?\d+|[⁻⁰¹²³⁴-⁹]+))?(?={ahead}){SPACE}?"
        rf"(?:(?P<unit>{symbols})(?![⁻^A-Za-zµμ])(?P<factors>(?:{factor})*))?"
        rf"(?P<below>(?:{below})+|{bracket}|)(?!\w)"
    )
    part = re.compile(rf"({symbols})(?:⁻([¹²³])|\^\{{?-([123])\}}?)?")

    def say(match: re.Match[str]) -> str | None:
        """*kilojoules par kilogramme et par kelvin*"""
        if not (match["factors"] or match["below"]):
            return None
        unit = match["unit"]
        if match["power"]:
            exponent = powers.exponent_of(re.sub(rf"^{SPACE}?[×x·]{SPACE}?10\^?", "", match["power"]))
            said = speaker.join(
                speaker.number(match["number"]),
                powers.times_ten(speaker, exponent),
                many_of(speaker, unit) if unit else "",
            )
        elif unit:
            said = named(speaker, match["number"], units(speaker.code)[unit].partition("/")[0])
        else:
            said = speaker.number(match["number"])
        above = [per_name(speaker, name) for name, _, _ in part.findall(match["factors"] or "")]
        lower: list[str] = []
        for name, small, plain in part.findall(match["below"]):
            exponent = powers.exponent_of(small or plain or "1")
            squared = {"2": speaker.words.squared, "3": speaker.words.cubed}.get(exponent, "")
            area = f"{name}{'²' if exponent == '2' else '³'}"
            whole = area in units(speaker.code) and squared
            lower.append(per_name(speaker, area) if whole else speaker.join(per_name(speaker, name), squared))
        joined = f" {_AND[speaker.code]} ".join(lower).replace("  ", " ")
        return speaker.join(said, *above, speaker.words.per if joined else "", joined)

    then = after_number(rf"{SPACE}?[×x·{first_of(units(speaker.code))}]")
    return [Rule("0", pattern, say, then=then)]
