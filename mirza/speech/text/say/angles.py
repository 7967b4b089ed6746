"""Degrees with minutes, and where on the globe: *thirty-seven degrees forty-six minutes north*."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker, after_number
from mirza.speech.text.say.unit_names import named

_WINDS = {
    "en": {"N": "north", "S": "south", "E": "east", "W": "west"},
    "fr": {"N": "nord", "S": "sud", "E": "est", "O": "ouest", "W": "ouest"},
    "de": {"N": "Nord", "S": "Süd", "O": "Ost", "E": "Ost", "W": "West"},
    "es": {"N": "norte", "S": "sur", "E": "este", "O": "oeste", "W": "oeste"},
}
_MINUTES = r"[ \xa0]?(?P<minutes>\d{1,2}(?:[.,]\d+)?)[ \xa0]?[′'’]"
_SECONDS = r"(?:[ \xa0]?(?P<seconds>\d{1,2}(?:[.,]\d+)?)[ \xa0]?(?:[″\"”]|''|′′))?"


def rules(speaker: Speaker) -> list[Rule]:
    """For languages that say the number first."""
    winds = _WINDS.get(speaker.code)
    if winds is None:
        return []
    wind = rf"[ \xa0]?(?P<wind>[{''.join(winds)}])(?!\w|\.\w)"
    pattern = re.compile(
        rf"(?P<degrees>{speaker.number_pattern})[ \xa0]?[°º](?:{_MINUTES}{_SECONDS}(?:{wind})?|{wind.replace('wind', 'alone')})"
    )

    def say(match: re.Match[str]) -> str:
        parts = [named(speaker, _plain(match["degrees"]), "angle-degree")]
        for name, unit in (("minutes", "duration-minute"), ("seconds", "duration-second")):
            if match[name]:
                parts.append(named(speaker, _plain(match[name]), unit))
        return speaker.join(*parts, winds.get(match["wind"] or match["alone"] or "", ""))

    return [Rule("0", pattern, say, then=after_number("[ \xa0]?[°º]"))]


def _plain(literal: str) -> str:
    """`09` is nine."""
    return re.sub(r"^0+(?=\d)", "", literal)
