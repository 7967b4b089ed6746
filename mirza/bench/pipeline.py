"""`mirza bench pipeline`: what Mirza itself costs in a turn, each model replaced by a double that costs almost nothing.

Time is virtual, so that a turn takes no time but its own processor time; that of the simulated sound card is measured
by itself and taken off. Counts (events, recognitions, prefills) are the same on every machine: CI watches those.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import RecordedSound
from mirza.bench.runfile import Better, Metric
from mirza.errors import MirzaError
from mirza.events import AnswerStarted, Event, TurnMeasured
from mirza.llm.base import Message, Tool
from mirza.llm.scripted import ScriptedLlm
from mirza.pipeline import Conversation, Parts
from mirza.settings import SettingsTree
from mirza.speech.base import Transcript, Voice
from mirza.testing import LoudnessVad, ScriptedEndOfTurn, run_virtual, silence, speech

QUESTION_S = 2.0
TURN_S = 8.0
"""Of sound, for each turn: the question, its answer, and silence around them."""
QUESTION = "please tell me what the weather is going to be tomorrow"
ANSWER = "It is going to be sunny in the morning. In the afternoon there may be some rain."


class PipelineReport(BaseModel):
    """What was measured."""

    model_config = ConfigDict(extra="forbid")

    turns: int
    runs: int
    sound_s: float
    cpu_ms_per_turn: list[float]
    """Mirza's own, run by run."""
    cpu_ms_per_sound_second: list[float]
    sound_card_ms_per_turn: list[float]
    """Of the simulated microphone and loudspeaker; it is not in the two above."""
    events_per_turn: float
    stt_calls_per_turn: float
    llm_calls_per_turn: float
    prefills_per_turn: float
    metrics: list[Metric]


@dataclass(slots=True)
class _Counts:
    events: int = 0
    turns: int = 0
    stt: int = 0
    llm: int = 0
    prefills: int = 0


class _Stt:
    """Understands the same question again and again, at once."""

    languages: Sequence[str] = ("en",)

    def __init__(self, counts: _Counts) -> None:
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


class _Tts:
    """Says everything as the same hum, as long as its words."""

    rate = MIC_RATE
    voices: Sequence[Voice] = (Voice("hum", "en"),)

    def __init__(self) -> None:
        self._hum = speech(10)

    async def load(self) -> None:
        return

    async def unload(self) -> None:
        return

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        await asyncio.sleep(0.1)
        yield self._hum[: round(0.25 * len(text.split()) * MIC_RATE)]


class _Llm(ScriptedLlm):
    def __init__(self, counts: _Counts) -> None:
        super().__init__([ANSWER] * 10_000, token_s=0.02, first_token_s=0.1)
        self._counts = counts

    async def prefill(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> None:
        self._counts.prefills += 1


def measure(turns: int, runs: int) -> PipelineReport:
    """Holds a conversation of `turns` turns, `runs` times after one that is not counted."""
    question = np.concatenate([speech(QUESTION_S), silence(TURN_S - QUESTION_S)])
    sound = np.tile(question, turns)
    seconds = len(sound) / MIC_RATE
    counts = _Counts()
    own: list[float] = []
    card: list[float] = []
    for number in range(runs + 1):
        counts = _Counts()
        alone = _cpu_s(lambda: run_virtual(_card(sound)))
        whole = _cpu_s(lambda: run_virtual(_talk(sound, counts)))  # noqa: B023 - run at once
        if counts.turns != turns:
            raise MirzaError(f"{counts.turns} turns were held instead of {turns}.", "This is a mistake of Mirza's.")
        if number:
            own.append(1000 * max(whole - alone, 0.0) / turns)
            card.append(1000 * alone / turns)
    per_second = [value * turns / seconds for value in own]
    return PipelineReport(
        turns=turns,
        runs=runs,
        sound_s=seconds,
        cpu_ms_per_turn=own,
        cpu_ms_per_sound_second=per_second,
        sound_card_ms_per_turn=card,
        events_per_turn=counts.events / turns,
        stt_calls_per_turn=counts.stt / turns,
        llm_calls_per_turn=counts.llm / turns,
        prefills_per_turn=counts.prefills / turns,
        metrics=[
            Metric(name="pipeline.cpu_per_turn", unit="ms", values=own),
            Metric(name="pipeline.cpu_per_sound_second", unit="ms", values=per_second),
            Metric(name="pipeline.events_per_turn", unit="", better=Better.NEITHER, values=[counts.events / turns]),
            Metric(name="pipeline.stt_calls_per_turn", unit="", values=[counts.stt / turns]),
            Metric(name="pipeline.llm_calls_per_turn", unit="", values=[counts.llm / turns]),
        ],
    )


def _cpu_s(work: Callable[[], None]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


async def _card(sound: Samples) -> None:
    """The simulated sound card, with nobody behind it."""
    recorded = RecordedSound(sound, rate=MIC_RATE, tail_s=0.5, record=False)
    async for _ in recorded.blocks():
        pass


async def _talk(sound: Samples, counts: _Counts) -> None:
    recorded = RecordedSound(sound, rate=MIC_RATE, tail_s=0.5, record=False)
    parts = Parts(_Llm(counts), recorded, LoudnessVad(), ScriptedEndOfTurn(), _Stt(counts), _Tts())
    conversation = Conversation(parts, SettingsTree())
    watcher = conversation.watch()

    async def watch() -> None:
        async for event in watcher:
            _count(event, counts)

    watching = asyncio.create_task(watch())
    async with conversation:
        recorded.finish_when(conversation.idle)
        with suppress(asyncio.CancelledError):
            await conversation.finished()
    await watching


def _count(event: Event, counts: _Counts) -> None:
    counts.events += 1
    match event:
        case TurnMeasured():
            counts.turns += 1
        case AnswerStarted():
            counts.llm += 1
        case _:
            pass


# --- the command -----------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench pipeline` takes."""
    parser.add_argument("--turns", type=int, default=20, metavar="N", help="turns of the conversation (20)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how often it is held (5)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the report."""
    if args.turns < 1 or args.runs < 1:
        raise MirzaError("There is nothing to measure.", "Give --turns and --runs 1 or more.")
    report = measure(args.turns, args.runs)
    if args.json:
        print(report.model_dump_json(indent=1))
        return 0
    turn, second = report.metrics[0], report.metrics[1]
    print(
        f"{report.runs} runs of {report.turns} turns, {report.sound_s:.0f} s of sound each\n"
        f"own processor time: {turn.median:.1f} ms a turn ({min(turn.values):.1f}-{max(turn.values):.1f}), "
        f"{second.median:.2f} ms a second of sound\n"
        f"{report.events_per_turn:.1f} events, {report.stt_calls_per_turn:.1f} recognitions and "
        f"{report.prefills_per_turn:.1f} prefills a turn"
    )
    return 0
