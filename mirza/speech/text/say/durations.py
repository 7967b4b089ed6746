"""How long something takes: *three hours twenty-four minutes*, *one minute twenty-three point four five seconds*."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.unit_names import named

_AND = r"(?: ?(?=\d))?"
_PARTS = re.compile(
    rf"(?=\d{{1,3}} ?[wdhm])(?:(\d{{1,3}}) ?w(?:ks?)?{_AND})?(?:(\d{{1,3}}) ?d(?:ays?)?{_AND})?(?:(\d{{1,3}}) ?hr?s?{_AND})?"
    rf"(?:(\d{{1,2}}(?:[.,]\d+)?) ?m(?:ins?)?{_AND})?(?:(\d{{1,2}}(?:[.,]\d+)?) ?s(?:ecs?)?)?(?<=[a-z])(?![^\W_])"
)
_UNITS = ("duration-week", "duration-day", "duration-hour", "duration-minute", "duration-second")
_LAP = re.compile(r"(\d{1,3}):([0-5]\d)[.](\d{1,3})(?!\d|[.:]\d)")
_COMMA_LAP = re.compile(r"(\d{1,3}):([0-5]\d)[.,](\d{1,3})(?!\d|[.:]\d)(?: ?[Mm]in\b\.?(?!\Z))?")
"""Minutes, and seconds with their parts."""

_LONG = re.compile(r"(\d{2,3}):([0-5]\d):([0-5]\d)(?![\d:.])")


def rules(speaker: Speaker) -> list[Rule]:
    """Those with letters, `3h 24m`, but in French, where `3h` is a time of day; and laps."""

    def parts(match: re.Match[str]) -> str | None:
        counts = [(count, unit) for count, unit in zip(match.groups(), _UNITS, strict=True) if count]
        if len(counts) < 2:
            return None
        said = [named(speaker, count.lstrip("0") or "0", unit) for count, unit in counts]
        return f"{' '.join(said[:-1])} y {said[-1]}" if speaker.code == "es" else " ".join(said)

    def lap(match: re.Match[str]) -> str:
        point = "," if speaker.language.comma_decimal else "."
        minutes = named(speaker, str(int(match[1])), _UNITS[3]) if int(match[1]) else ""
        return speaker.join(minutes, named(speaker, f"{int(match[2])}{point}{match[3]}", _UNITS[4]))

    def long(match: re.Match[str]) -> str | None:
        """Of more than a day: no time of one."""
        if int(match[1]) <= 24:
            return None
        return speaker.join(
            *(
                named(speaker, str(int(part)), unit)
                for part, unit in zip(match.groups(), _UNITS[2:], strict=True)
                if int(part)
            )
        )

    letters = [Rule("0", _PARTS, parts, then=" ?[wdhm]")] if speaker.spaced and speaker.code != "fr" else []
    laps = Rule("0", _COMMA_LAP if speaker.language.comma_decimal else _LAP, lap, then=r":\d\d[.,]")
    return [*letters, Rule("0", _LONG, long, then=r":\d", least=2), laps]
