"""Virtual time that stands still while the engine works: a talk with a real engine and doubles for all else.

`mirza.testing`'s loop lets time pass whenever nothing is ready, which is right for doubles that say how long they take.
A real engine takes real time: here the room waits for it, so that an hour of talk is as long as its engine's work.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar

from mirza.llm.base import LlmEvent, Message, ThinkingBudget, Tool
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings

T = TypeVar("T")

LOOK_S = 0.05
"""Real seconds between two looks at an engine that works."""


class Busy:
    """How many waits for the engine there are."""

    def __init__(self) -> None:
        self.waits = 0

    def __enter__(self) -> None:
        self.waits += 1

    def __exit__(self, *_: object) -> None:
        self.waits -= 1


class _Patient(selectors.DefaultSelector):
    def __init__(self, busy: Busy) -> None:
        super().__init__()
        self.now_s = 0.0
        self._busy = busy

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0.0)
        if ready or timeout == 0.0:
            return ready
        if timeout is None or self._busy.waits:
            return super().select(LOOK_S)
        self.now_s += max(timeout, 0.0)
        return ready


class _PatientLoop(asyncio.SelectorEventLoop):
    def __init__(self, busy: Busy) -> None:
        self._patient = _Patient(busy)
        super().__init__(self._patient)

    def time(self) -> float:
        return self._patient.now_s


def run_patiently(main: Callable[[Busy], Coroutine[Any, Any, T]]) -> T:
    """Runs `main` in virtual time; it is given what tells the loop that an engine is at work."""
    busy = Busy()
    with asyncio.Runner(loop_factory=lambda: _PatientLoop(busy)) as runner:
        return runner.run(main(busy))


class PatientLlm(MlxQwenLlm):
    """Mirza's engine, which says when it is waited for."""

    def __init__(self, busy: Busy, model: str, settings: LlmSettings, *, snapshot_dir: Path) -> None:
        thread = MlxThread()
        super().__init__(model, settings, thread=thread, snapshot_dir=snapshot_dir)
        self._busy, self._own_thread = busy, thread

    def close(self) -> None:
        """Ends its thread."""
        self._own_thread.close()

    async def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        async with aclosing(super()._stream(messages, tools, budget)) as stream:
            while True:
                try:
                    with self._busy:
                        event = await anext(stream)
                except StopAsyncIteration:
                    return
                yield event

    async def prefill(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> None:
        with self._busy:
            await super().prefill(messages, tools)

    async def rewind(self, heard: str) -> None:
        with self._busy:
            await super().rewind(heard)

    async def settle(self) -> None:
        with self._busy:
            await super().settle()
