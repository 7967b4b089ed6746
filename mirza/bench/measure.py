"""What can be read off a stereo recording of a scripted talk: how long each answer took, and each silence.

One definition for all systems: from the last audible sample of the user's line to the first audible sample of the
loudspeaker. Where a line lies in the recording is known to the sample, since it was put there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mirza.audio.base import Samples
from mirza.bench.conductor import AUDIBLE
from mirza.bench.script import Means, Script
from mirza.bench.take import PlacedLine, Take

PAUSE_S = 0.3
"""A loudspeaker that is silent for less than this is in the middle of speaking."""
MISSED_S = 2.0
"""An interruption that has not brought silence after this long was missed."""
RESUME_S = 2.5
"""After something that is no interruption the answer goes on within this."""
SIGN_S = 0.3
"""The end of a voice may be a sign this much later."""
FRAME_S = 0.016


@dataclass(frozen=True, slots=True)
class Span:
    """The loudspeaker was audible from `start_s` to `end_s`."""

    start_s: float
    end_s: float


@dataclass(slots=True)
class Outcome:
    """What came of one line. `None` is: there was no such thing."""

    line: int
    means: Means
    voice_to_voice_s: float | None = None
    silence_s: float | None = None
    """An interruption: from its first sample to the loudspeaker's last."""
    duck_s: float | None = None
    """An interruption: from its first sample to the moment from which on the loudspeaker was at half its level."""
    cut_off: bool = False
    """The loudspeaker spoke before the user had finished."""
    missed: bool = False
    """An interruption that did not interrupt."""
    false_stop: bool = False
    """No interruption, but the answer did not go on; or the answer to this line was cut short with nobody speaking."""
    answer: Span | None = None
    """Where in the recording the answer to this line is."""


def spans(loudspeaker: Samples, rate: int) -> list[Span]:
    """When the loudspeaker was audible; pauses under `PAUSE_S` are part of it."""
    loud = np.flatnonzero(np.abs(loudspeaker) > AUDIBLE)
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) > PAUSE_S * rate)
    starts = [int(loud[0]), *(int(index) for index in loud[breaks + 1])]
    ends = [*(int(index) for index in loud[breaks]), int(loud[-1])]
    return [Span(start / rate, (end + 1) / rate) for start, end in zip(starts, ends, strict=True)]


def outcomes(script: Script, take: Take, loudspeaker: Samples, rate: int) -> list[Outcome]:
    """What came of each line that was said. `loudspeaker` is the recording's right channel, `(n,)` at `rate` hertz."""
    audible = spans(loudspeaker, rate)
    end_s = len(loudspeaker) / rate
    found: list[Outcome] = []
    for index, placed in enumerate(take.placed):
        next_s = take.placed[index + 1].voice_start_s if index + 1 < len(take.placed) else end_s
        outcome = Outcome(placed.line, script.lines[placed.line].means)
        match outcome.means:
            case Means.PART:
                until_s = take.placed[index + 1].voice_end_s if index + 1 < len(take.placed) else end_s
                outcome.cut_off = _begins(audible, placed.voice_start_s, until_s) is not None
            case Means.TURN:
                outcome.cut_off = _begins(audible, placed.voice_start_s, placed.voice_end_s) is not None
                _answered(outcome, audible, placed, placed.voice_end_s, next_s)
            case Means.INTERRUPTION | Means.STOP:
                if placed.line not in take.missed:
                    _silenced(outcome, audible, placed, loudspeaker, rate)
                outcome.missed = outcome.missed or _went_on(outcome, audible, placed, take, next_s)
                if outcome.means is Means.INTERRUPTION:
                    silent_s = placed.voice_start_s + (outcome.silence_s or 0.0)
                    _answered(outcome, audible, placed, max(silent_s + PAUSE_S / 2, placed.voice_start_s), next_s)
            case Means.NOTHING:
                if placed.line not in take.missed:
                    until_s = min(placed.voice_end_s + RESUME_S, end_s)
                    outcome.false_stop = not _sounds(audible, placed.voice_end_s, until_s)
        outcome.false_stop = outcome.false_stop or _stopped_by_nobody(placed, take, next_s)
        found.append(outcome)
    return found


def self_heard(take: Take) -> int:
    """Turns that nobody spoke: every line that is said can be the reason of one."""
    starts = [placed.voice_start_s for placed in take.placed]
    reasons = Counter(bisect_left(starts, turn.heard_s) for turn in take.turns)
    return sum(count - (1 if line else 0) for line, count in reasons.items())


def false_signs(take: Take) -> int:
    """How often the voice was lowered although nobody spoke."""
    return sum(
        not any(placed.voice_start_s <= at_s <= placed.voice_end_s + SIGN_S for placed in take.placed)
        for at_s in take.lowered_s
    )


def _stopped_by_nobody(placed: PlacedLine, take: Take, next_s: float) -> bool:
    """Whether the answer to a line counts as interrupted, although nobody had begun to speak since."""
    return any(
        turn.interrupted and turn.answered_s is not None and turn.answered_s < next_s
        for turn in take.turns
        if placed.voice_start_s < turn.heard_s <= next_s
    )


def _answered(outcome: Outcome, audible: Sequence[Span], placed: PlacedLine, from_s: float, next_s: float) -> None:
    answer = _begins(audible, from_s, next_s)
    if answer is None:
        return
    outcome.voice_to_voice_s = answer.start_s - placed.voice_end_s
    last = max(span.end_s for span in audible if answer.start_s <= span.start_s < next_s)
    outcome.answer = Span(answer.start_s, last)


def _silenced(outcome: Outcome, audible: Sequence[Span], placed: PlacedLine, loudspeaker: Samples, rate: int) -> None:
    speaking = next((span for span in audible if span.start_s <= placed.voice_start_s < span.end_s + PAUSE_S), None)
    if speaking is None:
        return
    outcome.silence_s = max(speaking.end_s - placed.voice_start_s, 0.0)
    outcome.missed = outcome.silence_s > MISSED_S
    if not outcome.missed:
        outcome.duck_s = _ducked(loudspeaker, rate, placed.voice_start_s, speaking.end_s)


def _went_on(outcome: Outcome, audible: Sequence[Span], placed: PlacedLine, take: Take, next_s: float) -> bool:
    """Whether an answer that fell silent was taken up again: after a stop, or without a turn of the one who spoke."""
    if outcome.silence_s is None:
        return False
    if outcome.means is Means.STOP:
        return _begins(audible, placed.voice_start_s + outcome.silence_s, next_s) is not None
    return not any(placed.voice_start_s < turn.heard_s <= next_s for turn in take.turns)


def _ducked(loudspeaker: Samples, rate: int, start_s: float, end_s: float) -> float | None:
    """Seconds after `start_s` from which on, until `end_s`, no frame has half the level of the half second before."""
    frame = round(FRAME_S * rate)
    first = max(round((start_s - 0.5) * rate), 0)
    part = loudspeaker[first : round(end_s * rate)]
    levels = np.sqrt(np.mean(np.square(part[: len(part) // frame * frame].reshape(-1, frame)), axis=1))
    before = round((start_s * rate - first) / frame)
    loud = levels[:before][levels[:before] > AUDIBLE]
    if not len(loud) or before >= len(levels):
        return None
    high = np.flatnonzero(levels[before:] >= 0.5 * np.median(loud))
    return float(high[-1] + 1) * FRAME_S if len(high) else 0.0


def _begins(audible: Sequence[Span], from_s: float, until_s: float) -> Span | None:
    """The first time that the loudspeaker began in this stretch."""
    return next((span for span in audible if from_s <= span.start_s < until_s), None)


def _sounds(audible: Sequence[Span], from_s: float, until_s: float) -> bool:
    return any(span.start_s < until_s and span.end_s > from_s for span in audible)
