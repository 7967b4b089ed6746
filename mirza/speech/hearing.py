"""`Hearing`: what a turn says, understood while it is said.

A recogniser takes its sound as a whole. Asked twice a second about a question of twenty seconds, it would begin at the
first word each time, and the longer the question, the later its answer. So what lies before a pause that is past is
recognised once, and stays; only what follows is looked at again.
"""

from __future__ import annotations

import numpy as np

from mirza.audio.base import BLOCK, Samples
from mirza.speech.base import Stt, Transcript
from mirza.speech.ear import BLOCK_S, Utterance

SETTLE_AFTER_S = 6.0
"""A turn that goes on for longer is recognised in parts."""
PART_S = 2.0
"""A part is that long at least: with less around them, words are mistaken."""
PAST_S = 1.0
"""A pause is past when so much has been said since."""
PAUSE_S = 0.15
"""A pause that no word has in its middle: stops and clicks close the mouth for up to 0.1 s."""
QUIET = 0.35
"""Below this probability of voice nobody speaks."""


class Hearing:
    """Understands one turn, as it grows."""

    def __init__(self, stt: Stt, language: str | None) -> None:
        self._stt, self._language = stt, language
        self._settled: Transcript | None = None
        self._upto = 0
        """Samples that are settled."""

    async def so_far(self, utterance: Utterance) -> Transcript:
        """What was understood of a turn that goes on; its last words may still change."""
        if cut := cut_at(utterance.voice[self._upto // BLOCK :]):
            upto = self._upto + cut * BLOCK
            part = await self._transcribe(utterance.samples[self._upto : upto])
            self._settled, self._upto = self._after_settled(part), upto
        return self._after_settled(await self._transcribe(utterance.samples[self._upto :], partial=True))

    async def whole(self, utterance: Utterance) -> Transcript:
        """What was said in a turn that may be over."""
        return self._after_settled(await self._transcribe(utterance.samples[self._upto :]))

    async def _transcribe(self, samples: Samples, *, partial: bool = False) -> Transcript:
        return await self._stt.transcribe(samples, language=self._language, partial=partial)

    def _after_settled(self, part: Transcript) -> Transcript:
        before = self._settled
        if before is None or not before.text:
            return part
        if not part.text:
            return before
        no_speech, sure = min(before.no_speech, part.no_speech), before.sure or part.sure
        return Transcript(f"{before.text} {part.text}", before.language, no_speech, sure)


def cut_at(voice: Samples) -> int | None:
    """The block in the middle of the longest pause that is past, if there is more than `SETTLE_AFTER_S` by now.

    `voice` is the probability of voice in each block, `(n,)`.
    """
    if len(voice) <= _blocks(SETTLE_AFTER_S):
        return None
    first, last = _blocks(PART_S), len(voice) - _blocks(PAST_S)
    edges = np.flatnonzero(np.diff(voice[first:last] < QUIET, prepend=False, append=False)) + first
    pauses = [(end - begin, (begin + end) // 2) for begin, end in zip(edges[::2], edges[1::2], strict=True)]
    length, middle = max(pauses, default=(0, 0))
    return int(middle) if length >= _blocks(PAUSE_S) else None


def _blocks(seconds: float) -> int:
    return round(seconds / BLOCK_S)
