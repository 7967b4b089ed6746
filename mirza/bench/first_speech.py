"""How long a question waits for its first token and for the first that is spoken: conversations on Mirza's engine."""

# pyright: reportUnknownMemberType=false
from __future__ import annotations

import statistics
import time
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

import mlx.core as mx

from mirza.events import SpeechDelta, ThinkingDelta
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.engine import Engine

QUESTIONS = ("Count to 9.", "Turn on the kitchen lights, please.", "Count to 5.")
SYSTEM = "You are Mirza, a voice assistant. " * 24
SPOKEN_PIECES = 8
"""Then the answer is cut off: nothing of the rest is measured."""


@dataclass(frozen=True, slots=True)
class FirstSpeech:
    """Medians over runs; `None` where some answer had no such token."""

    thinking_tokens: int
    """The budget."""
    cold: bool
    """Whether this was a conversation's first question. With later ones, the cache holds all but the question."""
    first_token_s: float | None
    first_speech_s: float | None
    prefilled_tokens: int
    """Before the first token."""


@dataclass(frozen=True, slots=True)
class _Answer:
    first_token_s: float | None
    first_speech_s: float | None
    prefilled_tokens: int
    text: str


def first_speech(engine: Engine, budgets: Sequence[int], runs: int) -> Generator[FirstSpeech]:
    """For each budget a conversation of three questions, `runs` times after one that is not counted."""
    for budget in budgets:
        cold: list[_Answer] = []
        warm: list[_Answer] = []
        for run in range(runs + 1):
            answers = _conversation(engine, f"{run}, {budget}. {SYSTEM}", budget)
            if run:
                cold.append(answers[0])
                warm += answers[1:]
        yield _medians(cold, budget, True)
        yield _medians(warm, budget, False)


def _medians(answers: Sequence[_Answer], budget: int, cold: bool) -> FirstSpeech:
    return FirstSpeech(
        budget,
        cold,
        _median([answer.first_token_s for answer in answers]),
        _median([answer.first_speech_s for answer in answers]),
        round(statistics.median(answer.prefilled_tokens for answer in answers)),
    )


def _median(times: Sequence[float | None]) -> float | None:
    known = [time for time in times if time is not None]
    return statistics.median(known) if len(known) == len(times) else None


def _conversation(engine: Engine, system: str, budget: int) -> list[_Answer]:
    """Its first words are new each time, so that nothing knows its beginning."""
    engine.forget()
    messages = [Message("system", system)]
    answers: list[_Answer] = []
    for question in QUESTIONS:
        messages.append(Message("user", question))
        mx.synchronize()
        answers.append(_answer(engine, messages, budget))
        messages.append(Message("assistant", answers[-1].text))
        for _ in engine.settle():
            pass
    return answers


def _answer(engine: Engine, messages: Sequence[Message], budget: int) -> _Answer:
    start = time.perf_counter()
    first: float | None = None
    speech: float | None = None
    pieces: list[str] = []
    with closing(engine.answer(messages, (), ThinkingBudget(budget), start)) as answer:
        for event in answer:
            now = time.perf_counter() - start
            if isinstance(event, (SpeechDelta, ThinkingDelta)) and first is None:
                first = now
            if isinstance(event, SpeechDelta):
                pieces.append(event.text)
                if event.text.strip() and speech is None:
                    speech = now
            if len(pieces) == SPOKEN_PIECES:
                break
    return _Answer(first, speech, engine.stats.prefilled_tokens, "".join(pieces).strip())
