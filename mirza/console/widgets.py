"""What the full screen is made of: one widget for each thing that is said, and the line that is typed in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.message import Message
from textual.widgets import Collapsible, Markdown, Static, TextArea
from textual.widgets.markdown import MarkdownStream

from mirza.console.commands import completions
from mirza.console.script import Asked, Note, Trouble
from mirza.console.show import printable


@dataclass(frozen=True, slots=True)
class Replied:
    """An answer that is over. `unheard` is what was written and not heard, because it was interrupted."""

    text: str
    thought: str = ""
    tools: str = ""
    interrupted: bool = False
    unheard: str = ""
    thought_tokens: int = 0
    """How many the thought had, as far as that was counted."""


Entry = Asked | Replied | Note | Trouble
"""One thing in the transcript. The widgets come and go with scrolling; the entries stay."""


MAYBE_MARKDOWN = re.compile(r"[*_`#<>\[\]|~\\&@\n\t]|\w[.:/]+\w|^\s|^[-+=]|^\d+[.)]|\s$|^$")
"""What a paragraph of plain words has nowhere: marks, links (`a.b`), lists, breaks. When in doubt it is Markdown.

Plain words look the same without a Markdown document, and cost a fourth of it, which is felt when scrolling.
"""


def view(entry: Entry, *, opened: bool = False) -> Static | ReplyView:
    """The widget that shows an entry; `opened` is whether its thought is unfolded."""
    match entry:
        case Asked(text):
            return Static(Text(printable(text)), classes="question")
        case Replied(text) if entry == Replied(text) and not MAYBE_MARKDOWN.search(text):
            return Static(Text(printable(text)), classes="plain")
        case Replied():
            return ReplyView(entry, opened=opened)
        case Note(text):
            return Static(Text(printable(text)), classes="note")
        case Trouble(what, do):
            return Static(Text(printable(f"{what} {do}".strip())), classes="trouble")


class ReplyView(Vertical):
    """An answer: what was thought, folded, above what was said.

    It has only the parts that it needs: each widget costs some milliseconds when a long conversation opens or scrolls.
    """

    def __init__(self, entry: Replied, *, opened: bool = False) -> None:
        super().__init__(classes="reply")
        self.entry = entry
        """It as it is now, to show it again later."""
        self._opened = opened

    def compose(self) -> ComposeResult:
        if self.entry.thought:
            thought = Static(Text(printable(self.entry.thought)), classes="thought-text")
            title = _thought_title(self.entry)
            yield Collapsible(thought, title=title, collapsed=not self._opened, classes="thought")
        if self.entry.tools:
            yield Static(Text(printable(self.entry.tools)), classes="tools")
        if self.entry.text:
            yield Markdown(printable(self.entry.text), open_links=False, classes="said")
        if self.entry.interrupted:
            yield Static(_ending(self.entry), classes="ending")

    def set_open(self, opened: bool) -> None:
        """Unfolds the thought, or folds it."""
        self._opened = opened
        for fold in self.query(Collapsible):
            fold.collapsed = not opened


class GrowingReply(ReplyView):
    """An answer that is being made: it grows while the model thinks and speaks."""

    def __init__(self, *, opened: bool = False) -> None:
        super().__init__(Replied(""), opened=opened)
        self._fold_text = Static("", classes="thought-text")
        self._fold = Collapsible(self._fold_text, collapsed=not opened, classes="thought hidden")
        self._tools = Static("", classes="tools hidden")
        self._said = Markdown("", open_links=False, classes="said hidden")
        self._ending = Static("", classes="ending hidden")
        self._stream: MarkdownStream | None = None

    def compose(self) -> ComposeResult:
        yield from (self._fold, self._tools, self._said, self._ending)

    def think(self, text: str, pieces: int) -> None:
        """Adds to the thought. Only its title moves while it is folded."""
        counted = self.entry.thought_tokens + pieces
        self.entry = replace(self.entry, thought=self.entry.thought + text, thought_tokens=counted)
        self._fold.remove_class("hidden")
        self._fold.title = f"thinking … · {counted} tokens"
        if not self._fold.collapsed:
            self._show_thought()

    async def say(self, text: str) -> None:
        """Adds to the answer."""
        if not self.is_attached:  # the screen is closing
            return
        self._thought_is_over()
        self.entry = replace(self.entry, text=self.entry.text + text)
        if self._stream is None:
            self._said.remove_class("hidden")
            self._stream = Markdown.get_stream(self._said)
        await self._stream.write(printable(text))

    def use(self, line: str) -> None:
        """Adds a line about a tool."""
        self.entry = replace(self.entry, tools=f"{self.entry.tools}\n{line}".strip())
        self._tools.remove_class("hidden")
        self._tools.update(Text(printable(self.entry.tools)))

    async def end(self, heard: str, *, interrupted: bool) -> None:
        """The answer is over; `heard` is as far as it was heard."""
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
        self._thought_is_over()
        self.entry = replace(self.entry, interrupted=interrupted)
        if not interrupted or not self.is_attached:
            return
        said = self.entry.text
        if heard and said.startswith(heard) and heard != said:
            self.entry = replace(self.entry, text=heard, unheard=said[len(heard) :])
            await self._said.update(printable(heard))
        self._ending.remove_class("hidden")
        self._ending.update(_ending(self.entry))

    def on_collapsible_expanded(self) -> None:
        self._show_thought()

    def _show_thought(self) -> None:
        self._fold_text.update(Text(printable(self.entry.thought)))

    def _thought_is_over(self) -> None:
        if self.entry.thought:
            self._fold.title = _thought_title(self.entry)


def _thought_title(entry: Replied) -> str:
    return f"thought · {entry.thought_tokens} tokens" if entry.thought_tokens else "thought"


def _ending(entry: Replied) -> Text:
    if entry.unheard.strip():
        return Text.assemble(("not heard: ", "bold"), printable(" ".join(entry.unheard.split())))
    return Text("stopped here")


class Line(Static):
    """One line that says how things are. It is asked thirty times a second and drawn only when it changes."""

    _shown: Text | None = None

    def show(self, text: Text) -> None:
        """Shows the text, if it is not shown already."""
        if text != self._shown or (self._shown is not None and text.spans != self._shown.spans):
            self._shown = text
            self.update(text)


class Prompt(TextArea):
    """The line that is typed in. It grows with its text; Enter sends, Shift-Enter (or Ctrl-J) breaks the line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+enter,ctrl+j,alt+enter", "newline", "New line", show=False),
        Binding("tab", "complete", "Complete", show=False),
    ]

    class Submitted(Message):
        """The user sent a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(
            id="prompt",
            compact=True,
            highlight_cursor_line=False,
            placeholder="Say something, or / for commands",
            tab_behavior="focus",
        )
        self._history: list[str] = []
        self._at = 0
        self._typed = ""

    def remember(self, lines: Sequence[str]) -> None:
        """What the up key brings back, oldest first."""
        self._history = [*lines]
        self._at = len(self._history)

    def on_key(self, event: Key) -> None:
        row, last_row = self.cursor_location[0], self.document.line_count - 1
        match event.key:
            case "enter":
                self._submit()
            case "up" if row == 0 and self._history:
                self._recall(-1)
            case "down" if row == last_row and self._at < len(self._history):
                self._recall(1)
            case _:
                return
        event.prevent_default()
        event.stop()

    def action_newline(self) -> None:
        self.insert("\n")

    def action_complete(self) -> None:
        """Completes a command as far as it is certain."""
        options = completions(self.text)
        if not options:
            return
        common = options[0]
        for option in options:
            while not option.startswith(common):
                common = common[:-1]
        if len(common) > len(self.text):
            self._set(common)

    def _submit(self) -> None:
        text = self.text
        if not text.strip():
            return
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._at, self._typed = len(self._history), ""
        self._set("")
        self.post_message(self.Submitted(text))

    def _recall(self, step: int) -> None:
        if self._at == len(self._history):
            self._typed = self.text
        self._at = min(max(self._at + step, 0), len(self._history))
        self._set(self._history[self._at] if self._at < len(self._history) else self._typed)

    def _set(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)
