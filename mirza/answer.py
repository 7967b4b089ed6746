"""`Answer`: one answer, from the question to the last word heard: model, tools, and a voice or a page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, cast

from mirza.errors import MirzaError
from mirza.events import Event, LlmStats, SpeechDelta, ToolCall, ToolResult
from mirza.history import LOST_ANSWER, History
from mirza.llm.base import BaseLlm, Message, Tool
from mirza.speech.mouth import Mouth, Output

TOOL_ROUNDS = 8
"""A model that asks for tools more often than this in one answer is going round in circles."""

TOOL_TIMEOUT_S = 60.0


@dataclass(slots=True)
class _Exchange:
    """Tools that were called in the middle of an answer, after `said`."""

    said: str
    calls: list[ToolCall]
    results: dict[str, str] = field(default_factory=dict[str, str])

    def pairs(self) -> list[tuple[ToolCall, str]]:
        """Each call with its answer: a call that was cut off has one, too, or the model could not go on."""
        return [(call, self.results.get(call.id, LOST_ANSWER)) for call in self.calls]

    def messages(self, said: str) -> list[Message]:
        history = History()
        history.add_tool_exchange(said, self.pairs())
        return list(history.messages)


class Answer:
    """An answer that is being made. It may be prepared before the user's turn is over; `release` lets it be heard.

    Until then nothing has happened: no sample is played, no tool runs, nothing is remembered.
    """

    def __init__(
        self,
        turn: int,
        question: str,
        output: Output,
        *,
        llm: BaseLlm,
        tools: Sequence[Tool],
        emit: Callable[[Event], None],
    ) -> None:
        self.turn, self.question, self.output = turn, question, output
        self.task: asyncio.Task[None] | None = None
        self.released_s: float | None = None
        self.withdrawn = False
        """The user went on talking: this answer never was."""
        self._llm, self._tools, self._emit = llm, {tool.name: tool for tool in tools}, emit
        self.begun = asyncio.Event()
        """The model has written something, or will not."""
        self.remembered = asyncio.Event()
        """It is over: what was heard of it is in the history."""
        self._released = asyncio.Event()
        self._exchanges: list[_Exchange] = []
        self.runs: list[LlmStats] = []
        """What each call of the model cost."""

    @property
    def audible(self) -> bool:
        """Whether some of it has been heard as sound."""
        return isinstance(self.output, Mouth) and self.output.speaking

    def release(self, at_s: float) -> None:
        """The user's turn is over: be heard."""
        self.released_s = at_s
        self._released.set()
        self.output.release()

    def silence(self) -> None:
        """Stops it. Silence comes first; tidying up is for whoever waits for `task`."""
        self.output.stop()
        if self.task is not None:
            self.task.cancel()

    async def run(self, messages: Sequence[Message]) -> None:
        """Answers `messages`; returns when the last word has been heard. It is stopped by cancelling its task."""
        async with asyncio.TaskGroup() as tasks:
            if isinstance(self.output, Mouth):
                tasks.create_task(self.output.run())
            for _ in range(TOOL_ROUNDS):
                exchange = await self._stream(messages)
                if not exchange.calls:
                    break
                await self._released.wait()
                await self._run_tools(exchange)
                messages = [*messages, *exchange.messages(exchange.said)]
            tasks.create_task(self._settle())
            await self._released.wait()
            await self.output.finish()

    async def _settle(self) -> None:
        """Tidies the model up while the voice plays, and not before: the first sound needs the processor more."""
        await self.output.begun()
        await self._llm.settle()

    def remember(self, history: History) -> str:
        """Puts what was heard, and every tool call with its answer, into `history`; returns what was heard."""
        heard = self.output.heard()
        rest = heard
        for exchange in self._exchanges:
            history.add_tool_exchange(rest[: len(exchange.said)], exchange.pairs())
            rest = rest[len(exchange.said) :]
        history.add_answer(rest)
        return heard

    async def _stream(self, messages: Sequence[Message]) -> _Exchange:
        """One pass of the model: what it says goes out, what it calls comes back."""
        exchange, before = _Exchange("", []), self._llm.stats
        try:
            async with aclosing(self._llm.stream(messages, tools=tuple(self._tools.values()))) as stream:
                async for event in stream:  # llm
                    self.begun.set()
                    self._emit(event)
                    match event:
                        case SpeechDelta(text):
                            exchange.said += text
                            await self.output.say(text)  # speech text, tts, loudspeaker
                        case ToolCall():
                            exchange.calls.append(event)
                        case _:
                            pass
        finally:
            self.begun.set()
            if self._llm.stats is not before:
                self.runs.append(self._llm.stats)
        return exchange

    async def _run_tools(self, exchange: _Exchange) -> None:
        """Runs the tools side by side."""
        self._exchanges.append(exchange)
        async with asyncio.TaskGroup() as tasks:
            for call in exchange.calls:
                tasks.create_task(self._run_tool(call, exchange))

    async def _run_tool(self, call: ToolCall, exchange: _Exchange) -> None:
        failed, content = True, ""
        try:
            async with asyncio.timeout(TOOL_TIMEOUT_S):
                content = await self._call(call)
            failed = False
        except TimeoutError:
            content = f"The tool did not answer within {TOOL_TIMEOUT_S:g} s."
        except (MirzaError, ValueError, TypeError, KeyError, OSError) as error:
            content = f"The tool failed: {error or type(error).__name__}"
        exchange.results[call.id] = content
        self._emit(ToolResult(call, content, failed))

    async def _call(self, call: ToolCall) -> str:
        tool = self._tools.get(call.name)
        if tool is None:
            raise ValueError(f"there is no tool {call.name!r}; there are: {', '.join(self._tools) or 'none'}.")
        arguments: Any = json.loads(call.arguments or "{}")
        if not isinstance(arguments, dict):
            raise TypeError("the arguments must be a JSON object.")
        return await tool.run(cast(dict[str, Any], arguments))
