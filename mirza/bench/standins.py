"""Stand-ins for every model and device that cost almost nothing, so that what is left is Mirza's own work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Any

import numpy as np

from mirza.audio.base import BLOCK, MIC_RATE, Block, Samples
from mirza.audio.player import Player
from mirza.llm.base import Message, Tool
from mirza.llm.scripted import ScriptedLlm
from mirza.speech.base import Transcript, Voice
from mirza.testing import VirtualTimeLoop

QUESTION = "please tell me what the weather is going to be tomorrow"
QUESTION_S = 2.0
ANSWER = "It is going to be sunny in the morning. In the afternoon there may be some rain."

_VOICE = np.full(BLOCK, 0.3, np.float32)
_QUIET = np.zeros(BLOCK, np.float32)


@dataclass(slots=True)
class Counts:
    """What happened in a conversation; the same on every machine."""

    events: int = 0
    turns: int = 0
    stt: int = 0
    llm: int = 0
    prefills: int = 0


class CountingLoop(VirtualTimeLoop):
    """Virtual time, and how often anything was woken: each step of a task is one callback, and so is each timer."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = 0

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Context | None = None) -> asyncio.Handle:
        self.steps += 1
        return super().call_soon(callback, *args, context=context)

    def call_at(
        self, when: float, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        self.steps += 1
        return super().call_at(when, callback, *args, context=context)


class Card:
    """A sound card that wakes once a block: someone speaks in the blocks that are `voiced`."""

    def __init__(self, voiced: Sequence[bool]) -> None:
        self.player = Player(MIC_RATE)
        self._voiced = voiced
        self._blocks = 0
        self._start = 0.0
        self._closed = False

    async def open(self) -> None:
        self._start = asyncio.get_running_loop().time()

    def now_s(self) -> float:
        return self._blocks * BLOCK / MIC_RATE

    async def close(self) -> None:
        self._closed = True

    async def blocks(self) -> AsyncIterator[Block]:
        loop = asyncio.get_running_loop()
        for voiced in self._voiced:
            self._blocks += 1
            await asyncio.sleep(max(self._start + self.now_s() - loop.time(), 0.0))
            if self._closed:
                return
            self.player.pull(BLOCK)
            yield Block(_VOICE if voiced else _QUIET, _QUIET, self.now_s())


class CardVad:
    """Looks at one sample: `Card` makes no half-loud blocks."""

    def probability(self, samples: Samples) -> float:
        return 1.0 if samples[0] > 0 else 0.0

    def reset(self) -> None:
        return


class OneQuestionStt:
    """Understands the same question again and again, at once."""

    languages: Sequence[str] = ("en",)

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    async def load(self) -> None:
        return

    async def unload(self) -> None:
        return

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        self._counts.stt += 1
        await asyncio.sleep(0.08)
        words = QUESTION.split()
        known = min(round(len(samples) / MIC_RATE / QUESTION_S * len(words)), len(words)) if partial else len(words)
        return Transcript(" ".join(words[:known]), "en")


class HumTts:
    """Says everything as the same hum, as long as its words."""

    rate = MIC_RATE
    voices: Sequence[Voice] = (Voice("hum", "en"),)

    def __init__(self) -> None:
        self._hum = np.full(10 * MIC_RATE, 0.3, np.float32)

    async def load(self) -> None:
        return

    async def unload(self) -> None:
        return

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        await asyncio.sleep(0.1)
        yield self._hum[: round(0.25 * len(text.split()) * MIC_RATE)]


class OneAnswerLlm(ScriptedLlm):
    """Gives the same answer again and again."""

    def __init__(self, counts: Counts) -> None:
        super().__init__([ANSWER] * 10_000, token_s=0.02, first_token_s=0.1)
        self._counts = counts

    async def prefill(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> None:
        self._counts.prefills += 1
