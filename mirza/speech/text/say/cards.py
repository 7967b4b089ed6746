"""Playing cards: *ace of spades*."""

from __future__ import annotations

import re

from mirza.speech.text.say.base import Rule, Speaker

_RANKS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack", "T": "ten"}
_SUITS = dict(zip("♠♥♦♣♤♡♢♧", "spades hearts diamonds clubs spades hearts diamonds clubs".split(), strict=True))


def rules(speaker: Speaker) -> list[Rule]:
    """A rank with its suit, in English."""
    if speaker.code != "en":
        return []
    card = re.compile(rf"(10|[2-9AKQJT])([{''.join(_SUITS)}])\ufe0f?")

    def say(match: re.Match[str]) -> str:
        return f"{_RANKS.get(match[1]) or speaker.number(match[1])} of {_SUITS[match[2]]}"

    return [Rule("0a", card, say, then=f"[{''.join(_SUITS)}]", first="AKQJT")]
