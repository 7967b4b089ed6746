"""Hands a conversation's events on, one by one and in order, and can say when it has handed on all there are."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mirza.events import Event
from mirza.watchers import Watcher

Handle = Callable[[Event], Awaitable[None]]


class Relay:
    """Calls `handle` with every event of a conversation from now on."""

    def __init__(self, watch: Callable[[], Watcher], handle: Handle) -> None:
        self._watch, self._handle = watch, handle
        self._watcher = watch()
        self._task = asyncio.create_task(self._follow(self._watcher, None))

    async def caught_up(self) -> None:
        """Returns when everything that has happened so far was handled.

        One watcher ends and the next begins, with nothing between them: what is in the ended one is what has happened.
        """
        ended, task = self._watcher, self._task
        self._watcher = self._watch()
        self._task = asyncio.create_task(self._follow(self._watcher, task))
        ended.close()
        await asyncio.shield(task)

    async def close(self) -> None:
        """Handles what has happened, and stops."""
        self._watcher.close()
        await self._task

    async def _follow(self, watcher: Watcher, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await before
        async for event in watcher:
            await self._handle(event)
