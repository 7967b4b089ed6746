"""Where the wind blows from: `NW` is a word only there."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import Rule, Speaker, first_of

_BLOWS = re.compile(r"\b(?:[Vv]ents?|[Ww]ind|[Vv]iento|[Bb]rise)\b[^.,;]{0,28}[ '’]\Z")


def triggers(language: Language) -> frozenset[str]:
    """Short names of directions."""
    return frozenset(language.compass)


def rules(speaker: Speaker) -> list[Rule]:
    """Only where the language has such names."""
    names = speaker.language.compass
    if not names:
        return []

    def direction(match: re.Match[str]) -> str | None:
        """*vent de nord-ouest*, *Nordwest-Wind*"""
        blows = _BLOWS.search(match.string, 0, match.start()) or re.match("-[Ww]ind", match.string[match.end() :])
        return names[match.group()] if blows else None

    return [Rule("a", re.compile(rf"(?:{any_of(names)})(?!\w)"), direction, first=first_of(names))]
