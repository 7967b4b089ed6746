"""What `mirza bench growth` does with an engine: it is asked as the pipeline asks it, and grows longer each time."""

# pyright: reportUnknownMemberType=false
from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path

import mlx.core as mx

from mirza.bench.curves import Curves
from mirza.bench.take import resident_mb
from mirza.events import SpeechDelta
from mirza.llm.base import Message, ThinkingBudget
from mirza.llm.mlx.qwen import MlxQwenLlm
from mirza.llm.mlx.snapshots import SUFFIX
from mirza.mlx_thread import MlxThread
from mirza.settings import LlmSettings

QUESTION = "Count to 9."
SENTENCE = "Turn on the kitchen lights, please. "
ANSWER_TOKENS = 8
MOST_TURNS = 5
"""The last turns before a point, at most: their times are the point's."""

OnProgress = Callable[[str], None]


class Grower:
    """One loaded engine. Every time is seconds from the request to a first token that has left the device."""

    def __init__(self, model: Path, snapshots: Path, context_tokens: int, thread: MlxThread) -> None:
        settings = LlmSettings(mtp="off", temperature=0.0, max_tokens=ANSWER_TOKENS, context_tokens=context_tokens)
        self._llm = MlxQwenLlm(str(model), settings, thread=thread, snapshot_dir=snapshots)
        self._thread, self._snapshots = thread, snapshots
        self._per_sentence = self._around = 0.0
        self._loaded_bytes = 0
        self._number = 0

    async def load(self) -> None:
        """Loads the model, and learns how many tokens a sentence is."""
        await self._llm.load()
        few, many = [await self._prompt_tokens(SENTENCE * count) for count in (10, 30)]
        self._per_sentence = (many - few) / 20
        self._around = few - 10 * self._per_sentence
        await self._empty()
        self._loaded_bytes = await self._active_bytes()

    async def contexts(self, sizes: Sequence[int], runs: int, curves: Curves, on_progress: OnProgress) -> None:
        """A conversation that begins with a message of so many tokens."""
        for size in sizes:
            on_progress(f"context of {size} tokens")
            messages: list[Message] = []
            for _ in range(_runs(runs, 16_384, size)):
                messages = [Message("user", self._text(size))]
                await self._empty()
                curves.add("context.cold", size, await self._first_token(messages))
                curves.add("context.peak", size, (await self._peak_bytes() - self._loaded_bytes) / 1e6)
                curves.add("context.settle", size, await self._settle())
                messages.append(Message("user", QUESTION))
                curves.add("context.warm", size, await self._first_token(messages))
            curves.add("context.memory", size, (await self._active_bytes() - self._loaded_bytes) / 1e6)
            await self._llm.save_conversation("growth")
            curves.add("context.snapshot", size, self._newest_bytes() / 1e6)
            messages.append(Message("user", QUESTION))
            for _ in range(runs):
                await self._empty()
                curves.add("context.restored", size, await self._first_token(messages.copy()))

    async def turns(self, counts: Sequence[int], curves: Curves, on_progress: OnProgress) -> None:
        """A conversation of so many turns."""
        on_progress(f"{max(counts)} turns")
        await self._empty()
        messages: list[Message] = []
        waits: list[float] = []
        settles: list[float] = []
        fed: list[float] = []
        for turn in range(1, max(counts) + 1):
            messages.append(Message("user", QUESTION))
            waits.append(await self._first_token(messages))
            fed.append(float(self._llm.stats.prefilled_tokens))
            settles.append(await self._settle())
            if turn not in counts:
                continue
            last = min(max(turn // 2, 1), MOST_TURNS)
            for wait, settle, tokens in zip(waits[-last:], settles[-last:], fed[-last:], strict=True):
                curves.add("turns.warm", turn, wait)
                curves.add("turns.settle", turn, settle)
                curves.add("turns.fed", turn, tokens)
            curves.add("turns.context", turn, float(self._llm.stats.prompt_tokens))
            curves.add("turns.memory", turn, (await self._active_bytes() - self._loaded_bytes) / 1e6)
            curves.add("turns.resident", turn, resident_mb())

    async def systems(self, sizes: Sequence[int], runs: int, curves: Curves, on_progress: OnProgress) -> None:
        """A system prompt of so many tokens."""
        for size in sizes:
            on_progress(f"system prompt of {size} tokens")
            for _ in range(_runs(runs, 4000, size)):
                system = Message("system", self._text(size))
                await self._empty()
                curves.add("system.cold", size, await self._first_token([system, Message("user", QUESTION)]))
                await self._empty()
                began = time.perf_counter()
                await self._llm.load(system.content)
                curves.add("system.load", size, time.perf_counter() - began)
                curves.add("system.memory", size, (await self._active_bytes() - self._loaded_bytes) / 1e6)
                curves.add("system.warm", size, await self._first_token([system, Message("user", QUESTION)]))
                await self._empty()
                restored = await self._first_token([system, Message("user", QUESTION)])
                if self._llm.stats.reused_tokens:  # short heads are fed again: they are not worth a file
                    curves.add("system.restored", size, restored)
                    curves.add("system.snapshot", size, self._newest_bytes() / 1e6)

    async def close(self) -> None:
        """Gives the memory back."""
        await self._llm.unload()

    # --- how ---------------------------------------------------------------------------------------------------------

    async def _first_token(self, messages: list[Message]) -> float:
        """Asks, and adds the answer to the conversation. The engine notes the first token when it has been read."""
        await self._thread.call(mx.synchronize)
        said = ""
        async with aclosing(self._llm.stream(messages, thinking=ThinkingBudget(0))) as events:
            async for event in events:
                match event:
                    case SpeechDelta(text):
                        said += text
                    case _:
                        pass
        messages.append(Message("assistant", said.strip() or "Yes."))
        return self._llm.stats.first_token_s

    async def _settle(self) -> float:
        began = time.perf_counter()
        await self._llm.settle()
        await self._thread.call(mx.synchronize)
        return time.perf_counter() - began

    async def _empty(self) -> None:
        await self._llm.clear_cache()
        await self._thread.call(mx.reset_peak_memory)

    def _text(self, tokens: int) -> str:
        """About so many tokens that no cache has seen."""
        self._number += 1
        sentences = max(round((tokens - self._around) / self._per_sentence), 1)
        return f"{self._number}. {SENTENCE * sentences}"

    async def _prompt_tokens(self, text: str) -> int:
        await self._first_token([Message("user", text)])
        return self._llm.stats.prompt_tokens

    async def _active_bytes(self) -> int:
        def active() -> int:
            mx.synchronize()
            mx.clear_cache()
            return mx.get_active_memory()

        return await self._thread.call(active)

    async def _peak_bytes(self) -> int:
        return await self._thread.call(mx.get_peak_memory)

    def _newest_bytes(self) -> int:
        files = [file.stat() for file in self._snapshots.glob(f"*{SUFFIX}")]
        return max(files, key=lambda stat: stat.st_mtime_ns).st_size if files else 0


def _runs(runs: int, enough: int, size: int) -> int:
    """Fewer runs of what takes long."""
    return max(min(runs, enough // size), 1)
