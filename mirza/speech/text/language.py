"""What is known of each language that Mirza says text in: `data/*.toml`, read once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from mirza.speech.text.numbers import Numbers
from mirza.speech.text.segment import Breaks

LANGUAGES = ("en", "fr", "de", "es", "zh", "ja")


@dataclass(frozen=True)
class Language:
    """One language."""

    code: str
    breaks: Breaks
    numbers: Numbers
    code_announcement: str


@cache
def language_for(code: str) -> Language:
    """The language `code`, ISO 639-1 with or without a region; English for one that is not known."""
    short = code.lower().replace("_", "-").split("-")[0]
    name = short if short in LANGUAGES else "en"
    data = tomllib.loads(resources.files("mirza.speech.text").joinpath(f"data/{name}.toml").read_text("utf-8"))
    breaks = data["breaks"]
    return Language(
        code=name,
        breaks=Breaks(
            titles=frozenset(breaks["titles"].split()),
            closing=frozenset(breaks["closing"].split()),
            starters=frozenset(breaks["starters"].split()),
            conjunctions=frozenset(breaks["conjunctions"].split()),
            ordinal_dot=breaks["ordinal_dot"],
        ),
        numbers=Numbers(name),
        code_announcement=data["announcements"]["code"],
    )
