"""What is left to the voice: in a language that Mirza has no forms for, numbers and their signs stay as they are written.

Every voice reads numbers in the language that it speaks, if less well than the forms of a language that is known: a
sentence in Italian with its numbers in English words is worse than either. Markup and emoji go, and addresses are short.
"""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.say.base import Rule

_READ = frozenset(["Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sc", "Sm"])
"""Categories of signs that voices read, or pause at."""
_UNREAD = frozenset("*#~|\\[]{}_^`<>")
_URL = re.compile(
    r"(?:https?://|www\.)(?:www\.)?([\w-]+(?:\.[\w-]+)*)(?::\d+)?(?:[/?#]\S*[^\s.,;:!?)\]])?", re.IGNORECASE
)

PLACES = re.compile(
    r"(?:(?!https?://|www\.)[^\W_]+|[\s.,;:!?'’\"“”«»()…%‰°€$£¥+=/&-]+)*+(?=.)", re.DOTALL | re.IGNORECASE
)
"""Matches from anywhere up to the next sign that may have to go, or an address."""


def rules() -> tuple[Rule, ...]:
    """Signs that voices read, and hosts for addresses."""
    return (
        Rule("a", _URL, lambda match: match[1], first="hHwW"),
        Rule("$", re.compile(r"\S", re.DOTALL), _sign, tight=True),
    )


def _sign(match: re.Match[str]) -> str | None:
    char = match.group()
    arrow = "\u2190" <= char <= "\u21ff"
    read = char == "№" or (unicodedata.category(char) in _READ and char not in _UNREAD and not arrow)
    return char if read else None
