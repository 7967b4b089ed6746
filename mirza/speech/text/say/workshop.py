"""Sizes as a workshop and a kitchen write them in English: `14-1/2"`, `½–1 tsp`, `2x4s`, `1/10th`, `2-in.`"""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.fractions import MIXED, VULGAR, mixed

_THREAD = re.compile(r"(\d{1,2}/\d{1,2})-(\d{2})(?: x(?= \d)|(?=[ ](?:thread|bolt|screw|nut|tap|hole|UN)))")
"""A screw of a quarter inch, with twenty threads."""
_DASHED = re.compile(r"(\d{1,2})-(\d{1,2}/\d{1,2})[\"″”](?!\w)")
_UPTO = re.compile(rf"({MIXED})\s?[-–]\s?(?=\d|[{VULGAR}])")
_BOARD = re.compile(r"(\d)x(\d{1,2})s(?!\w)")
_PARTS = re.compile(r"(\d{1,3})/(\d{1,4})(?:th|rd|nd)s?(?!\w)")
_INCH = re.compile(r"(\d+(?:\.\d+)?)-in\.(?= [a-z])")
_THING = re.compile(r" (?!(?:tall|wide|long|deep|high|thick|in|by|from|with|to|and|or|on|per|of)\b)[a-z]")


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before ranges and measures; none in another language."""
    if speaker.code != "en":
        return []
    cardinal, join = speaker.numbers.cardinal, speaker.join

    def dashed(match: re.Match[str]) -> str | None:
        said = mixed(speaker, f"{match[1]} {match[2]}")
        return said and f"{said} {'inch' if _THING.match(match.string, match.end()) else 'inches'}"

    def thread(match: re.Match[str]) -> str | None:
        size = mixed(speaker, match[1])
        return size and f"{size} {speaker.number(match[2])}{' by' if match.group().endswith('x') else ''}"

    def upto(match: re.Match[str]) -> str | None:
        said = mixed(speaker, match[1])
        return said and join(said, speaker.words.to)

    def board(match: re.Match[str]) -> str:
        last = cardinal(int(match[2]))
        return f"{cardinal(int(match[1]))} by {last}{'es' if last.endswith('x') else 's'}"

    def parts(match: re.Match[str]) -> str:
        part = speaker.numbers.ordinal(int(match[2]))
        return f"{cardinal(int(match[1]))} {part}{'s' if match[1] != '1' else ''}"

    return [
        Rule("0", _THREAD, thread, then=r"/\d{1,2}-"),
        Rule("0", _DASHED, dashed, then=r"-\d"),
        Rule("0$", _UPTO, upto, then=rf"[/⁄]\d| ?[\d{VULGAR}]", first=VULGAR),
        Rule("0", _BOARD, board, then=r"x\d"),
        Rule("0", _PARTS, parts, then=r"/\d{1,4}(?:[trn]|\Z)"),
        Rule("0", _INCH, lambda match: f"{speaker.number(match[1])} inch", then=r"-in|\.\d"),
    ]
