"""`SpeechText`: push what the language model writes, take what the voice is to say.

An object in the manner of an incremental decoder: no thread, no loop, no clock. The pieces that come out depend on the
text alone and not on how it was cut into deltas.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mirza.speech.text.events import Break, CodeBegins, Event, Text, ThoughtEnds
from mirza.speech.text.language import Language, language_for
from mirza.speech.text.markup import Markup
from mirza.speech.text.pieces import Piece
from mirza.speech.text.segment import Segmenter
from mirza.speech.text.stops import STOPS
from mirza.speech.text.ties import Ties
from mirza.speech.text.verbalise import Verbaliser
from mirza.speech.text.waiting import Stretch, Waiting


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
        self._quiet: list[str] = []
        self._quiet_chars = 0
        self._stops_decide_later = False
        """Whether the text at a stop is not decided before more of it is there."""
        self._wakes: Callable[[str], re.Match[str] | None] | None = None
        """What has to come before anything can be decided; `None` where any character may do that."""

    def push(self, text: str) -> list[Piece]:
        """Takes more of the answer; the pieces that are certain by now."""
        wakes = self._wakes
        if wakes is not None and self._quiet_chars < _QUIET_CHARS:
            found = wakes(text)
            decides_later = found is not None and self._stops_decide_later and _STOP_AT_END.match(text, found.start())
            if found is None or decides_later:
                self._quiet.append(text)
                self._quiet_chars += len(text)
                if decides_later:
                    self._wakes = None
                return []
        pieces = self._read(text)
        markup = self._markup
        hidden = markup.wakes
        held = markup.held
        self._stops_decide_later = hidden is None and not held and not markup.parts_at_line_end
        if hidden is not None:
            self._wakes = hidden.search
        elif self._segmenter.settled and not (held and _WAKES.search(held)):
            self._wakes = _WAKES.search
        else:
            self._wakes = None
        return pieces

    def hurry(self) -> None:
        """Lets the next piece be a clause, as the first one may be, or a phrase: the voice has nothing to say, or soon.

        From here on the pieces depend on when this was called, too.
        """
        self._segmenter.hurry()
        self._wakes = None

    def flush(self) -> list[Piece]:
        """The rest, when the answer has ended."""
        pieces = self._read("")
        found = self._sentences(self._markup.flush())
        self._cut(found, final=True)
        self._drop()
        return pieces + self._said(found)

    def _read(self, text: str) -> list[Piece]:
        """Reads what was quiet, and `text`; a long one part by part, so that never much of it waits.

        All sentences of a part are found, and then said: that is quicker by a tenth than each in its turn.
        """
        if self._quiet:
            text = "".join(self._quiet) + text
            self._quiet.clear()
            self._quiet_chars = 0
        if len(text) <= _BLOCK_CHARS:
            return self._said(self._sentences(self._markup.push(text)))
        pieces: list[Piece] = []
        for at in range(0, len(text), _BLOCK_CHARS):
            pieces += self._said(self._sentences(self._markup.push(text[at : at + _BLOCK_CHARS])))
        return pieces

    # from events to sentences

    def _sentences(self, events: list[Event]) -> list[Stretch | Piece]:
        """What can be cut off when these events are taken."""
        found: list[Stretch | Piece] = []
        for event in events:
            match event:
                case Text():
                    self._waiting.add(event)
                case Break(written):
                    self._cut(found, final=True)
                    self._drop(len(written))
                case CodeBegins(written):
                    self._cut(found, final=True)
                    found.append(self._announce(written))
                case ThoughtEnds(written):
                    self._cut(found, final=False)
                    self._drop(len(written))
        self._cut(found, final=False)
        return found

    def _cut(self, found: list[Stretch | Piece], *, final: bool) -> None:
        waiting, segmenter = self._waiting, self._segmenter
        if not waiting.clean:
            return
        if final and (end := segmenter.line(waiting.clean)) >= 0:
            self._take(end, found)
            return
        while (end := segmenter.cut(waiting.clean, final=final)) >= 0:
            self._take(end, found)
        if final and waiting.clean and not waiting.clean.isspace():
            self._take(len(waiting.clean), found)

    def _take(self, end: int, found: list[Stretch | Piece]) -> None:
        """Takes the clean text up to `end`; how a clause is cut depends on whether anything was said before it."""
        stretch = self._waiting.take(end)
        if not self._segmenter.first:
            self._segmenter.start(spoken=True)
            found.append(stretch)
        else:
            piece = self._say(stretch)
            self._segmenter.start(spoken=piece is not None)
            if piece is not None:
                found.append(piece)

    def _drop(self, more: int = 0) -> int:
        """Passes over what is waiting, and `more` characters after it: they are not spoken. Where that ends."""
        if self._waiting.clean:
            self._segmenter.start(spoken=False)
        return self._waiting.drop(more)

    def _announce(self, written: str) -> Piece:
        start = self._drop()
        self._drop(len(written))
        self._segmenter.start(spoken=True)
        return Piece(written, self.language.code_announcement, start, start + len(written))

    # from sentences to pieces

    def _said(self, found: list[Stretch | Piece]) -> list[Piece]:
        pieces: list[Piece] = []
        for each in found:
            piece = each if isinstance(each, Piece) else self._say(each)
            if piece is not None:
                pieces.append(piece)
        return pieces

    def _say(self, stretch: Stretch) -> Piece | None:
        """The piece of a sentence; `None` when there is nothing in it to say."""
        written = stretch.written
        said = self._verbaliser.say(stretch.clean)
        if not said:
            return None
        ties = Ties(self._verbaliser, stretch) if written != said else ()
        return Piece(written, said, stretch.start, stretch.start + len(written), ties)


_QUIET_CHARS = 48
"""Text that decides nothing is looked at this many characters at a time: models write three or four a token."""
_BLOCK_CHARS = 2048
_WAKES = re.compile(rf"[{STOPS}<>\[\]|&◁▷]")
"""Where a sentence may end, or something begin or end that parts the text. No piece comes before one of these."""
_STOP_AT_END = re.compile(rf"[{STOPS}](?<!\n)[^\S\n]*\n?[^\S\n]*\Z|\n[^\S\n]*\Z")
"""A stop decides nothing before it is seen what follows it."""
