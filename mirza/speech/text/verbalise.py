"""From a sentence as it is written to the sentence as it is said, word tied to word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mirza.speech.text.language import Language
from mirza.speech.text.pieces import Word

_NUMBER = re.compile(r"\d{1,15}")
_MARKS = re.compile(r"[^\w\s.,!?;:'’\-%。！？，、；：…]+|_")


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    words: tuple[Word, ...]


class Verbaliser:
    def __init__(self, language: Language) -> None:
        self._language = language

    def say(self, clean: str) -> Said:
        text = _NUMBER.sub(lambda match: self._language.numbers.cardinal(int(match.group())), clean)
        text = re.sub(r"\s+", " ", _MARKS.sub(" ", text)).strip()
        if not any(character.isalnum() for character in text):
            return Said("", ())
        return Said(text, ())
