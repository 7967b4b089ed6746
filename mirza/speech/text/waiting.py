"""`Waiting`: text that is not cut into pieces yet, clean and as it is written, and how one lies on the other."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from mirza.speech.text.events import Mark, Text


@dataclass(slots=True)
class Stretch:
    """A part of the answer without the white space around it: its clean text, and the written text behind that.

    `clean_at` and `start` are where both begin, in characters from the start of the answer, as in `marks`.
    """

    clean: str
    written: str
    clean_at: int
    start: int
    marks: Sequence[Mark] = ()


class Waiting:
    """Grows at the end, and is taken from the front."""

    def __init__(self) -> None:
        self.clean = ""
        self._written = ""
        self._marks: list[Mark] = []
        self._clean_at = 0
        self._start = 0

    def add(self, text: Text) -> None:
        """Appends what was read."""
        self.clean += text.clean
        self._written += text.written
        self._marks += text.marks

    def drop(self, more: int = 0) -> int:
        """Passes over everything, and `more` written characters after it; where in the answer that ends."""
        if self._written:
            self._clean_at += len(self.clean)
            more += len(self._written)
            self.clean = self._written = ""
            self._marks.clear()
        self._start += more
        return self._start

    def take(self, end: int) -> Stretch:
        """Takes the clean text up to `end`, and the markup that closes there."""
        if not self._marks:
            return self._take_plain(end)
        clean_end, count = self._reach(end)
        marks = self._marks[:count]
        stretch = self._trim(self.clean[: clean_end - self._clean_at], marks)
        last = marks[-1] if marks else None
        written_end = last.written_end + clean_end - last.clean_end if last else self._start + end
        self._go_on(clean_end - self._clean_at, written_end - self._start)
        del self._marks[:count]
        return stretch

    def _take_plain(self, end: int) -> Stretch:
        clean = self.clean
        core = clean[:end].strip()
        lead = clean.find(core)
        stretch = Stretch(core, core, self._clean_at + lead, self._start + lead)
        self.clean = self._written = clean[end:]
        self._clean_at += end
        self._start += end
        return stretch

    def _reach(self, end: int) -> tuple[int, int]:
        """The clean offset that `end` comes to, since what stands for one mark is not cut; how many marks are before it."""
        clean_end = self._clean_at + end
        marks = self._marks
        count = bisect_left(marks, (clean_end,))
        if count:
            clean_end = max(clean_end, marks[count - 1].clean_end)
        while count < len(marks) and marks[count].clean_end == clean_end and not marks[count].opens:
            count += 1
        return clean_end, count

    def _go_on(self, clean: int, written: int) -> None:
        self.clean = self.clean[clean:]
        self._written = self._written[written:]
        self._clean_at += clean
        self._start += written

    def _trim(self, text: str, marks: list[Mark]) -> Stretch:
        """A stretch that begins at a letter, a sign or markup that opens, and ends at one or at markup that closes."""
        at, begun = self._clean_at, self._start
        first = at + len(text) - len(text.lstrip())
        clean_at, start, from_mark = first, begun + first - at, 0
        for mark in marks:
            if mark.clean > first:
                break
            if mark.opens or mark.clean_end > first:
                clean_at, start = mark.clean, mark.written
                break
            start = mark.written_end + first - mark.clean_end
            from_mark += 1
        last = at + len(text.rstrip())
        upto = len(marks)
        while upto > from_mark and marks[upto - 1].clean >= last and self._blank(marks[upto - 1]):
            upto -= 1
        shown = marks[from_mark:upto]
        clean_end, end = (last, start + last - clean_at) if last > clean_at else (clean_at, start)
        if shown:
            mark = shown[-1]
            clean_end = mark.clean_end if mark.clean_end > last else last
            end = mark.written_end + clean_end - mark.clean_end
        clean = text[clean_at - at : clean_end - at]
        return Stretch(clean, self._written[start - begun : end - begun], clean_at, start, shown)

    def _blank(self, mark: Mark) -> bool:
        return not self._written[mark.written - self._start : mark.written_end - self._start].strip()
