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

LEFT = 0.02
"""A canceller that leaves less than this part of an echo's energy, -17 dB, has removed it: what is left at -10 dB the
voice detector still hears (in 7.7 % of the first 5 s; 1.3 % with -17 dB)."""

LEARNT = 0.5
"""A canceller that removes the echo in this part of the last blocks (about ten that are echo) has learnt the room,
and needs no guard: where both talk, a guard costs words (word error rate of interruptions at -6 dB: 0.07, else 0)."""

SELDOM = 8
"""Blocks between two looks of the guard at a canceller that has learnt the room."""


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
        self._far = np.zeros(LONGEST + BLOCK, np.float32)
        self._shift = 0
        self._learnt = 0.0
        self._blocks = 0

    @property
    def delay_s(self) -> float | None:
        """How much later than it was played the assistant's voice is heard; `None` until it was."""
        return None if self._guard.delay is None else self._guard.delay / MIC_RATE

    def process(self, near: Samples, far: Samples) -> Samples:
        """The microphone's `(BLOCK,)` without its part of `far`, what was played meanwhile."""
        self._guard.push(near, far)
        self._far = np.concatenate([self._far[len(far) :], far])
        if not self._far.any():  # nobody to be taken out: intonation reaches the end-of-turn model as it was
            return near
        if self._canceller is None:
            return np.zeros_like(near) if self._guard.own() > OWN else near
        self._follow()
        end = len(self._far) - self._shift
        clean = self._canceller.process(near, self._far[end - len(near) : end])
        return np.zeros_like(near) if self._must_guard(near, clean) else clean

    def _must_guard(self, near: Samples, clean: Samples) -> bool:
        """Whether this block is the assistant's own voice, and the canceller has not learnt the room yet."""
        self._blocks += 1
        if (self._learnt > LEARNT and self._blocks % SELDOM) or self._guard.own() < OWN:
            return False
        removed = bool(np.sum(clean**2) < LEFT * np.sum(near**2))
        self._learnt += 0.1 * (removed - self._learnt)
        return self._learnt < LEARNT and not removed

    def _follow(self) -> None:
        """Keeps the echo inside the canceller's tail; it learns from the beginning when that has to move."""
        delay = self._guard.delay
        if delay is None or 0 <= delay - self._shift <= LATE:
            return
        assert self._make is not None
        self._shift = max(delay - MARGIN, 0)
        self._canceller, self._learnt = self._make(), 0.0


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
