"""`Ear`: microphone blocks in, signals of turn taking out, and the sound of the turn kept for recognition."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mirza.audio.base import BLOCK, MIC_RATE, Block, Samples
from mirza.settings import TurnSettings
from mirza.speech.base import Vad
from mirza.speech.turns import Began, Overlap, Signal, TurnTaker

BLOCK_S = BLOCK / MIC_RATE


@dataclass(frozen=True, slots=True)
class Utterance:
    """The sound of a turn, whole or so far."""

    samples: Samples
    """`(n,)` at 16 kHz, from the pre-roll on; n is a multiple of 512."""
    voice: Samples
    """Probability of voice in each block of 512, `(n / 512,)`."""


class Echo(Protocol):
    """Takes what the loudspeaker played out of what the microphone heard."""

    def process(self, near: Samples, far: Samples) -> Samples:
        """The `(512,)` microphone block `near` less what of the `(512,)` loudspeaker block `far` is in it."""
        ...


class WakeWord(Protocol):
    """Listens for one word, to be spoken to only after it."""

    def heard(self, samples: Samples) -> bool:
        """Whether the word ended in the `(512,)` samples that follow the last ones."""
        ...


class Ear:
    """One microphone's listener.

    What it keeps is one list of blocks: the pre-roll before a voice, then the turn. Everything is cleaned of the
    assistant's own voice first, so that detection, recognition and the record agree.
    """

    def __init__(
        self, vad: Vad, settings: TurnSettings, *, echo: Echo | None = None, wake_word: WakeWord | None = None
    ) -> None:
        self.turns = TurnTaker(settings, BLOCK_S)
        self.muted = False
        self._settings = settings
        self._vad = vad
        self._echo = echo
        self._wake_word = wake_word
        self._awake_until_s = 0.0
        self._key_held: bool | None = None
        self._kept: deque[Utterance] = deque(maxlen=round(settings.preroll_s / BLOCK_S) + 1)
        self._turn: list[Utterance] | None = None
        """The sound of what may be a turn, block by block from its pre-roll on; `None` between turns."""
        self._before: list[Utterance] = []
        self._last = np.zeros(BLOCK, np.float32)

    @property
    def level(self) -> float:
        """Loudness of the last block, RMS, 0 .. 1: for a meter on the screen. Worked out when it is asked for."""
        return float(np.sqrt(np.mean(np.square(self._last))))

    def hear(self, block: Block) -> list[Signal]:
        """Takes the next block and says what it means."""
        samples = np.zeros(BLOCK, np.float32) if self.muted else block.samples
        if self._echo is not None:
            samples = self._echo.process(samples, block.played)
        self._last = samples
        probability = self._vad.probability(samples)
        if not self._awake(samples, block.end_s):
            return []
        self._keep(Utterance(samples, np.array([probability], np.float32)))
        if self._settings.push_to_talk:
            return self._by_key(block.end_s)
        return self._note(self.turns.hear(probability, block.end_s))

    def hold_key(self, held: bool) -> None:
        """The push-to-talk key is down, or was let go."""
        self._key_held = held

    def utterance(self) -> Utterance:
        """The turn so far."""
        return _joined([*self._before, *(self._kept if self._turn is None else self._turn)])

    def samples(self) -> Samples:
        """The sound of the turn so far, from its pre-roll on, `(n,)` at 16 kHz."""
        return self.utterance().samples

    def begin(self, at_s: float) -> list[Signal]:
        """What was heard over the assistant since `at_s` is a turn."""
        return self._note(self.turns.begin(at_s))

    def take(self) -> Utterance:
        """The ended turn, to keep or to put back; the next one starts empty."""
        utterance = self.utterance()
        self._turn, self._before = None, []
        self._kept.clear()
        return utterance

    def drop(self) -> None:
        """What was heard over the assistant was no turn."""
        if not self.turns.talking and self._turn is not None:
            self._kept.extend(self._turn)
            self._turn = None

    def put_back(self, utterance: Utterance) -> None:
        """The turn was not over: this is how it began."""
        self._before = [utterance]

    def stay_awake(self, until_s: float) -> None:
        """No wake word is needed until then: a conversation is going on."""
        self._awake_until_s = max(self._awake_until_s, until_s)

    def _awake(self, samples: Samples, now_s: float) -> bool:
        if self._wake_word is None:
            return True
        if self._wake_word.heard(samples):
            self.stay_awake(now_s + AWAKE_S)
            self._kept.clear()
        return now_s < self._awake_until_s or self.turns.talking

    def _keep(self, block: Utterance) -> None:
        if self._turn is not None:
            self._turn.append(block)
        else:
            self._kept.append(block)

    def _by_key(self, now_s: float) -> list[Signal]:
        held, self._key_held = self._key_held, None
        if held is True:
            self._kept.clear()
            return self._note(self.turns.begin(now_s))
        return self._note(self.turns.end(now_s)) if held is False else []

    def _note(self, signals: list[Signal]) -> list[Signal]:
        """Starts and ends the keeping of the turn's sound, as the signals say."""
        for signal in signals:
            match signal:
                case Began() | Overlap() if self._turn is None:
                    self._turn = list(self._kept)
                    self._kept.clear()
                case _:
                    pass  # at the end the sound stays until it is taken
        return signals


def _joined(parts: Sequence[Utterance]) -> Utterance:
    nothing = np.zeros(0, np.float32)
    return Utterance(
        np.concatenate([part.samples for part in parts] or [nothing]),
        np.concatenate([part.voice for part in parts] or [nothing]),
    )


AWAKE_S = 8.0
"""Seconds after the wake word, or after an answer, in which a turn may begin."""
