"""Where clean text may be cut: after a sentence as soon as that is certain, and before a piece grows too long.

`Segmenter.cut` looks at the text from the last cut on. It decides about one place after the other, each by the text
before it and by a few characters after it; while these are missing it waits. So the cuts do not depend on how the text
arrived, and a text of a million characters is read once.
"""

from __future__ import annotations

import re

from mirza.speech.text.breaks import Breaks
from mirza.speech.text.clauses import CLAUSE_ENDS, Clauses
from mirza.speech.text.lengths import SOFT_CHARS_CJK, too_long
from mirza.speech.text.stops import STOPS, Stops

_CANDIDATE = re.compile(f"[{STOPS}]")
_CANDIDATE_FIRST = re.compile(rf"[{STOPS}{CLAUSE_ENDS}]| (?=[^\W\d_])")
_STOP_WITHIN = re.compile(rf"[{STOPS}](?!\Z)|[{STOPS}](?<!\n)|\A\n")
"""Where a sentence may end before the end of a line."""


class Segmenter:
    """Finds cuts in the text from the last cut on."""

    def __init__(self, breaks: Breaks, *, quick_first: bool) -> None:
        self._stops = Stops(breaks)
        self._clauses = Clauses(breaks)
        self.first = quick_first
        """Whether the next piece may be a clause: no piece was spoken yet, or the voice is in a hurry."""
        self._hurried = False
        self._scanned = 0
        self._waits = False

    @property
    def settled(self) -> bool:
        """Whether no place waits for more, so that letters alone make no cut."""
        return not self.first and not self._waits

    def start(self, *, spoken: bool) -> None:
        """The text before the last cut has gone, and `spoken` if there was something to say in it."""
        self._scanned = 0
        self._waits = False
        if spoken:
            self.first = self._hurried = False

    def hurry(self) -> None:
        """The next piece may be a clause, as a first one may, or a phrase; also at a place that was passed over."""
        if not self._hurried:
            self.first = self._hurried = True
            self._scanned = 0

    def line(self, text: str) -> int:
        """Where `text`, the last of its line, is cut when it is short and has no other place to be cut at; -1 if it has."""
        if self.first or len(text) >= SOFT_CHARS_CJK or _STOP_WITHIN.search(text):
            return -1
        return len(text) - (text[-1] == "\n")

    def cut(self, text: str, *, final: bool) -> int:
        """The offset of the next cut in `text`, or -1 when there is none yet."""
        pattern = _CANDIDATE_FIRST if self.first else _CANDIDATE
        while found := pattern.search(text, self._scanned):
            at = found.start()
            if at >= SOFT_CHARS_CJK and (long := too_long(text, at)) >= 0:
                return long
            decided = self._decide(text, at, final)
            self._waits = decided is None
            if decided is None:
                return -1
            if decided >= 0:
                return decided
            self._scanned = at + 1
        return too_long(text, len(text))

    def _decide(self, text: str, at: int, final: bool) -> int | None:
        """The cut at a candidate, -1 for none, `None` when more text is needed."""
        if text[at] in CLAUSE_ENDS or text[at] == " ":
            return self._clauses.cut(text, at, final=final, hurried=self._hurried)
        return self._stops.cut(text, at, final=final)
