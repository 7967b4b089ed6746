"""How well words agree: the word error rate, after what is written one way and said another has been made equal."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from mirza.speech.text.language import language_for
from mirza.speech.text.verbalise import Verbaliser


def plain_words(text: str, language: str = "en") -> list[str]:
    """The words of `text` as they are said: numbers spelled out, no case, no punctuation."""
    said = Verbaliser(language_for(language)).say(text)
    plain = unicodedata.normalize("NFKC", said).lower().replace("’", "'")
    return re.findall(r"[^\W_]+(?:'[^\W_]+)?", plain)


def errors(expected: Sequence[str], got: Sequence[str]) -> int:
    """Words that have to be put in, left out or replaced to make one of the other (Levenshtein)."""
    row = list(range(len(got) + 1))
    for index, word in enumerate(expected, 1):
        before, row[0] = row[0], index
        for column, other in enumerate(got, 1):
            before, row[column] = row[column], min(before + (word != other), row[column] + 1, row[column - 1] + 1)
    return row[-1]


def word_error_rate(expected: str, got: str, language: str = "en") -> float:
    """Errors for each expected word; 0 where both are empty."""
    words = plain_words(expected, language)
    wrong = errors(words, plain_words(got, language))
    return wrong / len(words) if words else float(wrong)
