"""Plays drawn conversations with the engine itself, one step at a time, and checks each answer against a cold run."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from mirza.bench.cold import BudgetRule, agrees, certainty, cold_run
from mirza.bench.scenes import Knobs, Scene, Turn
from mirza.errors import ModelUnsupported
from mirza.events import LlmDone, LlmEvent, LlmStats, SpeechDelta, ToolCall
from mirza.llm.base import Message, ThinkingBudget, Tool
from mirza.llm.mlx.answer import Markers
from mirza.llm.mlx.answer_store import AnswerStore
from mirza.llm.mlx.defaults import stop_ids
from mirza.llm.mlx.engine import Engine, Limits
from mirza.llm.mlx.fingerprint import provenance
from mirza.llm.mlx.loading import has_own_drafter, load_drafter, load_model, resolve
from mirza.llm.mlx.sampler import Sampling, TurnSampler
from mirza.llm.mlx.snapshots import DiskSnapshots
from mirza.llm.mlx.speculation import Drafter, DraftPolicy
from mirza.llm.mlx.target import Forward, Target
from mirza.llm.mlx.template import ChatTemplate
from mirza.llm.mlx.tool_calls import tool_format
from mirza.mlx_thread import Step

SNAPSHOTS_BYTES = 200 * 2**20
TOOL_ROUNDS = 2
EVERY = 8
"""One answer in so many is said again token by token, whatever a single pass over it says."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that was not as it had to be."""

    what: str
    position: int = 0
    expected: str = ""
    got: str = ""
    gap: float = 0.0


@dataclass(slots=True)
class Played:
    """One answer as it was given."""

    turn: int
    said: list[int]
    stats: LlmStats
    interrupted: bool = False
    restarted: bool = False
    called: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])


class _Recorder(Engine):
    """The engine, with its tokens written down as they come."""

    said: list[int] = []  # noqa: RUF012 - replaced, never changed

    def _tokens(self, sampler: TurnSampler, prompt: Forward, policy: DraftPolicy) -> Generator[int]:
        self.said = []
        with closing(super()._tokens(sampler, prompt, policy)) as tokens:
            for token in tokens:
                self.said.append(token)
                yield token


class Stage:
    """One model in memory, and as many engines over it as conversations and restarts need.

    A model that knows no thoughts, or no tools, is asked without them.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self._loaded = load_model(resolve(name), float32=True)
        self._template = ChatTemplate(self._loaded.tokenizer)
        self._target = Target(self._loaded.model)
        self._tool_format = tool_format(self._template.text, self._loaded.tokenizer)
        stops = stop_ids(self._loaded.folder, self._loaded.config, self._loaded.tokenizer, self._template)
        self._markers = Markers(stops=stops, thought=self._template.thought)
        own = self._target.shows_hidden and has_own_drafter(self._loaded.folder)
        self._head = load_drafter(self._loaded.folder, float32=True) if own else None
        self._origin = provenance(self._loaded.folder, template=self._template.text, dtype=self._loaded.dtype)
        self._folder = folder
        self._checked = 0
        self.refusals: list[str] = []
        """Why conversations ended before their last turn."""
        self._tools = (Tool("set_light", "Turns a light on.", _done, _LIGHT),)

    def play(self, scene: Scene) -> Iterator[Played]:
        """Every answer of a conversation, checked. It ends early where one message is too long for its context."""
        try:
            yield from self._play(scene)
        except ModelUnsupported as refusal:
            self.refusals.append(str(refusal))

    def _play(self, scene: Scene) -> Iterator[Played]:
        folder = self._folder / str(scene.number)
        engine = self._engine(scene.knobs, folder)
        messages = [Message("system", scene.system)] if scene.system else []
        tools = self._tools if scene.tools and self._tool_format else ()
        drain(engine.warm(scene.system, tools))
        for number, drawn in enumerate(scene.turns):
            turn = drawn if self._template.thinks else replace(drawn, budget=0)
            if not scene.knobs.reuse:
                engine.forget()
            for partial in turn.partials:
                drain(engine.prefill([*messages, Message("user", partial.text)], tools), partial.steps)
            messages.append(Message("user", turn.question))
            for round_ in range(TOOL_ROUNDS + 1):
                played, message = self._answer(engine, messages, tools, turn, number, first=round_ == 0)
                if message is not None:
                    messages.append(message)
                    messages += [Message("tool", "done", tool_call_id=call.id) for call in message.tool_calls]
                if turn.settle:
                    drain(engine.settle(), turn.settle_steps)
                going_on = message is not None and bool(message.tool_calls) and round_ < TOOL_ROUNDS
                if turn.restart and not going_on:
                    engine = self._restarted(engine, scene.knobs, folder)
                    played.restarted = True
                yield played
                if not going_on:
                    break

    def _answer(
        self,
        engine: _Recorder,
        messages: list[Message],
        tools: tuple[Tool, ...],
        turn: Turn,
        number: int,
        *,
        first: bool,
    ) -> tuple[Played, Message | None]:
        budget = ThinkingBudget(turn.budget)
        events = engine.answer(messages, tools, budget, time.perf_counter())
        stop_after = turn.stop_after if first else None
        engine.said = []
        text, calls, done = "", list[ToolCall](), False
        for event in itertools.islice(events, stop_after):
            match event:
                case SpeechDelta(piece):
                    text += piece
                case ToolCall():
                    calls.append(event)
                case LlmDone():
                    done = True
                case _:
                    pass
        events.close()
        played = Played(number, engine.said, engine.stats, interrupted=not done, called=len(calls))
        if engine.said:
            self._check(engine, played, messages, tools, turn.budget)
        if done:
            return played, Message("assistant", text, tuple(calls)) if text or calls else None
        heard = _heard(text, turn.heard)
        drain(engine.rewind(heard))
        return played, Message("assistant", heard) if heard.strip() else None

    # --- right or wrong ----------------------------------------------------------------------------------------------

    def _check(
        self, engine: Engine, played: Played, messages: Sequence[Message], tools: tuple[Tool, ...], budget: int
    ) -> None:
        ledger, size = engine.session.ids, played.stats.prompt_tokens
        prompt = ledger[:size]
        played.faults += self._wrong_prompt(prompt, messages, tools, budget, played.stats.dropped_messages)
        # The last token said need not be in the cache yet; of a draft, more may be than was said.
        spoken = ledger[size:]
        both = min(len(spoken), len(played.said))
        if spoken[:both] != played.said[:both] or both < len(played.said) - 1:
            played.faults.append(Fault("ledger", both, str(played.said), str(spoken)))
        self._checked += 1
        quick = self._target.shows_hidden and self._checked % EVERY != 0
        if quick and agrees(self._loaded.model, prompt, self._rule(prompt, budget), played.said):
            return
        cold = cold_run(self._loaded.model, prompt, self._rule(prompt, budget), len(played.said))
        for position, (expected, got) in enumerate(zip(cold, played.said, strict=True)):
            if expected != got:
                words = [self._words(ids[max(0, position - 8) : position + 8]) for ids in (cold, played.said)]
                gap = certainty(self._loaded.model, [*prompt, *cold[:position]])
                played.faults.append(Fault("token", position, *words, gap=gap))
                break

    def _rule(self, prompt: list[int], budget: int) -> BudgetRule:
        tail = prompt[-len(self._template.tail(budget > 0)) :]
        call = self._tool_format.start if self._tool_format else None
        return BudgetRule(self._template.thought, call, budget, thinking=self._template.thought_open(tail))

    def _wrong_prompt(
        self, prompt: list[int], messages: Sequence[Message], tools: tuple[Tool, ...], budget: int, dropped: int
    ) -> Iterator[Fault]:
        """The prompt's text has to be what the template makes of the messages, but for white space and thoughts.

        A thought stays while its turn goes on, with a tool's result; messages have none.
        """
        fixed = [message for message in messages if message.role == "system"]
        rest = [message for message in messages if message.role != "system"][dropped:]
        rendered = self._template.prompt([*fixed, *rest], tools, thinking=budget > 0 and self._template.thinks)
        expected, got = (self._words(ids) for ids in (rendered, prompt))
        if _plain(expected) != _plain(got):
            place = next((i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), 0)
            around = slice(max(0, place - 40), place + 80)
            yield Fault("prompt", place, expected[around], got[around])

    def _words(self, ids: list[int]) -> str:
        return str(self._loaded.tokenizer.decode(ids))

    # --- engines -----------------------------------------------------------------------------------------------------

    def _engine(self, knobs: Knobs, folder: Path) -> _Recorder:
        engine = _Recorder(
            self._target,
            self._loaded.tokenizer,
            template=self._template,
            markers=self._markers,
            tool_format=self._tool_format,
            sampling=Sampling(),
            limits=Limits(knobs.max_tokens, knobs.context_tokens, knobs.prefill_step),
            clock=time.perf_counter,
        )
        if self._head is not None and knobs.depth:
            engine.drafter, engine.depth = Drafter(self._head, self._target), knobs.depth
        engine.disk = DiskSnapshots(folder, self._origin, SNAPSHOTS_BYTES, min_tokens=16)
        return engine

    def _restarted(self, engine: _Recorder, knobs: Knobs, folder: Path) -> _Recorder:
        kept = engine.keep()
        store = AnswerStore(folder, self._origin.key)
        store.save("talk", engine.memory.answers)
        if kept is not None and kept.encoded is not None and engine.disk is not None:
            engine.disk.write(kept.ids, kept.encoded)
        fresh = self._engine(knobs, folder)
        fresh.memory.answers = store.load("talk") or []
        return fresh


def drain(steps: Generator[LlmEvent | Step], count: int | None = None) -> None:
    """Takes all steps of a job, or its first `count`, and closes it."""
    for _ in itertools.islice(steps, count):
        pass
    steps.close()


def _heard(text: str, share: float) -> str:
    """What the user had heard: to the last word begun."""
    cut = round(len(text) * share)
    while cut < len(text) and cut and not text[cut - 1].isspace() and not text[cut].isspace():
        cut += 1
    return text[:cut].strip()


def _plain(text: str) -> str:
    return "".join(re.sub("<think>.*?</think>", "", text, flags=re.DOTALL).split())


async def _done(_: dict[str, object]) -> str:
    await asyncio.sleep(0)
    return "done"


_LIGHT = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}
