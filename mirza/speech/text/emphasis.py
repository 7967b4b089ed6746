"""Emphasis: stars, underscores and tildes, where they are no arithmetic and no part of a name."""

from __future__ import annotations

from mirza.speech.text.plain import BOLD
from mirza.speech.text.source import Source

MANY = 8
"""So many marks in a row are a line, not emphasis."""


def stars(source: Source) -> bool:
    """Takes stars, which open or close emphasis, or multiply; bold words, which are most of it, whole."""
    if (bold := source.match(BOLD)) and "**" not in source.open_marks:
        source.silent(2, opens=True)
        source.plain(bold.end() - source.at - 2)
        source.silent(2)
        return True
    count = run(source, "*")
    if count == MANY:
        source.silent(count)
        return True
    before, after = source.before, source.char(count)
    if not after:
        if not source.final:
            return False
        after = "\n"
    if count == 1 and "A" <= before <= "Z" and _is_starred(source, after):
        times = True
    elif before.isspace() and after.isspace():
        times = count <= 2 and after != "\n" and before != "\n"
    elif (before.isalnum() or before == ")") and (after.isalnum() or after == "("):
        if count == 1 and before.isalpha() and after.isalpha() and not source.more(2) and not source.final:
            return False
        times = _multiplies(source, count, before, after)
    else:
        times = False
    if times:
        source.plain(count)
    else:
        _emphasis(source, count, after)
    return True


def _multiplies(source: Source, count: int, before: str, after: str) -> bool:
    """Whether stars between two letters, digits or brackets are arithmetic: `3*4`, `2**8`, `a*b`."""
    if count > 1:
        return before.isdigit() and after.isdigit()
    if before.isdigit() or after.isdigit() or before == ")" or after == "(":
        return True
    alone = not source.char(count + 1).isalnum()  # or it is half-bold text
    return alone and before.isascii() and after.isascii() and before.isalpha() and after.isalpha()


def _is_starred(source: Source, after: str) -> bool:
    """Whether the star belongs to the capital alone before it, as in `A* search`."""
    alone = not source.text[max(0, source.at - 2) : source.at - 1].isalnum()
    return alone and "*" not in source.open_marks and not (after.isascii() and (after.isalnum() or after == "("))


def run(source: Source, mark: str) -> int:
    """How many of the mark follow one another here, `MANY` at the most."""
    text, start = source.text, source.at
    end = start + 1
    if text[end : end + 1] != mark:
        return 1
    while end < len(text) and text[end] == mark and end < start + MANY:
        end += 1
    return end - start


def _emphasis(source: Source, count: int, after: str) -> None:
    """Takes a mark that opens emphasis, or closes the one that is open."""
    mark = source.text[source.at : source.at + count]
    closes = mark in source.open_marks
    opens = not closes and not after.isspace()
    if closes:
        source.open_marks.remove(mark)
    elif opens:
        source.open_marks.add(mark)
    source.silent(count, opens=opens)


def underscores(source: Source) -> bool:
    """Takes underscores: emphasis, unless they are within a name or an address."""
    count = run(source, "_")
    if count == MANY:
        source.silent(count)
        return True
    if not source.more(count) and not source.final:
        return False
    before, after = source.before, source.char(count) or "\n"
    if (before.isalnum() and after.isalnum()) or before in "/@" or after in "/@":
        source.plain(count)
    else:
        _emphasis(source, count, after)
    return True


def tildes(source: Source) -> bool:
    """Takes tildes: two strike words out, one is *about*."""
    count = run(source, "~")
    if count < MANY and not source.more(count) and not source.final:
        return False
    if count == 1:
        source.plain(1)
    else:
        source.silent(count, opens=source.before.isspace())
    return True
