"""From a sentence as it is written to the sentence as it is said, word tied to word.

Most of a text is said as it is written. Places that may not be (a digit, a sign, an abbreviation) are found by one
pattern; there the rules of `say/` are asked in order, and the first that has an answer has it. A sign that no rule knows
is not said.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache

from mirza.speech.text.language import Language, language_for
from mirza.speech.text.line import Line
from mirza.speech.text.pieces import Tie
from mirza.speech.text.places import NUMERALS, places
from mirza.speech.text.say.base import Rule
from mirza.speech.text.say.rules import rules_for

_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "！，：；？．～"} | {0xFFE5: 0xA5}
"""Full-width signs and digits are said as their narrow ones; marks that end or part sentences stay."""
_IS_WIDE = re.compile("[\uff01-\uff5e\uffe5]")
_PLAIN = re.compile(
    rf"[¿¡]?[^\W\d_{NUMERALS}](?:[^\W\d_{NUMERALS}]|[ ，、；：](?![ ,.!?;:…])|[,!?;:](?= )|['’\-](?=[^\W\d_]))*+[.!?…,;:。！？]?"
)
"""What is said as it is written, apart from words that stand in a table."""
_ROMAN = re.compile(r"[IVX]{2}|[IVX][er]|[^\W\d_] [VX](?!\w)|[a-z] I(?!\w)")
_DIGITS = re.compile(r"\d+[ \xa0\u202f]?")


@dataclass(frozen=True, slots=True)
class Said:
    """What the voice gets: empty when there is nothing to say. No `ties` means that it is the text as written."""

    text: str
    ties: tuple[Tie, ...] = ()


SILENCE = Said("")


class Verbaliser:
    """Says sentences in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._rules = _rules(language.code)

    def say(self, clean: str) -> Said:
        """`clean` as it is said."""
        plain = _PLAIN.fullmatch(clean) and not _ROMAN.search(clean)
        if plain and self._rules.abbreviations.isdisjoint(clean.split()):
            return Said(clean)
        text = clean.translate(_WIDE) if _IS_WIDE.search(clean) else clean
        line = Line(spaced=self._language.spaced)
        at = 0
        while found := self._rules.places.search(text, at):
            line.keep(text, at, found.start())
            at = self._say_at(text, found.start(), line)
        line.keep(text, at, len(text))
        spoken = line.finish()
        return Said(spoken, tuple(line.ties)) if any(map(str.isalnum, spoken)) else SILENCE

    def _say_at(self, text: str, at: int, line: Line) -> int:
        """Says what is at `at`; where it ends."""
        for rule in self._rules.asked(text, at):
            if (found := rule.pattern.match(text, at)) and (said := rule.say(found)) is not None:
                end = found.end()
                line.put(said, end, tight=rule.tight)
                return end
        char = text[at]
        if char.isalpha():
            end = at + 1
            while end < len(text) and text[end].isalpha():
                end += 1
            line.keep(text, at, end)
            return end
        if _belongs(text, at):
            line.keep(text, at, at + 1)
        else:
            line.skip(at + 1, apart=unicodedata.category(char) != "Cf")
        return at + 1


def _belongs(text: str, at: int) -> bool:
    """Whether a character that is no letter is part of a word: a vowel sign, a joiner between letters."""
    char = text[at]
    if unicodedata.category(char) in ("Mn", "Mc"):
        return not ("\ufe00" <= char <= "\ufe0f")
    inner = char in "\u200c\u200d" and 0 < at < len(text) - 1
    return inner and unicodedata.category(text[at - 1])[0] in "LM" and unicodedata.category(text[at + 1])[0] in "LM"


class _Rules:
    """The rules of one language, found by what they begin with."""

    def __init__(self, code: str) -> None:
        rules = rules_for(language_for(code))
        self.places = places(rules.triggers, within_words=rules.within_words)
        self.abbreviations = rules.triggers | {f"{word}," for word in rules.triggers}
        """Words of a sentence, as its spaces part them, that may be said otherwise."""
        self._rules = rules.rules
        self._letters = tuple(rule for rule in rules.rules if "a" in rule.begins)
        self._digits = lru_cache(maxsize=_KINDS)(self._going_on_with)
        self._signs = lru_cache(maxsize=_KINDS)(self._beginning_with)

    def asked(self, text: str, at: int) -> tuple[Rule, ...]:
        """The rules that may know how to say what is at `at`."""
        if digits := _DIGITS.match(text, at):
            return self._digits(text[digits.end() : digits.end() + 1])
        char = text[at]
        return self._letters if char.isalpha() else self._signs(char)

    def _going_on_with(self, char: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self._rules if rule.goes_on_with(char))

    def _beginning_with(self, sign: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self._rules if rule.begins_with(sign))


_KINDS = 512
"""More characters than one text has after digits, or of signs."""


@cache
def _rules(code: str) -> _Rules:
    return _Rules(code)
