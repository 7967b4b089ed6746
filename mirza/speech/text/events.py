"""What `Markup` finds in an answer, in order. Every written character is in exactly one of these.

They are tuples, since there may be one for every few characters: a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """Where the written text is not the clean text: `written .. written_end` of the answer stands for `clean .. clean_end`.

    `opens` says that the mark belongs to what follows, as in `**bold**` the first two stars do. All are character
    offsets from the start of the answer, so that they stay right while text is taken.
    """

    clean: int
    clean_end: int
    written: int
    written_end: int
    opens: bool


class Text(NamedTuple):
    """Written characters, and the clean text that they stand for: the same but for the marks."""

    clean: str
    written: str
    marks: list[Mark]


class Break(NamedTuple):
    """Something that parts what is before from what follows; `written` is not spoken (a thought, an empty line)."""

    written: str


class CodeBegins(NamedTuple):
    """A code block opens here. It is announced, not read."""

    written: str


class ThoughtEnds(NamedTuple):
    """A thought ends that never began: it was opened before the text, so what was waiting is part of it."""

    written: str


Event = Text | Break | CodeBegins | ThoughtEnds
