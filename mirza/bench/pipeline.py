"""`mirza bench pipeline`: what Mirza itself costs; models and sound card are stand-ins that cost almost nothing.

Time is virtual, so that a turn takes no time but its own processor time; that of the stand-in sound card, which wakes
once a block as real ones do, is measured by itself and taken off. Counts (events, recognitions, prefills, wake-ups) are
the same on every machine: CI watches those.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from mirza.audio.base import BLOCK, MIC_RATE
from mirza.bench.runfile import Better, Metric
from mirza.bench.standins import QUESTION_S, Card, CardVad, CountingLoop, Counts, HumTts, OneAnswerLlm, OneQuestionStt
from mirza.errors import MirzaError
from mirza.events import AnswerStarted, Event, TurnMeasured
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.testing import ScriptedEndOfTurn

TURN_BLOCKS = 250
"""Of sound, for each turn: the question, its answer, and silence around them; 8 s."""
BLOCK_S = BLOCK / MIC_RATE
QUESTION_BLOCKS = round(QUESTION_S / BLOCK_S)


class PipelineReport(BaseModel):
    """What was measured. Times are processor time, run by run, without the sound card's."""

    model_config = ConfigDict(extra="forbid")

    turns: int
    runs: int
    sound_s: float
    own_ms_per_turn: list[float]
    """All that Mirza does in the 8 s of a turn."""
    listening_ms_per_second: list[float]
    """What Mirza does in a second in which nobody speaks."""
    sound_card_ms_per_turn: list[float]
    """Of the stand-in card; it is in neither of the above."""
    events_per_turn: float
    stt_calls_per_turn: float
    llm_calls_per_turn: float
    prefills_per_turn: float
    steps_per_turn: float
    """Callbacks of the event loop: every step of every task, and every timer. Without the card's."""
    steps_per_listening_block: float
    metrics: list[Metric]


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of something that ran in virtual time."""

    cpu_s: float
    steps: int

    def without(self, other: _Cost) -> _Cost:
        return _Cost(max(self.cpu_s - other.cpu_s, 0.0), self.steps - other.steps)


def measure(turns: int, runs: int) -> PipelineReport:
    """Holds `turns` turns, and listens as long to a quiet room, `runs` times after one that is not counted."""
    talk = ([True] * QUESTION_BLOCKS + [False] * (TURN_BLOCKS - QUESTION_BLOCKS)) * turns
    quiet = [False] * len(talk)
    counts = Counts()
    own: list[_Cost] = []
    listening: list[_Cost] = []
    cards: list[_Cost] = []
    for _ in range(runs + 1):
        counts = Counts()
        card = _cost(lambda: _card(talk))
        cards.append(card)
        own.append(_cost(lambda: _converse(talk, counts)).without(card))  # noqa: B023 - run at once
        listening.append(_cost(lambda: _converse(quiet, Counts())).without(card))
        if counts.turns != turns:
            raise MirzaError(f"{counts.turns} turns were held instead of {turns}.", "This is a mistake of Mirza's.")
    seconds = len(talk) * BLOCK_S
    own_ms = [1e3 * cost.cpu_s / turns for cost in own[1:]]
    listening_ms = [1e3 * cost.cpu_s / seconds for cost in listening[1:]]
    steps, quiet_steps = own[-1].steps / turns, listening[-1].steps / len(talk)
    return PipelineReport(
        turns=turns,
        runs=runs,
        sound_s=seconds,
        own_ms_per_turn=own_ms,
        listening_ms_per_second=listening_ms,
        sound_card_ms_per_turn=[1e3 * cost.cpu_s / turns for cost in cards[1:]],
        events_per_turn=counts.events / turns,
        stt_calls_per_turn=counts.stt / turns,
        llm_calls_per_turn=counts.llm / turns,
        prefills_per_turn=counts.prefills / turns,
        steps_per_turn=steps,
        steps_per_listening_block=quiet_steps,
        metrics=[
            Metric(name="pipeline.own_per_turn", unit="ms", values=own_ms),
            Metric(name="pipeline.listening_per_second", unit="ms", values=listening_ms),
            Metric(name="pipeline.events_per_turn", unit="", better=Better.NEITHER, values=[counts.events / turns]),
            Metric(name="pipeline.stt_calls_per_turn", unit="", values=[counts.stt / turns]),
            Metric(name="pipeline.llm_calls_per_turn", unit="", values=[counts.llm / turns]),
            Metric(name="pipeline.steps_per_turn", unit="", values=[float(round(steps))]),
        ],
    )


def _cost(make: Callable[[], Coroutine[Any, Any, None]]) -> _Cost:
    loop = CountingLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        before = time.process_time()
        runner.run(make())
        return _Cost(time.process_time() - before, loop.steps)


async def _card(voiced: list[bool]) -> None:
    """The sound card, with nobody behind it."""
    card = Card(voiced)
    await card.open()
    async for _ in card.blocks():
        pass


async def _converse(voiced: list[bool], counts: Counts) -> None:
    parts = Parts(OneAnswerLlm(counts), Card(voiced), CardVad(), ScriptedEndOfTurn(), OneQuestionStt(counts), HumTts())
    conversation = Conversation(parts, SettingsTree())
    watcher = conversation.watch()

    async def watch() -> None:
        async for event in watcher:
            _count(event, counts)

    watching = asyncio.create_task(watch())
    async with conversation:
        with suppress(asyncio.CancelledError):
            await conversation.finished()
    await watching


def _count(event: Event, counts: Counts) -> None:
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
        f"own processor time: {turn.median:.1f} ms a turn of 8 s ({min(turn.values):.1f}-{max(turn.values):.1f}), "
        f"{second.median:.2f} ms a second while nobody speaks\n"
        f"{report.events_per_turn:.1f} events, {report.stt_calls_per_turn:.1f} recognitions, "
        f"{report.prefills_per_turn:.1f} prefills and {report.steps_per_turn:.0f} steps of tasks a turn; "
        f"{report.steps_per_listening_block:.2f} steps a block of silence"
    )
    return 0
