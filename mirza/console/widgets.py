"""What the full screen is made of: one widget for each thing that is said, and the line that is typed in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


Entry = Asked | Replied | Note | Trouble
"""One thing in the transcript. The widgets come and go with scrolling; the entries stay."""


def view(entry: Entry) -> Static | ReplyView:
    """The widget that shows an entry."""
    match entry:
        case Asked(text):
            return Static(Text(printable(text)), classes="question")
        case Replied():
            return ReplyView(entry)
        case Note(text):
            return Static(Text(printable(text)), classes="note")
        case Trouble(what, do):
            return Static(Text(printable(f"{what} {do}".strip())), classes="trouble")


class ReplyView(Vertical):
    """An answer: what was thought, folded, above what is said. It grows while the model speaks."""

    def __init__(self, entry: Replied | None = None) -> None:
        super().__init__(classes="reply")
        entry = entry or Replied("")
        self._said, self._thought, self._tools = entry.text, entry.thought, entry.tools
        self._interrupted, self._unheard = entry.interrupted, entry.unheard
        self._stream: MarkdownStream | None = None
        self._counted = 0
        self._thinking = False

    def compose(self) -> ComposeResult:
        with Collapsible(title=self._title(), classes="thought" if self._thought else "thought hidden"):
            yield Static(Text(printable(self._thought)), classes="thought-text")
        yield Static(Text(printable(self._tools)), classes="tools" if self._tools else "tools hidden")
        yield Markdown(printable(self._said), open_links=False, classes="said")
        yield Static(self._ending(), classes="ending" if self._interrupted else "ending hidden")

    @property
    def entry(self) -> Replied:
        """It as it is now, to show it again later."""
        return Replied(self._said, self._thought, self._tools, self._interrupted, self._unheard)

    def think(self, text: str, pieces: int) -> None:
        """Adds to the thought. Only its title moves while it is folded."""
        self._thought += text
        self._counted += pieces
        self._thinking = True
        fold = self.query_one(Collapsible)
        fold.remove_class("hidden")
        fold.title = self._title()
        if not fold.collapsed:
            self._show_thought()

    async def say(self, text: str) -> None:
        """Adds to the answer."""
        if self._thinking:
            self._thinking = False
            self.query_one(Collapsible).title = self._title()
        self._said += text
        if self._stream is None:
            self._stream = Markdown.get_stream(self.query_one(Markdown))
        await self._stream.write(printable(text))

    def use(self, line: str) -> None:
        """Adds a line about a tool."""
        self._tools = f"{self._tools}\n{line}".strip()
        tools = self.query_one(".tools", Static)
        tools.remove_class("hidden")
        tools.update(Text(printable(self._tools)))

    async def end(self, heard: str, *, interrupted: bool) -> None:
        """The answer is over; `heard` is as far as it was heard."""
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
        self._thinking = False
        self.query_one(Collapsible).title = self._title()
        self._interrupted = interrupted
        if not interrupted:
            return
        if heard and self._said.startswith(heard) and heard != self._said:
            self._said, self._unheard = heard, self._said[len(heard) :]
            await self.query_one(Markdown).update(printable(heard))
        ending = self.query_one(".ending", Static)
        ending.remove_class("hidden")
        ending.update(self._ending())

    def set_open(self, opened: bool) -> None:
        """Unfolds the thought, or folds it."""
        self.query_one(Collapsible).collapsed = not opened

    def on_collapsible_expanded(self) -> None:
        self._show_thought()

    def _show_thought(self) -> None:
        self.query_one(".thought-text", Static).update(Text(printable(self._thought)))

    def _title(self) -> str:
        tokens = f" · {self._counted} tokens" if self._counted else ""
        return f"thinking …{tokens}" if self._thinking else f"thought{tokens}"

    def _ending(self) -> Text:
        if self._unheard.strip():
            return Text.assemble(("not heard: ", "bold"), printable(" ".join(self._unheard.split())))
        return Text("stopped here")


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
