"""What only English writes: years before 1100, `2:30p`, `'08`, `F.3d`, `95–100F`, two times of a song."""

from __future__ import annotations

import re

from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import Rule, Speaker, after_number
from mirza.speech.text.say.fractions import MIXED, VULGAR, mixed
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

    def ratio(match: re.Match[str]) -> str | None:
        if len(match.groups()) == 2 and not _RATIO_BEFORE.search(
            match.string, max(0, match.start() - 40), match.start()
        ):
            return None
        return f" {speaker.words.to} ".join(cardinal(int(part)) for part in match.group().split(":"))

    def of(match: re.Match[str]) -> str | None:
        if speaker.cue_before(match.string, match.start()) not in _OF_BEFORE or int(match[1]) > int(match[2]):
            return None
        return f"{cardinal(int(match[1]))} of {cardinal(int(match[2]))}"

    def date(match: re.Match[str]) -> str | None:
        before = _DATE_BEFORE.search(match.string, max(0, match.start() - 12), match.start())
        month, day = int(match[1]), int(match[2])
        if before is None or not (1 <= month <= 12 and 1 <= day <= 31) or (before.group() == "by " and day <= 10):
            return None
        return f"{speaker.language.dates.months[month - 1]} {speaker.numbers.ordinal(day)}"

    def cups(match: re.Match[str]) -> str | None:
        if not _KITCHEN.search(match.string):
            return None
        amount = mixed(speaker, match[1]) if not match[1].isdecimal() else cardinal(int(match[1]))
        return (
            f"{amount} {'cup' if match[1] == '1' or (match[1] and match[1][0] in VULGAR) else 'cups'}"
            if amount
            else None
        )

    def piece(match: re.Match[str]) -> str:
        return f"{cardinal(int(match[1]))} number {cardinal(int(match[2]))}"

    months = any_of([*speaker.language.dates.months, *speaker.language.dates.short_months])
    until = re.compile(rf"\s?[–-]\s?(?=(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:{months})(?!\w)|[Pp]resent\b)")
    dated = re.compile(
        rf"(?:(?:{months})\.? \d{{1,2}}(?:st|nd|rd|th)?(?:, \d{{4}})?|\d{{1,2}} (?:{months})\.?(?: \d{{4}})?|\b(?:1\d|20)\d\d)\Z"
    )

    def to(match: re.Match[str]) -> str | None:
        return (
            speaker.words.to
            if dated.search(match.string[max(0, match.start() - 24) : match.start()].rstrip())
            else None
        )

    def sides(match: re.Match[str]) -> str | None:
        """*eighteen inches*: `in` is a word where no other side is, and nothing that has one."""
        side = (
            match["dot"] or _SIDES.search(match.string, 0, match.start()) or _ADJECTIVE.match(match.string, match.end())
        )
        return named(speaker, match[1], "length-inch") if side else None

    def road(match: re.Match[str]) -> str | None:
        return speaker.number(match.group()) if speaker.cue_before(match.string, match.start()) in _ROADS else None

    def again(match: re.Match[str]) -> str | None:
        return (
            f"{cardinal(int(match[1]))} times" if speaker.cue_before(match.string, match.start()) in _REPEAT else None
        )

    def mileage(match: re.Match[str]) -> str:
        return f"{cardinal(int(match[1]))}{pause} {cardinal(int(match[2]))} miles per gallon"

    def hours(match: re.Match[str]) -> str:
        return f"{named(speaker, match[1], 'duration-hour')} {named(speaker, str(int(match[2])), 'duration-minute')}"

    def called(match: re.Match[str]) -> str | None:
        return grouped(match) if _CALLED.search(match.string, 0, match.start()) else None

    def grouped(match: re.Match[str]) -> str:
        return f"{pause} ".join(speaker.numbers.digits(group) for group in re.findall(r"\d+", match.group()))

    def days(match: re.Match[str]) -> str:
        return named(speaker, match[1], "duration-day")

    def month(match: re.Match[str]) -> str:
        return f"{speaker.language.dates.months[int(match[1]) - 1]} {speaker.numbers.year(int(match[2]))}"

    def light(match: re.Match[str]) -> str | None:
        if not _BULB.search(match.string):
            return None
        return f"{speaker.number(match[1])} kelvin"

    def codec(match: re.Match[str]) -> str:
        return speaker.numbers.digits(match.group())

    return [
        Rule("$", _LANDLINE, grouped, first="("),
        Rule("0", _LOCAL, called, then=r"-\d", least=4),
        Rule("0", _ALWAYS, lambda _: "twenty-four seven, three sixty-five", then="/7", least=2),
        Rule("0", _DAYS, days, then=" d"),
        Rule("0", _MONTH, month, then="/[12]", least=2),
        Rule("0", _LIGHT, light, then="K", least=4),
        Rule("0", _CODEC, codec, least=3),
        Rule("$", re.compile(r"(?<=\d)(?:→|->)(?=\d)"), lambda _: speaker.words.to, first="→\\-"),
        Rule("$", re.compile(r"(?<=\d[a-z])[–-](?=[a-z](?!\w))"), lambda _: speaker.words.to, first="–\\-"),
        Rule("0", _MILEAGE, mileage, then=r"/\d{1,3}(?: ?m| ?\Z)"),
        Rule("0", _SETS, lambda match: f"{cardinal(int(match[1]))} times", then=r"x\d"),
        Rule("0", _ROAD, road, then=" [NSEW]"),
        Rule("0", _INCHES, sides, then=after_number(" ?i")),
        Rule("0", _HOURS, hours, then=r"h\d"),
        Rule("a", _WEEKDAYS, lambda _: "Monday to Friday", first="M"),
        Rule("0", _AGAIN, again, then="x"),
        Rule("$", until, to, first=r"\s–\-"),
        Rule("0", _RATIOS, ratio, then=r":\d:"),
        Rule("0", _RATIO, ratio, then=r":\d"),
        Rule("0", _PIECE, piece, then=r"/\d"),
        Rule("0", _OF, of, then=r"/\d"),
        Rule("0", _DATE, date, then=r"/\d"),
        Rule("0$", _CUPS, cups, then=rf" ?[{VULGAR}]|[/⁄]\d| c| \d", first=VULGAR),
        Rule("a", _LANGUAGE, lambda _: "P H P", first="P"),
        Rule("a", _EVERY, lambda match: f"every {cardinal(int(match[1]))} hours", first="q"),
        Rule("0", _EVEN, lambda _: "fifty fifty", then="-50", least=2),
        Rule("a", _CLOTTING, lambda _: "I N R", first="I"),
        Rule("0", _EARLY, early, least=4),
        Rule("0", _HALF_OF_DAY, half_of_day, then=r":\d\d[ap]"),
        Rule("$", _SHORT_YEAR, lambda match: f"oh {cardinal(int(match[1]))}", first="'’"),
        Rule("0", _SERIES, lambda match: speaker.numbers.ordinal(int(match[1])), then="d "),
        Rule("0", _OVEN, oven, then=r"[-–]\d{3}| ?[FC]", least=2),
        Rule("0", _SIGNATURE, signature, then=r"/(?:[248]|16)(?!\d)"),
        Rule("0", _MEETING, meeting, then=r" \d{3}", least=3),
        Rule("0", _LENGTHY, lengthy, least=5),
    ]
