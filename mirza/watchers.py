"""`Watchers`: one stream of events, for as many as want to watch it, each from the moment it asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from mirza.events import Event


class Watcher(AsyncIterator[Event]):
    """Every event from its creation on; ends when the conversation closes. Nothing is lost, however slow the reader."""

    def __init__(self, watchers: Watchers) -> None:
        self._watchers = watchers
        self._events: asyncio.Queue[Event | None] = asyncio.Queue()

    def put(self, event: Event | None) -> None:
        """Hands it an event; `None` is the end."""
        self._events.put_nowait(event)

    async def __anext__(self) -> Event:
        event = await self._events.get()
        if event is None:
            self._events.put_nowait(None)  # whoever asks again is told again
            raise StopAsyncIteration
        return event

    def close(self) -> None:
        """Stops watching."""
        self._watchers.remove(self)
        self.put(None)


class Watchers:
    """All watchers of one conversation."""

    def __init__(self) -> None:
        self._watchers: list[Watcher] = []
        self._closed = False

    def add(self) -> Watcher:
        """A new watcher."""
        watcher = Watcher(self)
        if self._closed:
            watcher.put(None)
        else:
            self._watchers.append(watcher)
        return watcher

    def remove(self, watcher: Watcher) -> None:
        """Forgets a watcher; it may be gone already."""
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    def tell(self, event: Event) -> None:
        """Hands `event` to all."""
        for watcher in self._watchers:
            watcher.put(event)

    def close(self) -> None:
        """Tells all that this was the last event."""
        self._closed = True
        for watcher in self._watchers:
            watcher.put(None)
        self._watchers = []
