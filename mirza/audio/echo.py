"""`EchoCanceller`: takes the assistant's own voice out of what the microphone hears, and leaves the user's.

Three things that need one another: a delay (where in what was played to look), a canceller (Speex's, which keeps the
user's words where both talk: docs/decisions/echo.md), and a guard for the second or two until the canceller has learnt
the room.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from loguru import logger

from mirza.audio.base import BLOCK, MIC_RATE, Samples
from mirza.audio.delay import LONGEST
from mirza.audio.guard import EchoGuard

FRAME = 256
"""Samples that Speex takes at once: two of them are a block, so that nothing waits."""

TAIL = 3072
"""Samples, 192 ms: how long after it was played an echo is still an echo."""

MARGIN = 160
"""Samples, 10 ms: how far before the strongest reflection the tail begins."""

LATE = 480
"""Samples, 30 ms. Speex learns an early echo faster, so what was played is delayed if the echo comes later than this.
Four in 100 blocks of a synthetic voice were left of an echo after 80 ms that was not aligned, none of one that was."""

OWN = 0.7
"""From here on a block counts as the assistant's own voice; see `guard.TAPS`."""

SURE, FAINT = 0.85, 0.1
"""A canceller that has learnt the room is helped only where the block is surely an echo and at most this part of its
energy is left: Silero hears a voice in what is left at -20 dB, too. So a user is never silenced whose voice is as loud
as a third of the echo: where both talk, guarding by `OWN` costs words (word error rate at -6 dB: 0.07, else 0)."""

LEFT = 0.02
"""A canceller that leaves less than this part of an echo's energy, -17 dB, has removed it: what is left at -10 dB the
voice detector still hears (in 7.7 % of the first 5 s; 1.3 % with -17 dB)."""

LEARNT = 0.5
"""A canceller that removes the echo in this part of the last blocks (about ten that are echo) has learnt the room."""

UNKNOWN = 24
"""Blocks of the assistant's voice, 0.77 s, within which its delay is known (0.29 to 0.67 s in 80 rooms). Until then all
that is heard may be an echo, and counts as one: once, at the first words of all. Without this, Silero heard a voice in
46 of 120 first answers, for up to 0.45 s, and a word of it, misheard, stopped the answer."""

PAST = 32 * BLOCK
"""Samples, about 1 s: what was heard before the delay was known, for the canceller to learn from all the same."""

SELDOM = 8
"""Blocks between two looks whether a room that was learnt is still the same, where much is left: by a user, mostly."""


class Canceller(Protocol):
    """Removes from `near` what of `far` is in it; both `(BLOCK,)` float32 at `MIC_RATE`."""

    def process(self, near: Samples, far: Samples) -> Samples:
        """The next block, cleaned."""
        ...


def make_echo_canceller() -> EchoCanceller:
    """The canceller for this machine; where Speex does not install, the guard alone."""
    try:
        _library()
    except (ImportError, AttributeError) as error:  # the latter where its library is not for this machine
        logger.warning("No echo canceller ({}). Install it with: pip install pyaec", error)
        return EchoCanceller(None)
    return EchoCanceller(SpeexCanceller)


class EchoCanceller:
    """Removes the echo, wherever it comes within half a second. Without `make`, blocks that are echo are silenced."""

    def __init__(self, make: Callable[[], Canceller] | None) -> None:
        self._make = make
        self._canceller = make() if make is not None else None
        self._guard = EchoGuard()
        self._near = np.zeros(PAST, np.float32)
        self._far = np.zeros(LONGEST + PAST, np.float32)
        self._shift = 0
        self._learnt = 0.0
        self._blocks = 0
        self._played = 0

    @property
    def delay_s(self) -> float | None:
        """How much later than it was played the assistant's voice is heard; `None` until it was."""
        return None if self._guard.delay is None else self._guard.delay / MIC_RATE

    def process(self, near: Samples, far: Samples) -> Samples:
        """The microphone's `(BLOCK,)` without its part of `far`, what was played meanwhile."""
        self._guard.push(near, far)
        self._near = np.concatenate([self._near[len(near) :], near])
        self._far = np.concatenate([self._far[len(far) :], far])
        if not self._far[-LONGEST - BLOCK :].any():  # nobody to take out: intonation reaches the end-of-turn model
            return near
        unknown = self._unknown(far)
        if self._canceller is None:
            return np.zeros_like(near) if unknown or self._guard.own() > OWN else near
        self._follow()
        end = len(self._far) - self._shift
        clean = self._canceller.process(near, self._far[end - len(near) : end])
        return np.zeros_like(near) if unknown or self._must_guard(near, clean) else clean

    def _unknown(self, far: Samples) -> bool:
        """Whether nobody knows yet when an echo comes, and whether one does."""
        self._played += bool(far.any())
        return self._guard.delay is None and self._played <= UNKNOWN

    def _must_guard(self, near: Samples, clean: Samples) -> bool:
        """Whether this block is the assistant's own voice, and too much of it is left."""
        left = float(np.sum(clean**2)) / (float(np.sum(near**2)) + 1e-9)
        learnt = self._learnt > LEARNT
        self._blocks += 1
        if learnt and left > FAINT and self._blocks % SELDOM:
            return False
        own = self._guard.own()
        if own < OWN:
            return False
        self._learnt += 0.1 * ((left < LEFT) - self._learnt)
        return own > SURE if learnt else left > LEFT

    def _follow(self) -> None:
        """Keeps the echo inside the canceller's tail; where that has to move, it learns again from the last second."""
        delay = self._guard.delay
        if delay is None or 0 <= delay - self._shift <= LATE:
            return
        assert self._make is not None
        self._shift = max(delay - MARGIN, 0)
        self._canceller, self._learnt = self._make(), 0.0
        for begin in range(0, PAST - BLOCK, BLOCK):
            played = self._far[LONGEST - self._shift + begin :][:BLOCK]
            if played.any():
                self._canceller.process(self._near[begin : begin + BLOCK], played)


class SpeexCanceller:
    """Speex's multi-delay block filter with its suppressor of residual echo, from the package pyaec.

    J.-M. Valin, "On Adjusting the Learning Rate in Frequency Domain Echo Cancellation With Double-Talk", IEEE
    Transactions on Audio, Speech, and Language Processing 15(3), 2007.
    """

    def __init__(self) -> None:
        self._library = _library()
        self._state = self._library.AecNew(FRAME, TAIL, MIC_RATE, True)

    def process(self, near: Samples, far: Samples) -> Samples:
        """The next block, cleaned: a multiple of `FRAME` samples."""
        heard, played, clean = _pcm16(near), _pcm16(far), np.empty(len(near), np.int16)
        for at in range(0, len(near), FRAME):
            frames = (_pointer(samples[at : at + FRAME]) for samples in (heard, played, clean))
            self._library.AecCancelEcho(self._state, *frames, FRAME)
        return (clean / np.float32(32768)).astype(np.float32)

    def __del__(self) -> None:
        self._library.AecDestroy(self._state)


def _library() -> Any:
    """pyaec's C functions (1.0.1), which take arrays; its class `Aec` over them takes lists, at twice the cost."""
    import pyaec  # pyright: ignore[reportMissingTypeStubs]

    return pyaec.lib


def _pcm16(samples: Samples) -> np.ndarray[Any, np.dtype[np.int16]]:
    return np.ascontiguousarray(np.clip(samples * 32768, -32768, 32767).astype(np.int16))


def _pointer(samples: np.ndarray[Any, np.dtype[np.int16]]) -> Any:
    return samples.ctypes.data_as(ctypes.POINTER(ctypes.c_int16))
