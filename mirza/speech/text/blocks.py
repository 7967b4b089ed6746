"""Markup that is known by the start of a line: headings, items, quotes, tables, rules, code blocks."""

from __future__ import annotations

import re
from collections.abc import Callable

from mirza.speech.text.source import Source

_FENCE = re.compile(r"(`{3,8}|~{3,8})([^\n`]{0,80})(?:\n|\Z)")
_FENCE_BEGUN = re.compile(r"(?:`{1,8}|~{1,8}|(?:`{3,8}|~{3,8})[^\n`]{0,80})\Z")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|(?=\n))")
_HEADING_BEGUN = re.compile(r"#{1,6}\Z")
_QUOTE = re.compile(r">(?=[\s>\w*_\"'“«#-])(?!\d)(?!=)")
_RULE = re.compile(
    r"(?:(?:-[ \t]?){3,40}|(?:\*[ \t]?){3,40}|(?:_[ \t]?){3,40}|={3,40}|[|:][ \t|:-]{2,200}|[-:][|: \t-]{2,200})(?=\n|\Z)"
)
_RULE_BEGUN = re.compile(r"(?:[-:|=][-:|= \t]{0,200}|(?:\*[ \t]?){1,40}|(?:_[ \t]?){1,40})\Z")
_PLAIN_BULLET = re.compile(r"[-*+•] (?=(?:\*\*|`)?[^\W_])")
"""Of most items: nothing else can come of it."""
_BULLET = re.compile(r"(?:[-*+•‣▪◦·●○–—][ \t]{1,8}|[•‣▪◦●○])(?:\[[ xX✓✔]\][ \t])?")
_BULLET_BEGUN = re.compile(r"[-*+•‣▪◦·●○–—](?:[ \t]{0,8}|[ \t]{1,8}\[(?:[ xX✓✔]\]?)?)\Z")
_NUMBERED = re.compile(r"(\d{1,3})(\ufe0f?\u20e3|[.)])[ \t]{1,8}(?=\S)")
_ORDINAL_NAMES = "FC FFC FSV SC TSV Mose Kor Korinther Samuel Könige Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
"""What a German ordinal stands before: `1. FC Köln`, `1. Mai` are no items."""
_ORDINAL_STARTS = frozenset(name[0] for name in _ORDINAL_NAMES)
_ORDINAL = re.compile(rf"(?:{'|'.join(_ORDINAL_NAMES)})\b")
_ORDINAL_BEGUN = re.compile(
    rf"(?:{'|'.join(sorted({name[:end] for name in _ORDINAL_NAMES for end in range(1, len(name) + 1)}))})\Z"
)
_NUMBERED_BEGUN = re.compile(r"\d{1,3}(?:(?:\ufe0f?\u20e3?|[.)])[ \t]{0,8})?\Z")
_REFERENCE = re.compile(r"\[[^\]\n]{1,60}\]:[ \t]+<?https?://[^\n]{0,500}(?:\n|\Z)")
_REFERENCE_BEGUN = re.compile(r"\[[^\]\n]{0,60}(?:\](?::[ \t]*(?:<?h?t?t?p?s?:?/?/?|<?https?://[^\n]{0,500}))?)?\Z")
_FOOTNOTE = re.compile(r"\[\^[\w-]{1,40}\]:[ \t]*")


def read_line_start(source: Source) -> bool | Fence:
    """Takes what the start of a line says of it; false when more text is needed to know."""
    char = source.text[source.at]
    if char == "\n":
        source.part(1)
        return True
    if char in " \t\r\xa0\u3000":
        source.silent(1)
        return True
    for reader in _READERS.get(char) or ((_read_number,) if char.isdigit() else ()):
        found = reader(source)
        if found is not None:
            return found
    source.line_start = False
    return True


def _read_code(source: Source) -> bool | Fence | None:
    if _ends(source, _FENCE_BEGUN):
        return False
    if fence := source.match(_FENCE):
        marks = fence[1]
        if fence.group().endswith("\n"):
            source.code(fence.end() - source.at)
        else:
            source.part(fence.end() - source.at)
        return Fence(marks)
    return None


def _read_rule(source: Source) -> bool | None:
    if _ends(source, _RULE_BEGUN):
        return False
    if rule := source.match(_RULE):
        source.part(rule.end() - source.at)
        return True
    return None


def _read_plain_bullet(source: Source) -> bool | None:
    if not _PLAIN_BULLET.match(source.text, source.at):
        return None
    source.part()
    source.silent(2, opens=True)
    source.line_start = False
    return True


def _read_mark(source: Source) -> bool | None:
    if source.char() == "#":
        if _ends(source, _HEADING_BEGUN):
            return False
        if heading := source.match(_HEADING):
            return _begin_block(source, heading.end() - source.at)
        return None
    if source.char() == ">":
        if not source.more(1) and not source.final:
            return False
        if source.match(_QUOTE):
            source.silent(1, opens=True)
            return True
        return None
    if _ends(source, _BULLET_BEGUN):
        return False
    if bullet := source.match(_BULLET):
        return _begin_item(source, bullet.end() - source.at)
    return None


def _begin_item(source: Source, length: int) -> bool:
    _begin_block(source, length)
    source.hard_line = False  # an item may go on in the next line
    return True


def _read_number(source: Source) -> bool | None:
    if number := source.match(_NUMBERED):
        if source.text[number.end()] in _ORDINAL_STARTS:
            if not source.final and _ORDINAL_BEGUN.match(source.text, number.end()):
                return False
            if _ORDINAL.match(source.text, number.end()):
                return None
        source.part()
        source.plain(len(number[1]))
        source.silent(len(number[2]), clean=ITEM)
        source.line_start = False
        return True
    return False if _ends(source, _NUMBERED_BEGUN) else None


ITEM = "\ue000"
"""Stands after the number of an item in clean text, so that `1.` ends no sentence and is said with a pause."""


def _read_table(source: Source) -> bool | None:
    if _begin_block(source, 1):
        source.table_row = True
    return True


def _read_reference(source: Source) -> bool | None:
    if _ends(source, _REFERENCE_BEGUN):
        return False
    if reference := source.match(_REFERENCE):
        source.part(reference.end() - source.at)
        return True
    if footnote := source.match(_FOOTNOTE):
        return _begin_block(source, footnote.end() - source.at)
    return None


def _begin_block(source: Source, length: int) -> bool:
    """Parts the line from what is before it, and takes its mark."""
    source.part()
    source.silent(length, opens=True)
    source.line_start, source.hard_line = False, True
    return True


def _ends(source: Source, begun: re.Pattern[str]) -> bool:
    """Whether the text ends, for now, in the middle of what may become a mark."""
    return not source.final and begun.match(source.text, source.at) is not None


_Reader = Callable[[Source], "bool | Fence | None"]
_READERS: dict[str, tuple[_Reader, ...]] = {
    **dict.fromkeys("`~", (_read_code,)),
    **dict.fromkeys("-*", (_read_plain_bullet, _read_rule, _read_mark)),
    **dict.fromkeys("_=:", (_read_rule,)),
    **dict.fromkeys("+•", (_read_plain_bullet, _read_mark)),
    **dict.fromkeys("#>‣▪◦·●○–—", (_read_mark,)),
    "|": (_read_rule, _read_table),
    "[": (_read_reference,),
}
"""By the first character of the line."""


class Fence:
    """An open code block: nothing of it is spoken, to the line that closes it."""

    def __init__(self, marks: str) -> None:
        self._line_start = True
        self._close = re.compile(rf"[ \t]{{0,3}}{re.escape(marks[0])}{{{len(marks)},40}}[ \t]{{0,40}}(?:\n|\Z)")
        self._begun = re.compile(rf"[ \t]{{0,3}}{re.escape(marks[0])}{{0,40}}[ \t]{{0,40}}\Z")

    def read(self, source: Source) -> bool:
        """Takes what is certainly code; true when the block has ended. Waits by leaving text untaken."""
        while source.more():
            if self._line_start:
                if not source.final and self._begun.match(source.text, source.at):
                    return False
                if closing := self._close.match(source.text, source.at):
                    source.part(closing.end() - source.at)
                    return True
                self._line_start = False
            end = source.text.find("\n", source.at)
            source.part((end + 1 if end >= 0 else len(source.text)) - source.at)
            self._line_start = end >= 0
        return False
