"""`SpeechText`: push what the language model writes, take what the voice is to say.

An object in the manner of an incremental decoder: no thread, no loop, no clock. The pieces that come out depend on the
text alone and not on how it was cut into deltas.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from mirza.speech.text.events import Break, CodeBegins, Event, Text, ThoughtEnds
from mirza.speech.text.language import Language, language_for
from mirza.speech.text.markup import Markup
from mirza.speech.text.pieces import Piece, Tie
from mirza.speech.text.segment import Segmenter
from mirza.speech.text.verbalise import Verbaliser


class SpeechText:
    """Written text in, speakable pieces out.

    `language` is an ISO 639-1 code; the forms of English are used for one that Mirza does not know. `quick_first` lets
    the first piece be a clause, so that the first sound comes early. `in_thought` says that the text begins inside a
    thought, which the prompt opened.
    """

    def __init__(self, language: str = "en", *, quick_first: bool = True, in_thought: bool = False) -> None:
        self.language: Language = language_for(language)
        self._markup = Markup(in_thought=in_thought)
        self._segmenter = Segmenter(self.language.breaks, quick_first=quick_first)
        self._verbaliser = Verbaliser(self.language)
        self._runs: list[_Run] = []
        self._clean = ""
        self._quiet: list[str] = []
        self._quiet_chars = 0
        self._settled = False
        """Whether letters can wait: no decision depends on them."""
        self._at = 0
        """Offset in the answer of the first character in `_runs`."""

    def push(self, text: str) -> list[Piece]:
        """Takes more of the answer; the pieces that are certain by now."""
        if self._settled and self._quiet_chars < _QUIET_CHARS and _LETTERS.fullmatch(text):
            self._quiet.append(text)
            self._quiet_chars += len(text)
            return []
        pieces = self._take(self._markup.push(self._waiting() + text))
        self._settled = self._markup.settled and self._segmenter.settled(self._clean)
        return pieces

    def flush(self) -> list[Piece]:
        """The rest, when the answer has ended."""
        pieces = self._take(self._markup.push(self._waiting())) + self._take(self._markup.flush())
        pieces += self._cut(final=True)
        self._drop()
        return pieces

    def _waiting(self) -> str:
        text = "".join(self._quiet)
        self._quiet.clear()
        self._quiet_chars = 0
        return text

    # from events to pieces

    def _take(self, events: list[Event]) -> list[Piece]:
        pieces: list[Piece] = []
        for event in events:
            match event:
                case Text(clean, written, opens):
                    self._runs.append(_Run(clean, written, opens))
                    self._clean += clean
                    if len(self._clean) > _ENOUGH_CHARS:
                        pieces += self._cut(final=False)
                case Break(written):
                    pieces += self._cut(final=True)
                    self._drop(len(written))
                case CodeBegins(written):
                    pieces += self._cut(final=True)
                    self._drop()
                    pieces.append(self._announce(written))
                case ThoughtEnds(written):
                    pieces += self._cut(final=False)
                    self._drop(len(written))
        pieces += self._cut(final=False)
        return pieces

    def _cut(self, *, final: bool) -> list[Piece]:
        pieces: list[Piece] = []
        while (end := self._segmenter.cut(self._clean, final=final)) >= 0:
            pieces += self._piece(end)
        if final and self._clean:
            pieces += self._piece(len(self._clean))
        return pieces

    def _drop(self, more: int = 0) -> None:
        """Passes over what is waiting, and `more` characters after it: they are not spoken."""
        self._at += sum(len(run.written) for run in self._runs) + more
        self._runs.clear()
        self._clean = ""
        self._segmenter.start(spoken=False)

    def _announce(self, written: str) -> Piece:
        start = self._at
        self._at += len(written)
        self._segmenter.start(spoken=True)
        return Piece(written, self.language.code_announcement, start, self._at)

    def _piece(self, end: int) -> list[Piece]:
        """Takes the clean text up to `end`: a piece, or none when there is nothing in it to say."""
        taken = self._take_runs(end)
        end = sum(len(run.clean) for run in taken)
        clean, self._clean = self._clean[:end], self._clean[end:]
        first = next((index for index, run in enumerate(taken) if run.begins), len(taken))
        start = self._at + sum(len(run.written) for run in taken[:first])
        self._at += sum(len(run.written) for run in taken)
        while taken and taken[-1].blank:
            taken.pop()
        shown = taken[first:]
        written = "".join(run.written for run in shown)
        lead = sum(len(run.clean) for run in taken[:first])
        said = self._verbaliser.say(clean[lead : lead + sum(len(run.clean) for run in shown)])
        self._segmenter.start(spoken=bool(said.text))
        if not said.text:
            return []
        ties: tuple[Tie, ...] = ()
        if written != said.text:
            clean_chars = sum(len(run.clean) for run in shown)
            ties = _tie(said.ties or (Tie(clean_chars, len(said.text), same=True),), shown)
        return [Piece(written, said.text, start, start + len(written), ties)]

    def _take_runs(self, end: int) -> list[_Run]:
        """The runs of the clean text up to `end`, with the markup that closes there."""
        taken: list[_Run] = []
        left = end
        while self._runs and (left > 0 or (not self._runs[0].clean and not self._runs[0].opens)):
            run = self._runs.pop(0)
            if len(run.clean) <= left or run.clean != run.written:
                taken.append(run)
                left -= len(run.clean)
            else:
                taken.append(_Run(run.clean[:left], run.written[:left]))
                self._runs.insert(0, _Run(run.clean[left:], run.written[left:]))
                left = 0
        return [part for run in taken for part in run.parts()]


_QUIET_CHARS = 48
"""Letters that decide nothing are looked at this many at a time: models write three or four characters a token."""
_LETTERS = re.compile(r"[^\W\d_]*(?: [^\W\d_]+)*")
_ENOUGH_CHARS = 400
"""Text that comes all at once is cut while it is read, so that the waiting part stays small."""


@dataclass(slots=True)
class _Run:
    """Some clean text and the written characters behind it; they are the same, or belong together as a whole."""

    clean: str
    written: str
    opens: bool = False

    @property
    def blank(self) -> bool:
        """Whether this is white space and nothing else."""
        return not self.clean.strip() and not self.written.strip()

    @property
    def begins(self) -> bool:
        """Whether a piece may begin here."""
        return bool(self.clean.strip()) or self.opens

    def parts(self) -> list[_Run]:
        """Plain text split from the white space around it, so that a piece begins and ends at a letter or a mark."""
        text = self.clean
        if text != self.written or text == text.strip():
            return [self]
        core = text.strip()
        if not core:
            return [self]
        lead = text.index(core)
        rest = text[lead + len(core) :]
        parts = [_Run(text[:lead], text[:lead]), _Run(core, core), _Run(rest, rest)]
        return [part for part in parts if part.written]


@dataclass(frozen=True, slots=True)
class _Edge:
    """The end of a run with text, and of the markup that closes after it; where the run began."""

    clean_start: int
    written_start: int
    clean_end: int
    written_end: int
    whole: bool


def _tie(ties: tuple[Tie, ...], runs: list[_Run]) -> tuple[Tie, ...]:
    """Ties to the clean text made ties to the written one; markup that closes after a word belongs to it."""
    tied: list[Tie] = []
    edges = _edges(runs)
    at = clean_at = spoken_at = 0
    for tie in ties:
        while at < len(edges) and edges[at].clean_end < tie.written_end:
            if tie.same and edges[at].clean_end > clean_at:
                share = (edges[at].clean_end - clean_at) / (tie.written_end - clean_at)
                spoken = spoken_at + round(share * (tie.spoken_end - spoken_at))
                tied.append(Tie(edges[at].written_end, spoken, same=True))
            at += 1
        end = _written(edges[at], tie.written_end) if at < len(edges) else edges[-1].written_end if edges else 0
        tied.append(Tie(end, tie.spoken_end, tie.same))
        clean_at, spoken_at = tie.written_end, tie.spoken_end
    return tuple(tied)


def _edges(runs: list[_Run]) -> list[_Edge]:
    edges: list[_Edge] = []
    clean_at = written_at = 0
    for run in runs:
        clean_end, written_end = clean_at + len(run.clean), written_at + len(run.written)
        if run.clean:
            edges.append(_Edge(clean_at, written_at, clean_end, written_end, run.clean != run.written))
        elif edges and not run.opens:
            edges[-1] = replace(edges[-1], written_end=written_end)
        clean_at, written_at = clean_end, written_end
    return edges


def _written(edge: _Edge, clean: int) -> int:
    if edge.whole or clean == edge.clean_end:
        return edge.written_end
    return edge.written_start + clean - edge.clean_start
