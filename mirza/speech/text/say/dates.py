"""Dates in figures: `2024-03-05`, `12/25/1990`, `3/14`, `10/2027`."""

from __future__ import annotations

import re

from mirza.speech.text.say import day_names, eastern_dates, named_dates
from mirza.speech.text.say.base import Rule, Speaker
from mirza.speech.text.say.clock import UTC, Times
from mirza.speech.text.say.named_dates import french_day, german_day

_ISO = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|\.\d)(?:T(\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:(Z)|([+-])(\d{2}):?(\d{2}))?)?"
)
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![/.-]?\d|/)")
_GERMAN_SPACED = re.compile(r"(\d{1,2})(\.) (\d{1,2})\. (\d{4})(?!\d)")
_SINCE = frozenset("depuis fin début exp seit stand ab bis gültig desde hasta cad".split())
"""After these `10/2027` is a month."""


_MARK = re.compile(r"(?:\b(?:note|moyenne|nota|score|Note)\b[^.;]{0,16}|\b(?:obtenu|eu) )\Z")
"""Before the mark of a pupil, `08/10`."""


def rules(speaker: Speaker) -> list[Rule]:
    """What is a date in any language, then what is one in this language."""
    dates = _Dates(speaker)
    order = speaker.language.dates.order
    found = [
        Rule("0", _ISO, dates.iso, then=r"[-/.]\d", least=4),
        Rule("0", _NUMERIC, dates.numeric, then=r"([-/.])\d{1,2}\1"),
    ]
    found += day_names.rules(speaker)
    found += named_dates.rules(speaker) if speaker.spaced else eastern_dates.rules(speaker)
    if speaker.code == "de":
        found.append(Rule("0", _GERMAN_SPACED, dates.numeric, then=r"\. \d"))
    if order == "mdy":
        found.append(
            Rule("0", re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/])(?! of\b)"), dates.month_slash_day, then=r"/\d")
        )
    if order == "dmy":
        found.append(
            Rule(
                "0",
                re.compile(r"(0[1-9]|1[0-2])/(\d{4}|\d{2})(?![\d/%])"),
                dates.month_slash_year,
                then=r"/\d",
                least=2,
            )
        )
        found.append(
            Rule(
                "0",
                re.compile(r"(\d{1,2})/(0?[1-9]|1[0-2])(?![\d/%]|e\b| d(?:[ue]l?s?\b|['’]))"),
                dates.day_slash_month,
                then=r"/\d",
            )
        )
    return found


class _Dates:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers
        self._months = speaker.language.dates.months

    def iso(self, match: re.Match[str]) -> str | None:
        said = self._date(int(match[1]), int(match[3]), int(match[4]), match)
        if said is None or not match[5]:
            return said
        time = Times(self._speaker).say(int(match[5]), int(match[6]), "h" if self._speaker.code == "es" else "")
        words = self._speaker.words
        zone = UTC if match[7] or match[8] else ""
        if match[8] and int(match[9]):
            sign = words.plus if match[8] == "+" else words.minus
            zone = self._speaker.join(f"{UTC} ", sign, self._numbers.cardinal(int(match[9])))
        return self._speaker.join(said + words.pause, time, zone)

    def numeric(self, match: re.Match[str]) -> str | None:
        first, second = int(match[1]), int(match[3])
        if (
            match[2] == "."
            and not self._speaker.language.comma_decimal
            and tuple(map(len, match.group().split("."))) != (2, 2, 4)
        ):
            return None
        order = self._speaker.language.dates.order
        month_first = order == "mdy" and first <= 12 and match[2] != "."
        if second > 12 and first <= 12 and match[2] != ".":
            month_first = True
        month, day = (first, second) if month_first else (second, first)
        year = int(match[4])
        if order == "ymd" and len(match[4]) == 4 and year < 1800:
            return None  # 8-2-1035 is a code
        if len(match[4]) == 2:
            cue = self._speaker.word_before(match.string, match.start()).lower()
            if match[2] == "-" or order == "ymd" or cue in self._speaker.language.version_cues:
                return None
            year += 2000 if year < 50 else 1900
        return self._date(year, month, day, match)

    def _date(self, year: int, month: int, day: int, match: re.Match[str]) -> str | None:
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        said_year = self._numbers.year(year)
        name = self._months[month - 1] if self._months else ""
        match self._speaker.code:
            case "en":
                return f"{name} {self._numbers.ordinal(day)}, {said_year}"
            case "fr":
                return f"{french_day(self._speaker, day)} {name} {said_year}"
            case "de":
                return f"{german_day(self._speaker, day, match)} {name} {said_year}"
            case "es":
                return f"{self._numbers.cardinal(day)} de {name} de {said_year}"
            case _:
                cardinal = self._numbers.cardinal
                return f"{said_year}年{cardinal(month)}月{cardinal(day)}日"

    def month_slash_day(self, match: re.Match[str]) -> str | None:
        """*on March fourteenth*; `3/14` is a fraction elsewhere."""
        month, day = int(match[1]), int(match[2])
        before = self._speaker.word_before(match.string, match.start()).lower()
        if before not in ("on", "since", "until", "before", "after", "due") or not (
            1 <= month <= 12 and 1 <= day <= 31
        ):
            return None
        return f"{self._months[month - 1]} {self._numbers.ordinal(day)}"

    def day_slash_month(self, match: re.Match[str]) -> str | None:
        before = self._speaker.word_before(match.string, match.start()).lower()
        day, month = int(match[1]), self._months[int(match[2]) - 1]
        padded = match[1][0] == "0" or match[2][0] == "0"  # no fraction has such a zero, but a mark may
        if padded and _MARK.search(match.string, 0, match.start()):
            return None
        dated = before in ("le", "du", "au", "el", "del", "al", "am", "vom", "zum") or padded
        if not (dated or self._is_day(match)) or not 1 <= day <= 31:
            return None
        match self._speaker.code:
            case "fr":
                return f"{french_day(self._speaker, day)} {month}"
            case "de":
                return f"{german_day(self._speaker, day, match)} {month}"
            case _:
                return f"{self._numbers.cardinal(day)} de {month}"

    def month_slash_year(self, match: re.Match[str]) -> str | None:
        """*septembre deux mille vingt-sept*; what no day is, or stands where only a month can."""
        year = int(match[2])
        before = self._speaker.cue_before(match.string, match.start())
        padded = match[1][0] == "0" and ((12 < year < 100 and year != 20) or 1900 <= year < 2100)  # 08/20 is a mark
        if not padded and before not in _SINCE:
            return None
        of = "de" if self._speaker.code == "es" else ""
        said = self._numbers.year(year + 2000 if year < 100 else year)
        return self._speaker.join(self._months[int(match[1]) - 1], of, said)

    def _is_day(self, match: re.Match[str]) -> bool:
        """Whether a day of the week is before: *mar. 12/03*"""
        dates = self._speaker.language.dates
        day = self._speaker.cue_before(match.string, match.start())
        return day in dates.days or day in dates.short_days
