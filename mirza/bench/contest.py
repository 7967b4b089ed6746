"""One conversation, held by Mirza's engine and by its peers, and how long each lets one wait for the first word.

The same questions, the same checkpoint, greedy. Each contestant goes on from its own answers. Between two turns it has
the time that the voice would take to speak: Mirza tidies up then, the others may do what they do.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mirza.errors import ServerError
from mirza.llm.base import Message

SYSTEM = " ".join(["You are Mirza, a voice assistant."] * 24)
THINKING_TOKENS = 24
ANSWER_TOKENS = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """One answer, timed by the one who asked; seconds from the request."""

    text: str
    first_token_s: float
    first_speech_s: float
    total_s: float
    prompt_tokens: int | None = None
    reused_tokens: int | None = None


class Contestant(Protocol):
    """Something that answers. `budget` 0 is no thinking; an answer may be cut off after some pieces of text."""

    name: str

    def ask(self, messages: Sequence[Message], budget: int, cut_after: int | None = None) -> Asked: ...

    def between_turns(self, heard: str | None) -> None:
        """The voice speaks; `heard` is what was heard of an answer that was cut off."""
        ...

    def restart(self) -> None:
        """The process ends, and another one goes on with the same conversation."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Scene:
    """One timed turn of the conversation: what was different about it."""

    name: str
    question: str
    budget: int = 0
    cut_after: int | None = None
    restart: bool = False


SCENES = (
    Scene("cold", "Turn on the kitchen lights, please."),
    Scene("warm", "Count to 9."),
    Scene("warm", "Éteins la lumière : salon."),
    Scene("warm", "你好，世界。"),
    Scene("budget raised", "Count to 12.", budget=THINKING_TOKENS),
    Scene("after a thought", "Turn off the bedroom lights, please.", budget=THINKING_TOKENS),
    Scene("budget lowered", "Count to 5."),
    Scene("cut off", "Count to 20.", cut_after=3),
    Scene("after an interruption", "Turn on the bedroom lights, please."),
    Scene("after a restart", "Allume la lumière : cuisine.", restart=True),
    Scene("warm", "Count to 7."),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One scene of one contestant over several runs: medians, and the spread of the first token."""

    contestant: str
    scene: str
    first_token_s: float
    """0 where it refused to answer."""
    first_token_min_s: float
    first_token_max_s: float
    first_speech_s: float
    prompt_tokens: int | None
    reused_tokens: int | None
    runs: int
    first_token_runs_s: Sequence[float] = ()
    """Each, in order."""


def hold(contestant: Contestant, number: int) -> list[tuple[str, Asked]]:
    """The whole conversation, once. Its first words are new each time, so no cache knows its beginning."""
    messages = [Message("system", f"{number}. {SYSTEM}")]
    timed: list[tuple[str, Asked]] = []
    for scene in SCENES:
        if scene.restart:
            contestant.restart()
        messages.append(Message("user", scene.question))
        asked = contestant.ask(messages, scene.budget, scene.cut_after)
        timed.append((scene.name, asked))
        if asked.text.strip():
            messages.append(Message("assistant", asked.text.strip()))
        contestant.between_turns(asked.text.strip() if scene.cut_after is not None else None)
    return timed


def compete(
    contestants: Sequence[Callable[[], Contestant]],
    runs: int,
    on_progress: Callable[[str], None],
    on_failure: Callable[[ServerError], None],
) -> Generator[list[Row]]:
    """Every contestant, one after the other, each `runs` times after a first one that is not counted.

    Yields the rows of all who have had their turn. A server that does not start or refuses to answer is told to
    `on_failure`, and the others go on.
    """
    rows: list[Row] = []
    for make in contestants:
        try:
            timed, name = _held(make, runs, on_progress)
        except ServerError as error:
            on_failure(error)
            continue
        for scene in dict.fromkeys(scene for scene, _ in timed):
            rows.append(_row(name, scene, [asked for told, asked in timed if told == scene], runs))
        yield [*rows]


def _held(
    make: Callable[[], Contestant], runs: int, on_progress: Callable[[str], None]
) -> tuple[list[tuple[str, Asked]], str]:
    """The timed answers of one contestant, and its name."""
    contestant = make()
    try:
        on_progress(contestant.name)
        hold(contestant, 0)
        return [pair for number in range(1, runs + 1) for pair in hold(contestant, number)], contestant.name
    finally:
        contestant.close()


def _row(contestant: str, scene: str, asked: Sequence[Asked], runs: int) -> Row:
    first = [one.first_token_s for one in asked]
    return Row(
        contestant,
        scene,
        statistics.median(first),
        min(first),
        max(first),
        statistics.median(one.first_speech_s for one in asked),
        asked[-1].prompt_tokens,
        asked[-1].reused_tokens,
        runs,
        first,
    )
