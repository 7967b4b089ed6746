"""Dates and times of day."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, first_of, german_ending
from mirza.speech.text.say.units import named

_ISO = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(?:T(\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![/.-]?\d|/)")
_GERMAN_SHORT = re.compile(r"(\d{1,2})\.(\d{1,2})\.(?!\d)")
_TIME = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])(?:[ \xa0]?([ap]\.? ?m\.?(?!\w)|[AP]\.?M\.?(?!\w)|Uhr|h(?!\w)|hrs?(?!\w)|时|時))?"
)
_DAY_HALF = re.compile(r"(\d{1,2})[ \xa0]?([ap]m(?!\w)|[ap]\.m\.|[AP]M(?!\w)|[AP]\.M\.)")
_FRENCH_HOURS = re.compile(
    r"(\d{1,2})[ \xa0\u202f]?h(?:[ \xa0\u202f]?(\d{2})(?!\d)(?:[ \xa0\u202f]?(?:min|mn)(?!\w)\.?)?)?(?![\w/])"
)
_FRENCH_ROUND = re.compile(r"(\d{1,2}) ?([hj]) ?/ ?(\d{1,2})(?!\w)")
_GERMAN_HOURS = re.compile(r"(\d{1,2})(?:[.:](\d{2}))?[ \xa0]Uhr(?:[ \xa0](\d{1,2})(?!\d))?")
_RATIO = re.compile(r"(\d+(?:[.,]\d+)?)[ ]?:[ ]?(\d+(?:[.,]\d+)?)(?!\d|[A-F][\dA-F:])")
_VERSES = re.compile(r"(\d{1,3}):(\d{1,3})[-–](\d{1,3})(?![\d:])")


def triggers(language: Language) -> frozenset[str]:
    """Month names that a day follows."""
    if language.code != "en":
        return frozenset()
    return frozenset(language.dates.months) | frozenset(language.dates.short_months)


def spans(language: Language) -> str:
    """A pattern for a stretch of days or months: `Mon-Fri`, `Jan.–März`. Empty where they are not shortened."""
    if not language.dates.days:
        return ""
    days = any_of([*language.dates.days, *language.dates.short_days])
    months = any_of([*language.dates.months, *language.dates.short_months])
    spans = [rf"(?:{names})\.?\s?[-–—]\s?(?:{names})(?!\w)\.?" for names in (days, months)]
    return "|".join([*spans, rf"(?:{any_of(language.dates.short_days)})\.(?=,? \d)"])


def rules(speaker: Speaker) -> list[Rule]:
    """Dates first, then times, then what is left of `3:2`."""
    dates = _Dates(speaker)
    times = _Times(speaker)
    found = [Rule("0", _ISO, dates.iso, then=r"[-/.]\d", least=4), Rule("0", _NUMERIC, dates.numeric, then=r"[-/.]\d")]
    days, months = speaker.language.dates.days, speaker.language.dates.months
    names = [*days, *months, *speaker.language.dates.short_days, *speaker.language.dates.short_months]
    named = f"{SPACE}?[{first_of(months)}]"
    if span := spans(speaker.language):
        found.append(Rule("a", re.compile(rf"(?<![^\W_])(?:{span})"), dates.span, first=first_of(names)))
    match speaker.code:
        case "en":
            months = "|".join((*speaker.language.dates.months, *speaker.language.dates.short_months))
            after = rf"({months})\.? (\d{{1,2}})(?:st|nd|rd|th)?(?:[-–](\d{{1,2}})(?:st|nd|rd|th)?)?(?![\d:.]*\d)(?:(,)? (\d{{4}})(?!\d))?"
            before = rf"(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({months})(?!\w)\.?(?:,? (\d{{4}})(?!\d))?"
            found += [
                Rule("a", re.compile(after), dates.month_day, first=first_of(months)),
                Rule("0", re.compile(before), dates.day_month, then=f"[snrt]|{SPACE}o|{named}"),
            ]
        case "fr":
            pattern = rf"(\d{{1,2}})(?:er)?[ \xa0]({'|'.join(speaker.language.dates.months)})(?!\w)(?:[ \xa0](\d{{4}})(?!\d))?"
            found += [
                Rule("0", re.compile(pattern), dates.french, then=f"e|{named}"),
                Rule("0", _FRENCH_ROUND, times.french_round, then=" ?[hj]"),
                Rule("0", _FRENCH_HOURS, times.french, then=f"{SPACE}?h"),
            ]
        case "de":
            pattern = (
                rf"(\d{{1,2}})\.[ \xa0]?({'|'.join(speaker.language.dates.months)})(?!\w)(?:[ \xa0](\d{{4}})(?!\d))?"
            )
            found += [
                Rule("0", re.compile(pattern), dates.german, then=r"\."),
                Rule("0", _GERMAN_HOURS, times.german, then=rf"[.:]\d|{SPACE}U"),
                Rule("0", _GERMAN_SHORT, dates.german_short, then=r"\.\d"),
            ]
        case "es":
            pattern = rf"(\d{{1,2}})º? de ({'|'.join(speaker.language.dates.months)})(?!\w)(?: del? (\d{{4}})(?!\d))?"
            found += [Rule("0", re.compile(pattern), dates.spanish, then="º| d")]
        case _:
            found += [
                Rule("0", re.compile(r"(\d{4})(年)(?!代|间|間|前|後|后|来)"), dates.cjk_year, then="年"),
                Rule("0", re.compile(r"(\d{1,2})月(\d{1,2})[日号]"), dates.cjk_day, then="月"),
                Rule("0", re.compile(r"(\d{1,2})月(?!间|間)"), dates.cjk_month, then="月"),
                Rule(
                    "0",
                    re.compile(r"(\d{1,2})[点點時时](?:(\d{1,2})分)?(?![\u95f4\u9593])"),
                    times.cjk,
                    then="[点點時时]",
                ),
            ]
    if speaker.language.dates.order == "mdy":
        found.append(
            Rule("0", re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/])(?! of\b)"), dates.month_slash_day, then=r"/\d")
        )
    if speaker.language.dates.order == "dmy":
        found.append(Rule("0", re.compile(r"(\d{1,2})/(0[1-9]|1[0-2])(?![\d/])"), dates.day_slash_month, then=r"/[01]"))
    return [
        *found,
        Rule("0", _VERSES, times.verses, then=r":\d"),
        Rule("0", _TIME, times.clock, then=r":\d"),
        Rule("0", _DAY_HALF, times.day_half, then=f"{SPACE}?[apAP]"),
        Rule("0", _RATIO, times.ratio, then=r"[.,]\d| ?:"),
    ]


class _Dates:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers
        self._months = speaker.language.dates.months

    def iso(self, match: re.Match[str]) -> str | None:
        said = self._date(int(match[1]), int(match[2]), int(match[3]), match)
        if said is None or not match[4]:
            return said
        time = _Times(self._speaker).say(int(match[4]), int(match[5]), "")
        return self._speaker.join(said + self._speaker.words.pause, time)

    def numeric(self, match: re.Match[str]) -> str | None:
        first, second = int(match[1]), int(match[3])
        if match[2] == "." and not self._speaker.language.comma_decimal:
            return None
        order = self._speaker.language.dates.order
        month_first = order == "mdy" and first <= 12
        if second > 12 and first <= 12:
            month_first = True
        month, day = (first, second) if month_first else (second, first)
        year = int(match[4])
        if len(match[4]) == 2:
            if match[2] == "-" or order == "ymd" or (match[2] == "." and (len(match[1]), len(match[3])) != (2, 2)):
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
                return f"{self._french_day(day)} {name} {said_year}"
            case "de":
                return f"{self._german_day(day, match)} {name} {said_year}"
            case "es":
                return f"{self._numbers.cardinal(day)} de {name} de {said_year}"
            case _:
                cardinal = self._numbers.cardinal
                return f"{said_year}年{cardinal(month)}月{cardinal(day)}日"

    def month_day(self, match: re.Match[str]) -> str | None:
        if not 1 <= int(match[2]) <= 31:
            return None
        month = self._full(match[1])
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
        year = self._numbers.year(int(match[3])) if match[3] else ""
        return self._speaker.join(the, self._numbers.ordinal(int(match[1])), "of", self._full(match[2]), year)

    def span(self, match: re.Match[str]) -> str:
        """*Monday to Friday*, or one day before its date."""
        first, *others = re.findall(r"[^\W\d_]+", match.group())
        if not others:
            return self._name(first)
        second = others[0]
        end = "." if match.group().endswith(".") and match.end() == len(match.string) else ""
        return self._speaker.join(self._name(first), self._speaker.words.to, self._name(second)) + end

    def _name(self, short: str) -> str:
        dates = self._speaker.language.dates
        if short in dates.short_days:
            return dates.days[dates.short_days.index(short)]
        return next((month for month in self._months if month.startswith(short)), short)

    def _full(self, name: str) -> str:
        return next((month for month in self._months if month.startswith(name[:3])), name)

    def french(self, match: re.Match[str]) -> str:
        year = self._numbers.year(int(match[3])) if match[3] else ""
        return self._speaker.join(self._french_day(int(match[1])), match[2], year)

    def _french_day(self, day: int) -> str:
        return self._numbers.ordinal(1, MASCULINE) if day == 1 else self._numbers.cardinal(day)

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
        if before not in ("le", "du", "au", "el", "del", "al", "am", "vom", "zum") or not 1 <= day <= 31:
            return None
        match self._speaker.code:
            case "fr":
                return f"{self._french_day(day)} {month}"
            case "de":
                return f"{self._german_day(day, match)} {month}"
            case _:
                return f"{self._numbers.cardinal(day)} de {month}"

    def german(self, match: re.Match[str]) -> str:
        year = self._numbers.year(int(match[3])) if match[3] else ""
        return self._speaker.join(self._german_day(int(match[1]), match), match[2], year)

    def german_short(self, match: re.Match[str]) -> str | None:
        day, month = int(match[1]), int(match[2])
        if self._speaker.word_before(match.string, match.start()).lower() in self._speaker.language.version_cues:
            return None
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        end = "." if match.end() == len(match.string) else ""
        return f"{self._german_day(day, match)} {self._months[month - 1]}{end}"

    def _german_day(self, day: int, match: re.Match[str]) -> str:
        return self._numbers.ordinal(day, german_ending(self._speaker.word_before(match.string, match.start())))

    def spanish(self, match: re.Match[str]) -> str:
        said = f"{self._numbers.cardinal(int(match[1]))} de {match[2]}"
        return f"{said} de {self._numbers.year(int(match[3]))}" if match[3] else said

    def cjk_year(self, match: re.Match[str]) -> str:
        return f"{self._numbers.year(int(match[1]))}年"

    def cjk_day(self, match: re.Match[str]) -> str:
        return f"{self._numbers.cardinal(int(match[1]))}月{self._numbers.cardinal(int(match[2]))}{match.group()[-1]}"

    def cjk_month(self, match: re.Match[str]) -> str:
        return f"{self._numbers.cardinal(int(match[1]))}月"


class _Times:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def clock(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2])
        if hour > 24 or minute > 59:
            return None
        if match[3] is not None:
            return self._with_seconds(hour, minute, int(match[3]))
        half = match[4] or ""
        end = "." if half.endswith(".") and match.end() == len(match.string) else ""
        return self.say(hour, minute, half) + end

    def day_half(self, match: re.Match[str]) -> str | None:
        if not 0 < int(match[1]) <= 24:
            return None
        end = "." if match[2].endswith(".") and match.end() == len(match.string) else ""
        return self._speaker.join(self._hour(int(match[1])), _half(match[2], self._speaker.code)) + end

    def say(self, hour: int, minute: int, half: str) -> str:
        """A time of day; `half` is what is written after it, `pm` or `Uhr`."""
        cardinal = self._numbers.cardinal
        match self._speaker.code:
            case "en":
                return self._english(hour, minute, half)
            case "fr":
                return self._speaker.join(
                    self._hour(hour), "heure" if hour < 2 else "heures", cardinal(minute) if minute else ""
                )
            case "de":
                return self._speaker.join(self._hour(hour), "Uhr", cardinal(minute) if minute else "")
            case "es":
                return self._spanish(hour, minute, half)
            case "zh":
                zero = "零" if 0 < minute < 10 else ""
                rest = f"{zero}{cardinal(minute)}分" if minute else ""
                return f"{'两' if hour == 2 else cardinal(hour)}点{rest}"
            case _:
                return f"{'零' if hour == 0 else cardinal(hour)}時" + (f"{cardinal(minute)}分" if minute else "")

    def _hour(self, hour: int) -> str:
        gender = {"fr": FEMININE, "es": FEMININE, "de": MASCULINE}.get(self._speaker.code, COUNTING)
        return self._numbers.cardinal(hour, gender)

    def _english(self, hour: int, minute: int, half: str) -> str:
        cardinal = self._numbers.cardinal
        day_half = _half(half, "en")
        if minute:
            minutes = f"oh {cardinal(minute)}" if minute < 10 else cardinal(minute)
        elif day_half:
            minutes = ""
        else:
            minutes = "o'clock" if 0 < hour <= 12 else "hundred"
        return self._speaker.join(cardinal(hour), minutes, day_half)

    def _spanish(self, hour: int, minute: int, half: str) -> str:
        cardinal = self._numbers.cardinal
        said, day_half = self._hour(hour), _half(half, "es")
        if half.startswith("h") or (not minute and hour > 12):
            return self._speaker.join(said, "hora" if hour == 1 else "horas", cardinal(minute) if minute else "")
        spoken = {0: "" if day_half else "en punto", 15: "y cuarto", 30: "y media"} if hour <= 12 else {}
        return self._speaker.join(said, spoken.get(minute, f"y {cardinal(minute)}"), day_half)

    def _with_seconds(self, hour: int, minute: int, second: int) -> str | None:
        if second > 59:
            return None

        parts = [(hour, "duration-hour"), (minute, "duration-minute"), (second, "duration-second")]
        said = [named(self._speaker, str(count), unit) for count, unit in parts if count]
        return self._speaker.join(*said) or named(self._speaker, "0", "duration-second")

    def french(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2] or 0)
        end = "." if match.group().endswith(".") and match.end() == len(match.string) else ""
        return self.say(hour, minute, "") + end if minute < 60 else None

    def french_round(self, match: re.Match[str]) -> str:
        """*vingt-quatre heures sur vingt-quatre*"""
        hours = match[2] == "h"
        count = self._numbers.cardinal(int(match[1]), FEMININE if hours else MASCULINE)
        return f"{count} {'heures' if hours else 'jours'} sur {self._numbers.cardinal(int(match[3]))}"

    def german(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2] or match[3] or 0)
        return self.say(hour, minute, "Uhr") if hour <= 24 and minute < 60 else None

    def cjk(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2] or 0)
        return self.say(hour, minute, "") if hour <= 24 and minute < 60 else None

    def verses(self, match: re.Match[str]) -> str | None:
        """*John three sixteen to eighteen*: no two times of day, and no ratio."""
        if (
            not self._speaker.word_before(match.string, match.start())[:1].isupper()
            or not self._speaker.language.spaced
        ):
            return None
        chapter, first, last = (self._numbers.cardinal(int(number)) for number in match.groups())
        return self._speaker.join(chapter + ",", first, self._speaker.words.to, last)

    def ratio(self, match: re.Match[str]) -> str | None:
        if ": " in match.group():
            return None
        return self._speaker.join(
            self._speaker.number(match[1]), self._speaker.words.ratio, self._speaker.number(match[2])
        )


def _half(written: str, code: str) -> str:
    letters = written.replace(".", "").replace(" ", "").upper()
    if letters not in ("AM", "PM"):
        return ""
    if code == "es":
        return "de la mañana" if letters == "AM" else "de la tarde"
    return letters
