"""`Source`: the written characters that are being looked at, and the events made of them so far."""

from __future__ import annotations

import re

from mirza.speech.text.events import Break, CodeBegins, Event, Mark, Text, ThoughtEnds

_BEHIND = 16
"""So many characters before `at` are kept to be looked back at."""


class Source:
    """A window over the answer. Readers look from `at` on, and take what they understand.

    A reader returns `False` when what is there could still become something else: it is asked again when there is more,
    or when the text has ended (`final`). What it decides must not depend on how the text was cut into deltas.
    """

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.final = False
        self.line_start = True
        self.hard_line = False
        """Whether the line that is being read is a block of its own: a heading, a row, an item."""
        self.table_row = False
        self.open_marks: set[str] = set()
        """Marks of emphasis that are open: `**`, `_`."""
        self.closers: list[tuple[int, int]] = []
        """Where the ends of the open links are: from `]` to after `)`. Offsets into `text`."""
        self._fresh = 0
        self._base = 0
        """Offset in the answer of the first character of `text`."""
        self._events: list[Event] = []
        # the text that is in no event yet: where it begins, and from where on it is as it is written
        self._begun: int = 0
        self._kept: int = 0
        self._clean: list[str] = []
        self._clean_at = 0
        self._marks: list[Mark] = []

    @property
    def before(self) -> str:
        """The written character before `at`; a line's end where what is before does not count."""
        return self.text[self.at - 1] if self.at != self._fresh else "\n"

    def add(self, text: str) -> None:
        """Appends `text`, and forgets what was taken."""
        gone = self.at - _BEHIND
        if gone > 0:
            if self.closers:
                self.closers = [(start - gone, end - gone) for start, end in self.closers]
            self.text = self.text[gone:]
            self._base += gone
            self._fresh -= gone
            self.at -= gone
            self._begun = self._kept = self.at
        self.text += text

    @property
    def settled(self) -> bool:
        """Whether everything is taken, within a line and no link."""
        return not self.line_start and self.at == len(self.text) and not self.closers

    def all_plain(self, text: str) -> Text:
        """Takes all of `text` as it is, when everything before it is taken."""
        whole = self.text + text
        gone = max(0, len(whole) - _BEHIND)
        self.text = whole[gone:]
        self._base += gone
        self._fresh -= gone
        self.at = self._begun = self._kept = len(self.text)
        self._clean_at += len(text)
        return Text(text, text, [])

    def events(self) -> list[Event]:
        """What was taken since this was asked last."""
        if self.at != self._begun:
            self._end_text()
        events, self._events = self._events, []
        return events

    @property
    def held(self) -> str:
        """What is not taken yet."""
        return self.text[self.at :]

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
        self.at += length

    def silent(self, length: int, *, clean: str = "", opens: bool = False) -> None:
        """Takes `length` characters of markup, which stand for `clean`."""
        at = self.at
        if at > self._kept:
            self._clean.append(self.text[self._kept : at])
            self._clean_at += at - self._kept
        clean_at = self._clean_at
        if clean:
            self._clean.append(clean)
            self._clean_at += len(clean)
        self.at = self._kept = at + length
        self._marks.append(Mark(clean_at, self._clean_at, self._base + at, self._base + self.at, opens))

    def part(self, length: int = 0) -> None:
        """Takes `length` characters that are not spoken, and parts what is before from what follows."""
        if self.at != self._begun:
            self._end_text()
        events = self._events
        if length or not events or type(events[-1]) is not Break:
            events.append(Break(self._skip(length) if length else ""))
        self.open_marks.clear()

    def code(self, length: int) -> None:
        """Takes the first line of a code block."""
        self._end_text()
        self._events.append(CodeBegins(self._skip(length)))

    def thought_ends(self, length: int) -> None:
        """Takes the end of a thought that never began."""
        self._end_text()
        self._events.append(ThoughtEnds(self._skip(length)))

    def start_afresh(self) -> None:
        """What follows is read as the start of a line."""
        self.line_start = True
        self._fresh = self.at

    def _skip(self, length: int) -> str:
        start = self.at
        self.at = start + length
        self._kept = self._begun = self.at
        return self.text[start : self.at]

    def _end_text(self) -> None:
        """Makes an event of the text taken so far."""
        if self.at == self._begun:
            return
        rest = self.text[self._kept : self.at]
        self._clean_at += len(rest)
        clean = "".join(self._clean) + rest if self._clean else rest
        self._events.append(Text(clean, self.text[self._begun : self.at], self._marks))
        self._begun = self._kept = self.at
        self._clean, self._marks = [], []
