"""Writes a running conversation to the store, turn by turn, so that a crash loses at most the sentence in the air."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from mirza.llm.base import Message
from mirza.storage import Overtaken, SessionSettings, Store

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A conversation as it was left."""

    messages: tuple[Message, ...]
    settings: SessionSettings


class Recorder:
    """Keeps one conversation on disk equal to the one in memory.

    It is told the whole list of messages and writes what differs. What cannot be written (the disk is full) is written
    with the next call that succeeds. A conversation gets its row with its first message: an empty one leaves no trace.
    """

    def __init__(self, store: Store, settings: SessionSettings | None = None) -> None:
        self.store = store
        self.conversation: int | None = None
        """Its number, once it has one."""
        self.settings = settings or SessionSettings()
        self._revision = 0
        self._written: tuple[Message, ...] = ()
        # One thread, so that writes keep their order, and one that was begun ends even if its caller is cancelled.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="mirza-recorder")

    async def resume(self, conversation: int) -> Loaded:
        """Goes on with a stored conversation.

        Raises:
            StorageError: there is no such conversation, or it cannot be read.
        """
        return await self.on_thread(lambda: self._resume(conversation))

    async def begin(self) -> None:
        """What is kept from now on is a new conversation, with the same settings; the old one stays."""
        await self.on_thread(self._begin)

    async def keep(self, messages: Sequence[Message]) -> str:
        """Makes the stored conversation equal `messages`; on disk when it returns. Returns a notice, mostly empty.

        Raises:
            StorageError: it could not be written. Nothing that was written before is lost.
        """
        now = tuple(messages)
        return await self.on_thread(lambda: self._keep(now))

    async def change(self, **changes: str) -> None:
        """Remembers settings of this conversation, by the names of `SessionSettings`."""
        self.settings = replace(self.settings, **changes)
        await self.on_thread(self._change)

    async def on_thread(self, work: Callable[[], T]) -> T:
        """Runs other work with the store in the same order, off the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def close(self) -> None:
        """Waits for writes that were begun, and closes the store."""
        self._thread.shutdown()
        self.store.close()

    # --- on the thread

    def _resume(self, conversation: int) -> Loaded:
        # The revision first: if another Mirza saves between the two reads, our next save is refused, as it must be.
        revision = self.store.revision(conversation)
        settings = self.store.settings(conversation)
        messages = tuple(self.store.messages(conversation))
        self.conversation, self._revision, self._written, self.settings = conversation, revision, messages, settings
        return Loaded(messages, settings)

    def _begin(self) -> None:
        self.conversation, self._revision, self._written = None, 0, ()

    def _change(self) -> None:
        if self.conversation is not None:
            self.store.set_settings(self.conversation, self.settings)

    def _keep(self, messages: tuple[Message, ...]) -> str:
        kept, notice = _common(self._written, messages), ""
        if kept == len(messages) == len(self._written):
            return ""
        try:
            if self.conversation is None:
                self.conversation, self._revision, kept = self.store.create(settings=self.settings), 0, 0
            self._revision = self.store.save(self.conversation, self._revision, kept, messages[kept:])
        except Overtaken as overtaken:
            self.conversation = self.store.create(settings=self.settings)
            self._revision = self.store.save(self.conversation, 0, 0, messages)
            notice = f"{overtaken} It is number {self.conversation}."
        self._written = messages
        return notice


def _common(before: Sequence[Message], now: Sequence[Message]) -> int:
    """How many messages both begin with."""
    for index, (old, new) in enumerate(zip(before, now, strict=False)):
        if old is not new and old != new:
            return index
    return min(len(before), len(now))
