"""Conversations drawn at random, and the switches they are held with. The same seed draws the same ones."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

SYSTEMS = (
    "",
    "You are Mirza, a voice assistant.",
    "You are Mirza, a voice assistant. You are Mirza, a voice assistant. You are Mirza, a voice assistant.",
)
QUESTIONS = (
    "Turn on the kitchen lights, please.",
    "Turn off the bedroom lights, please.",
    "Allume la lumière : cuisine.",
    "Éteins la lumière : chambre.",
    "Count to 5.",
    "Count to 23.",
    "Spell the numbers to 9.",
    "你好，世界。",
    "Přečti mi ódu.",
    "Call the tool for bedroom.",
    "Call the tool for living room.",
    "Show me a family.",
    "What does <think> mean, and </think>? And <|im_end|> or <tool_call>?",
    "5 < 10, and 3.14 is nearly pi: **why**?",
    "👩‍👩‍👧 ďábelské नमस्ते",
    "a",
    "Turn the lights, no, count, no, " + "well, " * 12 + "count to 7.",
)
BUDGETS = (0, 0, 1, 2, 3, 5, 9, 17, 512)


@dataclass(frozen=True, slots=True)
class Knobs:
    """What may be switched without changing a token."""

    reuse: bool
    """Off: the cache is emptied before each turn."""
    depth: int
    """Tokens drafted at most; 0 is no drafting."""
    prefill_step: int
    context_tokens: int
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Partial:
    """Something fed while the user talks: `text` was understood so far; given up after some steps, or not."""

    text: str
    steps: int | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, and all that happens around it."""

    question: str
    budget: int
    partials: tuple[Partial, ...] = ()
    stop_after: int | None = None
    """Steps of the answer after which it is interrupted."""
    heard: float = 1.0
    """Share of what was said until then that was heard."""
    settle: bool = True
    settle_steps: int | None = None
    restart: bool = False
    """The process ends after this turn, and another goes on from the disk."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A conversation."""

    number: int
    system: str
    tools: bool
    knobs: Knobs
    turns: tuple[Turn, ...]


def draw(seed: int, number: int) -> Scene:
    """The conversation of this number, whatever was drawn before it."""
    rng = random.Random(f"{seed}/{number}")
    overflows = rng.random() < 0.25
    knobs = Knobs(
        reuse=rng.random() < 0.85,
        depth=rng.choice((0, 0, 1, 2, 3, 5)),
        prefill_step=rng.choice((16, 64, 512)),
        context_tokens=rng.choice((200, 256, 320)) if overflows else 4096,
        max_tokens=rng.choice((6, 24, 40)),
    )
    turns = tuple(_turn(rng) for _ in range(rng.randrange(6, 11) if overflows else rng.randrange(1, 6)))
    return Scene(number, rng.choice(SYSTEMS), rng.random() < 0.35, knobs, turns)


def _turn(rng: random.Random) -> Turn:
    question = rng.choice(QUESTIONS)
    interrupted = rng.random() < 0.3
    return Turn(
        question=question,
        budget=rng.choice(BUDGETS),
        partials=_partials(rng, question) if rng.random() < 0.35 else (),
        stop_after=rng.randrange(24) if interrupted else None,
        heard=rng.choice((0.0, 1.0, rng.random(), rng.random())),
        settle=rng.random() < 0.7,
        settle_steps=rng.randrange(3) if rng.random() < 0.2 else None,
        restart=rng.random() < 0.12,
    )


def _partials(rng: random.Random, question: str) -> tuple[Partial, ...]:
    """The question as it grows; sometimes something else was understood at first."""
    other: Sequence[str] = QUESTIONS
    texts = [question[: rng.randrange(1, len(question) + 1)] for _ in range(rng.randrange(1, 4))]
    texts.sort(key=len)
    if rng.random() < 0.3:
        texts.insert(0, rng.choice(other))
    return tuple(Partial(text, rng.randrange(3) if rng.random() < 0.3 else None) for text in texts)
