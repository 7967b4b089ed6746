"""What is known of each language that Mirza says text in: `data/*.toml`, read once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from mirza.speech.text.breaks import Breaks
from mirza.speech.text.numbers import FEMININE, MASCULINE, NEUTER, Numbers

LANGUAGES = ("en", "fr", "de", "es", "zh", "ja")
BEFORE_NUMBER = frozenset(
    "no. p. pp. c. s. sec. art. vol. op. fig. ste. rm. sc. ll. fl. n. pt. mm. mag. alt. az. lat. abs. ch. chap. cap. bd. kap. abb. tab. nr. n° nº n.º núm. pág. págs. sect.".split()
)
"""Abbreviations that are one only before a number."""
_GENDERS = {"m": MASCULINE, "f": FEMININE, "n": NEUTER}


@dataclass(frozen=True, slots=True)
class Words:
    """How signs are said. `power` has `{}` for the exponent; empty is not said."""

    point: str
    minus: str
    subtracted: str
    """A minus between two terms."""
    plus: str
    times: str
    divided: str
    equals: str
    not_equal: str
    less: str
    more: str
    at_most: str
    at_least: str
    about: str
    plus_minus: str
    percent: str
    per_mille: str
    degrees: str
    degree: str
    at: str
    dot: str
    dash: str
    slash: str
    number: str
    numbers: str
    hashtag: str
    sharp: str
    to: str
    ratio: str
    over: str
    out_of: str
    per: str
    squared: str
    cubed: str
    power: str
    root: str
    infinity: str
    copyright: str
    registered: str
    trademark: str
    section: str
    pause: str
    sum: str
    integral: str
    factorial: str
    star: str
    ampersand: str


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency's names: one, many, and of its hundredth; empty where it has none."""

    one: str
    many: str
    cent: str
    cents: str
    gender: str


@dataclass(frozen=True, slots=True)
class Money:
    """How amounts are said."""

    names: dict[str, Currency]
    """By ISO 4217 code."""
    scales: dict[str, str]
    """`M` is a million."""
    scale_words: frozenset[str]
    of: str
    """The word between a million and its noun: *un million **de** dollars*."""


@dataclass(frozen=True, slots=True)
class Dates:
    """Months, and in which order `3/4` is written."""

    order: str
    months: tuple[str, ...]
    short_months: tuple[str, ...]
    days: tuple[str, ...]
    """From Monday on; `short_days` in the same order. Empty where they are not shortened."""
    short_days: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nouns:
    """Enough about nouns to say *une*, *eine*, *una* before most of them."""

    feminine: frozenset[str]
    feminine_ends: tuple[str, ...]
    masculine: frozenset[str]
    neuter: frozenset[str]
    """Only where *ein halbes* has to be told from *ein halber*."""
    function_words: frozenset[str]
    measures: frozenset[str]
    """What Chinese measure words begin with: two of them are 两."""
    labels: tuple[str, ...]
    """Nouns before a number that names: 图2, 方案2."""

    def gender(self, noun: str) -> str:
        """A guess: listed, or by its ending."""
        word = noun.lower()
        if word in self.masculine:
            return MASCULINE
        feminine = word in self.feminine or (bool(self.feminine_ends) and word.endswith(self.feminine_ends))
        return FEMININE if feminine else MASCULINE


@dataclass(frozen=True, slots=True)
class Language:
    """One language, as its file tells it."""

    code: str
    breaks: Breaks
    numbers: Numbers
    words: Words
    symbols: dict[str, str]
    money: Money
    dates: Dates
    nouns: Nouns
    roman_names: frozenset[str]
    roman_cues: frozenset[str]
    version_cues: frozenset[str]
    scripture: dict[str, str]
    """Books that have chapters and verses, and as they are shortened."""
    compass: dict[str, str]
    """`NW` is the north-west."""
    abbreviations: dict[str, str]
    code_announcement: str

    @property
    def known(self) -> bool:
        """Whether Mirza knows how the language says what is written otherwise; if not, its voice has to."""
        return self.code in LANGUAGES

    @property
    def spaced(self) -> bool:
        """Whether words have spaces between them."""
        return self.code not in ("zh", "ja")

    @property
    def comma_decimal(self) -> bool:
        """Whether the decimal sign is a comma, and a point or a space groups thousands."""
        return self.code in ("fr", "de", "es")


@cache
def language_for(code: str) -> Language:
    """The language `code`, ISO 639-1 with or without a region, `known` or not."""
    name = code.lower().replace("_", "-").split("-")[0]
    if name not in LANGUAGES:
        return _other(name)
    data = tomllib.loads(_read(name))
    breaks, money, dates, nouns = data["breaks"], data["money"], data["dates"], data["nouns"]
    starters = _set(breaks["starters"])
    words = dict(data["words"])
    named = data.get("scripture", {"books": ""})["books"].split()
    books = dict(book.split("=") if "=" in book else (book, book) for book in named)
    words["ampersand"] = words.pop("and")
    return Language(
        code=name,
        breaks=Breaks(
            titles=_set(breaks["titles"]),
            title_ends=tuple(breaks.get("title_ends", "").split()),
            known=frozenset(
                part[:-1].lower() for name in data["abbreviations"] for part in name.split() if part.endswith(".")
            ),
            short_days=_set(dates["short_days"]),
            numbered=frozenset(breaks.get("numbered", "").split())
            | {book for book, name in books.items() if book != name},
            closing=_set(breaks["closing"]),
            starters=starters,
            conjunctions=_set(breaks["conjunctions"]),
            openers=_set(breaks["conjunctions"]) | _set(breaks["openers"]),
            ordinal_dot=breaks["ordinal_dot"],
            after_time=_set(breaks.get("after_time", "")),
        ),
        numbers=Numbers(name),
        words=Words(**words),
        symbols=data["symbols"],
        money=Money(
            names={code: _currency(names) for code, names in money["names"].items()},
            scales=_pairs(money["scales"]),
            scale_words=_set(money["scale_words"]),
            of=money["of"],
        ),
        dates=Dates(
            dates["order"],
            *(tuple(dates[names].split()) for names in ("months", "short_months", "days", "short_days")),
        ),
        nouns=Nouns(
            feminine=_set(nouns["feminine"]),
            feminine_ends=tuple(nouns["feminine_ends"].split()),
            masculine=frozenset(word.lower() for word in nouns["masculine"].split()),
            neuter=frozenset(nouns.get("neuter", "").split()),
            function_words=_set(nouns["not_nouns"]) | starters,
            measures=frozenset(nouns.get("measures", "")),
            labels=tuple(nouns.get("labels", "").split()),
        ),
        roman_names=frozenset(data["roman"]["names"].split()),
        roman_cues=_set(data["roman"]["cues"]),
        version_cues=_set(data["versions"]["cues"]),
        scripture=books,
        compass=_pairs(data.get("winds", {}).get("names", "")),
        abbreviations=_with_capitals(data["abbreviations"]),
        code_announcement=data["announcements"]["code"],
    )


@cache
def units(code: str) -> dict[str, str]:
    """Unit symbols, and their names in CLDR; some are in use in one language only."""
    tables = tomllib.loads(_read("units"))
    return tables["units"] | tables.get(code, {})


def _other(code: str) -> Language:
    """A language that nothing is known of but where most of its kind end sentences."""
    data = tomllib.loads(_read("other"))
    breaks = Breaks(titles=_set(data["breaks"]["titles"]), closing=_set(data["breaks"]["closing"]))
    return replace(language_for("en"), code=code, breaks=breaks, code_announcement=data["announcements"]["code"])


def _read(name: str) -> str:
    return resources.files("mirza.speech.text").joinpath(f"data/{name}.toml").read_text("utf-8")


def _set(words: str) -> frozenset[str]:
    return frozenset(word.lower() for word in words.split())


def _pairs(words: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in words.split())


def _with_capitals(abbreviations: dict[str, str]) -> dict[str, str]:
    """With those that stand before a number as they begin a sentence: `Chap. 3`."""
    capitals = {name.capitalize(): said.capitalize() for name, said in abbreviations.items() if name in BEFORE_NUMBER}
    return capitals | abbreviations


def _currency(names: str) -> Currency:
    one, many, cent, cents, gender = names.replace(" - -", "  ").split(" ")
    return Currency(one, many, cent, cents, _GENDERS[gender])
