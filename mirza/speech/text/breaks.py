"""`Breaks`: what a language says about where its sentences end, and where a clause may."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Breaks:
    """What a language says about where sentences end."""

    titles: frozenset[str]
    """Abbreviations that something always follows, lower case, without the last dot: `dr`, `e.g`."""
    title_ends: tuple[str, ...] = ()
    """What such abbreviations end in: German `Hauptstr.`."""
    known: frozenset[str] = frozenset()
    """All abbreviations that have words: a small letter after one goes on with the sentence."""
    short_days: frozenset[str] = frozenset()
    """After these, as in `mar. 4 févr.`, a number goes on with the sentence."""
    numbered: frozenset[str] = frozenset()
    """After these, as they are written, too: `Matt. 5:3`, `Apt. 4B`."""
    closing: frozenset[str] = frozenset()
    """Abbreviations that may end a sentence: `etc`, `p.m`."""
    starters: frozenset[str] = frozenset()
    """Words that begin sentences more often than names do: `the`, `it`."""
    conjunctions: frozenset[str] = frozenset()
    """Words before which a clause may end: `because`, `which`."""
    openers: frozenset[str] = frozenset()
    """Words that open a phrase, before which a speaker may draw breath: the conjunctions, `to`, `with`."""
    ordinal_dot: bool = False
    """Whether `3.` may be an ordinal in the middle of a sentence, as in German."""
    after_time: frozenset[str] = frozenset()
    """Words that begin no sentence after a time of day, lower case: `est`, `monday`."""
