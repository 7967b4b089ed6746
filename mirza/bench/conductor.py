"""`Conductor`: says each line of a script when its time has come, going by what the loudspeaker plays and nothing else.

So the same script is held with any assistant that has a loudspeaker. It has no clock and no sound of its own: it is
told what was played, block by block, and says what begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirza.audio.base import MIC_RATE, Samples
from mirza.bench.script import Line, Means, Script

AUDIBLE = 10 ** (-45 / 20)
"""Samples louder than this, -45 dB of full scale, are heard."""
FIRST_S = 0.5
PATIENCE_S = 20.0
"""An answer that has not begun after this long is not waited for any more."""
QUIET_S = 2.0
"""After the last answer has ended, this much silence ends the talk: a wrong second answer would come in it."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A line that was said: where its sound begins, and its first and last audible samples, in seconds."""

    line: int
    at_s: float
    voice_start_s: float
    voice_end_s: float


@dataclass(frozen=True, slots=True)
class Begin:
    """This sound begins at `at_s`."""

    samples: Samples
    at_s: float


class Conductor:
    """Holds one script. `sounds` are its lines, `(n,)` each at `MIC_RATE`."""

    def __init__(self, script: Script, sounds: Sequence[Samples]) -> None:
        self.placed: list[Placed] = []
        self.missed: list[int] = []
        """Lines that were to interrupt an answer, when there was none to interrupt."""
        self._lines, self._sounds = script.lines, sounds
        self._next = 0
        self._line_end_s = 0.0
        self._answer_s: float | None = None
        self._last_audible_s: float | None = None
        self._now_s = 0.0

    @property
    def said(self) -> bool:
        """Whether the last line was said."""
        return self._next == len(self._lines)

    def hear(self, played: Samples, end_s: float, *, idle: bool) -> list[Begin]:
        """Takes the next block of the loudspeaker, `(n,)` at `MIC_RATE`, which ended at `end_s`.

        `idle` is whether the assistant is doing nothing: silence between two sentences is not the end of an answer.
        """
        self._now_s = end_s
        loud = np.flatnonzero(np.abs(played) > AUDIBLE)
        if len(loud):
            start_s = end_s - len(played) / MIC_RATE
            self._last_audible_s = start_s + (int(loud[-1]) + 1) / MIC_RATE
            if self._answer_s is None and self._last_audible_s > self._line_end_s and self._next:
                self._answer_s = max(start_s + int(loud[0]) / MIC_RATE, self._line_end_s)
        begins: list[Begin] = []
        while not self.said and (at_s := self._due_s(self._lines[self._next], idle)) is not None:
            begins.append(self._say(at_s))
        return begins

    def over(self, *, idle: bool) -> bool:
        """Whether there is nothing more to wait for."""
        if not self.said or not idle or self._now_s < self._line_end_s + QUIET_S:
            return False
        waits = self._lines[-1].means in (Means.TURN, Means.INTERRUPTION)
        if waits and self._answer_s is None:
            return self._now_s >= self._line_end_s + PATIENCE_S
        return self._now_s >= (self._last_audible_s or 0.0) + QUIET_S

    def _due_s(self, line: Line, idle: bool) -> float | None:
        """When `line` begins, once that is known and near."""
        now_s = self._now_s
        if line.into_answer is None and line.after_answer is None:
            if line.pause is not None:
                return _when(self._line_end_s + line.pause, now_s)
            return _when(FIRST_S if line.at is None else line.at, now_s)
        if line.into_answer is not None and self._answer_s is not None and not self._answer_is_over(idle):
            return _when(self._answer_s + line.into_answer, now_s)
        if self._given_up(idle) or (line.into_answer is not None and self._answer_is_over(idle)):
            if line.into_answer is not None:
                self.missed.append(self._next)
            return now_s
        over = self._answer_s is not None and idle
        return now_s if over and self._quiet_s() >= (line.after_answer or 0.0) else None

    def _answer_is_over(self, idle: bool) -> bool:
        return self._answer_s is not None and idle and self._quiet_s() >= QUIET_S

    def _given_up(self, idle: bool) -> bool:
        return self._answer_s is None and idle and self._now_s >= self._line_end_s + PATIENCE_S

    def _quiet_s(self) -> float:
        return self._now_s - (self._last_audible_s or 0.0)

    def _say(self, at_s: float) -> Begin:
        """Says the next line; what was heard before it is no answer to it."""
        samples = self._sounds[self._next]
        at_s = round(at_s * MIC_RATE) / MIC_RATE
        start, end = audible(samples)
        self.placed.append(Placed(self._next, at_s, at_s + start / MIC_RATE, at_s + end / MIC_RATE))
        self._line_end_s = at_s + end / MIC_RATE
        self._answer_s = None
        self._next += 1
        return Begin(samples, at_s)


def audible(samples: Samples) -> tuple[int, int]:
    """The first audible sample of a voice, and the one after the last: 40 dB below its peak is its noise."""
    loud = np.flatnonzero(np.abs(samples) > float(np.abs(samples).max()) * 0.01)
    return int(loud[0]), int(loud[-1]) + 1


def _when(at_s: float, now_s: float) -> float | None:
    """A line is said one block ahead of its time, so that it begins to the sample."""
    return max(at_s, now_s) if at_s <= now_s + 0.1 else None
