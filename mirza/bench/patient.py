"""Virtual time for real models: nobody waits where nothing works, so that an hour takes what its models take.

`mirza.testing`'s loop lets time pass whenever nothing is ready, which is right for doubles that say how long they take.
Real models take real time. While one of them is waited for, time either stands still (the room waits: every run is the
same) or passes as it does for everybody (the talk is what it would be in real time, without the waiting).
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from concurrent.futures import Executor
from contextlib import aclosing
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple, Unpack

from mirza.build import llm_folder, make_llm, mlx_thread
from mirza.errors import MirzaError
from mirza.folders import snapshot_folder
from mirza.llm.base import BaseLlm, LlmEvent, Message, ThinkingBudget, Tool
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings, SettingsTree

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

LOOK_S = 0.05
"""Real seconds between two looks at an engine that works."""


class Busy:
    """How many waits for models there are."""

    def __init__(self) -> None:
        self.waits = 0

    def __enter__(self) -> None:
        self.waits += 1

    def __exit__(self, *_: object) -> None:
        self.waits -= 1


class _Patient(selectors.DefaultSelector):
    def __init__(self, busy: Busy, *, work_takes_time: bool) -> None:
        super().__init__()
        self.now_s = 0.0
        self._busy, self._work_takes_time = busy, work_takes_time
        self._looked_s = time.perf_counter()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._let_work_pass()
        ready = super().select(0.0)
        if ready or timeout == 0.0:
            return ready
        if timeout is None or self._busy.waits:
            ready = super().select(LOOK_S if timeout is None or not self._work_takes_time else min(timeout, LOOK_S))
            self._let_work_pass()
            return ready
        self.now_s += max(timeout, 0.0)
        return ready

    def _let_work_pass(self) -> None:
        now_s = time.perf_counter()
        if self._work_takes_time and self._busy.waits:
            self.now_s += now_s - self._looked_s
        self._looked_s = now_s


class _PatientLoop(asyncio.SelectorEventLoop):
    """What models on a thread of their own do is counted here; an engine on MLX says so itself."""

    def __init__(self, busy: Busy, *, work_takes_time: bool) -> None:
        self._busy = busy
        self._patient = _Patient(busy, work_takes_time=work_takes_time)
        super().__init__(self._patient)

    def time(self) -> float:
        return self._patient.now_s

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], T], *args: *Ts
    ) -> asyncio.Future[T]:
        working = super().run_in_executor(executor, func, *args)
        self._busy.waits += 1
        working.add_done_callback(self._done)
        return working

    def _done(self, _: asyncio.Future[Any]) -> None:
        self._busy.waits -= 1


def run_patiently(main: Callable[[Busy], Coroutine[Any, Any, T]], *, work_takes_time: bool = False) -> T:
    """Runs `main` in virtual time; it is given what tells the loop that an engine is at work."""
    busy = Busy()
    with asyncio.Runner(loop_factory=lambda: _PatientLoop(busy, work_takes_time=work_takes_time)) as runner:
        return runner.run(main(busy))


def patient_llm(busy: Busy, settings: SettingsTree) -> BaseLlm:
    """The language model that the settings want, for `run_patiently`; it is not loaded yet.

    Raises:
        MirzaError: it is a server, or one that a package adds: nobody sees whether it works.
    """
    match settings.llm.engine:
        case "mlx":
            folder = snapshot_folder(settings.paths) if settings.llm.snapshots else None
            return PatientLlm(busy, llm_folder(settings), settings.llm, snapshot_dir=folder, thread=mlx_thread())
        case "scripted":
            return make_llm(settings)
        case engine:
            raise MirzaError(
                f"Nobody sees whether the engine {engine!r} works, so time cannot be left out.",
                "Leave out --full-speed, or take llm.engine = mlx.",
            )


class PatientLlm(MlxQwenLlm):
    """Mirza's engine, which says when it is waited for."""

    def __init__(
        self, busy: Busy, model: str, settings: LlmSettings, *, snapshot_dir: Path | None, thread: MlxThread
    ) -> None:
        super().__init__(model, settings, thread=thread, snapshot_dir=snapshot_dir)
        self._busy = busy

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
