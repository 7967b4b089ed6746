"""`Interruption`: a voice over the assistant's own is weighed, and the loudspeaker obeys.

At the first sign the loudspeaker is lowered; a voice that lasts makes it hold its place, in silence; words decide.
Assent and noise give it back its voice, with the rest of the sentence. Anything else takes the floor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from mirza.audio.base import Samples
from mirza.audio.player import Player
from mirza.events import Ducked, Event, Resumed
from mirza.settings import TurnSettings
from mirza.speech.phrases import Meaning, meaning

HOLD_S = 0.06
"""Voice this long makes the loudspeaker hold: two blocks. With the one in which it begins and the one that plays, and a
processor that is late, silence comes within 0.2 s of the first sound."""
WORD_S = 0.12
"""Voice shorter than this holds no word; the shortest "stop" that was tried lasts 0.2 s."""
AGAIN_S = 0.25
"""Between two looks at the words of a voice that goes on."""
HUM_S = 1.5
"""A voice without words for this long is a hum, a cough or a television: the assistant goes on, lowered."""


class Interruption:
    """Weighs voices over one conversation's loudspeaker.

    `recognise(samples, final)` says what the voice said, or "" where it is the assistant's own; `take_floor(meaning)`
    stops the answer; `resumed()` is called when it was no interruption; `start` runs a task of the conversation's.
    """

    def __init__(
        self,
        settings: TurnSettings,
        player: Player,
        *,
        recognise: Callable[[Samples, bool], Awaitable[tuple[str, str]]],
        take_floor: Callable[[Meaning], None],
        resumed: Callable[[], None],
        start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        emit: Callable[[Event], None],
    ) -> None:
        self._settings, self._player = settings, player
        self._recognise, self._take_floor, self._resumed = recognise, take_floor, resumed
        self._start, self._emit = start, emit
        self._ducked, self._humming = False, False
        self._looked_s = 0.0
        self._heard_speech = False
        """Whether the last look at a voice that goes on saw words."""
        self._look: asyncio.Task[None] | None = None

    def grew(self, voiced_s: float, at_s: float, samples: Callable[[], Samples]) -> None:
        """The voice has lasted `voiced_s` by now."""
        if not self._ducked:
            self._ducked, self._looked_s = True, 0.0
            self._player.duck(self._settings.duck_gain)
            self._emit(Ducked(at_s))
        if voiced_s >= HOLD_S - 1e-9 and not self._humming:
            self._player.hold(True)
        due = self._settings.confirm_s if not self._looked_s else self._looked_s + AGAIN_S
        if voiced_s >= due and (self._look is None or self._look.done()):
            self._looked_s = voiced_s
            self._look = self._start(self._weigh(samples(), voiced_s, at_s, final=False))

    def ended(self, voiced_s: float, at_s: float, samples: Samples) -> None:
        """The voice fell silent after `voiced_s`."""
        if self._look is not None:
            self._look.cancel()
        if voiced_s < WORD_S:
            self._resume(at_s)
        else:
            self._look = self._start(self._weigh(samples, voiced_s, at_s, final=True))

    def reset(self) -> None:
        """There is nothing to interrupt any more."""
        if self._ducked:
            self._player.hold(False)
            self._player.duck(1.0)
        self._ducked = self._humming = self._heard_speech = False
        self._looked_s = 0.0

    async def _weigh(self, samples: Samples, voiced_s: float, at_s: float, *, final: bool) -> None:
        text, language = await self._recognise(samples, final)
        wish = meaning(text, language)
        before, self._heard_speech = self._heard_speech, wish is Meaning.SPEECH
        match wish:
            case Meaning.SPEECH if not (final or before):
                pass  # the first third of a second of "mhm" was heard as "And?" and "M. A.": what is said stays said
            case Meaning.STOP | Meaning.SPEECH:
                self._take_floor(wish)
            case Meaning.NOTHING if voiced_s >= HUM_S:
                self._humming = True
                self._player.hold(False)
            case _:
                pass
        if final:
            self._resume(at_s)

    def _resume(self, at_s: float) -> None:
        if self._ducked:
            self.reset()
            self._resumed()
            self._emit(Resumed(at_s))
