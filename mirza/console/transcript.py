"""The scrolling transcript. Only what is near the screen is a widget: two thousand turns open and scroll like two.

A window moves over the entries: near its upper or lower edge the next page is mounted, and what is far behind gives its
widgets back. Whatever comes and goes above, what is being read stays where it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import cast

from textual.containers import VerticalScroll
from textual.layout import WidgetPlacement
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Static

from mirza.console.script import Asked, Note
from mirza.console.widgets import Entry, GrowingReply, Replied, ReplyView, view
from mirza.llm.base import Message

PAGE = 24
"""Entries that are mounted at first. Each costs some milliseconds; a usual screen shows about ten."""
STEP = 8
"""Entries that are mounted at once while the user scrolls: few enough not to be felt."""
MOST = 2 * PAGE
"""With more widgets than this, those that are far from the screen are given back."""
FAR_SCREENS = 2
"""Entries further away than this, in heights of the screen, may lose their widgets."""


class Transcript(VerticalScroll):
    """Everything that was said, the last at the bottom. It follows new text unless the user has scrolled away."""

    def __init__(self) -> None:
        super().__init__(id="transcript")
        self.entries: list[Entry] = []
        """All of it, whether it has a widget or not."""
        self.current: GrowingReply | None = None
        """The answer that is being made; it always has its widget."""
        self.first, self._end = 0, 0
        """The entries from `first` up to, not including, `_end` have widgets, the children between the two edges."""
        self._earlier, self._later = Static(id="earlier"), Static(id="later")
        self._window = asyncio.Lock()
        """Held while widgets come or go: the conversation adds them, and scrolling does."""
        self.moving = False
        """Whether widgets are coming because of where the user has scrolled to."""
        self._thoughts_open = False
        self._tops: dict[Widget, int] = {}
        """The line at which each child began when they were last placed."""

    async def replace(self, entries: Sequence[Entry]) -> None:
        """Shows other entries, from the last one up."""
        async with self._window:
            self.current = None
            self.entries = [*entries]
            await self._show_end()

    async def add(self, entry: Entry) -> None:
        """Adds an entry at the bottom. A question is shown, however far the user has scrolled away."""
        async with self._window:
            self.entries.append(entry)
            if self._end == len(self.entries) - 1:
                self._end += 1
                await self.mount(self._view(entry), before=self._later)
                if isinstance(entry, Asked):
                    self.anchor()
            elif isinstance(entry, Asked):
                await self._show_end()
            await self.remove_children(self._far_away(coming=0))
            self._say_how_many()

    async def begin_reply(self) -> GrowingReply:
        """Adds an answer that is still to come, below its question."""
        async with self._window:
            if self._end != len(self.entries):
                await self._show_end()
            self.current = reply = GrowingReply(opened=self._thoughts_open)
            self.entries.append(reply.entry)
            self._end += 1
            await self.mount(reply, before=self._later)
            return reply

    async def end_reply(self, heard: str, *, interrupted: bool) -> None:
        """The answer is over."""
        reply, self.current = self.current, None
        if reply is None:
            return
        await reply.end(heard, interrupted=interrupted)
        index = next(i for i in reversed(range(len(self.entries))) if isinstance(self.entries[i], Replied))
        self.entries[index] = reply.entry

    def set_open(self, opened: bool) -> None:
        """Unfolds all thoughts, or folds them, also those that are not near the screen now."""
        self._thoughts_open = opened
        at_end = self.scroll_y >= self.max_scroll_y
        for reply in self.query(ReplyView):
            reply.set_open(opened)
        if at_end:
            self.call_after_refresh(self.scroll_end, animate=False)

    @property
    def saying(self) -> bool:
        """Whether words of an answer are appearing."""
        return self.current is not None and self.current.entry.text != ""

    # --- the window

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look()

    def on_resize(self) -> None:
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        """Moves the window if the screen is near one of its edges."""
        if not self.moving and self.is_attached and (self._near_top() or self._near_end()):
            self.moving = True
            self.run_worker(self._move(), group="window")

    def _near_top(self) -> bool:
        return self.first > 0 and self.scroll_y < self.size.height

    def _near_end(self) -> bool:
        return self._end < len(self.entries) and self.scroll_y > self.max_scroll_y - self.size.height

    async def _move(self) -> None:
        async with self._window:
            leaving = self.remove_children(self._far_away(coming=STEP))  # in one layout with what comes
            if self._near_top():
                begin = max(self.first - STEP, 0)
                above = self.entries[begin : self.first]
                self.first = begin
                await self.mount_all(map(self._view, above), after=self._earlier)
            elif self._near_end():
                end = min(self._end + STEP, len(self.entries))
                below = self.entries[self._end : end]
                self._end = end
                await self.mount_all(map(self._view, below), before=self._later)
            await leaving
            self._say_how_many()
            self._follow_or_not()
        self.call_after_refresh(self._moved)

    def _moved(self) -> None:
        self.moving = False
        self._look()

    async def _show_end(self) -> None:
        """Mounts the last page and nothing else."""
        await self.remove_children()
        self.first, self._end = max(len(self.entries) - PAGE, 0), len(self.entries)
        self._earlier, self._later = Static(id="earlier"), Static(id="later")
        await self.mount_all([self._earlier, *map(self._view, self.entries[self.first :]), self._later])
        self._say_how_many()
        self.anchor()
        self.call_after_refresh(self._look)

    def _far_away(self, *, coming: int) -> list[Widget]:
        """Widgets that are far from the screen, if there are to be too many; they count as gone from now on."""
        if self._end - self.first + coming <= MOST:
            return []
        widgets = [child for child in self.children if child not in {self._earlier, self._later}]
        spare = len(widgets) - PAGE
        above = self._far_above(widgets[:spare])
        below = 0 if above or self.current is not None else self._far_below(widgets[-spare:])
        self.first += above
        self._end -= below
        return [*widgets[:above], *widgets[len(widgets) - below :]]

    def _far_above(self, widgets: Sequence[Widget]) -> int:
        """How many of the first widgets end far above the screen; what was not placed yet is near."""
        limit = self.scroll_y - FAR_SCREENS * self.size.height
        return sum(self._tops.get(widget, limit) < limit for widget in widgets)

    def _far_below(self, widgets: Sequence[Widget]) -> int:
        limit = self.scroll_y + (1 + FAR_SCREENS) * self.size.height
        return sum(self._tops.get(widget, limit) > limit for widget in widgets)

    def _follow_or_not(self) -> None:
        """New text is followed at the end of all entries, not at the end of those that happen to have widgets."""
        at_end = self._end == len(self.entries)
        if at_end == self.is_anchored:
            return
        y = self.scroll_y
        self.anchor(at_end)
        if at_end:  # `anchor` scrolls to the end; the user is not there yet
            self.scroll_to(y=y, animate=False, immediate=True)

    def _say_how_many(self) -> None:
        later = len(self.entries) - self._end
        self._earlier.update(f"▲ {self.first} earlier" if self.first else "")
        self._later.update(f"▼ {later} later" if later else "")
        self._later.set_class(not later, "hidden")

    def _view(self, entry: Entry) -> Widget:
        return view(entry, opened=self._thoughts_open)

    def process_layout(self, placements: list[WidgetPlacement]) -> list[WidgetPlacement]:
        """Scrolls along with what is at the top of the screen, in the layout that moves it, so that it does not jump.

        A transcript that follows its end is scrolled there afterwards, by Textual.
        """
        before, self._tops = self._tops, {placement.widget: placement.region.y for placement in placements}
        known = [widget for widget in before if widget in self._tops and widget is not self._earlier]
        read = [widget for widget in known if before[widget] <= self.scroll_y] or known[:1]
        if read and (moved := self._tops[read[-1]] - before[read[-1]]):
            y = max(self.scroll_y + moved, 0)
            for line in (
                Widget.scroll_y,
                Widget.scroll_target_y,
            ):  # not watched: this is a layout already
                self.set_reactive(cast("Reactive[float]", line), y)
            self.vertical_scrollbar.position = y
        return placements


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
