"""`Source`: the written characters that are being looked at, and the events made of them so far."""

from __future__ import annotations

import re

from mirza.speech.text.events import Break, CodeBegins, Event, Text


class Source:
    """A window over the answer. Readers look from `at` on, and take what they understand.

    A reader returns `False` when what is there could still become something else: it is asked again when there is more,
    or when the text has ended (`final`). What it decides must not depend on how the text was cut into deltas.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.final = False
        self.events: list[Event] = []
        self.before = "\n"
        """The written character before `at`."""
        self.line_start = True
        self.hard_line = False
        """Whether the line that is being read is a block of its own: a heading, a row, an item."""
        self.table_row = False
        self.open_marks: set[str] = set()
        """Marks of emphasis that are open: `**`, `_`."""
        self.closers: list[tuple[int, int]] = []
        """Where the ends of the open links are: from `]` to after `)`. Offsets into `text`."""

    def add(self, text: str) -> None:
        """Appends `text`, and forgets what was taken."""
        if self.at:
            self.closers = [(start - self.at, end - self.at) for start, end in self.closers]
        self.text = self.text[self.at :] + text
        self.at = 0

    def more(self, offset: int = 0) -> bool:
        """Whether there is a character at `offset` from here."""
        return self.at + offset < len(self.text)

    def char(self, offset: int = 0) -> str:
        """The character at `offset` from here; empty when there is none (yet)."""
        index = self.at + offset
        return self.text[index] if index < len(self.text) else ""

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """`pattern` at this place."""
        return pattern.match(self.text, self.at)

    def plain(self, length: int) -> None:
        """Takes `length` characters as they are."""
        written = self.text[self.at : self.at + length]
        self._emit(Text(written, written), written)

    def silent(self, length: int, *, clean: str = "", opens: bool = False) -> None:
        """Takes `length` characters of markup, which stand for `clean`."""
        written = self.text[self.at : self.at + length]
        self._emit(Text(clean, written, opens), written)

    def part(self, length: int = 0) -> None:
        """Takes `length` characters that are not spoken, and parts what is before from what follows."""
        written = self.text[self.at : self.at + length]
        self._emit(Break(written), written)
        self.open_marks.clear()

    def code(self, length: int) -> None:
        """Takes the first line of a code block."""
        written = self.text[self.at : self.at + length]
        self._emit(CodeBegins(written), written)

    def _emit(self, event: Event, written: str) -> None:
        self.events.append(event)
        if written:
            self.at += len(written)
            self.before = written[-1]
