"""`Rule` and `Speaker`: what all ways of saying things share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from mirza.speech.text.language import Language
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE, MAX_DIGITS, NEUTER
from mirza.speech.text.places import any_of

MODULO = r"(?<= %) ?(?:\d+|[a-z]) ?(?:[=!<>]=|[<>=]|is\b)"
"""What follows a `%` that is a sum: `n % 2 == 0`."""
SPACE = "[ \xa0\u202f]"
_IN_NUMBER = rf"(?:{SPACE}?[.,'’]?\d)*"
_GROUPS_POINT = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_GROUPS_COMMA = r"\d{1,3}(?:,\d{3})+\.\d+(?!\d)|\d{1,3}(?:,\d{3}){2,}(?![\d,])|\d{1,3}(?:[.' \xa0\u202f’]\d{3})+(?!\d)(?:,\d+)?|\d+(?:[.,]\d+)?"
_WORD_AFTER = re.compile(r"[ \xa0\u202f-]{0,2}([^\W\d_]+(?:['’-][^\W\d_]+)*)")
_WORD_BACKWARDS = re.compile(r"[\s'’,(]{0,3}([^\W\d_]+)")


_SPACES = frozenset("house apartment home condo lot space office facility warehouse pool tank room garage".split())
"""What is so large in English: *a two thousand square foot house*."""
_ENGINE = re.compile(r" [IVLHWF]-?\d{1,2}(?!\w)")
"""`a 2.0L I4`"""
_DETERMINERS = frozenset(
    ["a", "an", "the", "this", "that", "another", "each", "every", "my", "your", "his", "her", "our", "their"]
)


SEEN = 4
"""So many characters after its first digits tell which rules are asked about a number."""
MANY_DIGITS = 5
"""More are not counted for that."""


ORDINALS_BEFORE = re.compile(r"(?<!\d)(?:\d{1,2}\., ?)*\d{1,2}\. (?:und|oder|sowie) \Z|(?<!\d)(?:\d{1,2}\., ?)+\Z")
_GERMAN_N = frozenset("am im vom zum beim dem den des ab bis seit zur ins ans einem seinem v".split())


@dataclass(frozen=True, slots=True)
class Rule:
    """A form, and how it is said; `say` may decline with `None`.

    `begins` tells where the rule is asked: at a digit (`0`), a letter (`a`), any other sign (`$`). So that not every rule
    is asked everywhere, `then` is a pattern for what can come after the digits that the form begins with, of which there
    are `least` or more; it is shown `SEEN` characters. `zero` says that the first of them is a 0 where they are few. `first` are the letters and signs, as in a pattern's brackets, that
    the form can begin with. Empty is any.
    """

    begins: str
    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str | None]
    tight: bool = False
    then: str = ""
    first: str = ""
    least: int = 1
    zero: bool = False

    def goes_on_with(self, digits: int, zero: bool, following: str) -> bool:
        """Whether the form can begin with so many digits, `zero` first or not, and with what is `following` them."""
        if "0" not in self.begins or digits < self.least or (self.zero and not zero and digits < MANY_DIGITS):
            return False
        return _compiled(self.then).match(following) is not None

    def begins_with(self, char: str) -> bool:
        """Whether the form can begin with `char`, a letter or a sign."""
        kind = "a" if char.isalpha() else "$"
        return kind in self.begins and (not self.first or _compiled(f"[{self.first}]").match(char) is not None)


_compiled = cache(re.compile)
"""The patterns of all rules are more than `re` remembers."""


def after_number(following: str) -> str:
    """For `Rule.then`: a number has what is `following` after it, or goes on as far as is shown: decimals, thousands."""
    return rf"{_IN_NUMBER}(?:{following}|{SPACE}?[.,'’]?\Z)"


def begun(names: Iterable[str]) -> str:
    """For `Rule.then`: one of `names`, with no letter behind it, or as much of one as is shown."""
    known = [*names]
    parts = {name[:end] for name in known for end in range(1, len(name))}
    return rf"(?:(?:{any_of(known)})(?![A-Za-z])|(?:{any_of(parts)})\Z)"


def first_of(names: Iterable[str]) -> str:
    """What `names` begin with, as in a pattern's brackets."""
    return re.escape("".join(sorted({name[0] for name in names})))


class Speaker:
    """Says numbers in one language, and knows the words around a place."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.code = language.code
        self.words = language.words
        self.numbers = language.numbers
        self.spaced = language.spaced
        self._space = " " if language.spaced else ""
        self.number_pattern = _GROUPS_COMMA if language.comma_decimal else _GROUPS_POINT
        self.split = lru_cache(maxsize=4096)(self._split)
        self.number = lru_cache(maxsize=4096)(self._number)
        self.value = lru_cache(maxsize=4096)(self._value)

    def join(self, *parts: str) -> str:
        """The parts that are there, with spaces where the language has them."""
        return self._space.join([part for part in parts if part])

    def _split(self, literal: str) -> tuple[str, str]:
        """The digits before and after the decimal sign of a number as it is written."""
        match = re.fullmatch(r"(.*?)(?:([.,])(\d+))?", literal)
        assert match is not None
        whole, sign, decimals = match[1], match[2] or "", match[3] or ""
        if self.language.comma_decimal and "," in whole:  # as English groups them: 1,234.5 or 1,234,567
            whole, sign, decimals = (whole, ",", decimals) if sign == "." else (whole + decimals, "", "")
        grouped = bool(re.search(r"[.,' \xa0\u202f’]", whole)) or re.fullmatch(r"\d{1,3}", whole)
        thousands = "." if self.language.comma_decimal else ","
        if sign == thousands and len(decimals) == 3 and grouped:
            whole, sign, decimals = whole + decimals, "", ""
        return re.sub(r"\D", "", whole), sign + decimals

    def _value(self, literal: str) -> float:
        """What a number as it is written comes to."""
        whole, decimals = self.split(literal)
        return float(f"{whole or 0}.{decimals[1:] or '0'}")

    def _number(self, literal: str, gender: str = COUNTING) -> str:
        """A number as it is written, in words."""
        whole, decimals = self.split(literal)
        whole = whole or "0"
        if self.code == "de" and whole != "1":
            gender = COUNTING
        if len(whole) > MAX_DIGITS or (len(whole) > 1 and whole[0] == "0"):
            said = self.numbers.digits(whole)
        else:
            said = self.numbers.cardinal(int(whole), gender if not decimals else COUNTING)
        if not decimals:
            return said
        if self.code == "ja" and said == "ゼロ":
            said = "零"  # れいてんご
        return self.join(said, self.point(decimals[0]), self.decimals(decimals[1:]))

    def point(self, sign: str) -> str:
        """The decimal sign: as it is written, where both are in use."""
        if sign == "." and self.language.comma_decimal:
            return {"fr": "point", "de": "Punkt", "es": "punto"}[self.code]
        return self.words.point

    def decimals(self, digits: str) -> str:
        """Digits after the decimal sign. French and Spanish say them as a number while they are few."""
        if self.code in ("fr", "es"):
            lead = len(digits) - len(digits.lstrip("0"))
            rest = digits[lead:]
            if rest and len(rest) <= 3:
                zero = self.numbers.cardinal(0)
                return " ".join([zero] * lead + [self.numbers.cardinal(int(rest))])
        return self.numbers.digits(digits)

    def counted(self, literal: str, text: str, end: int) -> str:
        """A number before the noun that follows it at `end` in `text`, in its gender; 两 before a Chinese measure word."""
        nouns = self.language.nouns
        if literal == "2" and text[end : end + 1] in nouns.measures and not self._labelled(text, end - 1):
            return "两"
        gender = self.gender_after(text, end)
        if self.code == "es" and gender == FEMININE and literal != "1" and not self.word_after(text, end).endswith("s"):
            gender = COUNTING  # el error 404 significa
        return self.number(literal, gender)

    def _labelled(self, text: str, start: int) -> bool:
        """Whether the number at `start` is the name of what is before it: 图2所示."""
        before = text[max(0, start - 5) : start].rstrip()
        return before.endswith(self.language.nouns.labels) or (before[-1:].isascii() and before[-1:].isalpha())

    def gender_after(self, text: str, end: int) -> str:
        """The gender that the word after a number asks for."""
        if self.code not in ("fr", "de", "es"):
            return COUNTING
        found = _WORD_AFTER.match(text, end)
        if found is None or text[end : found.end()].startswith("-"):
            return COUNTING
        noun = found[1]
        if noun.lower() in self.language.nouns.function_words and not self.is_noun(noun, text, found.end()):
            return COUNTING
        noun = self.noun_after(text, end)
        if self.code == "de":
            if not noun[0].isupper():
                return _german_adjective(noun)
            gender = self.language.nouns.gender(noun)
            return gender if gender == FEMININE else NEUTER
        gender = self.language.nouns.gender(noun)
        return gender if self.code == "es" or gender == FEMININE else MASCULINE

    def is_noun(self, word: str, text: str, end: int) -> bool:
        """Whether a preposition is none here: *un sobre de levadura*."""
        return self.code == "es" and len(word) > 3 and text.startswith((" de ", " ("), end)

    def determined(self, match: re.Match[str]) -> bool:
        """Whether an article or the like is before."""
        return self.word_before(match.string, match.start()).lower() in _DETERMINERS

    def attributive(self, match: re.Match[str]) -> bool:
        """Whether an amount describes the noun after it: *a five dollar bill*, which English says in the singular."""
        if self.code != "en":
            return False
        if not self.determined(match):
            return self.word_after(match.string, match.end()) in _SPACES
        if _ENGINE.match(match.string, match.end()):
            return True
        noun = self.word_after(match.string, match.end())
        return noun.islower() and noun not in self.language.nouns.function_words

    def word_after(self, text: str, end: int) -> str:
        """The word that follows; empty when none does."""
        found = _WORD_AFTER.match(text, end)
        return found[1] if found else ""

    def noun_after(self, text: str, end: int) -> str:
        """The word that follows, in full: `Tbl.` is *Tablette*."""
        found = _WORD_AFTER.match(text, end)
        if found is None:
            return ""
        short = self.language.abbreviations.get(text[found.start(1) : found.end() + 1])
        return short.partition("|")[0].split()[0] if short else found[1]

    def word_before(self, text: str, start: int) -> str:
        """The word that is before; empty when none is."""
        found = _WORD_BACKWARDS.match(text[max(0, start - 40) : start][::-1])
        return found[1][::-1] if found else ""

    def cue_before(self, text: str, start: int) -> str:
        """The word or abbreviation that is before, lower case: *chapter*, *nr* of `Nr. 1`."""
        at = len(text[:start].rstrip(" \xa0\u202f"))
        return self.word_before(text, at - 1 if text[at - 1 : at] == "." else start).lower()


def german_ending(speaker: Speaker, match: re.Match[str]) -> str:
    """The ending of the ordinal that `match` is: *der dritte*, *am dritten*, *dritter*, *am dritten und vierten*."""
    start = match.start()
    if (before := ORDINALS_BEFORE.search(match.string, 0, start)) is not None:
        start = before.start()
    word = (speaker.word_before(match.string, start) or speaker.cue_before(match.string, start)).lower()
    if word in _GERMAN_N:
        return "n"
    if word in ("der", "die", "das", "diese", "dieser", "dieses", "jede", "jeder", "jedes"):
        return COUNTING
    return "s" if word in ("ein", "kein", "mein", "sein", "ihr") else "r"


def _german_adjective(word: str) -> str:
    """*ein großer Topf*, *eine große Schüssel*; anything else leaves the number alone."""
    if word.endswith(("er", "es")):
        return MASCULINE
    return FEMININE if word.endswith("e") else COUNTING
