"""All the rules of a language, in the order in which they are asked: a date before a fraction before a number."""

from __future__ import annotations

from dataclasses import dataclass

from mirza.speech.text.language import Language
from mirza.speech.text.say import amounts, clock, codes, money, signs, units, web, words
from mirza.speech.text.say.base import Rule, Speaker


@dataclass(frozen=True, slots=True)
class RuleSet:
    """Rules in order, and the words that begin one."""

    rules: tuple[Rule, ...]
    triggers: frozenset[str]
    within_words: str
    """A pattern for what is said otherwise at the end of a longer word; empty for none."""


def rules_for(language: Language) -> RuleSet:
    """Everything that is said otherwise in `language`."""
    speaker = Speaker(language)
    kinds = (
        web.rules(speaker),
        clock.rules(speaker),
        codes.rules(speaker),
        amounts.ordinals(speaker),
        money.rules(speaker),
        units.rules(speaker),
        words.rules(speaker),
        amounts.rules(speaker),
        signs.rules(speaker),
    )
    return RuleSet(
        rules=tuple(rule for kind in kinds for rule in kind),
        triggers=frozenset(language.abbreviations) | clock.triggers(language) | money.triggers(),
        within_words=r"s(?<=[^\W\d_].)tr\." if language.code == "de" else "",
    )
