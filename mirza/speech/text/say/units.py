"""Measures and percentages: *sixty kilometers per hour*, *five to ten percent*."""

from __future__ import annotations

import re

from mirza.speech.text.language import units
from mirza.speech.text.numbers import FEMININE
from mirza.speech.text.places import CJK, any_of
from mirza.speech.text.say import fractions, german, powers
from mirza.speech.text.say.base import MODULO, SPACE, Rule, Speaker, after_number, begun
from mirza.speech.text.say.unit_names import COUNTED, gender_of, many_of, named, pattern_of, per_name

_PER_HUNDRED = {
    "en": ("", "per hundred kilometers"), "fr": ("", "aux cent kilomètres"), "de": ("", "auf hundert Kilometer"),
    "es": ("", "a los cien kilómetros"), "zh": ("每百公里", ""), "ja": ("百キロメートルあたり", ""),
}  # fmt: skip
"""What a car needs: `5,4 l/100 km`."""
_EXPOSURE = re.compile(r"1/(\d{2,})")
_SHORT_HEIGHT = re.compile(r"([12]) ?m ?(\d\d)(?!\w)")
_HEIGHT = re.compile(r"[1-9],[1-9]\d")
_SEAT = re.compile(
    r"(?:seats?|exit|gate|unit|suite|room|row|siège|place|rang|Sitz|Platz|Reihe|asiento|fila) \Z|(?:座位|座席|席)[：:はが是为号]?\s?\Z",
    re.IGNORECASE,
)
"""Behind these, `23A` is a seat."""
_ARTICLES = frozenset("le la du au en el del al die der das dem den".split())
_HOURLY = re.compile("时速|每小时|時速|毎時")
"""Where *per hour* is said before a number, its unit does not say it again."""
_SCALES = {
    "en": "thousand|million|billion|trillion",
    "fr": "millions? de|milliards? de|mille",
    "de": "Tausend|tausend|Millionen|Milliarden|Billionen",
    "es": "mil|millón de|millones de|mil millones de|billones de",
}
_SCALED = "km² km³ km m² m³ kg t ha kWh MWh GWh TWh kW MW GW GB TB mi ft".split()
"""Units that may follow *150 million*; `in` would be a word."""
_AFTER = r"(?![^\W_\u3040-\u30ff\u3400-\u9fff]|['’][^\W_]|\.[A-Z]\.|[☉⊙])"
_EQUATED = re.compile(" ?=")
CJK_ALONE = re.compile(rf"[{CJK}]")
_DOT = r"(?:\.(?=[ \xa0](?:\(|[^\W\d_A-ZÀ-Þ])|[,;:)])|(?<=Std|Sek)\.(?=[ \xa0]\w)|(?<=Std|Sek|Min)\.(?=/))?"
"""The full stop of `5 min. à pied`, `2 Std. Fahrt`."""


def rules(speaker: Speaker) -> list[Rule]:
    """Percentages and measures."""
    number = speaker.number_pattern
    symbols = any_of(units(speaker.code))
    dashes = "[-–—]" if speaker.spaced else "[-–—~～〜至]"
    to = rf"(?:{SPACE}?{dashes}{SPACE}?(?P<second>{number}))?"
    power = r"(?P<power>[eE][+-]?\d{1,3}| ?[×x·⋅] ?10(?:\^[-−]?\d+|[⁻⁰¹²³⁴-⁹]+))?"
    own_per = r"[^\W\d_²³]{3,12}" if speaker.spaced else "[A-Za-z]{3,12}|小时|分钟|[秒天日年人回吸次片支瓶袋盒粒包]|d"
    divisor = rf"(?:100 ?km|(?:{number}){SPACE}?(?:{symbols})|{symbols}|{own_per})(?![^\W{CJK}])"
    per = rf"(?:/(?P<per>{divisor})(?:/(?P<then>{divisor}))?)?"
    percent = re.compile(rf"(?P<first>{number}){to}{SPACE}?(?P<sign>[%‰])(?!{MODULO})")
    measure = re.compile(rf"(?P<first>{number}){to}{power}(?P<space>{SPACE}|-)?(?P<unit>{symbols}){_AFTER}{per}{_DOT}")
    mixed = re.compile(rf"(?P<part>{fractions.MIXED}){SPACE}?(?P<unit>{symbols}){_AFTER}{_DOT}")
    measures = _Measures(speaker)
    found = [
        Rule("0$", percent, measures.percent, then=after_number(f"{SPACE}?[-–—~～〜至%‰]"), first="."),
        Rule("0$", mixed, measures.part, then=rf"[/⁄]\d| ?[\d{fractions.VULGAR}]", first=fractions.VULGAR),
        Rule(
            "0$",
            measure,
            measures.measure,
            then=after_number(rf"{SPACE}?(?:[-–—~～〜至×x·⋅]|{begun(units(speaker.code))})|[eE][+-]?\d"),
            first=".",
        ),
    ]
    if speaker.code == "en":
        molar = re.compile(
            r"(\d{1,2}(?:\.\d+)?) ?M(?= (?:KOH|HF|(?=[A-Za-z0-9()]*[a-z0-9])(?:[A-Z][a-z]?\d?){2,})(?![A-Za-z]))"
        )
        found.insert(0, Rule("0", molar, lambda match: f"{speaker.number(match[1])} molar", then=after_number(" ?M")))
    if speaker.spaced:
        scales = _SCALES[speaker.code]
        scaled = re.compile(rf"({number}){SPACE}({scales}){SPACE}({any_of(_SCALED)}){_AFTER}")
        initials = "".join({name[0] for name in scales.split("|")})
        found.insert(0, Rule("0", scaled, measures.scaled, then=after_number(f"{SPACE}[{initials}]")))
    if speaker.code in ("fr", "es"):
        found.insert(0, Rule("0", _SHORT_HEIGHT, measures.short_height, then=" ?m"))
    if speaker.code == "ja":
        often = re.compile(r"(\d+)([回個枚本件錠杯粒]|時間)/([日週月年回])(?![^\W\d_\u3040-\u309f])")
        found.insert(0, Rule("0", often, lambda match: _often(speaker, match), then="[回個枚本件錠杯粒時]"))
    if speaker.code == "de":
        found.insert(
            0,
            Rule("0", re.compile(rf"({number}){SPACE}?%(ig\w*)"), measures.percentual, then=after_number(f"{SPACE}?%")),
        )
    return found


def _often(speaker: Speaker, match: re.Match[str]) -> str:
    """*一日三回*"""
    period = {"日": "一日", "週": "週に", "月": "月に", "年": "年に", "回": "一回"}[match[3]]
    return f"{period}{speaker.number(match[1])}{match[2]}"


def _declined(speaker: Speaker, match: re.Match[str], said: str) -> str:
    """*einen Liter*, *nach einer Stunde*"""
    article, _, noun = said.partition(" ")
    return f"{german.one(speaker, match.string, match.start(), noun.split()[0]) or article} {noun}"


class _Measures:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._units = units(speaker.code)

    def scaled(self, match: re.Match[str]) -> str | None:
        """*150 million kilometers*"""
        if match[3] not in self._units:
            return None
        return self._speaker.join(self._speaker.number(match[1]), match[2], many_of(self._speaker, match[3]))

    def percent(self, match: re.Match[str]) -> str:
        speaker = self._speaker
        sign = speaker.words.percent if match["sign"] == "%" else speaker.words.per_mille
        amount = speaker.number(match["first"])
        if match["second"]:
            amount = speaker.join(amount, speaker.words.to, speaker.number(match["second"]))
        if speaker.code == "zh" and amount == "一百":
            amount = "百"
        return sign + amount if speaker.code == "zh" else speaker.join(amount, sign)

    def measure(self, match: re.Match[str]) -> str | None:
        speaker = self._speaker
        unit, _, second = self._units[match["unit"]].partition("/")
        if match["unit"] == "K" and match["space"] is None:
            return None  # kelvin is written apart, `5K` is a race
        named_so = match["space"] is None and len(match["unit"]) == 1 and match["unit"].isupper()
        if named_so and speaker.word_before(match.string, match.start()) in _ARTICLES:
            return None  # la Corse, le 2A
        if match["unit"] == "A" and _SEAT.search(match.string, 0, match.start()):
            return None
        if unit == "length-meter" and not match["per"] and _HEIGHT.fullmatch(match["first"]) and not self._many(match):
            return self._height(match["first"])
        literal = match["first"]
        if unit.startswith("duration-") and len(literal) == 2:
            literal = literal.removeprefix("0")  # 12 min 05 s
        if many := self._many(match):
            said = pattern_of(speaker.code, unit, few=False).format(many)
        elif match["space"] == "-" or speaker.attributive(match):
            pattern = pattern_of(speaker.code, unit, few=True)
            said = pattern.format(speaker.number(match["first"], gender_of(speaker.language, pattern)))
        else:
            said = named(speaker, literal, unit)
            if speaker.code == "de" and match["first"] == "1":
                said = _declined(speaker, match, said)
        if (per := match["per"] or second) and per.startswith("100"):
            ahead, behind = _PER_HUNDRED[speaker.code]
            return speaker.join(ahead, said, behind)
        for divisor in (per, match["then"]):
            if divisor and speaker.code == "ja" and CJK_ALONE.match(divisor):
                said = f"一{divisor}あたり{said}"
            elif divisor:
                per_what = per_name(speaker, divisor)
                if COUNTED.fullmatch(divisor) and _EQUATED.match(match.string, match.end()):
                    return speaker.join(said, speaker.words.divided, per_what)
                said = (
                    said + speaker.words.pause
                    if self._again(match["unit"], divisor)
                    else speaker.join(said, speaker.words.per)
                )
                said = speaker.join(said, per_what)
        if speaker.language.spaced:
            return said
        return _HOURLY.sub("", said) if _HOURLY.search(match.string, max(0, match.start() - 4), match.start()) else said

    def _again(self, unit: str, divisor: str) -> bool:
        """Whether `180 °C/350 °F` is the same once more: both are temperatures."""
        counted = COUNTED.fullmatch(divisor)
        if counted is None:
            return False
        known = units("en")  # a name of our own does not tell its kind
        kind = known.get(unit, unit).partition("-")[0]
        return kind in ("temperature", "angle") or known.get(counted[2], "").partition("-")[0] == kind

    def short_height(self, match: re.Match[str]) -> str:
        """`1m80`"""
        return self._height(f"{match[1]},{match[2]}")

    def _height(self, literal: str) -> str:
        """*un mètre soixante-quinze*, *ein Meter achtzig*: so are people measured, and rooms."""
        whole, centimeters = re.split("[.,]", literal)
        return f"{named(self._speaker, whole, 'length-meter')} {self._speaker.numbers.cardinal(int(centimeters))}"

    def _many(self, match: re.Match[str]) -> str:
        """*five to ten*, *three times ten to the power of eight*; empty for a plain number."""
        speaker = self._speaker
        if not (match["second"] or match["power"]):
            return ""
        first = speaker.number(match["first"])
        if match["second"]:
            return speaker.join(first, speaker.words.to, speaker.number(match["second"]))
        exponent = powers.exponent_of(re.sub(r"^ ?[×x·⋅] ?10|^[eE^]", "", match["power"]).lstrip("^"))
        return speaker.join(first, powers.times_ten(speaker, exponent))

    def part(self, match: re.Match[str]) -> str | None:
        """*one quarter teaspoon*"""
        speaker = self._speaker
        said = fractions.mixed(speaker, match["part"])
        if said is None:
            return None
        if speaker.code == "en" and match["unit"] == "s" and (exposure := _EXPOSURE.fullmatch(match["part"])):
            return f"one {speaker.numbers.ordinal(int(exposure[1]))} of a second"
        few = (
            not re.match(r"\d+ ?(?:\d+/|[^\d/])", match["part"])
            if speaker.code != "fr"
            else not re.match(r"[2-9]", match["part"])
        )
        pattern = pattern_of(speaker.code, self._units[match["unit"]].partition("/")[0], few)
        if said == "ein halb" and speaker.code == "de":
            noun = pattern.format("").strip()
            said = fractions.german_half(speaker, noun, first=not match.string[: match.start()].strip())
        if said == "un medio" and speaker.code == "es":
            said = "media" if gender_of(speaker.language, pattern) == FEMININE else "medio"
        return pattern.format(said)

    def percentual(self, match: re.Match[str]) -> str:
        """*hundertprozentig*"""
        return f"{self._speaker.number(match[1])}prozent{match[2]}"
