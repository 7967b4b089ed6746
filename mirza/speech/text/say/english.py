"""What only English writes: years before 1100, `2:30p`, `'08`, `F.3d`, `95–100F`, two times of a song."""

from __future__ import annotations

import re

from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import Rule, Speaker, after_number
from mirza.speech.text.say.fractions import MIXED, VULGAR, mixed
from mirza.speech.text.say.spelling import grouped_digits
from mirza.speech.text.say.unit_names import named

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

_RATIOS = re.compile(r"\d{1,2}(?::\d){2,}(?![\d:])")
_RATIO, _RATIO_BEFORE = (
    re.compile(r"(\d+):(\d+)(?![\d:])"),
    re.compile(r"\b(?:ratio|[Dd]ilut\w*|odds|scale|proportion\w*)\b[^.;]{0,24}\Z"),
)
_OF, _OF_BEFORE = (
    re.compile(r"(\d{1,3})/(\d{1,3})(?![\d/])"),
    frozenset("step page part day lap slide question stage round week episode".split()),
)
_DATE, _DATE_BEFORE = (
    re.compile(r"(\d{1,2})/(\d{1,2})(?![\d/])"),
    re.compile(r"\b(?:by|w(?:ee)?k of|through|thru|till|starting|effective) \Z"),
)
_CUPS = re.compile(rf"({MIXED}|\d+) c(?= [a-z]{{3,}}|[,;)]| [=≈]|\s*\Z)")
_KITCHEN = re.compile(r"\b(?:cups?|flour|sugar|tsp|tbsp|Tbsp|oz|qt|pt|gal|butter|milk|rice|oats|stock|broth)\b")
_PIECE = re.compile(r"(?<=[Oo]p\. )(\d{1,3})/(\d{1,2})(?![\d/])")
_CLOTTING = re.compile(r"INR(?= \d\.\d(?![\d%])(?! (?:million|billion|crore|lakh)))")
"""What warfarin changes; no rupees."""
_LANGUAGE = re.compile(r"PHP(?= \d(?:\.\d)?(?![\d.,]*\d)(?! (?:million|billion|thousand)))")
"""A language in its version; no pesos."""
_EVERY = re.compile(r"q(\d{1,2})h(?!\w)")
"""Of a prescription: every eight hours."""
_EVEN = re.compile(r"50-50(?![\d-])")
_MILEAGE = re.compile(r"(\d{1,3})/(\d{1,3})(?: ?mpg)(?!\w)")
_SETS = re.compile(r"(\d{1,2})x(?=\d+ ?[KMGT]B(?!\w))")
_ROAD, _ROADS = (
    re.compile(r"\d{1,3}(?= [NSEW](?![\w'’]))"),
    frozenset("hwy highway route rte us interstate road sr".split()),
)
"""`Hwy 101 N` goes north, and is no force."""
_INCHES = re.compile(
    r"(\d+(?:\.\d+)?) ?in(?:(?P<dot>\.)(?= [a-z])|\.?(?=[,;)]|\.?\s*\Z| ?[x×]| (?:tall|wide|long|deep|high|thick)\b))"
)
_SIDES = re.compile(r"(?:[x×]|ft|in) ?\Z")
_ADJECTIVE = re.compile(r" (?:tall|wide|long|deep|high|thick)")
_HOURS = re.compile(r"(\d{1,2})h(\d\d)(?!\w)")
_WEEKDAYS = re.compile(r"M[–-]F(?=[,;)]| \d|\s*\Z)")
_AGAIN, _REPEAT = re.compile(r"(\d)x(?!\w)"), frozenset("repeat repeats repeated reps do".split())
_LANDLINE = re.compile(r"\(0\d{2,4}\) ?\d{3,4}[- ]\d{3,4}(?!\d)")
_LOCAL, _CALLED = (
    re.compile(r"\d{4}-\d{4}(?![\d-])"),
    re.compile(r"\b(?:[Ff]ax|[Tt]el|[Pp]hone|[Cc]all|[Tt]elephone)[.:]* \Z"),
)
_ALWAYS = re.compile(r"24/7/365(?!\d)")
_DAYS = re.compile(r"(\d{1,3}) d(?=[;,)]|\.?\s*\Z)")
_MONTH = re.compile(r"(0[1-9]|1[0-2])/((?:19|20)\d\d)(?![\d/])")
_LIGHT, _BULB = (
    re.compile(r"(\d{4})K(?!\w)"),
    re.compile(r"\b(?:LEDs?|bulbs?|WB|lights?|lamps?|color temp\w*|white balance|stars?)\b"),
)
_CODEC = re.compile(r"(?<=H\.)26[3-6](?!\d)")
_LENGTHY, _RESULT = re.compile(r"\d{10,15}(?![\d.,]*\d)"), re.compile(r"[=≈×*+] ?\Z")
"""So many digits, none of them grouped, are a name, unless they are the result of a sum."""


def rules(speaker: Speaker) -> list[Rule]:
    """Asked before the forms of all languages; none in another language."""
    if speaker.code != "en":
        return []
    own = _English(speaker)
    return [
        Rule("$", _LANDLINE, own.grouped, first="("),
        Rule("0", _LOCAL, own.called, then=r"-\d", least=4),
        Rule("0", _ALWAYS, lambda _: "twenty-four seven, three sixty-five", then="/7", least=2),
        Rule("0", _DAYS, own.days, then=" d"),
        Rule("0", _MONTH, own.month, then="/[12]", least=2),
        Rule("0", _LIGHT, own.light, then="K", least=4),
        Rule("0", _CODEC, own.codec, least=3),
        Rule("$", re.compile(r"(?<=\d)(?:→|->)(?=\d)"), lambda _: speaker.words.to, first="→\\-"),
        Rule("$", re.compile(r"(?<=\d[a-z])[–-](?=[a-z](?!\w))"), lambda _: speaker.words.to, first="–\\-"),
        Rule("0", _MILEAGE, own.mileage, then=r"/\d{1,3}(?: ?m| ?\Z)"),
        Rule("0", _SETS, lambda match: f"{speaker.numbers.cardinal(int(match[1]))} times", then=r"x\d"),
        Rule("0", _ROAD, own.road, then=" [NSEW]"),
        Rule("0", _INCHES, own.sides, then=after_number(" ?i")),
        Rule("0", _HOURS, own.hours, then=r"h\d"),
        Rule("a", _WEEKDAYS, lambda _: "Monday to Friday", first="M"),
        Rule("0", _AGAIN, own.again, then="x"),
        Rule("$", own.until, own.to, first=r"\s–\-"),
        Rule("0", _RATIOS, own.ratio, then=r":\d:"),
        Rule("0", _RATIO, own.ratio, then=r":\d"),
        Rule("0", _PIECE, own.piece, then=r"/\d"),
        Rule("0", _OF, own.of, then=r"/\d"),
        Rule("0", _DATE, own.date, then=r"/\d"),
        Rule("0$", _CUPS, own.cups, then=rf" ?[{VULGAR}]|[/⁄]\d| c| \d", first=VULGAR),
        Rule("a", _LANGUAGE, lambda _: "P H P", first="P"),
        Rule("a", _EVERY, lambda match: f"every {speaker.numbers.cardinal(int(match[1]))} hours", first="q"),
        Rule("0", _EVEN, lambda _: "fifty fifty", then="-50", least=2),
        Rule("a", _CLOTTING, lambda _: "I N R", first="I"),
        Rule("0", _EARLY, own.early, least=4),
        Rule("0", _HALF_OF_DAY, own.half_of_day, then=r":\d\d[ap]"),
        Rule("$", _SHORT_YEAR, lambda match: f"oh {speaker.numbers.cardinal(int(match[1]))}", first="'’"),
        Rule("0", _SERIES, lambda match: speaker.numbers.ordinal(int(match[1])), then="d "),
        Rule("0", _OVEN, own.oven, then=r"[-–]\d{3}| ?[FC]", least=2),
        Rule("0", _SIGNATURE, own.signature, then=r"/(?:[248]|16)(?!\d)"),
        Rule("0", _MEETING, own.grouped, then=r" \d{3}", least=3),
        Rule("0", _LENGTHY, own.lengthy, least=5),
    ]


class _English:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker, self._cardinal, self._pause = speaker, speaker.numbers.cardinal, speaker.words.pause
        months = any_of([*self._speaker.language.dates.months, *self._speaker.language.dates.short_months])
        self.until = re.compile(rf"\s?[–-]\s?(?=(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:{months})(?!\w)|[Pp]resent\b)")
        self._dated = re.compile(
            rf"(?:(?:{months})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:, \d{{4}})?|\d{{1,2}} (?:{months})\.?(?: \d{{4}})?|\b(?:1\d|20)\d\d)\Z"
        )

    def early(self, match: re.Match[str]) -> str | None:
        return (
            self._speaker.numbers.year(int(match[1]))
            if self._speaker.cue_before(match.string, match.start()) in _WHEN
            else None
        )

    def half_of_day(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2])
        if not 0 < hour <= 12 or minute > 59:
            return None
        minutes = "" if not minute else f"oh {self._cardinal(minute)}" if minute < 10 else self._cardinal(minute)
        return self._speaker.join(self._cardinal(hour), minutes, f"{match[3].upper()}M")

    def oven(self, match: re.Match[str]) -> str:
        unit = "temperature-fahrenheit" if match[3] == "F" else "temperature-celsius"
        first = self._speaker.join(self._cardinal(int(match[1])), self._speaker.words.to) if match[1] else ""
        return self._speaker.join(first, named(self._speaker, match[2], unit))

    def signature(self, match: re.Match[str]) -> str | None:
        if not _SONG.search(match.string):
            return None
        return f"{self._cardinal(int(match[1]))} {self._cardinal(int(match[2]))}"

    def lengthy(self, match: re.Match[str]) -> str | None:
        return None if _RESULT.search(match.string, 0, match.start()) else self._speaker.numbers.digits(match.group())

    def ratio(self, match: re.Match[str]) -> str | None:
        if len(match.groups()) == 2 and not _RATIO_BEFORE.search(
            match.string, max(0, match.start() - 40), match.start()
        ):
            return None
        return f" {self._speaker.words.to} ".join(self._cardinal(int(part)) for part in match.group().split(":"))

    def of(self, match: re.Match[str]) -> str | None:
        if self._speaker.cue_before(match.string, match.start()) not in _OF_BEFORE or int(match[1]) > int(match[2]):
            return None
        return f"{self._cardinal(int(match[1]))} of {self._cardinal(int(match[2]))}"

    def date(self, match: re.Match[str]) -> str | None:
        before = _DATE_BEFORE.search(match.string, max(0, match.start() - 12), match.start())
        month, day = int(match[1]), int(match[2])
        if before is None or not (1 <= month <= 12 and 1 <= day <= 31) or (before.group() == "by " and day <= 10):
            return None
        return f"{self._speaker.language.dates.months[month - 1]} {self._speaker.numbers.ordinal(day)}"

    def cups(self, match: re.Match[str]) -> str | None:
        if not _KITCHEN.search(match.string):
            return None
        amount = mixed(self._speaker, match[1]) if not match[1].isdecimal() else self._cardinal(int(match[1]))
        return (
            f"{amount} {'cup' if match[1] == '1' or (match[1] and match[1][0] in VULGAR) else 'cups'}"
            if amount
            else None
        )

    def piece(self, match: re.Match[str]) -> str:
        return f"{self._cardinal(int(match[1]))} number {self._cardinal(int(match[2]))}"

    def to(self, match: re.Match[str]) -> str | None:
        return (
            self._speaker.words.to
            if self._dated.search(match.string[max(0, match.start() - 24) : match.start()].rstrip())
            else None
        )

    def sides(self, match: re.Match[str]) -> str | None:
        """*eighteen inches*: `in` is a word where no other side is, and nothing that has one."""
        side = (
            match["dot"] or _SIDES.search(match.string, 0, match.start()) or _ADJECTIVE.match(match.string, match.end())
        )
        return named(self._speaker, match[1], "length-inch") if side else None

    def road(self, match: re.Match[str]) -> str | None:
        return (
            self._speaker.number(match.group())
            if self._speaker.cue_before(match.string, match.start()) in _ROADS
            else None
        )

    def again(self, match: re.Match[str]) -> str | None:
        return (
            f"{self._cardinal(int(match[1]))} times"
            if self._speaker.cue_before(match.string, match.start()) in _REPEAT
            else None
        )

    def mileage(self, match: re.Match[str]) -> str:
        return f"{self._cardinal(int(match[1]))}{self._pause} {self._cardinal(int(match[2]))} miles per gallon"

    def hours(self, match: re.Match[str]) -> str:
        return f"{named(self._speaker, match[1], 'duration-hour')} {named(self._speaker, str(int(match[2])), 'duration-minute')}"

    def called(self, match: re.Match[str]) -> str | None:
        return self.grouped(match) if _CALLED.search(match.string, 0, match.start()) else None

    def grouped(self, match: re.Match[str]) -> str:
        return grouped_digits(self._speaker, match.group())

    def days(self, match: re.Match[str]) -> str:
        return named(self._speaker, match[1], "duration-day")

    def month(self, match: re.Match[str]) -> str:
        return f"{self._speaker.language.dates.months[int(match[1]) - 1]} {self._speaker.numbers.year(int(match[2]))}"

    def light(self, match: re.Match[str]) -> str | None:
        if not _BULB.search(match.string):
            return None
        return f"{self._speaker.number(match[1])} kelvin"

    def codec(self, match: re.Match[str]) -> str:
        return self._speaker.numbers.digits(match.group())
