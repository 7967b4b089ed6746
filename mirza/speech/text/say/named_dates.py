"""Dates with the name of a month, and what only German writes: *March third, twenty twenty-four*, *le trois mars*."""

from __future__ import annotations

import re

from mirza.speech.text.numbers import MASCULINE
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, first_of, german_ending
from mirza.speech.text.say.day_names import full_month

_GERMAN_SPAN = re.compile(r"(\d{1,2})\. ?([–/-]) ?(\d{1,2})\.(\d{1,2})\.(\d{4})?(?!\d)")
_GERMAN_SHORT = re.compile(r"(\d{1,2})\.(\d{1,2})\.(?!\d)")


def rules(speaker: Speaker) -> list[Rule]:
    """A language's own."""
    dates = _NamedDates(speaker)
    names = speaker.language.dates
    months = any_of(names.months)
    named = f"{SPACE}?[{first_of(names.months)}]"
    year = r"(\d{4})(?!\d)"
    match speaker.code:
        case "en":
            months = any_of([*names.months, *names.short_months])
            th = "(?:st|nd|rd|th)"
            after = rf"({months})\.? (\d{{1,2}}){th}?(?:[-–](\d{{1,2}}){th}?)?(?![\d:.]*\d)(?:(,)? {year})?"
            before = rf"(\d{{1,2}}){th}? (?:of )?({months})(?!\w)\.?(?:,? {year})?"
            dashed = rf"(\d{{1,2}})-({months})-((?:19|20)\d\d|\d\d)(?![\w-])"
            return [
                Rule("0", re.compile(dashed), dates.day_month, then="-[A-Z]"),
                Rule("a", re.compile(after), dates.month_day, first=first_of(names.months)),
                Rule("0", re.compile(before), dates.day_month, then=f"[snrt]|{SPACE}o|{named}"),
            ]
        case "fr":
            pattern = rf"(\d{{1,2}})(?:er)?[ \xa0]({months})(?!\w)(?:[ \xa0]{year})?"
            quarter = re.compile(r"T([1-4])(?= 20\d\d(?!\d))")
            return [
                Rule("a", quarter, dates.quarter, first="T"),
                Rule("0", re.compile(pattern), dates.french, then=f"e|{named}"),
            ]
        case "de":
            pattern = rf"(\d{{1,2}})\.[ \xa0]?({months})(?!\w)(?:[ \xa0]{year})?"
            return [
                Rule("0", re.compile(pattern), dates.german, then=r"\."),
                Rule("0", _GERMAN_SPAN, dates.german_span, then=r"\."),
                Rule("0", _GERMAN_SHORT, dates.german_short, then=r"\.\d"),
            ]
        case _:
            short = any_of(names.short_months)
            shortened = rf"(\d{{1,2}})[ -](?:de )?({short})(?:\.|(?=[ -]\d))(?:[ -](?:del? )?{year})?"
            pattern = rf"(\d{{1,2}})º? de ({months})(?!\w)(?: del? {year})?"
            return [
                Rule("0", re.compile(r"([1-4])T(?= (?:de )?20\d\d(?!\d))"), dates.quarter, then="T"),
                Rule("0", re.compile(pattern), dates.spanish, then="º| d"),
                Rule("0", re.compile(shortened), dates.spanish, then="[ -][defmajson]"),
            ]


def french_day(speaker: Speaker, day: int) -> str:
    """*le premier*, *le deux*"""
    return speaker.numbers.ordinal(1, MASCULINE) if day == 1 else speaker.numbers.cardinal(day)


def german_day(speaker: Speaker, day: int, match: re.Match[str]) -> str:
    """*dritter*, *am dritten*"""
    return speaker.numbers.ordinal(day, german_ending(speaker, match))


class _NamedDates:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers
        self._months = speaker.language.dates.months

    def month_day(self, match: re.Match[str]) -> str | None:
        if not 1 <= int(match[2]) <= 31:
            return None
        month = full_month(self._speaker, match[1])
        said = f"{month} {self._numbers.ordinal(int(match[2]))}"
        if match[3]:
            said += f" {self._speaker.words.to} {self._numbers.ordinal(int(match[3]))}"
        if match[5]:
            said += f"{match[4] or ''} {self._numbers.year(int(match[5]))}"
        return said

    def day_month(self, match: re.Match[str]) -> str | None:
        if not 1 <= int(match[1]) <= 31:
            return None
        the = "" if self._speaker.word_before(match.string, match.start()).lower() == "the" else "the"
        written = match[3] or ""
        year = self._numbers.year(int(written) if len(written) == 4 else 2000 + int(written)) if written else ""
        return self._speaker.join(
            the, self._numbers.ordinal(int(match[1])), "of", full_month(self._speaker, match[2]), year
        )

    def french(self, match: re.Match[str]) -> str:
        year = self._numbers.year(int(match[3])) if match[3] else ""
        return self._speaker.join(french_day(self._speaker, int(match[1])), match[2], year)

    def german(self, match: re.Match[str]) -> str:
        year = self._numbers.year(int(match[3])) if match[3] else ""
        return self._speaker.join(german_day(self._speaker, int(match[1]), match), match[2], year)

    def german_span(self, match: re.Match[str]) -> str | None:
        """*zwanzigster bis zweiundzwanzigster Juni*"""
        month = int(match[4])
        if not 1 <= month <= 12:
            return None
        first, last = (german_day(self._speaker, int(day), match) for day in (match[1], match[3]))
        year = self._numbers.year(int(match[5])) if match[5] else ""
        end = "." if not match[5] and match.end() == len(match.string) else ""
        words = self._speaker.words
        return (
            self._speaker.join(
                first, words.ampersand if match[2] == "/" else words.to, last, self._months[month - 1], year
            )
            + end
        )

    def german_short(self, match: re.Match[str]) -> str | None:
        day, month = int(match[1]), int(match[2])
        if self._speaker.word_before(match.string, match.start()).lower() in self._speaker.language.version_cues:
            return None
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        end = "." if match.end() == len(match.string) else ""
        return f"{german_day(self._speaker, day, match)} {self._months[month - 1]}{end}"

    def spanish(self, match: re.Match[str]) -> str:
        said = f"{self._numbers.cardinal(int(match[1]))} de {full_month(self._speaker, match[2])}"
        if match.group().endswith(".") and match.end() == len(match.string):
            said += "."
        return f"{said} de {self._numbers.year(int(match[3]))}" if match[3] else said

    def quarter(self, match: re.Match[str]) -> str:
        """*premier trimestre*"""
        return f"{self._numbers.ordinal(int(match[1]), MASCULINE)} trimestre"
