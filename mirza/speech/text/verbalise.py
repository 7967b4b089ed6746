"""From a sentence as it is written to the sentence as it is said, word tied to word.

Most of a text is said as it is written. Places that may not be (a digit, a sign, an abbreviation) are found by one
pattern; there the rules of `say/` are asked in order, and the first that has an answer has it. A sign that no rule knows
is not said.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache

from mirza.speech.text.language import Language, language_for
from mirza.speech.text.line import Line
from mirza.speech.text.pieces import Tie
from mirza.speech.text.places import NUMERALS, places
from mirza.speech.text.say.rules import RuleSet, rules_for

_WIDE = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "！，：；？．～"} | {0xFFE5: 0xA5}
"""Full-width signs and digits are said as their narrow ones; marks that end or part sentences stay."""
_IS_WIDE = re.compile("[\uff01-\uff5e\uffe5]")
_PLAIN = re.compile(
    rf"[¿¡]?[^\W\d_{NUMERALS}](?:[^\W\d_{NUMERALS}]++|[ ，、；：](?![ ,.!?;:…])|[,!?;:](?= )|['’\-](?=[^\W\d_]))*+"
    r"[.!?…,;:。！？]?"
)
"""What is said as it is written, apart from words that stand in a table."""
_SAYS = re.compile(r"[^\W_]")
_ROMAN = re.compile(r"[IVX]{2}|[IVX][er]|[^\W\d_] [VX](?!\w)|[a-z] I(?!\w)")


class Verbaliser:
    """Says sentences in one language."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._forms = _forms(language.code)

    def say(self, clean: str) -> str:
        """`clean` as it is said; empty when there is nothing to say."""
        if self._is_plain(clean):
            return clean
        spoken = self._line(clean, tied=False).finish()
        return spoken if _SAYS.search(spoken) else ""

    def ties(self, clean: str) -> tuple[Tie, ...]:
        """What is said of `clean`, tied to it."""
        if self._is_plain(clean):
            return (Tie(len(clean), len(clean), same=True),)
        return tuple(self._line(clean, tied=True).ties)

    def _is_plain(self, clean: str) -> bool:
        """Whether all of it is said as it is written."""
        if not _PLAIN.fullmatch(clean) or _ROMAN.search(clean):
            return False
        if not self._forms.abbreviations.isdisjoint(clean.split()):
            return False
        return "-" not in clean or not self._forms.places.search(clean)

    def _line(self, clean: str, *, tied: bool) -> Line:
        text = clean.translate(_WIDE) if _IS_WIDE.search(clean) else clean
        line = Line(spaced=self._language.spaced, tied=tied)
        at = 0
        while found := self._forms.places.search(text, at):
            start = found.start()
            line.keep(text, at, start)
            at = self._say_at(text, start, line)
        line.keep(text, at, len(text))
        return line

    def _say_at(self, text: str, at: int, line: Line) -> int:
        """Says what is at `at`; where it ends."""
        for rule in self._forms.rules.asked(text, at):
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


@dataclass(frozen=True, slots=True)
class _Forms:
    """What one language says otherwise than it is written, and where that may be."""

    rules: RuleSet
    places: re.Pattern[str]
    abbreviations: frozenset[str]
    """Words of a sentence, as its spaces part them, that may be said otherwise."""


@cache
def _forms(code: str) -> _Forms:
    rules = rules_for(language_for(code))
    where = places(rules.triggers, spans=rules.spans, within_words=rules.within_words)
    return _Forms(rules, where, rules.triggers | {f"{word}," for word in rules.triggers})
