"""Finds `[words](address)` and `[words][reference]` where a bracket opens. Scanned by hand: the pattern nests."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

TEXT_CHARS = 300
ADDRESS_CHARS = 2000
_NUMBER = re.compile(r"\[\^?\d{1,3}\]")
_BRACKET = re.compile(r"[\[\]\n\\]")
_OPENING = re.compile(r"\[+")
_CLOSED = re.compile(r"[\]\n]")
_PAREN = re.compile(r"[()\n\s]")
_TITLE = re.compile(r" {1,2}(\"[^\"\n]{0,200}\"|'[^'\n]{0,200}')\)")
_TITLE_BEGUN = re.compile(r" {1,2}(?:\"[^\"\n]{0,200}\"?|'[^'\n]{0,200}'?)?\Z")


@dataclass(frozen=True, slots=True)
class Link:
    """A link: offsets of the `]` after its words, and of the character after all of it."""

    text_end: int
    end: int
    numbered: bool
    """Whether its words are a number: a citation, `[1](https://…)`."""


class NoLink(Enum):
    """There is no link, or it is not known yet whether there is one."""

    NONE = "none"
    UNKNOWN = "unknown"


NONE, UNKNOWN = NoLink.NONE, NoLink.UNKNOWN


def find(text: str, at: int) -> Link | NoLink:
    """The link whose `[` is at `at`."""
    close = _text_end(text, at)
    if isinstance(close, NoLink):
        return close
    if close + 1 >= len(text):
        return UNKNOWN
    numbered = _NUMBER.match(text, at) is not None
    match text[close + 1]:
        case "(":
            end = _address_end(text, close + 1)
        case "[":
            end = _reference_end(text, close + 1)
        case _:
            return NONE
    return end if isinstance(end, NoLink) else Link(close, end, numbered)


def alone(text: str, at: int, *, final: bool) -> int:
    """How many of the brackets that open at `at` in a row begin no link, since nothing closes them within reach.

    A row of them would be read over and over otherwise. `final` says that nothing comes after `text`.
    """
    run = _OPENING.match(text, at)
    if run is None or run.end() - at < 2:
        return 0
    closed = _CLOSED.search(text, run.end())
    if closed is None and final:
        return run.end() - at
    near = closed.start() if closed else len(text)
    return max(0, min(run.end(), near - TEXT_CHARS + 1) - at)


def _text_end(text: str, at: int) -> int | NoLink:
    depth = 0
    limit = at + TEXT_CHARS
    if not _CLOSED.search(text, at, limit):
        return NONE if len(text) >= limit else UNKNOWN
    skip = -1
    for mark in _BRACKET.finditer(text, at, min(len(text), limit)):
        if mark.start() == skip:
            continue
        match mark.group():
            case "[":
                depth += 1
            case "]":
                depth -= 1
            case "\\":
                skip = mark.start() + 1
            case _:
                return NONE
        if depth == 0:
            return mark.start()
    return NONE if len(text) >= limit else UNKNOWN


def _address_end(text: str, at: int) -> int | NoLink:
    depth = 0
    limit = at + ADDRESS_CHARS
    for mark in _PAREN.finditer(text, at, min(len(text), limit)):
        match mark.group():
            case "(":
                depth += 1
            case ")":
                depth -= 1
            case _:
                return _title_end(text, mark.start()) if depth == 1 else NONE
        if depth == 0:
            return mark.end()
    return NONE if len(text) >= limit else UNKNOWN


def _title_end(text: str, at: int) -> int | NoLink:
    if title := _TITLE.match(text, at):
        return title.end()
    return UNKNOWN if _TITLE_BEGUN.match(text, at) else NONE


def _reference_end(text: str, at: int) -> int | NoLink:
    end = text.find("]", at, at + 80)
    newline = text.find("\n", at, at + 80)
    if end >= 0 and (newline < 0 or end < newline):
        return end + 1
    return NONE if newline >= 0 or len(text) >= at + 80 else UNKNOWN
