"""Dates: *March third, twenty twenty-four*, *Monday to Friday*."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language
from mirza.speech.text.numbers import MASCULINE
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, first_of, german_ending
from mirza.speech.text.say.clock import UTC, Times

_ISO = re.compile(
    r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)(?:T(\d{2}):(\d{2})(?::\d{2}(?:\.\d+)?)?(?:(Z)|([+-])(\d{2}):?(\d{2}))?)?"
)
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?![/.-]?\d|/)")
_CJK_SLASH = re.compile(r"(\d{1,2})/(\d{1,2})(?=から|まで|[(（][月火水木金土日周])")
_WEEKDAY = re.compile(r"(?<=[日\d])[(（]([月火水木金土日])曜?日?[)）]")
_JAPANESE_DAYS = re.compile(
    r"(?<=[月火水木金土])(?<![\d一二三四五六七八九十今来先毎何ヶか].)[〜～~–]([火水木金土日])(?:曜日?)?(?![年間月本曜])"
)
_GERMAN_SPAN = re.compile(r"(\d{1,2})\. ?([–/-]) ?(\d{1,2})\.(\d{1,2})\.(\d{4})?(?!\d)")
_GERMAN_SPACED = re.compile(r"(\d{1,2})(\.) (\d{1,2})\. (\d{4})(?!\d)")
_GERMAN_SHORT = re.compile(r"(\d{1,2})\.(\d{1,2})\.(?!\d)")


_SINCE = frozenset("depuis fin début exp seit stand ab bis gültig desde hasta cad".split())
"""After these `10/2027` is a month."""


_MARK = re.compile(r"(?:\b(?:note|moyenne|nota|score|Note)\b[^.;]{0,16}|\b(?:obtenu|eu) )\Z")
"""Before the mark of a pupil, `08/10`."""


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
    return "|".join([*spans, dated])


def rules(speaker: Speaker) -> list[Rule]:
    """What is a date in any language, then what is one in this language."""
    dates = _Dates(speaker)
    order = speaker.language.dates.order
    found = [
        Rule("0", _ISO, dates.iso, then=r"[-/.]\d", least=4),
        Rule("0", _NUMERIC, dates.numeric, then=r"([-/.])\d{1,2}\1"),
    ]
    if span := spans(speaker.language):
        first = first_of(names(speaker.language))
        found.append(Rule("a", re.compile(rf"(?<![^\W_])(?:{span})"), dates.span, first=first))
    found += _cjk(speaker, dates) if not speaker.language.spaced else _with_names(speaker, dates)
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


def _with_names(speaker: Speaker, dates: _Dates) -> list[Rule]:
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
                Rule("0", _GERMAN_SPACED, dates.numeric, then=r"\. \d"),
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


def _cjk(speaker: Speaker, dates: _Dates) -> list[Rule]:
    days = [Rule("$", _JAPANESE_DAYS, _japanese_days, tight=True, first="〜～~–")] if speaker.code == "ja" else []
    return [
        *days,
        Rule("0", re.compile(r"(\d{4})(年)(?!代|间|間|前|後|后|来)"), dates.cjk_year, then="年"),
        Rule("0", re.compile(r"(\d{1,2})月(\d{1,2})[日号]"), dates.cjk_day, then="月"),
        Rule("0", re.compile(r"(\d{1,2})月(?!间|間)"), dates.cjk_month, then="月"),
        Rule("0", _CJK_SLASH, dates.cjk_slash, then=r"/\d"),
        Rule("$", _WEEKDAY, lambda match: f"{match[1]}曜日", first="(（"),
    ]


def _japanese_days(match: re.Match[str]) -> str:
    """*月曜から金曜*"""
    following = match.string[match.end() :].lstrip()[:1]
    return f"曜から{match[1]}曜" + ("、" if following.isdecimal() else "")


class _Dates:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers
        self._months = speaker.language.dates.months

    def iso(self, match: re.Match[str]) -> str | None:
        said = self._date(int(match[1]), int(match[2]), int(match[3]), match)
        if said is None or not match[4]:
            return said
        time = Times(self._speaker).say(int(match[4]), int(match[5]), "h" if self._speaker.code == "es" else "")
        words = self._speaker.words
        zone = UTC if match[6] or match[7] else ""
        if match[7] and int(match[8]):
            sign = words.plus if match[7] == "+" else words.minus
            zone = self._speaker.join(f"{UTC} ", sign, self._numbers.cardinal(int(match[8])))
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
        if second > 12 and first <= 12:
            month_first = True
        month, day = (first, second) if month_first else (second, first)
        year = int(match[4])
        if order == "ymd" and len(match[4]) == 4 and year < 1800:
            return None  # 8-2-1035 is a code
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
        written = match[3] or ""
        year = self._numbers.year(int(written) if len(written) == 4 else 2000 + int(written)) if written else ""
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
        for index, day in enumerate(dates.short_days):
            if short in (day, day.capitalize()):
                return dates.days[index] if short == day else dates.days[index].capitalize()
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
        padded = match[1][0] == "0" or match[2][0] == "0"  # no fraction has such a zero, but a mark may
        if padded and _MARK.search(match.string, 0, match.start()):
            return None
        dated = before in ("le", "du", "au", "el", "del", "al", "am", "vom", "zum") or padded
        if not (dated or self._is_day(match)) or not 1 <= day <= 31:
            return None
        match self._speaker.code:
            case "fr":
                return f"{self._french_day(day)} {month}"
            case "de":
                return f"{self._german_day(day, match)} {month}"
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

    def german(self, match: re.Match[str]) -> str:
        year = self._numbers.year(int(match[3])) if match[3] else ""
        return self._speaker.join(self._german_day(int(match[1]), match), match[2], year)

    def german_span(self, match: re.Match[str]) -> str | None:
        """*zwanzigster bis zweiundzwanzigster Juni*"""
        month = int(match[4])
        if not 1 <= month <= 12:
            return None
        first, last = (self._german_day(int(day), match) for day in (match[1], match[3]))
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
        return f"{self._german_day(day, match)} {self._months[month - 1]}{end}"

    def _german_day(self, day: int, match: re.Match[str]) -> str:
        return self._numbers.ordinal(day, german_ending(self._speaker, match))

    def spanish(self, match: re.Match[str]) -> str:
        said = f"{self._numbers.cardinal(int(match[1]))} de {self._full(match[2])}"
        if match.group().endswith(".") and match.end() == len(match.string):
            said += "."
        return f"{said} de {self._numbers.year(int(match[3]))}" if match[3] else said

    def quarter(self, match: re.Match[str]) -> str:
        """*premier trimestre*"""
        return f"{self._numbers.ordinal(int(match[1]), MASCULINE)} trimestre"

    def cjk_year(self, match: re.Match[str]) -> str:
        return f"{self._numbers.year(int(match[1]))}年"

    def cjk_day(self, match: re.Match[str]) -> str:
        return f"{self._numbers.cardinal(int(match[1]))}月{self._numbers.cardinal(int(match[2]))}{match.group()[-1]}"

    def cjk_slash(self, match: re.Match[str]) -> str | None:
        """`5/1` from or to which something is; any other is a fraction."""
        month, day = int(match[1]), int(match[2])
        cardinal = self._numbers.cardinal
        return f"{cardinal(month)}月{cardinal(day)}日" if 1 <= month <= 12 and 1 <= day <= 31 else None

    def cjk_month(self, match: re.Match[str]) -> str:
        return f"{self._numbers.cardinal(int(match[1]))}月"
