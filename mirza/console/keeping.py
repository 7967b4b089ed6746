"""`Keeping`: a session's place on the disk, and what it does when the disk takes no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mirza.errors import StorageError
from mirza.events import Event, Failed, Notice
from mirza.llm.base import Message
from mirza.recorder import Recorder
from mirza.storage import Found, Summary, open_store

SENTENCE_ENDS = (".", "!", "?", "…", "。", "！", "？", "\n")


class Keeping:
    """Keeps a conversation sentence by sentence, and gives back those that were kept. What goes wrong is told, once."""

    def __init__(self, file: Path, tell: Callable[[Event], None]) -> None:
        self._file, self._tell = file, tell
        self._recorder: Recorder | None = None
        self._draft = ""
        """The answer in the air, as far as it was heard."""
        self._unsaved = False
        """Whether the disk did not take the last turn, which the user has been told."""

    def recorder(self) -> Recorder:
        """The recorder; the file is opened when it is first needed.

        Raises:
            StorageError: it cannot be opened.
        """
        if self._recorder is None:
            store, notice = open_store(self._file)
            self._recorder = Recorder(store)
            if notice:
                self._tell(Notice(notice, 0.0))
        return self._recorder

    @property
    def number(self) -> int | None:
        """The number under which this conversation is kept, if it is."""
        return self._recorder.conversation if self._recorder is not None else None

    # --- the present conversation, if it is to be kept

    async def keep(self, messages: Sequence[Message]) -> None:
        """Makes the stored conversation equal `messages`."""
        self._draft = ""
        await self._write(messages)

    async def keep_draft(self, messages: Sequence[Message], more: str) -> None:
        """More of an answer that is not over, kept sentence by sentence: a crash can take only the one in the air."""
        self._draft += more
        over = not messages or messages[-1].role != "user"  # then the answer is among the messages already
        if more.rstrip(" ").endswith(SENTENCE_ENDS) and not over:
            await self._write([*messages, Message("assistant", self._draft)])

    async def begin(self) -> None:
        """What is kept from now on is a new conversation."""
        if self._recorder is not None:
            await self._recorder.begin()

    async def remember(self, **changes: str) -> None:
        """Keeps settings of the conversation, by the names of `SessionSettings`."""
        if self._recorder is None:
            return
        try:
            await self._recorder.change(**changes)
        except StorageError as error:
            self._tell(Failed(error, 0.0))

    async def title(self) -> str:
        """The title of this conversation."""
        recorder, number = self._recorder, self.number
        if recorder is None or number is None:
            return "A conversation with Mirza"
        return (await recorder.on_thread(lambda: recorder.store.summary(number))).title

    def close(self) -> None:
        """Waits for what is being written."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            recorder.close()

    # --- all that were kept

    async def listed(self) -> list[Summary]:
        """Kept conversations, the last one first."""
        recorder = self.recorder()
        return await recorder.on_thread(recorder.store.list)

    async def search(self, words: str) -> list[Found]:
        """Messages of kept conversations that hold these words."""
        recorder = self.recorder()
        return await recorder.on_thread(lambda: recorder.store.search(words))

    async def typed_before(self) -> list[str]:
        """What the user said in kept conversations, oldest first: what the up key brings back."""
        if self._recorder is None:
            return []
        return await self._recorder.on_thread(self._recorder.store.said_by_user)

    async def _write(self, messages: Sequence[Message]) -> None:
        if self._recorder is None:
            return
        try:
            notice = await self._recorder.keep(messages)
        except StorageError as error:
            if not self._unsaved:
                self._tell(Failed(error, 0.0))
            self._unsaved = True
            return
        if notice or self._unsaved:
            self._tell(Notice(notice or "The conversation is kept again.", 0.0))
        self._unsaved = False
