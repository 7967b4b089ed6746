"""Units without a number: over a column, after *per*; and the sign between two sides."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language, units
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import Rule, Speaker, first_of
from mirza.speech.text.say.unit_names import many_of, per_name

_MEASURED = re.compile(r"[½⅓⅔¼¾⅛⅜⅝⅞] ?\Z|\d ?(?:[cdkm]?m|ft|in|yd|[\"'′″]) ?\Z")
_BY = {"en": "by", "fr": "sur", "de": "mal", "es": "por"}
"""Between two sides, each with its unit: `12 ft x 8 ft`."""
_PERIOD = re.compile(r" ?\d{1,3}(?:[-–]\d{1,3})? ?(?:days?|weeks?|months?|hours?|hrs?|wks?|d)(?!\w)")
"""A treatment lasts so long: `x 10 days`."""
_WORDS = frozenset(
    "min max sec bar bit cal mi mo pt ha ms ml mp au ft pc mpc at iu kt kn kr lx lm ah wh ng pg j".split()
)
"""In brackets these may be something else."""
_BARE = "kg km cm mm cl dl ml mL kWh MWh km/h m² m³ km² cm²".split()
_BEFORE_ONE = {
    "fr": frozenset("par le au du".split()), "de": frozenset("pro je".split()), "es": frozenset("por el al del cada".split())
}  # fmt: skip
_BEFORE_MANY = frozenset("en in".split())


def triggers(language: Language) -> frozenset[str]:
    """Units that stand without a number: *pro kg*."""
    return frozenset(_BARE) if language.code in _BEFORE_ONE else frozenset()


def _in_brackets(speaker: Speaker) -> re.Pattern[str]:
    """A unit alone in brackets, as over the column of a table."""
    symbols = [unit for unit in units(speaker.code) if len(unit) > 1 and unit.lower() not in _WORDS]
    return re.compile(rf"\((?:in )?({any_of(symbols)})\)")


def rules(speaker: Speaker) -> list[Rule]:
    """Asked after measures; none in Chinese and Japanese, which have their own."""
    if not speaker.spaced:
        return []
    units_alone = _LoneUnits(speaker)
    found = [
        Rule("$", _in_brackets(speaker), units_alone.lone, first="("),
        Rule("a$", re.compile(r"[x×](?= ?\d)"), units_alone.by, first="x×"),
    ]
    if speaker.code in _BEFORE_ONE:
        bare = re.compile(rf"({any_of(_BARE)})(?![\w/²³])")
        found.append(Rule("a", bare, units_alone.bare, first=first_of(_BARE)))
    return found


class _LoneUnits:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    def by(self, match: re.Match[str]) -> str | None:
        """*twelve feet by eight feet*"""
        if self._speaker.code == "en" and _PERIOD.match(match.string, match.end()):
            return "for"
        return _BY[self._speaker.code] if _MEASURED.search(match.string, 0, match.start()) else None

    def lone(self, match: re.Match[str]) -> str:
        """*area, square kilometers*"""
        pause = self._speaker.words.pause
        name = many_of(self._speaker, match[1])
        return f"{pause} {name}" + (pause if match.string[match.end() :].lstrip()[:1].isalnum() else "")

    def bare(self, match: re.Match[str]) -> str | None:
        """*pro Kilogramm*, *en kilogrammes*"""
        before = self._speaker.word_before(match.string, match.start())
        if before in _BEFORE_MANY:
            return many_of(self._speaker, match[1])
        return per_name(self._speaker, match[1]) if before in _BEFORE_ONE[self._speaker.code] else None
