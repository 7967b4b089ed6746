"""Measures and percentages. The names of units are CLDR's, by babel."""

from __future__ import annotations

import re
from functools import lru_cache

from babel.units import format_unit

from mirza.speech.text.language import Language, units
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.places import CJK, any_of
from mirza.speech.text.say import fractions, german, powers
from mirza.speech.text.say.base import MODULO, SPACE, Rule, Speaker, after_number, begun, first_of

_FEET_INCHES = re.compile(r"(\d+) ?ft\.? (\d{1,2}) ?in(?!\w)")
_COUNTED = re.compile(rf"([\d.,]+){SPACE}?(\D.*)")
"""`24 h`"""
_MANY = re.compile(r"(\d+)([kKM])")
"""`1M` tokens"""
_PER_SHORT = {
    "zh": {"d": "天"},
    "ja": {"d": "日"},
    "es": {"ud": "unidad", "u": "unidad", "pers": "persona"},
    "fr": {"pers": "personne", "u": "unité", "hab": "habitant"},
    "de": {"St": "Stück", "Stk": "Stück", "Pers": "Person"},
    "en": {"pp": "person", "mo": "month", "yr": "year", "nt": "night"},
}  # fmt: skip
"""What is short after a slash only: `15 €/ud.`"""
_PER_HUNDRED = {
    "en": ("", "per hundred kilometers"), "fr": ("", "aux cent kilomètres"), "de": ("", "auf hundert Kilometer"),
    "es": ("", "a los cien kilómetros"), "zh": ("每百公里", ""), "ja": ("百キロメートルあたり", ""),
}  # fmt: skip
"""What a car needs: `5,4 l/100 km`."""
_OPENED, _CLOSED = re.compile(r"(?<!\S)\""), re.compile(r"(?<=[^\s\d])\"")
"""Marks of quotation; none that may be an inch is counted."""
_INCH_MARK = re.compile(
    rf"(?:(?P<first>\d+(?:[.,]\d+)?)[-–])?(?P<part>{fractions.MIXED}(?=\"))?(?P<whole>\d+(?:[.,]\d+)?)?(?(part)|(?(whole)|(?!)))\""
    r"(?![^\W_])"
)
_LONG_FEET = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{3,})['′](?![\w\"″])")
"""So many feet that no mark of quotation is meant."""
_NAMED = re.compile(r" \d+[A-Za-z]")
"""A thing may have more said of it first: `a 6.7" 120Hz display`."""
_EXPOSURE = re.compile(r"1/(\d{2,})")
_SIDE = frozenset(
    "tall wide long deep high thick across apart away above below square of in by from with to and or x at on per".split()
)
"""After these *eight inches* are many; before a thing they are one: *an eight inch pan*."""
_INCHES = re.compile(
    r"(\d+(?:\.\d+)?)[\"″”] ?[x×] ?(\d+(?:\.\d+)?)[\"″”](?: ?[x×] ?(\d+(?:\.\d+)?)[\"″”])?|(\d+(?:\.\d+)?)″"
)
_FEET = re.compile(r"(\d)['′](?:[ ]?(\d{1,2})(?:[\"″”]|''))?(?!\w)")
_MEASURED = re.compile(r"[½⅓⅔¼¾⅛⅜⅝⅞] ?\Z|\d ?(?:[cdkm]?m|ft|in|yd|[\"'′″]) ?\Z")
_BY = {"en": "by", "fr": "sur", "de": "mal", "es": "por"}
"""Between two sides, each with its unit: `12 ft x 8 ft`."""
_PERIOD = re.compile(r" ?\d{1,3}(?:[-–]\d{1,3})? ?(?:days?|weeks?|months?|hours?|hrs?|wks?|d)(?!\w)")
"""A treatment lasts so long: `x 10 days`."""
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
_WORDS = frozenset(
    "min max sec bar bit cal mi mo pt ha ms ml mp au ft pc mpc at iu kt kn kr lx lm ah wh ng pg j".split()
)
"""In brackets these may be something else."""
_BARE = "kg km cm mm cl dl ml mL kWh MWh km/h m² m³ km² cm²".split()
_BEFORE_ONE = {
    "fr": frozenset("par le au du".split()), "de": frozenset("pro je".split()), "es": frozenset("por el al del cada".split())
}  # fmt: skip
_BEFORE_MANY = frozenset("en in".split())
_SCALED = "km² km³ km m² m³ kg t ha kWh MWh GWh TWh kW MW GW GB TB mi ft".split()
"""Units that may follow *150 million*; `in` would be a word."""
_AFTER = r"(?![^\W_\u3040-\u30ff\u3400-\u9fff]|['’][^\W_]|\.[A-Z]\.|[☉⊙])"
_EQUATED = re.compile(" ?=")
CJK_ALONE = re.compile(rf"[{CJK}]")
_DOT = r"(?:\.(?=[ \xa0](?:\(|[^\W\d_A-ZÀ-Þ])|[,;:)])|(?<=Std|Sek)\.(?=[ \xa0]\w)|(?<=Std|Sek|Min)\.(?=/))?"
"""The full stop of `5 min. à pied`, `2 Std. Fahrt`."""


def rules(speaker: Speaker) -> list[Rule]:
    """Percentages, measures, and feet with inches."""
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
        found.insert(
            0, Rule("0", _LONG_FEET, lambda match: f"{speaker.number(match[1])} feet", then=after_number("['′]"))
        )
        found.insert(0, Rule("0", _FEET, measures.feet, then="['′]"))
        found.insert(0, Rule("0", _FEET_INCHES, measures.feet_inches, then=" ?f"))
    spaced = speaker.language.spaced
    if spaced:
        scales = _SCALES[speaker.code]
        scaled = re.compile(rf"({number}){SPACE}({scales}){SPACE}({any_of(_SCALED)}){_AFTER}")
        initials = "".join({name[0] for name in scales.split("|")})
        found.insert(0, Rule("0", scaled, measures.scaled, then=after_number(f"{SPACE}[{initials}]")))
        found.insert(
            0,
            Rule(
                "0$",
                _INCH_MARK,
                measures.inch_mark,
                then=rf"[/⁄]\d| ?[\d{fractions.VULGAR}]|" + after_number('[-–"]'),
                first=fractions.VULGAR,
            ),
        )
        found.append(Rule("$", _lone(speaker), measures.lone, first="("))
    if speaker.code in ("fr", "es"):
        found.insert(0, Rule("0", _SHORT_HEIGHT, measures.short_height, then=" ?m"))
    if speaker.code == "en":
        found.insert(0, Rule("0", _INCHES, measures.inches, then=after_number('["″”]')))
    if spaced:
        found.append(Rule("a$", re.compile(r"[x×](?= ?\d)"), lambda match: _by(speaker, match), first="x×"))
    if speaker.code in _BEFORE_ONE:
        bare = re.compile(rf"({any_of(_BARE)})(?![\w/²³])")
        found.append(Rule("a", bare, measures.bare, first=first_of(_BARE)))
    if speaker.code == "ja":
        often = re.compile(r"(\d+)([回個枚本件錠杯粒]|時間)/([日週月年回])(?![^\W\d_\u3040-\u309f])")
        found.insert(0, Rule("0", often, lambda match: _often(speaker, match), then="[回個枚本件錠杯粒時]"))
    if speaker.code == "de":
        found.insert(
            0,
            Rule("0", re.compile(rf"({number}){SPACE}?%(ig\w*)"), measures.percentual, then=after_number(f"{SPACE}?%")),
        )
    return found


def triggers(language: Language) -> frozenset[str]:
    """Units that stand without a number: *pro kg*."""
    return frozenset(_BARE) if language.code in _BEFORE_ONE else frozenset()


def _lone(speaker: Speaker) -> re.Pattern[str]:
    """A unit alone in brackets, as over the column of a table."""
    symbols = [unit for unit in units(speaker.code) if len(unit) > 1 and unit.lower() not in _WORDS]
    return re.compile(rf"\((?:in )?({any_of(symbols)})\)")


def _often(speaker: Speaker, match: re.Match[str]) -> str:
    """*一日三回*"""
    period = {"日": "一日", "週": "週に", "月": "月に", "年": "年に", "回": "一回"}[match[3]]
    return f"{period}{speaker.number(match[1])}{match[2]}"


def _by(speaker: Speaker, match: re.Match[str]) -> str | None:
    """*twelve feet by eight feet*"""
    if speaker.code == "en" and _PERIOD.match(match.string, match.end()):
        return "for"
    return _BY[speaker.code] if _MEASURED.search(match.string, 0, match.start()) else None


def _declined(speaker: Speaker, match: re.Match[str], said: str) -> str:
    """*einen Liter*, *nach einer Stunde*"""
    article, _, noun = said.partition(" ")
    return f"{german.one(speaker, match.string, match.start(), noun.split()[0]) or article} {noun}"


@lru_cache(maxsize=4096)
def named(speaker: Speaker, literal: str, unit: str) -> str:
    """A count of a unit, by its name in CLDR: *two hours*."""
    value = speaker.value(literal)
    few = value < 2 if speaker.code == "fr" else value == 1 and literal == "1"
    pattern = _pattern(speaker.code, unit, few)
    if literal == "2" and speaker.code == "zh":
        return pattern.format("两")
    return pattern.format(speaker.number(literal, _gender(speaker.language, pattern)))


def many_of(speaker: Speaker, unit: str) -> str:
    """The name of a unit, for many: *pixels*."""
    return _pattern(speaker.code, units(speaker.code)[unit], few=False).format("").strip()


def per_name(speaker: Speaker, unit: str) -> str:
    """What comes after *per*: a unit by its name, anything else as it is written."""
    known = units(speaker.code)
    if scaled := _MANY.fullmatch(unit):
        return speaker.join(speaker.number(scaled[1]), speaker.language.money.scales.get(scaled[2], scaled[2]))
    if counted := _COUNTED.fullmatch(unit):
        return named(speaker, counted[1], known[counted[2]].partition("/")[0])
    if unit in known:
        return _pattern(speaker.code, known[unit], few=True).format("").strip()
    if short := _PER_SHORT.get(speaker.code, {}).get(unit.rstrip(".")):
        return short
    return speaker.language.abbreviations.get(f"{unit}.", unit).partition("|")[0]


def each(speaker: Speaker, unit: str, amount: str) -> str:
    """An amount for each of a unit, as Chinese and Japanese say it: *每公里五分零六秒*."""
    name = per_name(speaker, unit)
    return f"每{name}{amount}" if speaker.code == "zh" else f"一{name}あたり{amount}"


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
            said = _pattern(speaker.code, unit, few=False).format(many)
        elif match["space"] == "-" or speaker.attributive(match):
            pattern = _pattern(speaker.code, unit, few=True)
            said = pattern.format(speaker.number(match["first"], _gender(speaker.language, pattern)))
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
                if _COUNTED.fullmatch(divisor) and _EQUATED.match(match.string, match.end()):
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
        counted = _COUNTED.fullmatch(divisor)
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
        pattern = _pattern(speaker.code, self._units[match["unit"]].partition("/")[0], few)
        if said == "ein halb" and speaker.code == "de":
            noun = pattern.format("").strip()
            said = fractions.german_half(speaker, noun, first=not match.string[: match.start()].strip())
        if said == "un medio" and speaker.code == "es":
            said = "media" if _gender(speaker.language, pattern) == FEMININE else "medio"
        return pattern.format(said)

    def percentual(self, match: re.Match[str]) -> str:
        """*hundertprozentig*"""
        return f"{self._speaker.number(match[1])}prozent{match[2]}"

    def inches(self, match: re.Match[str]) -> str:
        """*ten inches by twelve inches*"""
        sides = [named(self._speaker, side, "length-inch") for side in match.groups() if side]
        return " by ".join(sides)

    def inch_mark(self, match: re.Match[str]) -> str | None:
        """*twenty-seven inches*, unless the mark closes what was quoted."""
        before = match.string[: match.start()]
        if len(_OPENED.findall(before)) > len(_CLOSED.findall(before)):
            return None
        speaker = self._speaker
        if match["part"]:
            said, whole = fractions.mixed(speaker, match["part"]), "0"
            few = re.match(r"\d+ |\d+[^\d/]", match["part"]) is None
        else:
            said, whole = speaker.number(match["whole"]), match["whole"]
            few = whole == "1" and not match["first"]
        if match["first"]:
            said = said and speaker.join(speaker.number(match["first"]), speaker.words.to, said)
        if said is None:
            return None
        noun = speaker.word_after(match.string, match.end())
        thing = noun.islower() or (not noun and speaker.determined(match) and _NAMED.match(match.string, match.end()))
        described = speaker.code == "en" and thing and noun not in _SIDE | speaker.language.nouns.function_words
        return _pattern(speaker.code, "length-inch", few or described).format(said)

    def feet_inches(self, match: re.Match[str]) -> str:
        """*five feet eleven inches*"""
        return f"{named(self._speaker, match[1], 'length-foot')} {named(self._speaker, match[2], 'length-inch')}"

    def lone(self, match: re.Match[str]) -> str:
        """*area, square kilometers*"""
        pause = self._speaker.words.pause
        name = many_of(self._speaker, match[1])
        return f"{pause} {name}" + (pause if match.string[match.end() :].lstrip()[:1].isalnum() else "")

    def bare(self, match: re.Match[str]) -> str | None:
        """*pro Kilogramm*, *en kilogrammes*"""
        before = self._speaker.word_before(match.string, match.start())
        if before in _BEFORE_MANY:
            return many_of(self._speaker, match[1])
        return per_name(self._speaker, match[1]) if before in _BEFORE_ONE[self._speaker.code] else None

    def feet(self, match: re.Match[str]) -> str | None:
        if not match[2] and match.group().endswith("'"):
            return None
        feet = self._speaker.number(match[1])
        return f"{feet} foot {self._speaker.number(match[2])}" if match[2] else f"{feet} feet"


def _gender(language: Language, pattern: str) -> str:
    if language.code not in ("fr", "de", "es"):
        return COUNTING
    words = pattern.format("").split()
    gender = language.nouns.gender(words[0] if words else "")
    return MASCULINE if gender != FEMININE and language.code == "de" else gender


@lru_cache(maxsize=1024)
def _pattern(code: str, unit: str, few: bool) -> str:
    """The unit's name with `{}` for the number: *{} kilometers*, *每小时{}公里*.

    `unit` is CLDR's name for it, or where CLDR's is not said, such a pattern, or `one|many`.
    """
    if "{}" in unit:
        return unit
    if "|" in unit:
        one, many = unit.split("|")
        return f"{{}} {one if few else many}"
    count = 1 if few else 2
    words = format_unit(count, unit, length="long", locale=code).replace("\xa0", " ").replace("{", "").replace("}", "")
    words = re.sub(r"\s*-\s*米国", "", words)  # CLDR tells a cup of the United States from a Japanese one
    pattern = words.replace(str(count), "{}", 1)
    return pattern.replace(" ", "") if code in ("zh", "ja") else pattern
