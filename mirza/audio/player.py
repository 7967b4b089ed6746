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


@dataclass(slots=True)
class _Span:
    """Where on the loudspeaker's clock, in samples, a part of a piece was played: the samples themselves are let go."""

    piece: int
    at: int
    length: int


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
        self.volume = 1.0
        """Loudness, 0 .. 1, from the next pull on; ducking comes on top."""
        self._waiting: deque[Chunk] = deque()
        self._playing: tuple[Chunk, _Span] | None = None
        self._offset = 0
        self._started: deque[_Span] = deque(maxlen=1024)
        self._gain, self._duck = 1.0, 1.0
        self._generation = 0
        self._held = False

    # the pipeline's side

    def put(self, chunk: Chunk) -> None:
        """Queues `chunk` behind what is waiting."""
        chunk.generation = self._generation
        self._waiting.append(chunk)

    def queued_s(self) -> float:
        """Seconds of speech that have not been pulled yet."""
        playing, offset = self._playing, self._offset
        rest = max(len(playing[0].samples) - offset, 0) if playing is not None else 0
        return (sum(len(chunk.samples) for chunk in list(self._waiting)) + rest) / self.rate

    def idle(self) -> bool:
        """Whether nothing is waiting or playing."""
        return self._playing is None and not self._waiting

    def stop(self) -> None:
        """Drops everything: silence within one pull, after a 5 ms fade."""
        self._generation += 1
        self._held, self._duck, self.expect_more = False, 1.0, False
        self._waiting.clear()

    def hold(self, held: bool) -> None:
        """Falls silent from the next pull on and keeps its place, or goes on from there."""
        self._held = held

    def duck(self, gain: float) -> None:
        """Plays at this part of the volume, 0 .. 1, from the next pull on."""
        self._duck = gain

    def heard(self, piece: int) -> int:
        """Samples of `piece` that have left the loudspeaker by now, device latency taken off."""
        now = self.position - round(self.latency_s * self.rate)
        spans = [span for span in list(self._started) if span.piece == piece]
        return sum(min(max(now - span.at, 0), span.length) for span in spans)

    def began(self, piece: int) -> float | None:
        """Seconds on the loudspeaker's clock at which the first sample of `piece` is audible, or `None` if not yet."""
        for span in list(self._started):
            if span.piece == piece:
                return span.at / self.rate + self.latency_s
        return None

    # the device's side

    def pull(self, n: int) -> Samples:
        """The next `n` samples to play, silence where nothing is waiting. Called by one thread only."""
        out = np.zeros(n, np.float32)
        filled = 0
        if self._playing is not None:
            stopped = self._playing[0].generation != self._generation
            if stopped or self._held:
                filled = self._fade_out(out, *self._playing, keep=not stopped)
        while filled < n and not self._held:
            if self._playing is None and not self._take(filled):
                break
            filled += self._copy(out, filled)
        if filled < n and self.expect_more and self._started and not self._held:
            self.underruns += 1
            self.expect_more = False
        self._apply_gain(out)
        self.position += n
        return out

    def move_clock(self, position: int) -> None:
        """Sets the clock: after an outage, or as two clocks drift apart. What was playing goes on at the new time.

        Called by the thread that pulls.
        """
        if self._playing is not None:
            self._put_back(*self._playing)
        self.position = position

    def _take(self, filled: int) -> bool:
        """Begins the next chunk that no stop has overtaken."""
        while True:
            try:
                chunk = self._waiting.popleft()
            except IndexError:  # asking first would not help: `stop` may empty the queue in between
                return False
            if chunk.generation == self._generation and len(chunk.samples):
                chunk.at = self.position + filled
                span = _Span(chunk.piece, chunk.at, len(chunk.samples))
                self._offset, self._playing = 0, (chunk, span)
                self._started.append(span)
                return True

    def _copy(self, out: Samples, filled: int) -> int:
        assert self._playing is not None
        chunk, _ = self._playing
        part = chunk.samples[self._offset : self._offset + len(out) - filled]
        out[filled : filled + len(part)] = part
        self._offset += len(part)
        if self._offset >= len(chunk.samples):
            self._playing = None
        return len(part)

    def _fade_out(self, out: Samples, chunk: Chunk, span: _Span, *, keep: bool) -> int:
        """Ends the chunk that was playing within a few milliseconds; returns how many samples are final.

        `keep` puts the rest of it back in front of the queue, to go on from there.
        """
        ramp = min(round(RAMP_S * self.rate), len(out), len(chunk.samples) - self._offset)
        tail = chunk.samples[self._offset : self._offset + ramp]
        out[:ramp] = tail * np.linspace(1.0, 0.0, ramp, dtype=np.float32)
        if keep:
            self._put_back(chunk, span)  # the fade is played again: it was hardly heard
        else:
            span.length = self._offset + ramp
        self._playing = None
        return ramp

    def _put_back(self, chunk: Chunk, span: _Span) -> None:
        self._waiting.appendleft(Chunk(chunk.samples[self._offset :], chunk.piece, None, chunk.generation))
        span.length, self._playing = self._offset, None

    def _apply_gain(self, out: Samples) -> None:
        target = self.volume * self._duck
        if self._gain == target == 1.0:
            return
        ramp = min(round(RAMP_S * self.rate), len(out))
        out[:ramp] *= np.linspace(self._gain, target, ramp, dtype=np.float32)
        out[ramp:] *= np.float32(target)
        self._gain = target
