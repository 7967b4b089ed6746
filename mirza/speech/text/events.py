"""What `Markup` finds in an answer, in order. Every written character is in exactly one of these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Written characters, and the clean text that they stand for: empty where they are markup.

    `opens` says that the markup belongs to what follows, as in `**bold**` the first two stars do.
    """

    clean: str
    written: str
    opens: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """Something that parts what is before from what follows; `written` is not spoken (a thought, an empty line)."""

    written: str


@dataclass(frozen=True, slots=True)
class CodeBegins:
    """A code block opens here. It is announced, not read."""

    written: str


@dataclass(frozen=True, slots=True)
class ThoughtEnds:
    """A thought ends that never began: it was opened before the text, so what was waiting is part of it."""

    written: str


Event = Text | Break | CodeBegins | ThoughtEnds
