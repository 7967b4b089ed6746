"""Notes and chords: *F sharp minor*, *B flat*, *one, five, six, four*."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language
from mirza.speech.text.say.base import Rule, Speaker

_SHARP = {"en": "sharp", "fr": "dièse", "de": "Kreuz", "es": "sostenido", "ja": "シャープ"}
_FLAT = {"en": "flat", "fr": "bémol", "de": "b", "es": "bemol", "ja": "フラット"}
_NOTES = {"♩": "quarter note", "♪": "eighth note", "𝅗𝅥": "half note"}
_DEGREES = re.compile(
    r"(?:i{1,3}|iv|vi{0,2}|I{1,3}|IV|VI{0,2})[°ø7]?(?: ?[-–—→] ?(?:i{1,3}|iv|vi{0,2}|I{1,3}|IV|VI{0,2})[°ø7]?){2,}(?![\w-])"
)
_VALUES = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7}
_FLAT_KEY = re.compile(
    r"([A-G])b(?= ?(?:major|minor|maj|min|Major|Minor|clarinet|trumpet|flat|scale|chord|dominant)\b|[mM7](?!\w))"
)


def triggers(language: Language) -> frozenset[str]:
    """Flat keys as they are typed."""
    return frozenset(f"{note}b" for note in "ABCDEFG") if language.code == "en" else frozenset()


def rules(speaker: Speaker) -> list[Rule]:
    """Signs after a note, and what stands over a staff."""
    found = [Rule("a", _DEGREES, lambda match: _degrees(speaker, match), first="iIvV")] if speaker.spaced else []
    if speaker.code in _SHARP:
        found.append(Rule("$", re.compile("(?<=[A-Ga-g])[♯♭]"), lambda match: _sign(speaker, match), first="♯♭"))
    if speaker.code == "en":
        found.append(Rule("$", re.compile("[♩♪](?= ?[=≈])"), lambda match: _NOTES[match.group()], first="♩♪"))
        found.append(Rule("a", _FLAT_KEY, lambda match: f"{match[1]} flat", first="A-G"))
    return found


def _sign(speaker: Speaker, match: re.Match[str]) -> str:
    return (_SHARP if match.group() == "♯" else _FLAT)[speaker.code]


def _degrees(speaker: Speaker, match: re.Match[str]) -> str:
    """The chords of a key in a row."""
    degrees = re.findall(r"[ivIV]+", match.group())
    return f"{speaker.words.pause} ".join(speaker.numbers.cardinal(_VALUES[degree.lower()]) for degree in degrees)
