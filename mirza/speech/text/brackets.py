"""Square brackets and their like: links, citations, values."""

from __future__ import annotations

import re

import mirza.speech.text.links as links
from mirza.speech.text.source import Source

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


def open_bracket(source: Source) -> bool:
    """Takes a bracket that opens: of a link, silently; a citation whole."""
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


def close_bracket(source: Source) -> bool:
    """Takes a bracket that closes, with the address of its link."""
    for start, end in source.closers:
        if start == source.at:
            source.closers.remove((start, end))
            source.silent(end - start)
            return True
    if source.before.isdigit() and not source.more(1) and not source.final:
        return False
    parts = source.before.isdigit() and source.char(1).isdigit()
    source.silent(1, clean=" " if parts else "")
    return True


def corner(source: Source) -> bool:
    """Takes `【`, which opens a citation, or is a mark like any other."""
    if cited := source.match(_CITATION):
        source.silent(cited.end() - source.at)
    elif source.match(_CORNER_BEGUN) and not source.final:
        return False
    else:
        source.plain(1)
    return True
