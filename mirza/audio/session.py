"""One life of a microphone and a loudspeaker: from the moment both run until one of them stops.

Two streams, since the two devices may have different rates and clocks. PortAudio says for each callback when its first
sample was, or will be, in the air; from that comes which of the played samples belong to a block of the microphone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mirza.audio.base import BLOCK, MIC_RATE, Samples
from mirza.audio.player import Player
from mirza.audio.portaudio import Device, Moment, PortAudio
from mirza.audio.resample import Resampler
from mirza.audio.timeline import Timeline

STALL_S = 1.0
"""A stream that calls back less often than this is dead, whatever PortAudio says: after sleep, or a USB hub's reset."""

FIRST_S = 5.0
"""How long a device may take to deliver its first sound; Bluetooth headsets take seconds to change their profile."""

DRIFT_S = 0.02
"""While nothing is said, the player's clock is set right when it is off by this."""

SLACK, JUMP = 16, 320
"""Samples, 1 and 20 ms. What was played stays where it is when it is off by less than `SLACK`, and is moved at once by
more than `JUMP`. In between it moves by one sample every `SLEW` blocks, which an echo canceller follows, where after a
jump it is lost for a second. PulseAudio's timestamps alone shake by 1 to 2 ms."""

SLEW = 10
"""195 ppm, about twice what cheap crystals differ by."""

KEPT = 2 * MIC_RATE
"""Played samples kept to be laid beside the microphone's."""


@dataclass(frozen=True, slots=True)
class _Captured:
    frames: NDArray[np.float32]
    moment: Moment


@dataclass(frozen=True, slots=True)
class _Played:
    samples: Samples
    moment: Moment


@dataclass(frozen=True, slots=True)
class _Ended:
    reason: str


class Session:
    """Both streams, running. `first` is the number, in the conversation, of the first sample to come.

    Raises:
        NoDevice: one of them does not start.
    """

    def __init__(
        self, portaudio: PortAudio, microphone: Device, loudspeaker: Device, player: Player, *, first: int
    ) -> None:
        self.microphone, self.loudspeaker = microphone, loudspeaker
        self.lost_inputs = 0
        self.lost_outputs = 0
        self.reason = ""
        """Why `blocks` ended; empty after `end("")`."""
        self._events: SimpleQueue[_Captured | _Played | _Ended] = SimpleQueue()
        self._player = player
        self._zero_s: float | None = None
        self._playing = False
        self._source: _Source | None = None
        self._input = portaudio.open_input(
            microphone, self._capture, lambda: self.end(f"The microphone {microphone.name!r} is gone.")
        )
        try:
            self._output = portaudio.open_output(
                loudspeaker, self._render, lambda: self.end(f"The loudspeaker {loudspeaker.name!r} is gone.")
            )
        except BaseException:
            self._input.close()
            raise
        self._source = _Source(player, self._output.rate)
        self._near = _Near(self._input.rate, first)
        self._far = _Far(self._output.rate)

    def end(self, reason: str) -> None:
        """Makes `blocks` end. Called by any thread."""
        self._events.put(_Ended(reason))

    def close(self) -> None:
        """Stops both streams."""
        self._input.close()
        self._output.close()

    def wait(self) -> bool:
        """Waits for the first sound of the microphone: says whether it came."""
        try:
            self._handle(self._events.get(timeout=FIRST_S))
        except Empty:
            return False
        return not self.reason

    def blocks(self) -> Iterator[tuple[Samples, Samples]]:
        """Blocks of the microphone and what was played meanwhile, each `(BLOCK,)`, until one of the streams ends."""
        while True:
            while (begin := self._near.take()) is not None:
                near, first = begin
                yield near, self._far.at(first, self._near.clock)
            try:
                event = self._events.get(timeout=STALL_S)
            except Empty:
                self.reason = f"Neither {self.microphone.name!r} nor {self.loudspeaker.name!r} gives a sign of life."
                return
            if not self._handle(event):
                return

    def _handle(self, event: _Captured | _Played | _Ended) -> bool:
        match event:
            case _Captured(frames, moment):
                self.lost_inputs += moment.lost
                self._near.add(frames, moment)
                self._zero_s = self._near.clock.zero_s()
                self._far.last_s = self._far.last_s or moment.now_s
                return self._alive(self._far.last_s, moment, f"The loudspeaker {self.loudspeaker.name!r} hangs.")
            case _Played(samples, moment):
                self.lost_outputs += moment.lost
                self._far.add(samples, moment)
                return self._alive(self._near.last_s, moment, f"The microphone {self.microphone.name!r} hangs.")
            case _Ended(reason):
                self.reason = reason
                return False

    def _alive(self, other_s: float | None, moment: Moment, reason: str) -> bool:
        if other_s is None or moment.now_s - other_s < STALL_S:
            return True
        self.reason = reason
        return False

    # PortAudio's thread: copy, and return

    def _capture(self, frames: NDArray[Any], moment: Moment) -> None:
        self._events.put(_Captured(frames.copy(), moment))

    def _render(self, frames: NDArray[Any], moment: Moment) -> None:
        zero_s, source = self._zero_s, self._source
        if zero_s is None or source is None:  # no clock yet: the first sound has not come in
            frames[:] = 0
            return
        self._set_clock(moment.now_s - zero_s)
        samples = source.pull(len(frames))
        frames[:] = samples[:, None]
        self._player.latency_s = source.latency_s(moment)
        self._events.put(_Played(samples, moment))

    def _set_clock(self, now_s: float) -> None:
        """Keeps the player's clock, counted by one device's crystal, beside the microphone's, counted by another's."""
        player, position = self._player, round(now_s * self._player.rate)
        if not self._playing:
            self._playing = True
            player.move_clock(max(position, player.position))
        elif abs(position - player.position) > DRIFT_S * player.rate and player.idle():
            player.move_clock(position)


class _Source:
    """The player's samples at the loudspeaker's rate.

    They are the same until a device with another rate takes over; only then is there a resampler in the callback (about
    15 µs for 10 ms, soxr 1.1.0), since doing it ahead would delay a stop.
    """

    def __init__(self, player: Player, rate: int) -> None:
        self._player, self._rate = player, rate
        self._resampler = None if player.rate == rate else Resampler(player.rate, rate)
        self._ready = np.zeros(0, np.float32)
        self._pulled_s, self._given_s = 0.0, 0.0
        self._latency_s: float | None = None

    def pull(self, n: int) -> Samples:
        if self._resampler is None:
            return self._player.pull(n)
        step = max(round(n * self._player.rate / self._rate), 1)
        while len(self._ready) < n:
            self._ready = np.concatenate([self._ready, self._resampler.push(self._player.pull(step))])
            self._pulled_s += step / self._player.rate
        out, self._ready = self._ready[:n], self._ready[n:]
        self._given_s += n / self._rate
        return out

    def latency_s(self, moment: Moment) -> float:
        """From a pull to the air, smoothed: timestamps shake, and a resampler gives in bursts."""
        now = max(moment.air_s - moment.now_s, 0) + self._pulled_s - self._given_s
        self._latency_s = now if self._latency_s is None else self._latency_s + 0.1 * (now - self._latency_s)
        return self._latency_s


class _Near:
    """The microphone at `MIC_RATE`, and its clock."""

    def __init__(self, rate: int, first: int) -> None:
        self.clock = Timeline(MIC_RATE)
        self.last_s: float | None = None
        self._rate, self._first, self._taken = rate, first, first
        self._count = 0
        self._resampler = Resampler(rate, MIC_RATE)
        self._ready = np.zeros(0, np.float32)

    def add(self, frames: NDArray[np.float32], moment: Moment) -> None:
        self.last_s = moment.now_s
        self.clock.saw(self._first + round(self._count * MIC_RATE / self._rate), moment.air_s)
        self._count += len(frames)
        mono = frames[:, 0] if frames.shape[1] == 1 else frames.mean(axis=1, dtype=np.float32)
        self._ready = np.concatenate([self._ready, self._resampler.push(mono)])

    def take(self) -> tuple[Samples, int] | None:
        """The next block and the number of its first sample, if there is one."""
        if len(self._ready) < BLOCK:
            return None
        block, self._ready = self._ready[:BLOCK], self._ready[BLOCK:]
        self._taken += BLOCK
        return np.clip(block, -1, 1), self._taken - BLOCK


class _Far:
    """What was played, at `MIC_RATE`, and its clock."""

    def __init__(self, rate: int) -> None:
        self.last_s: float | None = None
        self._clock = Timeline(MIC_RATE)
        self._rate, self._count = rate, 0
        self._resampler = Resampler(rate, MIC_RATE)
        self._recent = np.zeros(0, np.float32)
        self._recent_at = 0
        self._shift: int | None = None
        self._blocks = 0

    def add(self, samples: Samples, moment: Moment) -> None:
        self.last_s = moment.now_s
        self._clock.saw(round(self._count * MIC_RATE / self._rate), moment.air_s)
        self._count += len(samples)
        self._recent = np.concatenate([self._recent, self._resampler.push(samples)])
        if len(self._recent) > KEPT:
            self._recent_at += len(self._recent) - KEPT
            self._recent = self._recent[-KEPT:]

    def at(self, first: int, near: Timeline) -> Samples:
        """What was in the air while the microphone's samples from `first` on were recorded; zeros where nothing was."""
        out = np.zeros(BLOCK, np.float32)
        if not self._clock.known():
            return out
        begin = first + self._follow(round((near.zero_s() - self._clock.zero_s()) * MIC_RATE)) - self._recent_at
        low, high = max(begin, 0), min(begin + BLOCK, len(self._recent))
        if low < high:
            out[low - begin : high - begin] = self._recent[low:high]
        return out

    def _follow(self, shift: int) -> int:
        """How many samples later the loudspeaker's count is than the microphone's, followed gently."""
        self._blocks += 1
        if self._shift is None or abs(shift - self._shift) > JUMP:
            self._shift = shift
        elif abs(shift - self._shift) > SLACK and self._blocks % SLEW == 0:
            self._shift += 1 if shift > self._shift else -1
        return self._shift
