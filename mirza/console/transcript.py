"""The scrolling transcript. Only what is near the screen is a widget, so that two thousand turns open like two."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.containers import VerticalScroll
from textual.widgets import Static

from mirza.console.script import Asked, Note
from mirza.console.widgets import Entry, Replied, ReplyView, view
from mirza.llm.base import Message

PAGE = 24
"""Entries that are mounted at once. A Markdown widget costs some milliseconds; a tall screen shows about ten."""
NEAR_TOP = 4
"""Lines from the top at which the page above is fetched."""


class Transcript(VerticalScroll):
    """Everything that was said, the last at the bottom. It follows new text unless the user has scrolled away."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.entries: list[Entry] = []
        """All of it, whether it has a widget or not."""
        self._first = 0
        """Index of the first entry that has a widget."""
        self._fetching = False
        self.current: ReplyView | None = None
        """The answer that is being made."""

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Shows other entries, from the last one up."""
        self.current = None
        await self.remove_children()
        self.entries = [*entries]
        self._first = max(len(self.entries) - PAGE, 0)
        await self.mount_all([self._hint(), *map(view, self.entries[self._first :])])
        self.anchor()

    async def add(self, entry: Entry) -> None:
        """Adds an entry at the bottom. What is far above gives its widgets back."""
        self.entries.append(entry)
        await self.mount(view(entry))
        await self._trim()

    async def begin_reply(self) -> ReplyView:
        """Adds an answer that is still to come."""
        self.current = ReplyView()
        self.entries.append(Replied(""))
        await self.mount(self.current)
        return self.current

    async def end_reply(self, heard: str, *, interrupted: bool) -> None:
        """The answer is over."""
        reply, self.current = self.current, None
        if reply is None:
            return
        await reply.end(heard, interrupted=interrupted)
        index = max(i for i, entry in enumerate(self.entries) if isinstance(entry, Replied))
        self.entries[index] = reply.entry

    @property
    def saying(self) -> bool:
        """Whether words of an answer are appearing."""
        return self.current is not None and self.current.entry.text != ""

    def replies(self) -> Iterable[ReplyView]:
        """The answers that have widgets."""
        return self.query(ReplyView).results()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value < NEAR_TOP and new_value < old_value and self._first and not self._fetching:
            self._fetching = True
            self.call_later(self._fetch)

    async def _fetch(self) -> None:
        """Mounts the page above, and keeps what is on the screen where it is."""
        begin = max(self._first - PAGE, 0)
        above = [view(entry) for entry in self.entries[begin : self._first]]
        self._first = begin
        height = self.virtual_size.height
        hint = self.query_one("#earlier", Static)
        await self.mount_all(above, after=hint)
        hint.update(self._hint_text())
        self.call_after_refresh(self._settle, height)

    def _settle(self, height_before: int) -> None:
        self.scroll_to(y=self.scroll_y + self.virtual_size.height - height_before, animate=False, immediate=True)
        self._fetching = False

    async def _trim(self) -> None:
        mounted = len(self.entries) - self._first
        if mounted <= 3 * PAGE or self.scroll_y < self.max_scroll_y - self.size.height:
            return
        widgets = [child for child in self.children if child.id != "earlier"]
        gone = mounted - 2 * PAGE
        self._first += gone
        await self.remove_children(widgets[:gone])
        self.query_one("#earlier", Static).update(self._hint_text())

    def _hint(self) -> Static:
        return Static(self._hint_text(), id="earlier")

    def _hint_text(self) -> str:
        return f"▲ {self._first} earlier" if self._first else ""


def entries_of(messages: Iterable[Message]) -> list[Entry]:
    """A kept conversation as entries."""
    entries: list[Entry] = []
    for message in messages:
        match message.role:
            case "user":
                entries.append(Asked(message.content, typed=True))
            case "assistant":
                tools = "\n".join(f"{call.name} ← {call.arguments}" for call in message.tool_calls)
                entries.append(Replied(message.content, tools=tools))
            case "tool":
                entries.append(Replied("", tools=f"→ {message.content}"))
            case _:
                entries.append(Note(message.content))
    return entries
