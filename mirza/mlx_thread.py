"""The one thread that owns everything MLX: it advances many jobs, one step at a time, the most urgent first.

MLX streams belong to the thread that made them, and two generations at once crash (ml-explore/mlx #3727), so loading,
decoding and MLX speech models all run here. A job is a generator; one step is one `next()`: a decoded token, a prefill
chunk, a chunk of synthesis. Between two steps the thread looks again at what matters most, so that a voice gets its
turn between the tokens of the answer, and a job that is closed ends within one step.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import suppress
from enum import IntEnum
from typing import Final, Generic, TypeVar, cast

from loguru import logger

from mirza.blas import ensure_fast_blas
from mirza.errors import ModelError

T = TypeVar("T")


class Priority(IntEnum):
    """What goes first when several jobs can take a step. Within one priority, jobs take turns."""

    VOICE = 0
    """Synthesis of what is about to be heard."""
    ANSWER = 1
    """Decoding, loading, recognition: somebody waits."""
    PREFILL = 2
    """Work ahead while the user talks."""
    IDLE = 3
    """Tidying up."""


class Step:
    """What a job yields when it has taken a step and has nothing to say. It never reaches the reader."""


STEP: Final = Step()


class MlxThread:
    """Runs generators for asyncio on a thread of its own, which starts with the first job.

    `run` streams what a generator yields; `call` runs a function in one step. Reader and job are tied together: a
    reader that stops closes its job before it returns, and a job waits when `ahead` items have not been read.
    """

    def __init__(self, name: str = "mirza-mlx") -> None:
        self.blas: str | None = None
        """The fast BLAS that was found, where one is needed; known once the first job has run."""
        self._name = name
        self._wake = threading.Condition()
        self._jobs: list[_Job[object]] = []
        self._thread: threading.Thread | None = None
        self._closing = False

    async def run(
        self,
        make: Callable[[], Generator[T | Step]],
        *,
        priority: Priority = Priority.ANSWER,
        ahead: int = 32,
    ) -> AsyncGenerator[T]:
        """What the generator that `make` builds, on the thread, yields. Its error is raised here.

        Closing this iterator, or cancelling the task that reads it, closes the generator within one step.
        """
        job = _Job(make, priority, ahead, asyncio.get_running_loop())
        self._submit(job)
        try:
            while True:
                item = await job.read(self._wake)
                if isinstance(item, _Item):
                    yield item.value
                elif item.error is None:
                    return
                else:
                    raise item.error
        finally:
            self._cancel(job)
            # A second cancellation may cut this wait short; the thread ends the job all the same.
            await job.ended.wait()

    async def call(self, function: Callable[[], T], *, priority: Priority = Priority.ANSWER) -> T:
        """Runs `function` on the thread in one step. Cancelled while it waits, it never runs."""

        def once() -> Generator[T | Step]:
            yield function()

        stream = self.run(once, priority=priority)
        try:
            return await anext(stream)
        finally:
            await stream.aclose()

    def close(self) -> None:
        """Ends every job within one step, lets their `finally` blocks run, and stops the thread. Idempotent."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        atexit.unregister(self.close)

    # on the loop's thread

    def _submit(self, job: _Job[T]) -> None:
        with self._wake:
            if self._closing:
                raise ModelError("The MLX thread is closed.", "Build a new pipeline.")
            self._jobs.append(cast("_Job[object]", job))
            if self._thread is None:
                # A daemon, so that a program which forgot to close it still exits; `atexit` closes it first.
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
                atexit.register(self.close)
            self._wake.notify()

    def _cancel(self, job: _Job[T]) -> None:
        with self._wake:
            job.cancelled = True
            self._wake.notify()
            never_ran = not job.taken and job in self._jobs
            if never_ran:
                self._jobs.remove(cast("_Job[object]", job))
        if never_ran:
            job.finish(_End())

    # on the MLX thread

    def _work(self) -> None:
        self.blas = ensure_fast_blas()
        while (job := self._next()) is not None:
            if job.cancelled:
                end = job.close()
                if end.error is not None:  # its reader has gone
                    logger.opt(exception=end.error).error("A job on the MLX thread failed while it was closed")
                self._finish(job, end)
            elif (end := job.step()) is not None:
                self._finish(job, end)
        for job in self._jobs:
            job.close()
            job.finish(_End(ModelError("The MLX thread was closed while it worked.")))
        _release_streams()

    def _next(self) -> _Job[object] | None:
        """The job to step; waits while there is none. `None` when the thread is to stop."""
        with self._wake:
            while not self._closing:
                ready = [job for job in self._jobs if job.cancelled or not job.full]
                if ready:
                    job = min(ready, key=lambda job: (not job.cancelled, job.priority))
                    # To the back of the line: equals take turns.
                    self._jobs.remove(job)
                    self._jobs.append(job)
                    job.taken = True
                    return job
                self._wake.wait()
            return None

    def _finish(self, job: _Job[object], end: _End) -> None:
        with self._wake:
            self._jobs.remove(job)
        job.finish(end)


def _release_streams() -> None:
    """MLX (0.32.4) has a worker for each stream; those of a thread that is gone abort the program at its exit."""
    if "mlx.core" in sys.modules:
        import mlx.core as mx

        mx.synchronize()
        mx.clear_streams()


class _Item(Generic[T]):
    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value


class _End:
    __slots__ = ("error",)

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


class _Job(Generic[T]):
    """One generator, and the line of items between it and its reader."""

    def __init__(
        self,
        make: Callable[[], Generator[T | Step]],
        priority: Priority,
        ahead: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.priority = priority
        self.cancelled = False
        self.taken = False
        self.ended = asyncio.Event()
        self._make = make
        self._generator: Generator[T | Step] | None = None
        self._ahead = ahead
        self._loop = loop
        self._items: deque[_Item[T] | _End] = deque()
        self._arrived = asyncio.Event()

    @property
    def full(self) -> bool:
        return len(self._items) >= self._ahead

    async def read(self, wake: threading.Condition) -> _Item[T] | _End:
        while not self._items:
            self._arrived.clear()
            if not self._items:
                await self._arrived.wait()
        was_full = self.full
        item = self._items.popleft()
        if was_full:
            with wake:
                wake.notify()
        return item

    def step(self) -> _End | None:
        """Takes one step; the end when there is no other."""
        try:
            if self._generator is None:
                self._generator = self._make()
            value = next(self._generator)
        except StopIteration:
            return _End()
        except BaseException as error:  # noqa: BLE001 - it is raised where the job is read
            return _End(error)
        if not isinstance(value, Step):
            self._push(_Item(value))
        return None

    def close(self) -> _End:
        """Runs the generator's `finally` blocks."""
        if self._generator is None:
            return _End()
        try:
            self._generator.close()
        except BaseException as error:  # noqa: BLE001 - it is raised where the job is read
            return _End(error)
        return _End()

    def finish(self, end: _End) -> None:
        self._generator = None
        self._push(end)
        self._tell(self.ended.set)

    def _push(self, item: _Item[T] | _End) -> None:
        self._items.append(item)
        self._tell(self._arrived.set)

    def _tell(self, callback: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the reader's loop is closed: nobody is left to tell
            self._loop.call_soon_threadsafe(callback)
