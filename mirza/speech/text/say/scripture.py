"""Chapter and verse: *John three sixteen*, *First Corinthians thirteen, four to eight*. No time of day, and no ratio."""

from __future__ import annotations

import re

from mirza.speech.text.language import Language, units
from mirza.speech.text.numbers import COUNTING, FEMININE, MASCULINE
from mirza.speech.text.places import any_of
from mirza.speech.text.say.base import SPACE, Rule, Speaker, first_of

_VERSE = r"\d{1,3}(?:[a-e]|ff?\b\.?)?(?![\d:]|\w)"
_VERSES = re.compile(r"(\d{1,3}):(\d{1,3})[-–](\d{1,3})(?![\d:])")
"""Verses of a book that is not listed, after a name."""
_PARTS = re.compile(r"\d+|ff?|[a-e]|[-–,:]")
_PSALMS = frozenset(["Ps", "Sal"])
"""Shortened without a stop, with a chapter alone."""
_FORMS = {"fr": MASCULINE, "de": "r", "es": FEMININE}
_NAMES = frozenset(["Dan", "Sam", "Tim", "Phil", "Josh", "Mic", "Mal", "Ex"])
"""Short forms that have another meaning before a number alone."""
_FOLLOWING = {
    "en": "and following",
    "fr": "et suivants",
    "de": "fortfolgende",
    "es": "y siguientes",
    "zh": "",
    "ja": "",
}
_NUMBERS = {"1": 1, "2": 2, "3": 3, "I": 1, "II": 2, "III": 3}


def triggers(language: Language) -> frozenset[str]:
    """Books that a language shortens: `Gen.`"""
    return frozenset(f"{name}." for name in language.scripture) | frozenset(language.scripture)


def rules(speaker: Speaker) -> list[Rule]:
    """A book with chapter and verses, then verses after any name."""
    chapters = _Chapters(speaker)
    others = Rule("0", _VERSES, chapters.verses, then=r":\d{1,3}(?:[-–]|\Z)") if speaker.spaced else None
    books = speaker.language.scripture
    if not books:
        return [others] if others else []
    verses = rf"{_VERSE}(?:(?:[-–]|, ?){_VERSE})*"
    colon = "(?::|, ?)" if speaker.language.comma_decimal else ":"  # Jn 3, 16; Joh 3,16
    place = rf"(?P<chapter>\d{{1,3}}){colon}(?P<verses>{verses}(?:[-–]\d{{1,3}}:\d{{1,3}})?)"
    book = rf"(?P<book>{any_of(books)})\.? "
    measured = any_of(
        ["%", "€", "$", "Euro", "Jahre", "Punkte", "Prozent", "Liter", "Millionen", "Mio", *units(speaker.code)]
    )
    place += rf"(?!{SPACE}?(?:{measured})(?!\w))" if speaker.language.comma_decimal else ""  # Markus 1,80 m
    whole = re.compile(rf"(?:(?P<number>[123]|I{{1,3}})\.? )?{book}(?:{place}|(?P<alone>\d{{1,3}})(?![\w:.%]))")
    return [
        Rule("0a", whole, chapters.book, then=rf"\.? [{first_of(books)}]", first="I" + first_of(books)),
        *([others] if others else []),
    ]


class _Chapters:
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._cardinal = speaker.numbers.cardinal

    def book(self, match: re.Match[str]) -> str | None:
        """`1 Cor. 13:4–8`; a chapter alone only after a book that is shortened."""
        speaker = self._speaker
        book = speaker.language.scripture[match["book"]]
        short = (
            book != match["book"] and match["book"] not in _NAMES and ("." in match.group() or match["book"] in _PSALMS)
        )
        if match["alone"] and not short and not match["number"]:
            return None
        form = _FORMS.get(speaker.code, COUNTING)
        number = speaker.numbers.ordinal(_NUMBERS[match["number"]], form).capitalize() if match["number"] else ""
        if match["alone"]:
            return speaker.join(number, book, self._cardinal(int(match["alone"])))
        return speaker.join(number, book, self._place(match["chapter"], match["verses"]))

    def verses(self, match: re.Match[str]) -> str | None:
        """*three, sixteen to eighteen*"""
        if not self._speaker.word_before(match.string, match.start())[:1].isupper():
            return None
        return self._place(match[1], match.group().partition(":")[2])

    def _place(self, chapter: str, verses: str) -> str:
        """*three sixteen*, or with a pause before more than one verse."""
        words = self._speaker.words
        following = _FOLLOWING[self._speaker.code]
        signs = {"-": words.to, "–": words.to, ",": words.ampersand, ":": "", "f": following, "ff": following}
        parts: list[str] = _PARTS.findall(verses)
        said = [self._cardinal(int(part)) if part.isdecimal() else signs.get(part, part) for part in parts]
        pause = words.pause if len(said) > 1 or self._speaker.language.comma_decimal else ""
        return self._speaker.join(self._cardinal(int(chapter)) + pause, *said)
