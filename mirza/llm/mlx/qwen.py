"""`MlxQwenLlm`: the engine for Apple's MLX, as the rest of Mirza sees it.

Made for Qwen 3.5, which has recurrent layers, thoughts and an MTP head; any text model that mlx-vlm or mlx-lm loads
runs on it, with what it supports.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from mirza.errors import ModelError
from mirza.events import LlmEvent
from mirza.llm.base import BaseLlm, Message, OnProgress, ThinkingBudget, Tool
from mirza.llm.mlx.answer_store import AnswerStore
from mirza.mlx_thread import MlxThread, Priority, Step
from mirza.settings import LlmSettings

if TYPE_CHECKING:
    from mirza.llm.mlx.assembly import Progress
    from mirza.llm.mlx.engine import Engine


AHEAD = 32
"""Tokens that may be decoded before they are asked for. On a CPU it is one: more would take the voice's time."""


class MlxQwenLlm(BaseLlm):
    """A language model on the MLX thread. `load` does the work; nothing is imported or read before."""

    def __init__(
        self,
        model: str,
        settings: LlmSettings,
        *,
        thread: MlxThread,
        snapshot_dir: Path | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__()
        self.model = model
        """May be another one after `unload`; the next `load` takes it."""
        self.settings = settings
        self.budget = ThinkingBudget.parse(settings.thinking_budget)
        self._thread = thread
        self._snapshot_dir = snapshot_dir
        self._clock = clock
        self._engine: Engine | None = None

    @property
    def name(self) -> str:
        """A catalogue's name, a repository `owner/name`, or how a folder is called."""
        if self.model.count("/") == 1 and self.model[0] not in "./~":
            return self.model
        return Path(self.model).name.replace("--", "/")  # which stands for / where repositories are kept as folders

    async def load(self, system: str = "", tools: Sequence[Tool] = (), on_progress: OnProgress | None = None) -> None:
        def load() -> Generator[Progress | Step]:
            from mirza.llm.mlx.assembly import Progress, load_engine  # on the thread, which has loaded a fast BLAS

            if self._engine is None:
                self._engine = yield from load_engine(self.model, self.settings, self._snapshot_dir, self._clock)
            yield Progress("reading the system prompt", 0.9)
            yield from self._engine.warm(system, tools)
            yield Progress("ready", 1.0)

        async with aclosing(self._thread.run(load)) as steps:
            async for progress in steps:
                if on_progress is not None:
                    on_progress(progress.what, progress.share)
        await self._keep()

    async def _stream(
        self, messages: Sequence[Message], tools: Sequence[Tool], budget: ThinkingBudget
    ) -> AsyncGenerator[LlmEvent]:
        engine, asked_at = self._loaded(), self._clock()
        engine.ask(messages, tools)
        events: AsyncGenerator[LlmEvent] = self._thread.run(
            lambda: engine.answer(messages, tools, budget, asked_at), ahead=1 if engine.target.on_cpu else AHEAD
        )
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            self.stats = engine.stats

    async def prefill(self, messages: Sequence[Message], tools: Sequence[Tool] = ()) -> None:
        engine = self._loaded()
        await self._finish(lambda: engine.prefill(messages, tools), Priority.PREFILL)

    async def rewind(self, heard: str) -> None:
        engine = self._loaded()
        await self._finish(lambda: engine.rewind(heard), Priority.PREFILL)

    async def settle(self) -> None:
        engine = self._loaded()
        await self._finish(engine.settle, Priority.IDLE)

    async def save_conversation(self, name: str) -> None:
        """Keeps the state and the tokens of the conversation as it stands, for `load_conversation` after a restart."""
        engine = self._loaded()
        await self.settle()
        await self._keep()
        if self._snapshot_dir is not None and engine.disk is not None:
            store = AnswerStore(self._snapshot_dir, engine.key)
            await asyncio.to_thread(store.save, name, list(engine.memory.answers))

    async def load_conversation(self, name: str) -> bool:
        """Knows again what was said, as tokens; whether it was kept. The next `prefill` or `stream` finds the state."""
        engine = self._loaded()
        if self._snapshot_dir is None or engine.disk is None:
            return False
        answers = await asyncio.to_thread(AnswerStore(self._snapshot_dir, engine.key).load, name)
        if answers is None:
            return False
        engine.memory.answers = answers
        return True

    async def _keep(self) -> None:
        """Keeps what the cache holds now. Only encoding needs the MLX thread, not the disk."""
        engine = self._loaded()
        kept = await self._thread.call(engine.keep, priority=Priority.IDLE)
        if kept is not None and engine.disk is not None and kept.encoded is not None:
            await asyncio.to_thread(engine.disk.write, kept.ids, kept.encoded)

    async def clear_cache(self) -> None:
        engine = self._loaded()

        def clear() -> None:
            import mlx.core as mx

            engine.forget()
            mx.clear_cache()

        await self._thread.call(clear)

    async def unload(self) -> None:
        """Gives the memory back. `load` makes the model ready again."""

        def unload() -> None:
            import gc

            import mlx.core as mx

            from mirza.heap import give_back_freed

            self._engine = None
            gc.collect()
            mx.clear_cache()
            give_back_freed()

        await self._thread.call(unload)

    def set_budget(self, budget: ThinkingBudget) -> None:
        super().set_budget(budget)
        if self._engine is not None:
            self._engine.set_budget(budget)

    async def _finish(self, make: Callable[[], Generator[Step]], priority: Priority) -> None:
        steps: AsyncGenerator[None] = self._thread.run(make, priority=priority)
        async with aclosing(steps):
            async for _ in steps:
                pass

    def _loaded(self) -> Engine:
        if self._engine is None:
            raise ModelError("The language model is not loaded.", "Call `load` first.")
        return self._engine
