"""Markup within a line: emphasis, code, links, citations, tags, entities, escapes.

Kept apart from what only looks like it: `3 * 4`, `my_var_name`, `5 < 10`, `AT&T`, `arr[0]`.
"""

from __future__ import annotations

import html
import re

import mirza.speech.text.latex as latex
import mirza.speech.text.links as links
from mirza.speech.text.source import Source

_MARK = r"\s*_`<\[\]!&\\~|$◁【\x00-\x1f\x7f"
PLAIN = re.compile(rf"(?:(?<=\S) )?[^{_MARK}]{{1,200}}(?: [^{_MARK}]{{1,200}}){{0,40}} ?")
"""Words with one space before, between and after them, and nothing that could be markup."""
ALL_PLAIN = re.compile(rf" ?[^{_MARK}]{{1,200}}(?: [^{_MARK}]{{1,200}}){{0,40}} ?")
"""The same for all of a delta: what is before its first space is looked at by who asks."""

MANY = 8
"""So many marks in a row are a line, not emphasis."""
_CODE_CHARS = 200
_CITATION = re.compile(
    r"\[(?:\^[\w\-]{1,40}|[1-9]\d{0,2}(?:(?:\s?[,–-]|;)\s?[1-9]\d{0,2}){0,1})\]|【[^】\n†‡]{0,40}[†‡][^】\n]{0,80}】|【\d{1,3}】"
)
_INDEX = re.compile(r"\[([\w+\-*:., ]{1,40})\]")
"""`arr[i]` is said as a call is."""
_PAIR = re.compile(r"\[\d{1,3},")
_CORNER_BEGUN = re.compile(r"【[^】\n†‡]{0,40}(?:[†‡][^】\n]{0,80})?\Z")
_LISTED_CHARS = 16
_ON_INTERVAL = re.compile(
    r"\b(?:sur|auf|intervalle?o?|Intervall|(?:crece|wächst|fällt|stetig|continua|continue|croissante) (?:en|in|dans)) \Z"
)
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


def _stars(source: Source) -> bool:
    count = _run(source, "*")
    if count == MANY:
        source.silent(count)
        return True
    before, after = source.before, source.char(count)
    if not after:
        if not source.final:
            return False
        after = "\n"
    if before.isspace() and after.isspace():
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


def _run(source: Source, mark: str) -> int:
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


def _underscores(source: Source) -> bool:
    count = _run(source, "_")
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


def _tildes(source: Source) -> bool:
    count = _run(source, "~")
    if count < MANY and not source.more(count) and not source.final:
        return False
    if count == 1:
        source.plain(1)
    else:
        source.silent(count, opens=source.before.isspace())
    return True


def _backticks(source: Source) -> bool:
    count = _run(source, "`")
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


def _open_bracket(source: Source) -> bool:
    if alone := links.alone(source.text, source.at, final=source.final):
        source.silent(alone, opens=True)
        return True
    if cited := source.match(_CITATION):
        following = source.text[cited.end() : cited.end() + 1]
        if not following and not source.final:
            return False
        if following != "(" and not _listed(source) and cited.group() != "[0]":
            source.silent(cited.end() - source.at)
            return True
    found = links.find(source.text, source.at)
    if found is links.UNKNOWN and not source.final:
        return False
    if isinstance(found, links.Link):
        if found.numbered:
            source.silent(found.end - source.at)
            return True
        source.closers.append((found.text_end, found.end))
    elif (
        (index := source.match(_INDEX))
        and source.before.isascii()
        and (source.before.isalnum() or source.before in ")]}")
    ):
        source.silent(1, clean="(")
        source.plain(len(index[1]))
        source.silent(1, clean=")")
        return True
    source.silent(1, opens=True)
    return True


def _listed(source: Source) -> bool:
    """Whether the bracket is a value, `x = [1, 2]`, and no citation."""
    if source.before in "为是取于间围は" and source.match(_PAIR):
        return True
    lead = source.text[max(0, source.at - _LISTED_CHARS) : source.at]
    return source.before == "=" or lead.endswith(("= ", ": ", "∈ ")) or _ON_INTERVAL.search(lead) is not None


def _close_bracket(source: Source) -> bool:
    for start, end in source.closers:
        if start == source.at:
            source.closers.remove((start, end))
            source.silent(end - start)
            return True
    parts = source.before.isdigit() and source.char(1).isdigit()
    source.silent(1, clean=" " if parts else "")
    return True


def _corner(source: Source) -> bool:
    if cited := source.match(_CITATION):
        source.silent(cited.end() - source.at)
    elif source.match(_CORNER_BEGUN) and not source.final:
        return False
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
    "*": _stars,
    "_": _underscores,
    "~": _tildes,
    "`": _backticks,
    "!": _bang,
    "[": _open_bracket,
    "]": _close_bracket,
    "【": _corner,
    "&": _ampersand,
    "\\": _backslash,
    "|": _pipe,
    "$": latex.read_dollar,
}
