"""What only English writes: years before 1100, `2:30p`, `'08`, `F.3d`, `95–100F`, two times of a song."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.units import named

_EARLY = re.compile(r"(10\d\d)(?=[,.;:)](?!\d)|\s*\Z| (?:AD|CE|A\.D\.|C\.E\.))")
_WHEN = frozenset("in by since until from before after around circa year c".split())
"""Before these `1066` is a year, and no number of things."""
_HALF_OF_DAY = re.compile(r"(\d{1,2}):(\d\d)([ap])(?!\w)")
_SHORT_YEAR = re.compile(r"['’]0(\d)(?!\w)")
_SERIES = re.compile(r"(?<=[A-Z]\.)([23])d(?= \d)")
"""Of law reports: the second, the third."""
_OVEN = re.compile(r"(?:([1-9]\d{1,2})[-–])?([1-9]\d\d) ?([FC])(?!\w|[.-]?\w| [A-Z][a-z])")
_SIGNATURE = re.compile(r"(\d{1,2})/(2|4|8|16)(?![\d/])")
_SONG = re.compile(r"\b(?:time signature|beats?|riff|measures?|tempo|BPM|bpm|meter|waltz|song|groove)\b|♩|♪|/[48] time")
_MEETING = re.compile(r"\d{3} \d{3,4} \d{4}(?!\d)")

_LENGTHY, _RESULT = re.compile(r"\d{10,15}(?![\d.,]*\d)"), re.compile(r"[=≈×*+] ?\Z")
"""So many digits, none of them grouped, are a name, unless they are the result of a sum."""


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages; none in another language."""
    if speaker.code != "en":
        return []
    cardinal, pause = speaker.numbers.cardinal, speaker.words.pause

    def early(match: re.Match[str]) -> str | None:
        return speaker.numbers.year(int(match[1])) if speaker.cue_before(match.string, match.start()) in _WHEN else None

    def half_of_day(match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2])
        if not 0 < hour <= 12 or minute > 59:
            return None
        minutes = "" if not minute else f"oh {cardinal(minute)}" if minute < 10 else cardinal(minute)
        return speaker.join(cardinal(hour), minutes, f"{match[3].upper()}M")

    def oven(match: re.Match[str]) -> str:
        unit = "temperature-fahrenheit" if match[3] == "F" else "temperature-celsius"
        first = speaker.join(cardinal(int(match[1])), speaker.words.to) if match[1] else ""
        return speaker.join(first, named(speaker, match[2], unit))

    def signature(match: re.Match[str]) -> str | None:
        if not _SONG.search(match.string):
            return None
        return f"{cardinal(int(match[1]))} {cardinal(int(match[2]))}"

    def meeting(match: re.Match[str]) -> str:
        return f"{pause} ".join(speaker.numbers.digits(group) for group in match.group().split())

    def lengthy(match: re.Match[str]) -> str | None:
        return None if _RESULT.search(match.string, 0, match.start()) else speaker.numbers.digits(match.group())

    return [
        Rule("0", _EARLY, early, least=4),
        Rule("0", _HALF_OF_DAY, half_of_day, then=r":\d\d[ap]"),
        Rule("$", _SHORT_YEAR, lambda match: f"oh {cardinal(int(match[1]))}", first="'’"),
        Rule("0", _SERIES, lambda match: speaker.numbers.ordinal(int(match[1])), then="d "),
        Rule("0", _OVEN, oven, then=r"[-–]\d| ?[FC]", least=2),
        Rule("0", _SIGNATURE, signature, then=r"/\d"),
        Rule("0", _MEETING, meeting, then=r" \d{3}", least=3),
        Rule("0", _LENGTHY, lengthy, least=5),
    ]
