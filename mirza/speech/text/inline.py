"""Markup within a line: emphasis, code, links, citations, tags, entities, escapes.

Kept apart from what only looks like it: `3 * 4`, `my_var_name`, `5 < 10`, `AT&T`, `arr[0]`.
"""

from __future__ import annotations

import html
import re

import mirza.speech.text.latex as latex
from mirza.speech.text.brackets import close_bracket, corner, open_bracket
from mirza.speech.text.emphasis import MANY, run, stars, tildes, underscores
from mirza.speech.text.source import Source

_CODE_CHARS = 200
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z]{2,31}\d{0,2});")
_ENTITY_BEGUN = re.compile(r"&(?:#?[xX]?[\dA-Za-z]{0,32})\Z")
_ESCAPED = frozenset("*_`#[]<>!|~{}+-.$&=^\"'/:;,?@%\\")


def read_inline(source: Source) -> bool:
    """Takes what is next in the line, where that is not `PLAIN`."""
    char = source.text[source.at]
    if reader := _READERS.get(char):
        return reader(source)
    if char.isspace():
        return _space(source)
    source.silent(1)  # a control character
    return True


def _newline(source: Source) -> bool:
    if source.hard_line:
        source.part(1)
    else:
        source.at += 1
    source.line_start, source.hard_line, source.table_row = True, False, False
    source.closers.clear()
    return True


def _space(source: Source) -> bool:
    char = source.char()
    if source.before.isspace() or char == "\r":
        source.silent(1)
    elif char in " \xa0\u202f":
        source.plain(1)
    else:
        source.silent(1, clean=" ")
    return True


def _backticks(source: Source) -> bool:
    count = run(source, "`")
    if count < MANY and not source.more(count) and not source.final:
        return False
    start = source.at + count
    limit = min(len(source.text), start + _CODE_CHARS)
    closing = re.compile(rf"(?<!`)`{{{count}}}(?!`)").search(source.text, start, limit)
    ended = source.text.find("\n\n", start, limit)
    if closing and closing.end() == len(source.text) and not source.final and closing.end() < start + _CODE_CHARS:
        return False  # one more backtick would make it another run
    if closing and (ended < 0 or closing.start() < ended):
        source.silent(count, opens=True)
        if closing.start() > start:
            source.plain(closing.start() - start)
        source.silent(count)
        return True
    if ended < 0 and limit - start < _CODE_CHARS and not source.final:
        return False
    source.silent(count, opens=source.before.isspace())
    return True


def _bang(source: Source) -> bool:
    if not source.more(1) and not source.final:
        return False
    image = source.char(1) == "[" and not source.before.isalnum()
    if image:
        source.silent(1, opens=True)
    else:
        source.plain(1)
    return True


def _ampersand(source: Source) -> bool:
    if entity := source.match(_ENTITY):
        character = html.unescape(entity.group())
        clean = " " if character.isspace() else character if character != entity.group() else ""
        if clean:
            source.silent(entity.end() - source.at, clean=clean)
            return True
    elif source.match(_ENTITY_BEGUN) and not source.final:
        return False
    source.plain(1)
    return True


def _backslash(source: Source) -> bool:
    if not source.more(1) and not source.final:
        return False
    following = source.char(1)
    if following in "()[]" and following:
        source.silent(2)
    elif following == "\n":
        source.silent(1)
    elif following in _ESCAPED and following:
        source.silent(2, clean=following)
    elif following.isascii() and following.isalpha():
        return latex.read_command(source, within=source.before.isalnum() or source.before == ":")
    else:
        source.plain(1)
    return True


def _pipe(source: Source) -> bool:
    if not source.table_row:
        source.plain(1)
        return True
    rest = re.compile(r"\|[ \t]{0,64}").match(source.text, source.at)
    assert rest is not None
    if rest.end() == len(source.text) and not source.final:
        return False
    last = rest.end() == len(source.text) or source.text[rest.end()] == "\n"
    source.silent(1, clean="" if last else ",")
    return True


_READERS = {
    "\n": _newline,
    " ": _space,
    "*": stars,
    "_": underscores,
    "~": tildes,
    "`": _backticks,
    "!": _bang,
    "[": open_bracket,
    "]": close_bracket,
    "【": corner,
    "&": _ampersand,
    "\\": _backslash,
    "|": _pipe,
    "$": latex.read_dollar,
}
