"""`Ties`: what is said of a piece tied to what is written, through the clean text between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirza.speech.text.events import Mark
from mirza.speech.text.pieces import Tie
from mirza.speech.text.verbalise import Verbaliser
from mirza.speech.text.waiting import Stretch


@dataclass(slots=True)
class Ties:
    """The ties of a piece, for who calls it."""

    verbaliser: Verbaliser
    stretch: Stretch

    def __call__(self) -> tuple[Tie, ...]:
        """The stretch is said once more for that: few pieces are ever cut short, and all others do without."""
        return _tied(self.stretch, self.verbaliser.ties(self.stretch.clean))


def _tied(stretch: Stretch, ties: tuple[Tie, ...]) -> tuple[Tie, ...]:
    """Ties to the clean text made ties to the written one; markup that closes after a word is part of it."""
    tied: list[Tie] = []
    at = 0
    shift = stretch.start - stretch.clean_at
    """From clean offsets to written ones, after the marks so far."""
    clean_at, spoken_at = stretch.clean_at, 0
    for given in ties:
        clean_end = stretch.clean_at + given.written_end
        first = at
        while at < len(stretch.marks) and _is_within(stretch.marks[at], clean_end):
            clean_end = max(clean_end, stretch.marks[at].clean_end)
            at += 1
        if given.same and at > first:
            share = (given.spoken_end - spoken_at) / max(1, clean_end - clean_at)
            for clean, written in _edges(stretch, stretch.marks[first:at], clean_at):
                if clean < clean_end:
                    spoken = spoken_at + round(share * (clean - clean_at))
                    tied.append(Tie(written - stretch.start, spoken, same=True))
        if at:
            shift = stretch.marks[at - 1].written_end - stretch.marks[at - 1].clean_end
        end = clean_end + shift - stretch.start
        if tied:
            end = max(end, tied[-1].written_end)  # two things that are said of one mark end where it does
        tied.append(Tie(end, given.spoken_end, given.same))
        clean_at, spoken_at = stretch.clean_at + given.written_end, given.spoken_end
    return tuple(tied)


def _is_within(mark: Mark, clean_end: int) -> bool:
    """Whether a mark belongs to what ends at `clean_end`."""
    return mark.clean < clean_end or (mark.clean_end == clean_end and not mark.opens)


def _edges(stretch: Stretch, marks: Sequence[Mark], clean_at: int) -> list[tuple[int, int]]:
    """Offsets, clean and written, around `marks`: before one that opens, before and after the word that one closes."""
    edges: list[tuple[int, int]] = []
    done = clean_at
    for mark in marks:
        if mark.clean <= clean_at:
            continue
        if mark.opens:
            edges.append((mark.clean, mark.written))
        else:
            word = stretch.clean.rfind(" ", done - stretch.clean_at, mark.clean - stretch.clean_at) + stretch.clean_at
            if word > done:
                edges.append((word, mark.written - (mark.clean - word)))
            edges.append((mark.clean_end, mark.written_end))
        done = mark.clean_end
    return edges
