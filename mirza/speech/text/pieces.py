"""`Piece`: one part of an answer as it is written, and as it is said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_WORD = re.compile(r"\S+\s*")


@dataclass(frozen=True, slots=True)
class Word:
    """The end of a word, in both forms: offsets into `Piece.written` and `Piece.spoken`."""

    written_end: int
    spoken_end: int


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of an answer, ready for the voice.

    `written` is the span `start .. end` (character offsets) of the answer's text; pieces do not overlap and come in
    order. What lies between two of them is not spoken, and is part of the answer as written all the same.
    """

    written: str
    spoken: str
    start: int
    end: int
    words: tuple[Word, ...] = field(default=(), repr=False, compare=False)

    def written_upto(self, fraction: float) -> str:
        """The written text up to and including the word begun at `fraction`, 0 .. 1, of the piece's sound.

        Sound is taken to be as long as the spoken form. Nothing has begun at 0.
        """
        if fraction <= 0:
            return ""
        words = self.words or self._plain_words()
        if not words or fraction >= 1:
            return self.written
        said = fraction * words[-1].spoken_end
        for word in words[:-1]:
            if said < word.spoken_end:
                return self.written[: word.written_end]
        return self.written

    def _plain_words(self) -> tuple[Word, ...]:
        """Words by their share of the written text, for a piece whose parts were never tied to each other."""
        scale = len(self.spoken) / max(1, len(self.written))
        ends = [(match.end(), len(match.group().rstrip())) for match in _WORD.finditer(self.written)]
        starts = [0, *(end for end, _ in ends)]
        return tuple(Word(at + length, round(end * scale)) for at, (end, length) in zip(starts, ends, strict=False))
