"""The engine on the MLX thread: one model, one conversation in its cache, and what is done with it.

Everything here is a generator that the thread advances, one step at a time. Each may be closed between two steps, and
leaves the ledger and the cache in agreement.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from mirza.errors import ModelError
from mirza.events import DoneReason, LlmDone, LlmEvent, LlmStats, ToolCall
from mirza.llm.base import Message, Role, ThinkingBudget, Tool
from mirza.llm.mlx.accounting import Account
from mirza.llm.mlx.answer import AnswerReader, Markers
from mirza.llm.mlx.context import ContextWindow, Fitted
from mirza.llm.mlx.decoding import decode_plain, decode_speculative
from mirza.llm.mlx.memory import Memory, Said
from mirza.llm.mlx.sampler import Sampling, TurnSampler
from mirza.llm.mlx.session import MarkKind, Session
from mirza.llm.mlx.snapshots import DiskSnapshots, MemorySnapshots
from mirza.llm.mlx.speculation import Drafter, DraftPolicy
from mirza.llm.mlx.target import Forward, Target
from mirza.llm.mlx.template import ChatTemplate
from mirza.llm.mlx.tool_calls import ToolFormat
from mirza.mlx_thread import STEP, Step

SNAPSHOTS_BYTES = 512 * 2**20
"""Heads and conversations that are not in the cache now, in memory."""
WORTH_RECALLING = 64
"""Tokens that would have to be fed, from which on a snapshot is looked for."""
SHORT_WAY = 64
"""Tokens that are fed again in idle time rather than marked before an answer: a mark there is one more pass over all
weights while somebody waits."""
SPEED_GUESS = 30.0
"""Tokens a second before anything was measured."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of everything."""

    max_tokens: int
    context_tokens: int
    prefill_step: int

    @property
    def room(self) -> int:
        """Tokens of context that a prompt may take; the rest is for the answer, at least a quarter."""
        return self.context_tokens - min(self.max_tokens, self.context_tokens // 4)


@dataclass(frozen=True, slots=True)
class KeptState:
    """A state that was kept: after which tokens, and as the bytes of a file if it belongs on the disk."""

    ids: tuple[int, ...]
    encoded: bytes | None


@dataclass(slots=True)
class _Turn:
    """The last turn: what was asked, and what was answered."""

    asked: tuple[Message, ...]
    tools: tuple[Tool, ...]
    said: Said | None = None


class Engine:
    """One loaded model and its conversation."""

    def __init__(
        self,
        target: Target,
        tokenizer: object,
        *,
        template: ChatTemplate,
        markers: Markers,
        tool_format: ToolFormat | None,
        sampling: Sampling,
        limits: Limits,
        clock: Callable[[], float],
    ) -> None:
        self.target = target
        self.template = template
        self.session = Session(target, limits.prefill_step)
        self.memory = Memory()
        self.drafter: Drafter | None = None
        self.depth = 0
        """Tokens drafted at most; 0 is plain decoding."""
        self.round_cost = 0.0
        self.disk: DiskSnapshots | None = None
        self.key = ""
        """What tells this model from others, in names of files."""
        self.stops = markers.stops
        self.notes: tuple[str, ...] = ()
        self.stats = LlmStats()
        """The last answer's, however it ended."""
        self.tokens_per_s = SPEED_GUESS
        self._tokenizer = tokenizer
        self._markers = markers
        self._tool_format = tool_format
        self._sampling = sampling
        self._limits = limits
        self._clock = clock
        self._recent = MemorySnapshots(SNAPSHOTS_BYTES)
        self._window = ContextWindow(limits.room)
        self._turn: _Turn | None = None
        self._sampler: TurnSampler | None = None
        self._owner: _Answering | _Ahead | None = None
        self._opening: _Opening | None = None
        self._heads: dict[tuple[str, str], int] = {}

    # --- answering ---------------------------------------------------------------------------------------------------

    def answer(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget, asked_at: float
    ) -> Generator[LlmEvent | Step]:
        """Thinks, then speaks. The ledger and `stats` are right however this ends."""
        tools = tuple(tools)
        self._owner = answering = _Answering()
        try:
            yield from self._answer(messages, tools, budget, asked_at)
        except RuntimeError as error:  # what MLX raises, for want of memory most of all
            self.session.reset()
            raise ModelError(
                f"The model stopped: {error}", "If memory is short, lower llm.context_tokens or take a smaller model."
            ) from error
        finally:
            if self._owner is answering:
                self._owner = None

    def _answer(
        self, messages: Sequence[Message], tools: tuple[Tool, ...], budget: ThinkingBudget, asked_at: float
    ) -> Generator[LlmEvent | Step]:
        budget_tokens = self.tokens_of(budget)
        thinking = budget_tokens > 0 and self.template.thinks
        account = Account(asked_at, self.notes)
        if budget_tokens > 0 and not self.template.thinks:
            account.notes += (f"no thinking: {self.template.thought_problem}",)
        # 1. The prompt, and what of it the cache holds already.
        fitted, ids = self._prompt(messages, tools, thinking)
        turn = self._turn = _Turn(tuple(messages), tools)
        tail = self.template.tail(thinking)
        account.dropped_messages, account.prompt_tokens = fitted.dropped, len(ids)
        prompt = yield from self._read(ids, len(ids) - len(tail), self._head_length(fitted.messages, tools), account)
        # 2. Token by token.
        opened = self.template.thought_open(tail)
        markers = self._markers_for(tools)
        sampler = self._sampler = TurnSampler(
            self._sampling,
            self.target.vocabulary,
            thought=self.template.thought,
            tool_call=markers.tool_start,
            thinking=opened,
            budget=budget_tokens,
        )
        reader = AnswerReader(self._tokenizer, markers, max_tokens=self._limits.max_tokens, thinking=opened)
        policy = DraftPolicy(self.depth, self.round_cost)
        try:
            with closing(self._tokens(sampler, prompt, policy)) as tokens:
                yield from self._listen(tokens, reader, account)
        finally:
            self._sampler = None
            self.session.reconcile()
            turn.said = Said.of(reader.answer_ids, reader.texts, reader.calls, reader.thought_ids)
            if turn.said is not None:
                self.memory.add(turn.said)
            self.stats = account.stats(reader, policy)
            self.tokens_per_s = self.stats.tokens_per_s or self.tokens_per_s
        yield LlmDone(reader.done or DoneReason.STOP, self.stats)

    def _read(self, ids: list[int], answer_at: int, head: int, account: Account) -> Generator[Step, None, Forward]:
        """Feeds a prompt, as far as the cache does not hold it; the pass over its last token."""
        self._recall(ids, len(ids) - 1)
        account.reused_tokens = self.session.reuse(ids, len(ids) - 1)
        fed = self.session.fed_tokens
        marks = [(head, MarkKind.HEAD)]
        if answer_at - max((mark.length for mark in self.session.marks), default=0) > SHORT_WAY:
            marks.append((answer_at, MarkKind.TURN))
        prompt = yield from self.session.feed(ids[account.reused_tokens :], keep=1, marks=marks)
        assert prompt is not None
        account.prefilled_tokens = self.session.fed_tokens - fed
        return prompt

    def _listen(self, tokens: Generator[int], reader: AnswerReader, account: Account) -> Generator[LlmEvent | Step]:
        """Tokens to events, until the answer is over or the context full."""
        for token in tokens:
            events = reader.push(token)
            account.tick(self._clock(), reader.speaks)
            yield from events or (STEP,)
            if reader.done is None and len(self.session.ids) >= self._limits.context_tokens:
                reader.done = DoneReason.LENGTH
            if reader.done is not None:
                break
        yield from reader.finish()

    def ask(self, messages: Sequence[Message], tools: Sequence[Tool]) -> None:
        """From now on the last turn is this one, also if it is given up before its first step. From any thread."""
        self._turn = _Turn(tuple(messages), tuple(tools))
        self.stats = LlmStats()

    def tokens_of(self, budget: ThinkingBudget) -> int:
        """A budget in tokens; seconds by the speed that was measured last."""
        return budget.tokens if budget.seconds is None else int(budget.seconds * self.tokens_per_s)

    def set_budget(self, budget: ThinkingBudget) -> None:
        """Changes the budget of the answer that runs, if one does. From any thread."""
        sampler = self._sampler
        if sampler is not None:
            sampler.budget = self.tokens_of(budget)

    def _markers_for(self, tools: tuple[Tool, ...]) -> Markers:
        calls = self._tool_format
        if calls is None:
            return self._markers

        def parse(body: str) -> list[ToolCall]:
            return calls.parse(body, tools)

        return replace(self._markers, tool_start=calls.start, tool_end=calls.end, parse_calls=parse)

    def _tokens(self, sampler: TurnSampler, prompt: Forward, policy: DraftPolicy) -> Generator[int]:
        if self.drafter is not None and self.depth:
            return decode_speculative(
                self.session, sampler, prompt, drafter=self.drafter, policy=policy, stops=self.stops
            )
        return decode_plain(self.session, sampler, prompt)

    # --- ahead of time, and afterwards -------------------------------------------------------------------------------

    def prefill(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Generator[Step]:
        """Feeds what cannot change any more of a last message that is not finished."""
        *before, last = messages
        opening = self._opening_of(before, last.role, tuple(tools))
        ids = [*opening.ids, *self.template.settled(last.content.lstrip())]
        yield from self._go_to(ids, [(opening.head, MarkKind.HEAD), (len(opening.ids), MarkKind.TURN)])

    def settle(self) -> Generator[Step]:
        """Brings the ledger to what the next turn begins with: the answer without its thought, and the next question's
        beginning."""
        turn = self._turn
        if turn is None:
            return
        messages = list(turn.asked)
        if turn.said is not None:
            messages.append(Message("assistant", turn.said.text, turn.said.calls))
        if turn.said is not None and turn.said.calls:  # a tool's result comes next
            fitted, _ = self._prompt(messages, turn.tools, thinking=False)
            ids = self.template.history(fitted.messages, turn.tools, kept=self.memory.kept(fitted.messages))
            yield from self._go_to(ids, [(len(ids), MarkKind.TURN)])
        else:
            opening = self._opening_of(messages, "user", turn.tools)
            yield from self._go_to(opening.ids, [(opening.head, MarkKind.HEAD), (len(opening.ids), MarkKind.TURN)])

    def rewind(self, heard: str) -> Generator[Step]:
        """Cuts the last answer to what was heard of it."""
        turn = self._turn
        if turn is not None and turn.said is not None:
            if heard.strip():
                turn.said = turn.said.cut(heard, self.template.encode)
                self.memory.replace_last(turn.said)
            else:
                turn.said = None
                self.memory.answers.pop()
        yield from self.settle()

    def warm(self, system: str, tools: Sequence[Tool]) -> Generator[Step]:
        """Feeds what every conversation of this system prompt and these tools begins with."""
        ids = self.template.head(system, tools)
        self._heads[_head_key(system, tools)] = len(ids)
        yield from self._go_to(ids, [(len(ids), MarkKind.HEAD)])

    def forget(self) -> None:
        """Empties the cache and what was kept in memory; answers stay known."""
        self.session.reset()
        self._recent.clear()

    # --- kept across conversations and starts ------------------------------------------------------------------------

    def keep(self) -> KeptState | None:
        """What the cache holds, kept in memory, and encoded for the disk if it is wanted there."""
        if len(self.session.ids) < WORTH_RECALLING:
            return None
        snapshot = self.session.snapshot()
        self._recent.put(snapshot)
        wanted = self.disk is not None and self.disk.wants(snapshot.ids)
        return KeptState(snapshot.ids, self.disk.encode(snapshot) if wanted and self.disk is not None else None)

    def _recall(self, ids: Sequence[int], at_most: int) -> None:
        """Starts from a snapshot, where the cache itself holds much less of `ids`."""
        have = self.session.reusable(ids)
        if at_most - have < WORTH_RECALLING:
            return
        for store in (self._recent, self.disk):
            found = None if store is None else store.find(ids[:at_most])
            if found is not None and len(found.ids) > have:
                self.session.restore(found, MarkKind.HEAD)
                have = len(found.ids)
            if at_most - have < WORTH_RECALLING:
                return

    # --- how ---------------------------------------------------------------------------------------------------------

    def _go_to(self, ids: Sequence[int], marks: Sequence[tuple[int, MarkKind]]) -> Generator[Step]:
        if isinstance(self._owner, _Answering):
            return  # an answer is being given: the cache is its own
        self._owner = ahead = _Ahead()
        self._recall(ids, len(ids))
        reused = self.session.reuse(ids, len(ids))
        feeding = self.session.feed(ids[reused:], marks=[*marks, (len(ids), MarkKind.PASSING)])
        try:
            for step in feeding:
                yield step
                if self._owner is not ahead:  # something more urgent took the cache while this stood still
                    return
        finally:
            feeding.close()
            self.session.reconcile()

    def _prompt(self, messages: Sequence[Message], tools: tuple[Tool, ...], thinking: bool) -> tuple[Fitted, list[int]]:
        ids: list[int] = []

        def count(some: Sequence[Message]) -> int:
            nonlocal ids
            ids = self.template.prompt(some, tools, thinking=thinking, kept=self.memory.kept(some))
            return len(ids)

        fitted = self._window.fit(messages, count)
        return fitted, ids

    def _opening_of(self, before: Sequence[Message], role: Role, tools: tuple[Tool, ...]) -> _Opening:
        """Everything up to where the content of a next message will begin. Rendered once for all its partial forms."""
        key = (tuple(before), role, tools, len(self.memory.answers))
        if self._opening is None or self._opening.key != key:
            fitted, _ = self._prompt([*before, Message(role, "a")], tools, thinking=False)
            kept = self.memory.kept(fitted.messages)
            if role == "user":
                ids = self.template.before_question(fitted.messages[:-1], tools, kept=kept)
            else:
                ids = self.template.unfinished(fitted.messages, tools, kept=kept)
            self._opening = _Opening(key, tuple(ids), self._head_length(fitted.messages, tools))
        return self._opening

    def _head_length(self, messages: Sequence[Message], tools: tuple[Tool, ...]) -> int:
        system = messages[0].content if messages and messages[0].role == "system" else ""
        key = _head_key(system, tools)
        if key not in self._heads:
            self._heads[key] = len(self.template.head(system, tools))
        return self._heads[key]


def _head_key(system: str, tools: Sequence[Tool]) -> tuple[str, str]:
    """What a head depends on. A tool itself cannot be a key: its parameters are a dict."""
    return system, json.dumps([tool.schema() for tool in tools])


@dataclass(frozen=True, slots=True)
class _Opening:
    """What a next message's content will come after, and how much of it is the head."""

    key: tuple[object, ...]
    ids: tuple[int, ...]
    head: int


class _Answering:
    """One answer has the cache."""


class _Ahead:
    """One piece of work ahead has the cache, until something else takes it."""
