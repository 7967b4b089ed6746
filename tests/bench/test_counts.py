"""What a turn asks of the real engine: counts, the same on every machine. CI keeps them from creeping up."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from mirza.bench.soak import TINY
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.llm.mlx.target import Target
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings

SYSTEM = "You are Mirza, a voice assistant."
QUESTIONS = ("Count to 9.", "Turn on the kitchen lights, please.", "Count to 5.") * 4
TAIL = 4
"""Tokens that this template puts between a question and its answer, at most; and as many for the last word."""


@dataclass
class Turn:
    """One turn of the scripted conversation, counted."""

    question: str
    prefilled: int
    said: int
    events: int
    passes: int = 0
    """Passes of the model from the question to the last token."""
    settling: int = 0
    """Passes in idle time after it."""
    jobs: int = 0
    """Times the MLX thread was given work: each is a hop there and back."""


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> list[Turn]:
    """A conversation of a dozen turns, held once."""
    with pytest.MonkeyPatch.context() as patch:
        return asyncio.run(hold(tmp_path_factory.mktemp("snapshots"), patch))


async def hold(snapshots: Path, patch: pytest.MonkeyPatch) -> list[Turn]:
    passes, jobs = counted(patch, Target, "forward"), counted(patch, MlxThread, "run")
    thread = MlxThread()
    settings = LlmSettings(mtp="off", temperature=0.0, max_tokens=16)
    llm = MlxQwenLlm(str(TINY), settings, thread=thread, snapshot_dir=snapshots)
    await llm.load(SYSTEM)
    messages = [Message("system", SYSTEM)]
    turns: list[Turn] = []
    for question in QUESTIONS:
        messages.append(Message("user", question))
        passes_before, jobs_before, events, said = passes(), jobs(), 0, ""
        async with aclosing(llm.stream(messages, thinking=ThinkingBudget(0))) as stream:
            async for event in stream:
                events += 1
                said += getattr(event, "text", "")
        messages.append(Message("assistant", said.strip()))
        turn = Turn(question, llm.stats.prefilled_tokens, llm.stats.speech_tokens, events, passes() - passes_before)
        passes_before = passes()
        await llm.settle()
        turn.settling, turn.jobs = passes() - passes_before, jobs() - jobs_before
        turns.append(turn)
    await llm.unload()
    thread.close()
    return turns


def counted(patch: pytest.MonkeyPatch, owner: type, name: str) -> Callable[[], int]:
    """How often a method has been called, from now on."""
    calls = 0
    method = getattr(owner, name)

    def counting(*args, **kwargs):
        nonlocal calls
        calls += 1
        return method(*args, **kwargs)

    patch.setattr(owner, name, counting)
    return lambda: calls


def test_a_warm_turn_feeds_its_question_and_what_the_template_puts_behind_it(turns: list[Turn]):
    by_question = {turn.question: turn.prefilled for turn in turns[1:]}
    assert all(turn.prefilled == by_question[turn.question] for turn in turns[1:])
    assert max(by_question.values()) <= len(max(QUESTIONS, key=len)) + TAIL
    assert by_question["Count to 9."] <= 14


def test_a_late_turn_takes_as_many_passes_of_the_model_as_an_early_one(turns: list[Turn]):
    """One pass or two for the question, then one a token; the last token needs none."""
    for turn in turns[1:]:
        assert turn.passes <= turn.said + 3, turn
        assert turn.settling <= 2, turn
    early, late = (statistics.mean(turn.passes - turn.said for turn in part) for part in (turns[1:5], turns[-4:]))
    assert late <= early + 1


def test_a_token_is_one_event_and_a_turn_is_two_jobs_of_the_thread(turns: list[Turn]):
    for turn in turns:
        assert turn.events <= turn.said + 2, turn
        assert turn.jobs <= 2, turn
