"""Days and months by their names: which begin a date, and stretches of them, *Monday to Friday*."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import Rule, Speaker, first_of


def triggers(language: Language) -> frozenset[str]:
    """Month names that a day follows."""
    if language.code != "en":
        return frozenset()
    return frozenset(language.dates.months) | frozenset(language.dates.short_months)


def names(language: Language) -> frozenset[str]:
    """What a stretch of days or months begins with."""
    dates = language.dates
    known = [*dates.days, *dates.months, *dates.short_days, *dates.short_months]
    return frozenset(known) | frozenset(map(str.capitalize, known))


def spans(language: Language) -> str:
    """A pattern for a stretch of days or months, `Mon-Fri`, `Jan.–März`, or one day that something follows: `lun. au ven.`

    Empty where they are not shortened.
    """
    if not language.dates.days:
        return ""
    days = any_of([*language.dates.days, *language.dates.short_days])
    months = any_of([*language.dates.months, *language.dates.short_months])
    spans = [rf"(?:{names})\.?\s?[-–—]\s?(?:{names})(?!\w)\.?" for names in (days, months)]
    short_days = any_of([*language.dates.short_days, *map(str.capitalize, language.dates.short_days)])
    dated = rf"(?:{short_days})(?:\.(?=,? \d| [^\W\dA-Z])|\.?(?=:? \d{{1,2}}(?:[:.]\d\d|[-–]\d| ?(?:am|pm|Uhr|h)\b))|(?=,? (?:{months})\.? \d)|(?=,? \d{{1,2}}(?:st|nd|rd|th|er|\.)? (?:de )?(?:{months})))"
    aside = rf"(?<=\()(?:{short_days})(?=\))"
    return "|".join([*spans, dated, aside])


def rules(speaker: Speaker) -> list[Rule]:
    """A stretch, or one day that something follows."""
    span = spans(speaker.language)
    if not span:
        return []
    pattern = re.compile(rf"(?<![^\W_])(?:{span})")
    return [Rule("a", pattern, lambda match: _span(speaker, match), first=first_of(names(speaker.language)))]


def full_month(speaker: Speaker, name: str) -> str:
    """The month that a short name stands for."""
    return next((month for month in speaker.language.dates.months if month.startswith(name[:3])), name)


def _span(speaker: Speaker, match: re.Match[str]) -> str:
    """*Monday to Friday*, or one day before its date."""
    first, *others = re.findall(r"[^\W\d_]+", match.group())
    if not others:
        return _name(speaker, first)
    second = others[0]
    end = "." if match.group().endswith(".") and match.end() == len(match.string) else ""
    return speaker.join(_name(speaker, first), speaker.words.to, _name(speaker, second)) + end


def _name(speaker: Speaker, short: str) -> str:
    dates = speaker.language.dates
    for index, day in enumerate(dates.short_days):
        if short in (day, day.capitalize()):
            return dates.days[index] if short == day else dates.days[index].capitalize()
    return next((month for month in speaker.language.dates.months if month.startswith(short)), short)
