"""Feet and inches: *six foot two*, *ten inches by twelve inches*, *three quarters inch*."""

from __future__ import annotations

import re

from mirza.speech.text.say import fractions
from mirza.speech.text.say.base import Rule, Speaker, after_number
from mirza.speech.text.say.unit_names import named, pattern_of

_FEET_INCHES = re.compile(r"(\d+) ?ft\.? (\d{1,2}) ?in(?!\w)")
_OPENED, _CLOSED = re.compile(r"(?<!\S)\""), re.compile(r"(?<=[^\s\d])\"")
"""Marks of quotation; none that may be an inch is counted."""
_INCH_MARK = re.compile(
    rf"(?:(?P<first>\d+(?:[.,]\d+)?)[-–])?(?P<part>{fractions.MIXED}(?=\"))?(?P<whole>\d+(?:[.,]\d+)?)?(?(part)|(?(whole)|(?!)))\""
    r"(?![^\W_])"
)
_LONG_FEET = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{3,})['′](?![\w\"″])")
"""So many feet that no mark of quotation is meant."""
_NAMED = re.compile(r" \d+[A-Za-z]")
"""A thing may have more said of it first: `a 6.7" 120Hz display`."""
_SIDE = frozenset(
    "tall wide long deep high thick across apart away above below square of in by from with to and or x at on per".split()
)
"""After these *eight inches* are many; before a thing they are one: *an eight inch pan*."""
_INCHES = re.compile(
    r"(\d+(?:\.\d+)?)[\"″”] ?[x×] ?(\d+(?:\.\d+)?)[\"″”](?: ?[x×] ?(\d+(?:\.\d+)?)[\"″”])?|(\d+(?:\.\d+)?)″"
)
_FEET = re.compile(r"(\d)['′](?:[ ]?(\d{1,2})(?:[\"″”]|''))?(?!\w)")


def rules(speaker: Speaker) -> list[Rule]:
    """Inches by their mark in languages with spaces; feet in English."""
    if not speaker.spaced:
        return []
    feet = _Feet(speaker)
    vulgar = fractions.VULGAR
    inch_mark = Rule(
        "0$", _INCH_MARK, feet.inch_mark, then=rf"[/⁄]\d| ?[\d{vulgar}]|" + after_number('[-–"]'), first=vulgar
    )
    if speaker.code != "en":
        return [inch_mark]
    return [
        Rule("0", _INCHES, feet.inches, then=after_number('["″”]')),
        inch_mark,
        Rule("0", _FEET_INCHES, feet.feet_inches, then=" ?f"),
        Rule("0", _FEET, feet.feet, then="['′]"),
        Rule("0", _LONG_FEET, lambda match: f"{speaker.number(match[1])} feet", then=after_number("['′]")),
    ]


class _Feet:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def inches(self, match: re.Match[str]) -> str:
        """*ten inches by twelve inches*"""
        sides = [named(self._speaker, side, "length-inch") for side in match.groups() if side]
        return " by ".join(sides)

    def inch_mark(self, match: re.Match[str]) -> str | None:
        """*twenty-seven inches*, unless the mark closes what was quoted."""
        before = match.string[: match.start()]
        if len(_OPENED.findall(before)) > len(_CLOSED.findall(before)):
            return None
        speaker = self._speaker
        if match["part"]:
            said, whole = fractions.mixed(speaker, match["part"]), "0"
            few = re.match(r"\d+ |\d+[^\d/]", match["part"]) is None
        else:
            said, whole = speaker.number(match["whole"]), match["whole"]
            few = whole == "1" and not match["first"]
        if match["first"]:
            said = said and speaker.join(speaker.number(match["first"]), speaker.words.to, said)
        if said is None:
            return None
        noun = speaker.word_after(match.string, match.end())
        thing = noun.islower() or (not noun and speaker.determined(match) and _NAMED.match(match.string, match.end()))
        described = speaker.code == "en" and thing and noun not in _SIDE | speaker.language.nouns.function_words
        return pattern_of(speaker.code, "length-inch", few or described).format(said)

    def feet_inches(self, match: re.Match[str]) -> str:
        """*five feet eleven inches*"""
        return f"{named(self._speaker, match[1], 'length-foot')} {named(self._speaker, match[2], 'length-inch')}"

    def feet(self, match: re.Match[str]) -> str | None:
        if not match[2] and match.group().endswith("'"):
            return None
        feet = self._speaker.number(match[1])
        return f"{feet} foot {self._speaker.number(match[2])}" if match[2] else f"{feet} feet"
