"""`Piece`: one part of an answer as it is written, and as it is said."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

_WORD_END = re.compile(r"(?<=\S)(?=\s|\Z)|(?<=[\u3040-\u30ff\u3400-\u9fff])")


class Tie(NamedTuple):
    """Where a stretch of the written form and what is said of it end: offsets into `Piece.written`, `Piece.spoken`.

    A stretch that is `same` is said as it is written, letter by letter; any other is said as a whole. A tuple, for there
    are two for every number in a text.
    """

    written_end: int
    spoken_end: int
    same: bool = False


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
    ties: tuple[Tie, ...] | Callable[[], tuple[Tie, ...]] = field(default=(), repr=False, compare=False)
    """Empty where all is said as it is written. To be called by who needs them: only a piece that is cut short does."""

    def written_upto(self, fraction: float) -> str:
        """The written text up to and including the word begun at `fraction`, 0 .. 1, of the piece's sound.

        Sound is taken to be as long as the spoken form. Nothing has begun at 0.
        """
        if fraction <= 0:
            return ""
        if fraction >= 1:
            return self.written
        ties = self.ties() if callable(self.ties) else self.ties
        ties = ties or (Tie(len(self.written), len(self.spoken), same=True),)
        said = fraction * ties[-1].spoken_end
        written_at = spoken_at = 0
        for tie in ties:
            if said < tie.spoken_end:
                if not tie.same:
                    return self.written[: tie.written_end]
                share = (said - spoken_at) / max(1, tie.spoken_end - spoken_at)
                return self._to_word_end(written_at + int(share * (tie.written_end - written_at)), tie.written_end)
            written_at, spoken_at = tie.written_end, tie.spoken_end
        return self.written

    def _to_word_end(self, at: int, limit: int) -> str:
        """The written form up to the end of the word that the character at `at` is in, or that comes next."""
        found = _WORD_END.search(self.written, min(at + 1, limit), limit)
        return self.written[: found.end() if found else limit].rstrip()
