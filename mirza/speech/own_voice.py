"""`OwnVoice`: tells words of the user from words of the assistant that came back through the microphone.

It knows what was said and until when it was audible, so it works where no echo canceller does. A user may well repeat
the assistant's words, so it only judges what was heard while the voice was in the room, or just after.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import groupby

from mirza.speech.phrases import plain

TAIL_S = 0.6
"""An echo may come this long after the last sample played: a Bluetooth loudspeaker is 300 ms late, a room decays."""

ALIKE = 0.75
"""Share of the heard characters that must be found, in order, in what was said: enough for an echo that was misheard
here and there, too much for a sentence of the user's own."""

SHORT = 8
"""Of fewer characters than this every word must be found, in a row: "yes" is in many sentences."""


class OwnVoice:
    """What the assistant has said lately, and until when it could be heard."""

    def __init__(self) -> None:
        self._spoken = ""
        self._audible_until_s = float("-inf")

    def says(self, spoken: str, now_s: float) -> None:
        """The voice is audible at `now_s`, and has lately said `spoken`. Told every block: the work is in `said`."""
        self._spoken, self._audible_until_s = spoken, now_s

    def said(self, heard: str, began_s: float) -> bool:
        """Whether `heard`, which began at `began_s`, is the assistant's own voice."""
        words = " ".join(word for word, _ in groupby(plain(heard).split()))  # a voice that was held repeats itself
        if not words or began_s > self._audible_until_s + TAIL_S:
            return False
        own = plain(self._spoken)
        if len(words) < SHORT:
            return f" {words} " in f" {own} "
        blocks = SequenceMatcher(None, own, words, autojunk=False).get_matching_blocks()
        found = sum(block.size for block in blocks if block.size > 2)
        return found >= ALIKE * len(words)
