"""Turn taking: when a turn begins, pauses, goes on and ends, and what an interruption is.

A state machine with no sound, clock or model inside: it is told, block by block, how sure the detector is of a voice,
and says what that means. It can therefore be tested with lists of numbers.

              voice                silence            judged complete, or waited long enough
    IDLE ───────────────▶ TALKING ──────────▶ PAUSED ───────────────────────────────────────▶ IDLE
     ▲                        ▲                  │  voice again
     └── too short: dropped   └──────────────────┘

In the silence that leads from TALKING to PAUSED, `Faded` says early that the voice may have ended.

While the assistant is audible, the first voiced block is already a sign: `Overlap` lowers the loudspeaker, `Overlap`
that lasts holds it, and the words decide whether it was an interruption (`mirza.speech.phrases`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from mirza.settings import TurnSettings


@dataclass(frozen=True, slots=True)
class Began:
    """A turn began; the first voiced block started at `voice_start_s`."""

    voice_start_s: float


@dataclass(frozen=True, slots=True)
class Faded:
    """No voice for `FADE_S`: what was said may be all of it. `WentOn` or `Paused` follows."""

    voice_end_s: float


@dataclass(frozen=True, slots=True)
class Paused:
    """Silence for `stop_s`: ask whether the turn is complete, and tell `judged`."""

    voice_end_s: float


@dataclass(frozen=True, slots=True)
class WentOn:
    """Voice again after `Faded` or `Paused`: what was begun for the answer is void."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """The turn is over."""

    voice_end_s: float
    at_s: float


@dataclass(frozen=True, slots=True)
class Overlap:
    """Voice over the assistant's own, for `voiced_s` seconds by now. Told block by block."""

    voiced_s: float
    at_s: float


@dataclass(frozen=True, slots=True)
class OverlapEnded:
    """The voice over the assistant's own fell silent after `voiced_s` seconds without becoming a turn."""

    voiced_s: float
    at_s: float


Signal = Began | Faded | Paused | WentOn | Ended | Overlap | OverlapEnded


class _State(Enum):
    IDLE = auto()
    TALKING = auto()
    PAUSED = auto()


AUDIBLE_MARGIN = 0.2
"""While the assistant is audible, voice must be this much surer: its own is in the room (khoj-ai/pipali PR 48)."""

FADE_S = 0.09
"""Silence after which a recogniser hears the last word whole: 3 blocks. Of 67 recordings, Moonshine understood 3 in
other words than after 7 blocks, none of them worse; after 2 blocks it lost endings."""


class TurnTaker:
    """Hears probabilities of voice and says what they mean for the turn."""

    def __init__(self, settings: TurnSettings, block_s: float) -> None:
        self.settings = settings
        self.block_s = block_s
        self.audible = False
        """Whether the assistant's voice is in the room; the pipeline keeps it up to date."""
        self._state = _State.IDLE
        self._voiced_s = 0.0
        self._gap_s = 0.0
        self._overlapping = False
        self._faded = False
        self._began_s = 0.0
        self._voice_end_s = 0.0
        self._wait_s: float | None = None

    @property
    def talking(self) -> bool:
        """Whether a turn of the user is open."""
        return self._state is not _State.IDLE

    def hear(self, probability: float, end_s: float) -> list[Signal]:
        """Takes the next block's probability of voice, 0 .. 1; the block ends at `end_s`."""
        threshold = self.settings.voice_threshold
        if self.audible:
            threshold = min(threshold + AUDIBLE_MARGIN, 0.95)
        elif self._state is not _State.IDLE:
            threshold *= 0.7  # hysteresis: a voice that is there may fade before it counts as gone
        voiced = probability >= threshold
        match self._state:
            case _State.IDLE:
                return self._idle(voiced, end_s)
            case _State.TALKING:
                return self._talking(voiced, end_s)
            case _State.PAUSED:
                return self._paused(voiced, end_s)

    def judged(self, wait_s: float) -> None:
        """The pause was judged: the turn ends when the silence has lasted `wait_s` in all."""
        if self._state is _State.PAUSED:
            self._wait_s = wait_s

    def end(self, at_s: float) -> list[Signal]:
        """Ends an open turn now: the push-to-talk key was let go, or the recording is over."""
        if self._state is _State.IDLE:
            return []
        signals: list[Signal] = [] if self._state is _State.PAUSED else [Paused(self._voice_end_s)]
        self._reset()
        return [*signals, Ended(self._voice_end_s, at_s)]

    def begin(self, at_s: float) -> list[Signal]:
        """Begins a turn now: what was heard over the assistant is one, or the push-to-talk key is down."""
        if self._state is not _State.IDLE:
            return []
        self._state, self._gap_s, self._overlapping = _State.TALKING, 0.0, False
        self._began_s = at_s
        self._voice_end_s = max(self._voice_end_s, at_s)
        return [Began(at_s)]

    def _reset(self) -> None:
        self._state, self._voiced_s, self._gap_s, self._wait_s = _State.IDLE, 0.0, 0.0, None
        self._overlapping = self._faded = False

    def _idle(self, voiced: bool, end_s: float) -> list[Signal]:
        if voiced:
            if self._voiced_s == 0.0:
                self._began_s = end_s - self.block_s
            self._voiced_s += self.block_s
            self._gap_s = 0.0
            self._voice_end_s = end_s
            if self.audible:
                self._overlapping = True
                return [Overlap(self._voiced_s, end_s)]
            if self._voiced_s >= self.settings.start_s - 1e-9:
                self._state, self._overlapping = _State.TALKING, False
                return [Began(self._began_s)]
            return []
        self._gap_s += self.block_s
        if self._gap_s < self.settings.stop_s and self._voiced_s:
            return []
        voiced_s, overlapped = self._voiced_s, self._overlapping
        self._voiced_s, self._overlapping = 0.0, False
        return [OverlapEnded(voiced_s, end_s)] if overlapped else []

    def _talking(self, voiced: bool, end_s: float) -> list[Signal]:
        if voiced:
            faded, self._faded = self._faded, False
            self._gap_s, self._voice_end_s = 0.0, end_s
            if end_s - self._began_s >= self.settings.max_turn_s:
                return self.end(end_s)
            return [WentOn(end_s)] if faded else []
        self._gap_s += self.block_s
        signals: list[Signal] = []
        if not self._faded and self._gap_s >= FADE_S:
            self._faded = True
            signals.append(Faded(self._voice_end_s))
        if self._gap_s >= self.settings.stop_s - 1e-9:
            self._state, self._voiced_s, self._wait_s, self._faded = _State.PAUSED, 0.0, None, False
            signals.append(Paused(self._voice_end_s))
        return signals

    def _paused(self, voiced: bool, end_s: float) -> list[Signal]:
        self._gap_s += self.block_s
        if voiced:
            self._voiced_s += self.block_s
            if self._voiced_s >= self.settings.start_s / 2:  # a click or a cough does not reopen the mouth
                self._state, self._gap_s, self._voiced_s = _State.TALKING, 0.0, 0.0
                self._voice_end_s = end_s
                return [WentOn(end_s)]
        elif self._voiced_s:
            self._voiced_s = max(0.0, self._voiced_s - self.block_s)
        limit = self.settings.max_wait_s if self._wait_s is None else min(self._wait_s, self.settings.max_wait_s)
        if self._gap_s >= limit - 1e-9 and not self._voiced_s:
            self._reset()
            return [Ended(self._voice_end_s, end_s)]
        return []
