"""`SpeechText`: push what the language model writes, take what the voice is to say.

An object in the manner of an incremental decoder: no thread, no loop, no clock. The pieces that come out depend on the
text alone and not on how it was cut into deltas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from mirza.speech.text.events import Break, CodeBegins, Event, Text, ThoughtEnds
from mirza.speech.text.language import Language, language_for
from mirza.speech.text.markup import Markup
from mirza.speech.text.pieces import Piece
from mirza.speech.text.segment import STOPS, Segmenter
from mirza.speech.text.ties import tie
from mirza.speech.text.verbalise import Verbaliser
from mirza.speech.text.waiting import Waiting


class SpeechText:
    """Written text in, speakable pieces out.

    `language` is an ISO 639-1 code; in one that Mirza has no forms for, numbers are left to the voice. `quick_first` lets
    the first piece be a clause, so that the first sound comes early. `in_thought` says that the text begins inside a
    thought, which the prompt opened.
    """

    def __init__(self, language: str = "en", *, quick_first: bool = True, in_thought: bool = False) -> None:
        self.language: Language = language_for(language)
        self._markup = Markup(in_thought=in_thought)
        self._segmenter = Segmenter(self.language.breaks, quick_first=quick_first)
        self._verbaliser = Verbaliser(self.language)
        self._waiting = Waiting()
        self._clauses = quick_first
        """Whether the next piece may be a clause."""
        self._quiet: list[str] = []
        self._quiet_chars = 0
        self._wakes: Callable[[str], re.Match[str] | None] | None = None
        """What has to come before anything can be decided; `None` where any character may do that."""

    def push(self, text: str) -> list[Piece]:
        """Takes more of the answer; the pieces that are certain by now."""
        wakes = self._wakes
        if wakes is not None and self._quiet_chars < _QUIET_CHARS and not wakes(text):
            self._quiet.append(text)
            self._quiet_chars += len(text)
            return []
        pieces: list[Piece] = []
        if self._quiet or len(text) > _BLOCK_CHARS:
            self._read(text, pieces)
        else:
            self._take(self._markup.push(text), pieces)
        hidden = self._markup.wakes
        if hidden is not None:
            self._wakes = hidden.search
        elif self._segmenter.settled and not ((held := self._markup.held) and _WAKES.search(held)):
            self._wakes = _WAKES.search
        else:
            self._wakes = None
        return pieces

    def hurry(self) -> None:
        """Lets the next piece be a clause, as the first one may be, or a phrase: the voice has nothing to say, or soon.

        From here on the pieces depend on when this was called, too.
        """
        self._segmenter.hurry()
        self._clauses = True
        self._wakes = None

    def flush(self) -> list[Piece]:
        """The rest, when the answer has ended."""
        pieces: list[Piece] = []
        self._read("", pieces)
        self._take(self._markup.flush(), pieces)
        self._cut(pieces, final=True)
        self._drop()
        return pieces

    def _read(self, text: str, pieces: list[Piece]) -> None:
        """Reads what was quiet, and `text`; a long one part by part, so that never much of it waits."""
        if self._quiet:
            text = "".join(self._quiet) + text
            self._quiet.clear()
            self._quiet_chars = 0
        for at in range(0, len(text), _BLOCK_CHARS):
            self._take(self._markup.push(text[at : at + _BLOCK_CHARS]), pieces)

    # from events to pieces

    def _take(self, events: list[Event], pieces: list[Piece]) -> None:
        for event in events:
            match event:
                case Text():
                    self._waiting.add(event)
                case Break(written):
                    self._cut(pieces, final=True)
                    self._drop(len(written))
                case CodeBegins(written):
                    self._cut(pieces, final=True)
                    pieces.append(self._announce(written))
                case ThoughtEnds(written):
                    self._cut(pieces, final=False)
                    self._drop(len(written))
        self._cut(pieces, final=False)

    def _cut(self, pieces: list[Piece], *, final: bool) -> None:
        clean = self._waiting.clean
        if not clean:
            return
        if final and not self._clauses and len(clean) < _SHORT_CHARS and not _STOP_WITHIN.search(clean):
            self._say(len(clean) - (clean[-1] == "\n"), pieces)  # all of a short line
            return
        while (end := self._segmenter.cut(self._waiting.clean, final=final)) >= 0:
            self._say(end, pieces)
        if final and (clean := self._waiting.clean) and not clean.isspace():
            self._say(len(clean), pieces)

    def _say(self, end: int, pieces: list[Piece]) -> None:
        """Takes the clean text up to `end`: a piece, or none when there is nothing in it to say."""
        stretch = self._waiting.take(end)
        said = self._verbaliser.say(stretch.clean) if stretch.clean else ""
        self._segmenter.start(spoken=bool(said))
        if said:
            self._clauses = False
            ties = partial(tie, self._verbaliser, stretch) if stretch.written != said else ()
            start = stretch.start
            pieces.append(Piece(stretch.written, said, start, start + len(stretch.written), ties))

    def _drop(self, more: int = 0) -> int:
        """Passes over what is waiting, and `more` characters after it: they are not spoken. Where that ends."""
        if self._waiting.clean:
            self._segmenter.start(spoken=False)
        return self._waiting.drop(more)

    def _announce(self, written: str) -> Piece:
        start = self._drop()
        self._drop(len(written))
        self._clauses = False
        self._segmenter.start(spoken=True)
        return Piece(written, self.language.code_announcement, start, start + len(written))


_QUIET_CHARS = 48
"""Text that decides nothing is looked at this many characters at a time: models write three or four a token."""
_BLOCK_CHARS = 2048
_SHORT_CHARS = 80
"""No text is cut for its length below this."""
_STOP_WITHIN = re.compile(rf"[{STOPS}](?!\Z)|[{STOPS}](?<!\n)|\A\n")
"""Where a sentence may end before the end of a line."""
_WAKES = re.compile(rf"[{STOPS}<>\[\]|&◁▷]")
"""Where a sentence may end, or something begin or end that parts the text. No piece comes before one of these."""
