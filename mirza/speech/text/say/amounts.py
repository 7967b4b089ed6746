"""Numbers as such: ranges, sizes, scales, years, and what is left."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.blocks import ITEM
from mirza.speech.text.language import units
from mirza.speech.text.numbers import FEMININE, MASCULINE
from mirza.speech.text.say import german
from mirza.speech.text.say.base import SPACE, Rule, Speaker, after_number
from mirza.speech.text.say.sums import FORMULA
from mirza.speech.text.say.unit_names import many_of

_YEAR = re.compile(r"(1[1-9]\d\d|20\d\d)(?![\d.,]*\d)(?!['’]?s?\w)")
_SIZE = re.compile(
    r"(\d+(?:[.,]\d+)?)( ?)[x×✕]( ?)(\d+(?:[.,]\d+)?)(?:\2[x×✕]\3(\d+(?:[.,]\d+)?))?(?: ?(px|(?:km²?|mm|c?m[²³]?)(?![\w/·])))?"
    r"(?![^\W\u3040-\u30ff\u3400-\u9fff]|[\^⁰-⁻²³¹]|/\d|-\d+/)"
)
_NUMBERED_PLACES = frozenset(
    "exit gate room unit apt seat platform track bus route building block suite flat row bra size".split()
)
"""After these `12B` is a name."""
_BETWEEN = frozenset(["between", "entre", "zwischen"])
"""After these a range is said with *and*."""
_RANKED = re.compile(r"第(?:\d+[、，,])*\Z")

_SPORT = re.compile(
    r"比分|比赛|战胜|击败|赢|输|逆转|战平|踢平|不敌|负于|[大险完]胜|横扫|击退|力克|淘汰|领先|落后|扳平|"
    r"で[^、。]{0,12}(?:勝|敗|負|下し|破|リード|先制|逆転|引き分け|制し)|スコア|カウント|試合|第\d+[節戦]|リーグ|カップ|"
    r"世界杯|[英中意德法]超|[西意德]甲|决赛|小组赛|主场|客场|晋级"
)
_SETS = re.compile(r"(?:\d{1,2}-\d{1,2}(?:\(\d+\))?(?:[、，, ]+|/)){2,}\d{1,2}-\d{1,2}(?![\d-])")
"""Sets of a match; ages and days have their noun behind the last."""
_COUNTED_ON = re.compile(r" ?(?:[天个個年月日岁歳名人次回小分秒公米元万亿円度级級]|[%℃]|時間)")
"""A number of these is no score."""
_RUN = re.compile(r" (?:in|race|run|time|on|and|yesterday|today)\b|[,.;!?)]|\s*\Z")
_RACE = re.compile(r"\b(?:[Rr]an|[Rr]un(?:s|ning)?|[Rr]aces?|marathon|jog(?:s|ged|ging)?|PB)\b")
_TIMES = {"en": "times", "fr": "fois", "de": "mal", "es": "veces"}
_OFTEN = "täglich|wöchentlich|monatlich|jährlich|pro|am|im|par|al|por|daily|per|a"
"""What follows `3 x` where that is *three times*, and no term."""
_TIMED = re.compile(
    r"(\d+(?:,\d+)?)[-‑]?(?=(?:fach|mal|jährig|tägig|stündig|minütig|sekündig|monatig|wöchig|köpfig|stellig|teilig|stöckig|"
    r"seitig|eckig|malig|prozentig|minütlich|stündlich|jährlich|spurig|bändig|gradig|sprachig|türig|sitzig|gängig)(?:e[mnrs]?)?(?!\w))"
)
"""The number in a German word: `10fache`, `8-köpfig`."""
_VARIABLES = re.compile(r"(?<![^\W_])[a-z](?: ?= ?-?\d|[²³])")
"""Where letters are numbers, `2k` is two of them."""
_PEOPLE = r"habitant|population|población|personnes|personas|visit|abonn|suscript|utilisateurs|usuarios|vues|exemplaires|ejemplares"
_PLACE = re.compile(r"[ \xa0][A-ZÀ-Þ][^\W\d_]")
_TERM = re.compile(r"[=+−^(] ?\Z")
_NUMBER_SIGN = re.compile(r"\b[nN](?:[º°]|\.[º°]|[or]\.) ?\Z")
"""A number behind one is a name, and no range: *n° 39-2015*."""


def rules(speaker: Speaker) -> list[Rule]:
    """From the narrowest form to a plain number."""
    number = speaker.number_pattern
    counts = _Counts(speaker)
    to = re.compile(
        rf"({number})(?:[-–—]|[ \xa0][–—][ \xa0]|～|~)({number})(?![\d-]|:\d|\.\d\d Uhr)(?<!\.\d\d(?= Uhr))"
    )
    many = re.compile(rf"({number})[-–]({number})([kKMB])(?![^\W_])")
    bought = re.compile(rf"(\d+) ?[x×] ?(?=[€$£¥] ?\d|(?:{number}){SPACE}?[€$£¥%])")
    scales = "|".join(re.escape(name) for name in speaker.language.money.scales if name.isascii() and "=" not in name)
    return [
        Rule("0", many, counts.range_scaled, then=after_number("[-–]")),
        Rule("0", to, counts.range, then=after_number(rf"{SPACE}?[-–—～~]")),
        Rule("0", bought, counts.bought, then=" ?[x×]"),
        Rule("0", _SIZE, counts.size, then=after_number(" ?[x×✕]")),
        Rule(
            "0",
            re.compile(r"(\d{1,3}(?:[.,]\d+)?)[x×](?=[ \xa0][^\W\d_]{2}|/[^\W\d_]|[.,;:!?)]|\Z)"),
            counts.times,
            then=after_number("[x×]"),
        ),
        Rule("0", re.compile(rf"(\d{{1,3}}) [x×](?=(?: |/)(?:{_OFTEN})\b)"), counts.times, then=" [x×]"),
        Rule("0", re.compile(rf"({number})({scales})(?![^\W_])"), counts.scaled, then=after_number("[A-Za-z]")),
        Rule(
            "0",
            re.compile(rf"({number}){SPACE}(M|Mds?)(?=[ \xa0]d(?:['’]|e[ \xa0]))"),
            counts.scaled,
            then=after_number(f"{SPACE}M"),
        ),
        *(
            [Rule("0", re.compile(r"(\d+,\d+)[ \xa0\u202f](M)(?![\w.])"), counts.many, then=r",\d")]
            if speaker.code in ("fr", "es")
            else []
        ),
        *(
            [Rule("0", _TIMED, counts.compounded, tight=True, then=r"[-‑]?[fmjtswksperb]|,")]
            if speaker.code == "de"
            else []
        ),
        Rule("0", re.compile(r"(\d+)([a-z])([a-z])(?!\w)"), counts.factors, then="[a-z]{2}"),
        Rule("0", _YEAR, counts.year, least=4),
        Rule("0$", re.compile(number), counts.plain, first="."),
        Rule("$a", re.compile(rf"[^\x00-\x7f{ITEM}]"), counts.numeral, first=rf"^\x00-\x7f{ITEM}"),
    ]


class _Counts:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._numbers = speaker.numbers

    def range(self, match: re.Match[str]) -> str | None:
        speaker, words = self._speaker, self._speaker.words
        first, second = match[1], match[2]
        after = match.string[match.end() :].lstrip()
        summed = after[:1] in tuple("=×÷*") or match.string[match.start() - 1 : match.start()] in tuple("×÷*+")
        if "-" in match.group() and summed:
            return speaker.join(speaker.number(first), words.subtracted, speaker.number(second))
        if speaker.code == "de" and re.match(r"\.[ \xa0][A-ZÄÖÜ]", match.string[match.end() :]):
            return None  # 1876 – 19. April
        numbered = _NUMBER_SIGN.search(match.string, 0, match.start()) is not None
        if "-" in match.group() and numbered:
            dash = "Strich" if speaker.code == "de" else words.dash
            return speaker.join(speaker.number(first), dash, speaker.number(second))  # loi n° 39-2015
        if speaker.code == "zh" and len(first) == 3 and len(second) == 4 and after.startswith("年"):
            return f"{self._numbers.digits(first)}到{self._numbers.digits(second)}"  # 960—1127年
        years = re.fullmatch(r"1[1-9]\d\d|20\d\d", first) is not None
        if years and re.fullmatch(r"[1-9]\d{3}|\d{2}", second):
            cjk = after.startswith("年")
            end = self._numbers.year(int(second)) if len(second) == 4 else self._numbers.cardinal(int(second))
            start = self._numbers.year(int(first)) + ("年" if cjk and speaker.code == "zh" else "")
            among = speaker.word_before(match.string, match.start()).lower() in _BETWEEN
            return speaker.join(start, words.ampersand if among else words.to, end)
        falls = min(len(first), len(second)) >= 3 and _falls(first, second) and not _scored(match)
        if "-" in match.group() and years and falls:
            return speaker.join(speaker.number(first), words.dash, speaker.number(second))  # loi n° 2005-102
        if "-" in match.group() and (
            falls or speaker.word_before(match.string, match.start()) in ("Boeing", "Airbus", "Embraer")
        ):
            return speaker.join(speaker.number(first), speaker.number(second))  # a name, Boeing 747-400
        between = words.ratio if _scored(match) else words.to
        if speaker.word_before(match.string, match.start()).lower() in _BETWEEN:
            between = words.ampersand
        if speaker.code == "ja" and _is_address(match):
            between = "の"
        ranked = match.string[match.start() - 1 : match.start()] == "第"
        last = speaker.number(second) if ranked else speaker.counted(second, match.string, match.end())
        return speaker.join(speaker.number(first), between, last)

    def range_scaled(self, match: re.Match[str]) -> str | None:
        """*seventy to eighty-five million*"""
        scale = self._speaker.language.money.scales.get(match[3])
        if scale is None or self._speaker.code != "en":
            return None
        number = self._speaker.number
        return self._speaker.join(number(match[1]), self._speaker.words.to, number(match[2]), scale)

    def bought(self, match: re.Match[str]) -> str:
        """*three times four euros fifty*"""
        return self._speaker.join(self._speaker.number(match[1]), self._speaker.words.times)

    def size(self, match: re.Match[str]) -> str:
        speaker = self._speaker
        spaced = bool(match[2]) and speaker.code == "en"
        by = speaker.words.times if spaced or speaker.code != "en" else "by"
        parts = [self._side(part) for part in (match[1], match[4], match[5]) if part]
        unit = many_of(speaker, match[6], few=speaker.attributive(match)) if match[6] else ""
        return speaker.join(*[word for part in parts for word in (by, part)][1:], unit)

    def _side(self, literal: str) -> str:
        """*nineteen twenty by ten eighty*"""
        if self._speaker.code == "en" and re.fullmatch(r"[1-9]\d[1-9]\d|[1-9]\d\d[1-9]", literal):
            return self._numbers.year(int(literal))
        return self._speaker.number(literal)

    def times(self, match: re.Match[str]) -> str | None:
        """*five times faster*, *dreimal*; not the term *5x*"""
        if _TERM.search(match.string, 0, match.start()):
            return None
        last = match.string[match.end() : match.end() + 1] in ".,;:!?)"
        if last and (
            FORMULA.search(match.string)
            or (len(match[1]) == 1 and match.string[match.start() - 1 : match.start()] != "~")
        ):
            return None
        if not match[1].isdecimal():
            name = _TIMES.get(self._speaker.code)
            return f"{self._speaker.number(match[1])} {name}" if name else None
        count = int(match[1])
        match self._speaker.code:
            case "en":
                return f"{self._numbers.cardinal(count)} times"
            case "fr":
                return f"{self._numbers.cardinal(count, FEMININE)} fois"
            case "de":
                return ("ein" if count == 1 else self._numbers.cardinal(count)) + "mal"
            case "es":
                return f"{self._numbers.cardinal(count, FEMININE)} {'vez' if count == 1 else 'veces'}"
            case _:
                return None

    def scaled(self, match: re.Match[str]) -> str | None:
        scale = self._speaker.language.money.scales[match[2]]
        if match[2] in ("k", "m") and _VARIABLES.search(match.string):
            return None  # n = 2k + 1
        if match[2] == "T" and self._speaker.code == "de":
            return None
        if match[2] in ("T", "b") and self._speaker.code == "en":
            return None
        if self._speaker.cue_before(match.string, match.start()) in _NUMBERED_PLACES:
            return None
        raced = (
            match[2] in "kK"
            and match[1] in ("5", "10")
            and _RACE.search(match.string)
            and _RUN.match(match.string, match.end())
        )
        if raced or (match[2] == "K" and len(match[1]) == 1):
            return f"{self._speaker.number(match[1])} K"  # a race, a resolution
        if not self._speaker.spaced and (times := {"千": 1_000, "百万": 1_000_000}.get(scale)):
            return self._numbers.cardinal(round(self._speaker.value(match[1]) * times))  # 15k
        many = self._speaker.value(match[1]) >= 2
        if self._speaker.code == "fr" and scale in ("million", "milliard") and many:
            scale += "s"
        if self._speaker.code == "es" and scale.endswith("ones"):
            scale = scale if many else scale.replace("ones", "ón")
            return self._speaker.join(self._speaker.number(match[1], MASCULINE), scale)
        return self._speaker.join(self._speaker.number(match[1]), scale)

    def many(self, match: re.Match[str]) -> str | None:
        """*deux virgule seize millions*, where it is of people; of a solution it would be molar"""
        return self.scaled(match) if re.search(_PEOPLE, match.string, re.IGNORECASE) else None

    def compounded(self, match: re.Match[str]) -> str:
        """*dreifache*, *fünfmal*, *achtköpfig*"""
        number = self._speaker.number(match[1])
        return "ein" if number == "eins" else number

    def factors(self, match: re.Match[str]) -> str | None:
        """*four a c*, in a formula"""
        if (
            self._speaker.code == "en"
            or not FORMULA.search(match.string)
            or match[2] + match[3] in units(self._speaker.code)
        ):
            return None
        return self._speaker.join(self._speaker.number(match[1]), match[2], match[3])

    def year(self, match: re.Match[str]) -> str | None:
        if self._speaker.code in ("en", "de"):
            return self._numbers.year(int(match[1]))
        return None

    def plain(self, match: re.Match[str]) -> str:
        speaker, written = self._speaker, match.group()
        match speaker.code:
            case "en":
                return speaker.number(written)
            case "zh" | "ja":
                ranked = _RANKED.search(match.string, 0, match.start())
                said = speaker.number(written) if ranked else speaker.counted(written, match.string, match.end())
                apart = re.match(r" \d", match.string[match.end() :])
                return said + speaker.words.pause if apart else said
            case "es" if written == "1" and speaker.word_before(match.string, match.start()).lower() == "la":
                return speaker.number("1", FEMININE)  # a la una
            case "de" if speaker.cue_before(match.string, match.start()) in speaker.language.roman_cues or match.string[
                : match.start()
            ].endswith(("§ ", "§\xa0", "§")):
                return speaker.number(written)  # Seite eins
            case "de" if written == "1" and (noun := speaker.word_after(match.string, match.end()))[:1].isupper():
                said = german.one(speaker, match.string, match.start(), noun)
                return said or speaker.counted(written, match.string, match.end())
            case "fr" | "es" if len(written) == 5 and written.isdigit() and _PLACE.match(match.string, match.end()):
                return speaker.number(written)  # a postal code
            case _:
                return speaker.counted(written, match.string, match.end())

    def numeral(self, match: re.Match[str]) -> str | None:
        """A number in one character, `①`, `Ⅳ`, `٣`: any that Unicode knows the value of."""
        value = unicodedata.numeric(match.group(), None)
        if value is None or unicodedata.category(match.group())[0] != "N":
            return None
        return self._numbers.cardinal(int(value)) if value == int(value) else self._speaker.number(f"{value:.3g}")


def _falls(first: str, second: str) -> bool:
    return first.isdigit() and second.isdigit() and int(first) > int(second)


def _is_address(match: re.Match[str]) -> bool:
    """Whether `1-2` are numbers of a block and a house, which Japanese joins with の."""
    text = match.string
    named = re.search(r"[都道府県市区町村]\S*[\u3040-\u30ff\u3400-\u9fff]\Z", text[: match.start()]) is not None
    return named and "-" in match.group() and text[match.end() : match.end() + 1] in ("", " ", "、", "。", "（", "(")


def _scored(match: re.Match[str]) -> bool:
    """Whether `3-1` is a score: Chinese and Japanese have another word between."""
    text = match.string
    if _COUNTED_ON.match(text, match.end()) or text[match.start() - 1 : match.start()] == "第":
        return False
    near = text[max(0, match.start() - 60) : match.start()] + text[match.end() : match.end() + 40]
    if _SPORT.search(near):
        return True
    sets = next((found for found in _SETS.finditer(text) if found.start() <= match.start() < found.end()), None)
    return sets is not None and _COUNTED_ON.match(text, sets.end()) is None
