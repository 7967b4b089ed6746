"""A stream of written text in, speakable pieces out. (Seam; the implementation follows.)"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of an answer, ready for the voice.

    `written[...]` is the span `start .. end` (character offsets) of the answer's text; pieces do not overlap and come in order.
    """

    written: str
    spoken: str
    start: int
    end: int
