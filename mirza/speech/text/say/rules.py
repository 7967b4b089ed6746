"""All the rules of a language, in the order in which they are asked: a date before a fraction before a number."""

from __future__ import annotations

import re
from functools import lru_cache

from mirza.speech.text.language import Language
from mirza.speech.text.say import (
    amounts,
    angles,
    cards,
    chats,
    chess,
    chinese,
    clock,
    codes,
    compounds,
    dates,
    day_names,
    durations,
    eastern,
    eastern_days,
    english,
    feet,
    fractions,
    functions,
    halves,
    japanese,
    labels,
    lone_units,
    money,
    music,
    ordinals,
    powers,
    scripture,
    signs,
    units,
    web,
    winds,
    words,
    workshop,
)
from mirza.speech.text.say.base import MANY_DIGITS, SEEN, Rule, Speaker

_DIGITS = re.compile(r"\d+")
_KINDS = 4096
"""More beginnings than one text has: which rules are asked at each is remembered."""


class RuleSet:
    """Rules in order, found by what they begin with, and the words that begin one.

    `spans` is a pattern for `names` with a dash between them, `within_words` for what is said otherwise at the end of a
    longer word; empty for none.
    """

    def __init__(
        self,
        rules: tuple[Rule, ...],
        triggers: frozenset[str] = frozenset(),
        spans: str = "",
        names: frozenset[str] = frozenset(),
        within_words: str = "",
    ) -> None:
        self.rules = rules
        self.triggers = triggers
        self.spans = spans
        self.names = names
        self.within_words = within_words
        self._numbers = lru_cache(maxsize=_KINDS)(self._going_on_with)
        self._others = lru_cache(maxsize=_KINDS)(self._beginning_with)

    def asked(self, text: str, at: int) -> tuple[Rule, ...]:
        """The rules that may know how to say what is at `at`."""
        if digits := _DIGITS.match(text, at):
            end = digits.end()
            count = end - at
            few = count if count < MANY_DIGITS else MANY_DIGITS
            return self._numbers(few, text[at] == "0", text[end : end + SEEN])
        return self._others(text[at])

    def _going_on_with(self, digits: int, zero: bool, following: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.goes_on_with(digits, zero, following))

    def _beginning_with(self, char: str) -> tuple[Rule, ...]:
        return tuple(rule for rule in self.rules if rule.begins_with(char))


def rules_for(language: Language) -> RuleSet:
    """Everything that is said otherwise in `language`."""
    speaker = Speaker(language)
    kinds = (
        web.rules(speaker),
        workshop.rules(speaker),
        english.rules(speaker),
        chats.rules(speaker),
        labels.rules(speaker),
        eastern_days.rules(speaker),
        eastern.rules(speaker),
        chinese.rules(speaker),
        japanese.rules(speaker),
        dates.rules(speaker),
        scripture.rules(speaker),
        durations.rules(speaker),
        clock.rules(speaker),
        chess.rules(speaker),
        cards.rules(speaker),
        codes.rules(speaker),
        angles.rules(speaker),
        winds.rules(speaker),
        ordinals.rules(speaker),
        halves.rules(speaker),
        money.rules(speaker),
        compounds.rules(speaker),
        feet.rules(speaker),
        units.rules(speaker),
        lone_units.rules(speaker),
        music.rules(speaker),
        words.rules(speaker),
        fractions.rules(speaker),
        powers.rules(speaker),
        amounts.rules(speaker),
        functions.rules(speaker),
        signs.rules(speaker),
    )
    return RuleSet(
        rules=tuple(rule for kind in kinds for rule in kind),
        triggers=frozenset(language.abbreviations)
        | day_names.triggers(language)
        | scripture.triggers(language)
        | functions.triggers(language)
        | music.triggers(language)
        | money.triggers()
        | winds.triggers(language)
        | words.triggers()
        | lone_units.triggers(language)
        | chess.triggers(language.code),
        spans=day_names.spans(language) or japanese.spans(language),
        names=day_names.names(language) | japanese.names(language),
        within_words=r"s(?<=[^\W\d_].)tr\." if language.code == "de" else "",
    )
