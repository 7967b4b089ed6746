"""A number with a half before a noun, which goes between them in French and Spanish: *une tasse et demie*."""

from __future__ import annotations

import re
import unicodedata

from mirza.speech.text.language import units
from mirza.speech.text.numbers import FEMININE
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker
from mirza.speech.text.say.unit_names import named

_SIGNS = "½¼¾⅓⅔"
_AFTER = re.compile(r"(?=[ \xa0](?:de|du|des|del|à|a|al|au|en|et|y|ou|o|por|pour|par)\b|[ \xa0]d['’]|[.,;:!?)]|\s*\Z)")
"""What comes after a noun alone: an adjective before it would be taken for one."""
_PARTS = {
    "fr": {"1/2": "et demi", "1/4": "et quart", "3/4": "et trois quarts", "1/3": "et un tiers", "2/3": "et deux tiers"},
    "es": {"1/2": "y medi", "1/4": "y cuarto", "3/4": "y tres cuartos", "1/3": "y un tercio", "2/3": "y dos tercios"},
}


def rules(speaker: Speaker) -> list[Rule]:
    """Only for languages that part the number so."""
    parts = _PARTS.get(speaker.code)
    if parts is None:
        return []
    short = any_of([name for name, said in speaker.language.abbreviations.items() if "|" in said])
    symbols = any_of(units(speaker.code))
    pattern = re.compile(
        rf"(?P<whole>\d{{1,3}})(?:{SPACE}?(?P<sign>[{_SIGNS}])|{SPACE}(?P<ratio>1/2|[13]/4|[12]/3)(?!\d))"
        rf"(?:{SPACE}?(?P<unit>{symbols})(?![^\W_])|{SPACE}(?:(?P<short>{short})|(?P<noun>[^\W\d_¹²³⁰-₉]+)))"
    )

    def say(match: re.Match[str]) -> str | None:
        whole = int(match["whole"])
        ratio = match["ratio"] or unicodedata.normalize("NFKC", match["sign"]).replace("\u2044", "/")
        if match["unit"]:
            counted = named(speaker, str(whole), units(speaker.code)[match["unit"]].partition("/")[0])
        elif match["short"]:
            one, _, many = speaker.language.abbreviations[match["short"]].partition("|")
            counted = _counted(speaker, whole, one if whole == 1 else many)
        elif _AFTER.match(match.string, match.end()) and match["noun"] not in speaker.language.nouns.function_words:
            counted = _counted(speaker, whole, _singular(match["noun"]) if whole == 1 else match["noun"])
        else:
            return None
        feminine = speaker.language.nouns.gender(counted.split()[-1 if len(counted.split()) < 3 else 1]) == FEMININE
        part = parts[ratio]
        if ratio == "1/2":
            part += {"fr": ("", "e"), "es": ("o", "a")}[speaker.code][feminine]
        end = "." if (match["short"] or "").endswith(".") and not match.string[match.end() :].strip() else ""
        return f"{counted} {part}{end}"

    return [Rule("0", pattern, say, then=rf"{SPACE}?[{_SIGNS}]|{SPACE}[123]/")]


def _counted(speaker: Speaker, whole: int, noun: str) -> str:
    return f"{speaker.number(str(whole), speaker.language.nouns.gender(noun.split(maxsplit=1)[0]))} {noun}"


def _singular(noun: str) -> str:
    """*tazas* after one is *taza*."""
    return noun.removesuffix("s")
