"""Times of day, and what is left of `3:2`: ratios."""

from __future__ import annotations

import re

from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number
from mirza.speech.text.say.unit_names import named

_TIME = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2}))?(?![\d:])(?:[ \xa0]?([ap]\.? ?m\.?(?!\w)|[AP]\.?M\.?(?!\w)|Uhr|Std\b\.?|[Mm]in\b\.?|h\.(?=\s[a-zñ])|h(?!\w)|hrs?(?!\w)|时|時|Z(?!\w)))?"
)
_RAN = frozenset("in en clocked ran at runs runtime duration time temps zeit tiempo".split())
"""Before these, `42:15` is no ratio."""
_RATIOS = re.compile(r"[ -](?:ratio|split|mix|odds|Uhr|Min|min)")
_DAY_HALF = re.compile(r"(\d{1,2})[ \xa0]?([ap]m(?!\w)|[ap]\. ?m\.|[AP]M(?!\w)|[AP]\.M\.)")
_FRENCH_HOURS = re.compile(
    r"(\d{1,2})[ \xa0\u202f]?h(?:[ \xa0\u202f]?(\d{2})(?!\d)(?:[ \xa0\u202f]?(?:min|mn)(?!\w)\.?(?:[ \xa0\u202f]?(\d{1,2})[ \xa0\u202f]?s(?!\w))?)?)?(?![\w/'’′])"
)
_MARKED = re.compile(
    r"(?:(\d{1,2})[ \xa0\u202f]?h[ \xa0\u202f]?)?(\d{1,3})['’′][ \xa0\u202f]?(\d{1,2})(?:[\"″”]|''|’’)(?:(\d{1,2})(?!\d))?|"
    r"(\d{1,2})(?:[\"″”]|''|’’)(\d{1,2})(?!\d)"
)
"""Minutes and seconds by their marks: `2 h 01'09"`, `9"58`."""
_MINUTE = re.compile(r"(\d{1,3})(?: ?\+ ?(\d{1,2}))?['’′](?: ?\+ ?(\d{1,2}))?(?!\w)")
_OF_A_GAME = re.compile(
    r"(?:\(|\b(?:la|el|minute|minuto|min\.|minutos|minutes|los)[ \xa0])(?:\d[^()]{0,12}(?:, | y | et | und ))?\Z|\((?:[^()]{0,40}[,;] )?[A-ZÀ-Þ][\w. -]{1,20} \Z"
)
"""Before the minute of a game, `(67')`; what is none is a duration."""
_FRENCH_ROUND = re.compile(r"(\d{1,2}) ?([hj]) ?/ ?(\d{1,2})(?!\w)")
_GERMAN_HOURS = re.compile(
    r"(\d{1,2})(?:(?:[.:](\d{2}))?[ \xa0]Uhr(?:[ \xa0](\d{1,2})(?!\d))?|\.(\d{2})[ \xa0]?h(?!\w))"
)
_LASTS = re.compile(
    r"(?:dauer|zeit\b|brauch|benötig|\bdura|duración|\btarda|\blasts?\b|\btakes?\b|duration|\bdure)[^.,;]{0,24}(?:ca\. )?\Z|~\Z"
)
_GAME = re.compile(
    r"\b(?:schlug|gewann|gewinnt|gewannen|siegte|besiegte|bezwang|unterlag|verlor|verloren|Sieg|Niederlage|Remis|Halbzeit|Endstand|Tore)"
)
_GERMAN_FROM = re.compile(r"(\d{1,2})\.(\d{2})[ \xa0]?[-–][ \xa0]?(?=\d{1,2}(?:[.:]\d{2})?[ \xa0]Uhr)")
_RATIO = re.compile(r"(\d+(?:[.,]\d+)?)[ ]?:[ ]?(\d+(?:[.,]\d+)?)(?!\d|[A-F][\dA-F:])")
_CJK_HOURS = re.compile(r"(\d{1,2})[点點時时](?:(\d{1,2})分)?(?![\u95f4\u9593])")
_JAPANESE_HOURS = re.compile(r"(\d{1,2})時(?:(\d{1,2})分)?(?!間)")


def rules(speaker: Speaker) -> list[Rule]:
    """A language's own forms, then those of all."""
    times = Times(speaker)
    marked = [
        Rule("0", _MARKED, times.marked, then=rf"['’′\"″”]|{SPACE}?h"),
        Rule("0", _MINUTE, times.minute, then=r"['’′]| ?\+"),
    ]
    own: dict[str, list[Rule]] = {
        "fr": [
            Rule("0", _FRENCH_ROUND, times.french_round, then=" ?[hj]"),
            Rule("0", _FRENCH_HOURS, times.french, then=f"{SPACE}?h"),
            *marked,
        ],
        "es": marked,
        "de": [
            Rule("0", _GERMAN_FROM, times.german_from, then=r"\.\d"),
            Rule("0", _GERMAN_HOURS, times.german, then=rf"[.:]\d|{SPACE}U"),
            *marked,
        ],
        "zh": [Rule("0", _CJK_HOURS, times.cjk, then="[点點時时]")],
        "ja": [Rule("0", _JAPANESE_HOURS, times.cjk, then="時")],
    }
    return [
        *own.get(speaker.code, []),
        Rule("0", _ZONED, times.zoned, then=r":\d\d:"),
        Rule("0", _TIME, times.clock, then=r":\d\d"),
        Rule("0", _DAY_HALF, times.day_half, then=f"{SPACE}?[apAP]"),
        Rule("0", _RATIO, times.ratio, then=after_number(" ?:")),
    ]


_DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-/.]\d\d?[-/.]\d\d?)?(?:,| at)? \Z")
_ZONED = re.compile(r"(\d{1,2}):(\d{2}):\d{2} ?([+-])(\d{2}):?\d{2}(?![\d:])")
UTC = "UTC"
"""What a `Z` after a time stands for."""


class Times:
    """How times of day are said."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def clock(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2])
        if hour > 24 or minute > 59:
            return None
        if match[3] is not None and not self._of_day(match):
            return self._with_seconds(hour, minute, int(match[3]))
        half = match[4] or ""
        if not half and self._speaker.code == "de" and self._is_score(match):
            return None
        if match[3] is not None and int(match[3]):
            second = named(self._speaker, str(int(match[3])), "duration-second")
            return self._speaker.join(self.say(hour, minute, half), self._speaker.words.ampersand, second)
        if half == "Z":
            return self._speaker.join(self.say(hour, minute, ""), UTC)
        if half.startswith("Std") or (half.startswith("h") and _LASTS.search(match.string, 0, match.start())):
            return self._with_seconds(hour, minute, 0)
        if half[:1] in ("m", "M"):
            return self._with_seconds(0, hour, minute)
        end = "." if half.endswith(".") and match.end() == len(match.string) else ""
        return self.say(hour, minute, half) + end

    def _is_score(self, match: re.Match[str]) -> bool:
        """Whether `24:22` is one: goals, and no word before that times have."""
        before = self._speaker.word_before(match.string, match.start()).lower()
        return before not in ("um", "ab", "gegen", "bis", "von", "seit") and _GAME.search(match.string) is not None

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
        if (half.startswith("h") and (not minute or hour > 12)) or (not minute and (hour > 12 or hour == 0)):
            return self._speaker.join(said, "hora" if hour == 1 else "horas", cardinal(minute) if minute else "")
        spoken = {0: "", 15: "y cuarto", 30: "y media"} if hour <= 12 else {}
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
        if match[3]:
            return self._with_seconds(hour, minute, int(match[3]))
        return self.say(hour, minute, "") + end if minute < 60 else None

    def marked(self, match: re.Match[str]) -> str | None:
        """*deux heures une minute neuf secondes*, *neuf secondes cinquante-huit*"""
        hours, minutes = int(match[1] or 0), int(match[2] or 0)
        parts = match[4] or match[6]
        said = self._with_seconds(hours, minutes, int(match[3] or match[5]))
        return said and self._speaker.join(said, self._speaker.number(parts) if parts else "")

    def minute(self, match: re.Match[str]) -> str | None:
        """*soixante-septième minute* of a game, or so many minutes."""
        text, speaker = match.string, self._speaker
        if text[: match.start()].count("‘") or text[match.start() - 1 : match.start()] in tuple("'’‚"):
            return None  # it closes what was quoted
        if not (match[3] or _OF_A_GAME.search(text, 0, match.start())):
            return None if match[2] else named(speaker, match[1], "duration-minute")
        added = match[2] or match[3]
        extra = f"{speaker.words.plus} {speaker.number(added)}" if added else ""
        if re.search(r"\bmin(?:utes?|utos?|\.) [^()]{0,14}\Z", text[: match.start()]):
            return speaker.join(speaker.number(match[1]), extra)
        if speaker.code == "es":
            return speaker.join("minuto", speaker.number(match[1]), extra)
        if speaker.code == "de":
            return speaker.join(self._numbers.ordinal(int(match[1]), "n" if extra else ""), "Minute", extra)
        return speaker.join(self._numbers.ordinal(int(match[1]), FEMININE), "minute", extra)

    def french_round(self, match: re.Match[str]) -> str:
        """*vingt-quatre heures sur vingt-quatre*"""
        hours = match[2] == "h"
        count = self._numbers.cardinal(int(match[1]), FEMININE if hours else MASCULINE)
        return f"{count} {'heures' if hours else 'jours'} sur {self._numbers.cardinal(int(match[3]))}"

    def german(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2] or match[3] or match[4] or 0)
        return self.say(hour, minute, "Uhr") if hour <= 24 and minute < 60 else None

    def german_from(self, match: re.Match[str]) -> str | None:
        """*zehn Uhr fünfzehn bis*, before an end that has the word"""
        hour, minute = int(match[1]), int(match[2])
        return f"{self.say(hour, minute, 'Uhr')} {self._speaker.words.to}" if hour <= 24 and minute < 60 else None

    def cjk(self, match: re.Match[str]) -> str | None:
        hour, minute = int(match[1]), int(match[2] or 0)
        if hour > 24 or minute >= 60:
            return None
        said = self.say(hour, minute, "")
        if match.string[match.end(1)] not in "时時" or self._speaker.code == "ja":
            return said
        if re.search(r"[=≥≤<>A-Za-z] ?\Z", match.string[: match.start()]):
            return None  # 当x=2时
        return said.replace("点", match.string[match.end(1)])

    def ratio(self, match: re.Match[str]) -> str | None:
        speaker = self._speaker
        if " : " in match.group() and match.string[match.end() :].lstrip().startswith("="):
            return speaker.join(speaker.number(match[1]), speaker.words.divided, speaker.number(match[2]))
        if ": " in match.group():
            return None
        if self._ran(match) or (
            len(match[2]) == 2 and match[2][0] == "0" and match.group()[-3] == ":"
        ):  # minutes and seconds
            return self._with_seconds(0, int(match[1]), int(match[2]))
        return speaker.join(speaker.number(match[1]), speaker.words.ratio, speaker.number(match[2]))

    def zoned(self, match: re.Match[str]) -> str | None:
        """`10:15:32 +0100`, as machines write it: *ten fifteen UTC plus one*."""
        hour, minute, away = int(match[1]), int(match[2]), int(match[4])
        if hour > 24 or minute > 59:
            return None
        sign = self._speaker.words.plus if match[3] == "+" else self._speaker.words.minus
        zone = [f"{UTC} ", sign, self._numbers.cardinal(away)] if away else [UTC]
        return self._speaker.join(self.say(hour, minute, ""), *zone)

    def _of_day(self, match: re.Match[str]) -> bool:
        """Whether a time with seconds is one of day: it has a half, or a date is before it."""
        half = (match[4] or "")[:1] in ("a", "p", "A", "P") and match[4] is not None
        return half or _DATED.search(match.string, 0, match.start()) is not None

    def _ran(self, match: re.Match[str]) -> bool:
        """Whether `42:15` is how long something took: no time of day has so many hours."""
        before = self._speaker.cue_before(match.string, match.start()).rstrip(":")
        lasts = re.fullmatch(r"(?:2[5-9]|[3-9]\d|\d{3}):[0-5]\d", match.group()) is not None
        return lasts and before in _RAN and not _RATIOS.match(match.string, match.end())


def _half(written: str, code: str) -> str:
    letters = written.replace(".", "").replace(" ", "").upper()
    if letters not in ("AM", "PM"):
        return ""
    if code == "es":
        return "de la mañana" if letters == "AM" else "de la tarde"
    return letters
