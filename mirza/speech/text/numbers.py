"""Numbers as words: cardinals, ordinals, years, decimals, digits.

The words come from the rule-based number formats of Unicode's CLDR, by `unicode-rbnf`: one source for all languages, with
genders. What people say that CLDR does not have is added here, each with its reason.
"""

from __future__ import annotations

import re
from functools import lru_cache

from unicode_rbnf import RbnfEngine

from mirza.errors import MirzaError

MASCULINE, FEMININE, NEUTER, COUNTING = "masculine", "feminine", "neuter", "counting"
"""Genders of a number; `COUNTING` is a number that stands alone: *eins*, *uno*."""

MAX_DIGITS = 15
"""A longer number is a code: it is said digit by digit."""

_CARDINAL = {
    ("en", COUNTING): "spellout-cardinal-verbose",
    ("fr", COUNTING): "spellout-numbering",
    ("fr", MASCULINE): "spellout-cardinal-masculine",
    ("fr", FEMININE): "spellout-cardinal-feminine",
    ("de", COUNTING): "spellout-numbering",
    ("de", MASCULINE): "spellout-cardinal-masculine",
    ("de", NEUTER): "spellout-cardinal-neuter",
    ("de", FEMININE): "spellout-cardinal-feminine",
    ("es", COUNTING): "spellout-numbering",
    ("es", MASCULINE): "spellout-cardinal-masculine",
    ("es", FEMININE): "spellout-cardinal-feminine",
    ("zh", COUNTING): "spellout-cardinal",
    ("ja", COUNTING): "spellout-numbering",
}
_ORDINAL = {
    ("fr", MASCULINE): "spellout-ordinal-masculine",
    ("fr", FEMININE): "spellout-ordinal-feminine",
    ("es", COUNTING): "spellout-ordinal-masculine",
    ("es", MASCULINE): "spellout-ordinal-masculine-adjective",
    ("es", FEMININE): "spellout-ordinal-feminine",
    ("de", "n"): "spellout-ordinal-n",
    ("de", "r"): "spellout-ordinal-r",
    ("de", "s"): "spellout-ordinal-s",
    ("de", "m"): "spellout-ordinal-m",
}
_FALLBACK_ORDINAL = {"fr": "spellout-ordinal-masculine", "es": "spellout-ordinal-masculine"}


_SPANISH_THOUSANDS = re.compile(r"(?<!\w)(?:(?!mill)\w+ )*?\w*ientos (?:(?!mill)\w+ )*?mil\b")
"""*doscientas mil personas*: hundreds agree before `mil` too (RAE), which CLDR 48 does not do."""


class Numbers:
    """The numbers of one language, in words."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._engine = RbnfEngine.for_language(language)
        self.cardinal = lru_cache(maxsize=4096)(self._cardinal)
        self.digits = lru_cache(maxsize=4096)(self._digits)
        self._words = lru_cache(maxsize=4096)(self._spell)

    def _cardinal(self, number: int, gender: str = COUNTING) -> str:
        """`number` in words, for a noun of `gender`."""
        ruleset = _CARDINAL.get((self.language, gender)) or _CARDINAL[self.language, COUNTING]
        words = self._words(number, ruleset)
        if self.language == "en":
            return words.replace(",", "")
        if self.language == "zh":
            return re.sub(r"^(负?)二(?=[千万亿])", r"\1两", words)  # people say 两千, CLDR's 二千 is only written
        if self.language == "ja" and number == 0:
            return "ゼロ"
        if self.language == "es" and gender == FEMININE:
            return _SPANISH_THOUSANDS.sub(lambda part: part.group().replace("ientos", "ientas"), words)
        return words

    def ordinal(self, number: int, form: str = COUNTING) -> str:
        """First, second, ... `form` is a gender, or in German the ending."""
        ruleset = _ORDINAL.get((self.language, form)) or _FALLBACK_ORDINAL.get(self.language, "spellout-ordinal")
        if self.language == "en":
            ruleset = "spellout-ordinal-verbose"
        return self._words(number, ruleset).replace("〇", "零")

    def year(self, number: int) -> str:
        """`number` as a year: *nineteen eighty-four*."""
        match self.language:
            case "en" if 2000 < number < 2010 or number % 1000 == 0:
                return self.cardinal(number)
            case "en" | "de" if 1000 < number < 10000:
                return self._words(number, "spellout-numbering-year")
            case "zh":
                return self.digits(str(number))
            case _:
                return self.cardinal(number)

    def called(self, digits: str) -> str:
        """The digits of what is called by them, a telephone, a room: Chinese has a one that is not taken for a seven."""
        said = self.digits(digits)
        return said.replace("一", "幺") if self.language == "zh" else said

    def _digits(self, digits: str, joiner: str | None = None) -> str:
        """One digit after the other."""
        glue = joiner if joiner is not None else "" if self.language in ("zh", "ja") else " "
        return glue.join(self._digit(digit) for digit in digits if digit.isdecimal())

    def _digit(self, digit: str) -> str:
        value = int(digit)
        if self.language == "zh" and value == 0:
            return "零"
        return self.cardinal(value)

    def _spell(self, number: int, ruleset: str) -> str:
        try:
            return "".join(self._engine.iter_format_number(number, ruleset_name=ruleset)).replace("\xad", "")
        except LookupError as error:
            raise MirzaError(
                f"No words for {number} in {self.language}.", "This is a fault of Mirza: report it."
            ) from error
