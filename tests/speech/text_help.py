"""Text cut into deltas, in every way that a language model might."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from mirza.speech.text import Piece, SpeechText

CORPUS = Path(__file__).parent / "corpus"
LANGUAGES = ("en", "fr", "de", "es", "zh", "ja")


@dataclass(frozen=True, slots=True)
class Case:
    """A written text, and the pieces that are said."""

    language: str
    written: str
    spoken: tuple[str, ...]


def corpus(language: str) -> list[Case]:
    """All cases of a language."""
    rows = tomllib.loads((CORPUS / f"{language}.toml").read_text("utf-8"))["cases"]
    return [Case(language, row[0], tuple(row[1:])) for row in rows]


def pieces(
    deltas: Iterable[str], language: str = "en", *, quick_first: bool = True, in_thought: bool = False
) -> list[Piece]:
    """What comes of `deltas`."""
    text = SpeechText(language, quick_first=quick_first, in_thought=in_thought)
    found = [piece for delta in deltas for piece in text.push(delta)]
    return found + text.flush()


def spoken(text: str, language: str = "en", *, quick_first: bool = False) -> list[str]:
    """What is said of a text that comes whole."""
    return [piece.spoken for piece in pieces([text], language, quick_first=quick_first)]


def chunked(text: str, size: int) -> list[str]:
    """`text` in deltas of `size` characters."""
    return [text[at : at + size] for at in range(0, len(text), size)]


def cuts(text: str, halves_under: int = 90) -> Iterator[list[str]]:
    """Character by character, token-like, and every way to cut it in two if it is short."""
    yield chunked(text, 1)
    yield chunked(text, 4)
    if len(text) < halves_under:
        yield from ([text[:at], text[at:]] for at in range(1, len(text)))
