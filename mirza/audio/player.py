"""`Player`: what is queued for the loudspeaker, and what of it has really been heard.

The pipeline puts chunks in, a device takes samples out, `pull` by `pull`, in its own thread. Everything the pipeline
wants to know about playing is read off this one queue: how much is waiting, and how far into each piece of the answer
the listener is. There is no lock: a deque's `append` and `popleft` are atomic, and each field has one writer.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from mirza.audio.samples import Samples

RAMP_S = 0.005
"""A stop or a change of volume fades over 5 ms, so that it does not click."""


@dataclass(slots=True, eq=False)
class Chunk:
    """Some samples of one piece of speech. `piece` is whatever the pipeline wants back when it is heard."""

    samples: Samples
    piece: int
    at: int | None = None
    """The loudspeaker's sample index at which this chunk began to play; `None` while it waits."""
    generation: int = 0
    """How many stops there had been when it was queued: what was queued before a stop is never played after it."""


class Player:
    """A queue of speech for one loudspeaker.

    `rate` is hertz. `latency_s` is how long a sample takes from `pull` to the air; the device sets it.
    """

    def __init__(self, rate: int, latency_s: float = 0.0) -> None:
        self.rate = rate
        self.latency_s = latency_s
        self.underruns = 0
        """Times the queue ran dry in the middle of a piece (`expect_more` was set)."""
        self.expect_more = False
        self.position = 0
        """Samples pulled since the start, silence included: the loudspeaker's clock."""
        self._waiting: deque[Chunk] = deque()
        self._playing: Chunk | None = None
        self._offset = 0
        self._started: deque[Chunk] = deque(maxlen=4096)
        self._gain, self._target = 1.0, 1.0
        self._generation, self._pulled_generation = 0, 0
        self._held = False

    # the pipeline's side

    def put(self, chunk: Chunk) -> None:
        """Queues `chunk` behind what is waiting."""
        chunk.generation = self._generation
        self._waiting.append(chunk)

    def queued_s(self) -> float:
        """Seconds of speech that have not been pulled yet."""
        playing = self._playing
        rest = len(playing.samples) - self._offset if playing is not None else 0
        return (sum(len(chunk.samples) for chunk in list(self._waiting)) + rest) / self.rate

    def idle(self) -> bool:
        """Whether nothing is waiting or playing."""
        return self._playing is None and not self._waiting

    def stop(self) -> None:
        """Drops everything: silence within one pull, after a 5 ms fade."""
        self._generation += 1
        self._held, self._target = False, 1.0
        self._waiting.clear()

    def hold(self, held: bool) -> None:
        """Falls silent from the next pull on and keeps its place, or goes on from there."""
        self._held = held

    def duck(self, gain: float) -> None:
        """Plays at this volume, 0 .. 1, from the next pull on."""
        self._target = gain

    def heard(self, piece: int) -> int:
        """Samples of `piece` that have left the loudspeaker by now, device latency taken off."""
        now = self.position - round(self.latency_s * self.rate)
        played = 0
        for chunk in list(self._started):
            if chunk.piece == piece and chunk.at is not None:
                played += min(max(now - chunk.at, 0), len(chunk.samples))
        return played

    def began(self, piece: int) -> float | None:
        """Seconds on the loudspeaker's clock at which the first sample of `piece` is audible, or `None` if not yet."""
        for chunk in list(self._started):
            if chunk.piece == piece and chunk.at is not None:
                return chunk.at / self.rate + self.latency_s
        return None

    # the device's side

    def pull(self, n: int) -> Samples:
        """The next `n` samples to play, silence where nothing is waiting. Called by one thread only."""
        out = np.zeros(n, np.float32)
        filled, stopped = 0, self._pulled_generation != self._generation
        if stopped or self._held:
            filled = self._fade_out(out, keep=not stopped)
            self._pulled_generation = self._generation
        while filled < n and not self._held:
            if self._playing is None and not self._take(filled):
                break
            filled += self._copy(out, filled)
        if filled < n and self.expect_more and self._started and not (stopped or self._held):
            self.underruns += 1
            self.expect_more = False
        self._apply_gain(out)
        self.position += n
        return out

    def _take(self, filled: int) -> bool:
        """Begins the next chunk that no stop has overtaken."""
        while self._waiting:
            chunk = self._waiting.popleft()
            if chunk.generation == self._generation:
                chunk.at = self.position + filled
                self._offset, self._playing = 0, chunk
                self._started.append(chunk)
                return True
        return False

    def _copy(self, out: Samples, filled: int) -> int:
        chunk = self._playing
        assert chunk is not None
        part = chunk.samples[self._offset : self._offset + len(out) - filled]
        out[filled : filled + len(part)] = part
        self._offset += len(part)
        if self._offset >= len(chunk.samples):
            self._playing = None
        return len(part)

    def _fade_out(self, out: Samples, *, keep: bool) -> int:
        """Ends the chunk that was playing within a few milliseconds; returns how many samples are final.

        `keep` puts the rest of it back in front of the queue, to go on from there.
        """
        chunk, self._playing = self._playing, None
        if chunk is None:
            return 0
        ramp = min(round(RAMP_S * self.rate), len(out), len(chunk.samples) - self._offset)
        tail = chunk.samples[self._offset : self._offset + ramp]
        out[:ramp] = tail * np.linspace(1.0, 0.0, ramp, dtype=np.float32)
        if keep:
            self._waiting.appendleft(Chunk(chunk.samples[self._offset :], chunk.piece, None, chunk.generation))
            chunk.samples = chunk.samples[: self._offset]
        else:
            chunk.samples = chunk.samples[: self._offset + ramp]
        return ramp

    def _apply_gain(self, out: Samples) -> None:
        if self._gain == self._target == 1.0:
            return
        ramp = min(round(RAMP_S * self.rate), len(out))
        out[:ramp] *= np.linspace(self._gain, self._target, ramp, dtype=np.float32)
        out[ramp:] *= np.float32(self._target)
        self._gain = self._target
