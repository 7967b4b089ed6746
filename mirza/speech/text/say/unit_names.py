"""What units are called, one or many of them, and after *per*. The names are CLDR's, by babel."""

from __future__ import annotations

import re
from functools import lru_cache

from babel.units import format_unit

from mirza.speech.text.language import Language, units
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.say.base import SPACE, Speaker

COUNTED = re.compile(rf"([\d.,]+){SPACE}?(\D.*)")
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


@lru_cache(maxsize=4096)
def named(speaker: Speaker, literal: str, unit: str) -> str:
    """A count of a unit, by its name in CLDR: *two hours*."""
    value = speaker.value(literal)
    few = value < 2 if speaker.code == "fr" else value == 1 and literal == "1"
    pattern = pattern_of(speaker.code, unit, few)
    if literal == "2" and speaker.code == "zh":
        return pattern.format("两")
    return pattern.format(speaker.number(literal, gender_of(speaker.language, pattern)))


def many_of(speaker: Speaker, unit: str, *, few: bool = False) -> str:
    """The name of a unit, for many: *pixels*; or for `few`, as before a noun: *a two meter board*."""
    return pattern_of(speaker.code, units(speaker.code)[unit], few).format("").strip()


def per_name(speaker: Speaker, unit: str) -> str:
    """What comes after *per*: a unit by its name, anything else as it is written."""
    known = units(speaker.code)
    if scaled := _MANY.fullmatch(unit):
        return speaker.join(speaker.number(scaled[1]), speaker.language.money.scales.get(scaled[2], scaled[2]))
    if counted := COUNTED.fullmatch(unit):
        return named(speaker, counted[1], known[counted[2]].partition("/")[0])
    if unit in known:
        return pattern_of(speaker.code, known[unit], few=True).format("").strip()
    if short := _PER_SHORT.get(speaker.code, {}).get(unit.rstrip(".")):
        return short
    return speaker.language.abbreviations.get(f"{unit}.", unit).partition("|")[0]


def each(speaker: Speaker, unit: str, amount: str) -> str:
    """An amount for each of a unit, as Chinese and Japanese say it: *每公里五分零六秒*."""
    name = per_name(speaker, unit)
    return f"每{name}{amount}" if speaker.code == "zh" else f"一{name}あたり{amount}"


def gender_of(language: Language, pattern: str) -> str:
    """The gender of the unit that a pattern names."""
    if language.code not in ("fr", "de", "es"):
        return COUNTING
    words = pattern.format("").split()
    gender = language.nouns.gender(words[0] if words else "")
    return MASCULINE if gender != FEMININE and language.code == "de" else gender


@lru_cache(maxsize=1024)
def pattern_of(code: str, unit: str, few: bool) -> str:
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
