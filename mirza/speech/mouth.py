"""`Mouth`: speaks one answer, and knows at every moment how much of it has been heard.

Written text goes in as the model writes it. Pieces (`mirza.speech.text`) go to synthesis, at most two ahead; samples go
to the player, at most two seconds ahead; nothing goes to the player before `release`, so that an answer can be prepared
while the user may still go on. Text, pieces and samples stay tied to each other: that is what `heard` reads off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from mirza.audio.base import Samples
from mirza.audio.player import Chunk, Player
from mirza.audio.resample import Resampler, resample
from mirza.events import CuePlayed, Event, Speaking
from mirza.speech.base import Tts
from mirza.speech.text import Piece, SpeechText

PIECES_AHEAD = 2
AHEAD_S = 2.0
DRY_S = 0.6
"""With less than this to say and no piece on its way, a clause is better than the silence before a sentence."""
LATE_S = 0.35
"""With no piece so long after an answer's first words, a phrase is better than more silence before a clause.

A model that writes 40 tokens a second has a sentence by then, and speaks it whole.
"""
SECONDS_PER_CHARACTER = 0.065
"""A guess at a piece's length while it is being synthesised (12 words, 4 s: about 15 characters a second)."""


class Ticks:
    """The conversation's clock, block by block: whoever waits for sound to have passed waits here."""

    def __init__(self) -> None:
        self._waits: list[_Wait] = []

    def tick(self) -> None:
        """A block of sound has passed. Only those are woken whose condition holds now: most blocks wake nobody."""
        waits, self._waits = self._waits, []
        for wait in waits:
            if wait.woken.done():  # cancelled
                continue
            if wait.condition():
                wait.woken.set_result(None)
            else:
                self._waits.append(wait)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Returns at the first tick after which `condition` holds, at once if it holds already."""
        while not condition():  # again: another that was woken with this one may have changed it
            wait = _Wait(condition, asyncio.get_running_loop().create_future())
            self._waits.append(wait)
            await wait.woken


@dataclass(frozen=True, slots=True)
class _Wait:
    condition: Callable[[], bool]
    woken: asyncio.Future[None]


class Output(Protocol):
    """Where an answer goes: a voice, or a page."""

    async def say(self, delta: str) -> None:
        """Takes the next characters of the answer; waits while too much is ahead of the listener."""
        ...

    async def begun(self) -> None:
        """Returns when a first sound is on its way, or there is nothing to wait for."""
        ...

    async def finish(self) -> None:
        """Returns when everything has been heard."""
        ...

    def release(self) -> None:
        """The user's turn is over: begin to be heard."""
        ...

    def stop(self) -> None:
        """Silence, at once."""
        ...

    def heard(self) -> str:
        """The answer up to the last word begun."""
        ...


class Page:
    """An answer on a screen: what was shown was heard."""

    def __init__(self) -> None:
        self._shown: list[str] = []

    async def say(self, delta: str) -> None:
        self._shown.append(delta)

    async def begun(self) -> None:
        return

    async def finish(self) -> None:
        return

    def release(self) -> None:
        return

    def stop(self) -> None:
        return

    def heard(self) -> str:
        return "".join(self._shown)


@dataclass(slots=True, eq=False)
class _Spoken:
    """A piece on its way, and how many samples it came to."""

    piece: Piece
    id: int
    samples: int = 0
    whole: bool = False
    announced: bool = False
    over: bool = False
    """All of it has been heard; the player may have forgotten it."""


class Mouth:
    """Speaks one answer with a voice."""

    def __init__(
        self,
        tts: Tts,
        player: Player,
        ticks: Ticks,
        emit: Callable[[Event], None],
        now_s: Callable[[], float],
        *,
        turn: int,
        language: str,
        voice: str = "",
        first_id: int = 0,
    ) -> None:
        self._tts, self._player, self._ticks = tts, player, ticks
        self._emit, self._now_s = emit, now_s
        self._turn, self._language, self._voice = turn, language, voice
        self._text = SpeechText(language)
        self._written = ""
        self._began_s = 0.0
        self._pieces: list[_Spoken] = []
        self._next_id = first_id
        self._queue: asyncio.Queue[_Spoken | None] = asyncio.Queue(PIECES_AHEAD)
        self._released = asyncio.Event()
        self._made = asyncio.Event()
        """A first sound has been synthesised, whether it may be heard yet or not."""
        self._begun = asyncio.Event()
        self.speaking = False
        """Whether a sample of this answer has left the loudspeaker."""
        self._stopped = False
        self._finished = False
        self._cue: _Spoken | None = None

    # what the answer does with it

    async def say(self, delta: str) -> None:
        if not self._written:
            self._began_s = self._now_s()
        self._written += delta
        if self._is_late() or self._runs_dry():
            self._text.hurry()
        for piece in self._text.push(delta):
            await self._send(piece)
            await self._made.wait()  # the first sound needs the processor more than the next word does

    async def begun(self) -> None:
        await self._begun.wait()

    async def finish(self) -> None:
        for piece in self._text.flush():
            await self._send(piece)
        await self._queue.put(None)
        await self._ticks.until(lambda: self._all_played() or self._stopped)
        self._finished = not self._stopped

    def release(self) -> None:
        self._released.set()

    @property
    def silent(self) -> bool:
        """Whether nothing of this answer has been sent to the loudspeaker yet."""
        return not any(spoken.samples for spoken in self._pieces)

    def stop(self) -> None:
        self._stopped = True
        self._player.stop()
        self._player.expect_more = False

    def heard(self) -> str:
        if self._finished:
            return self._written
        last = ""
        for spoken in self._pieces:
            if self._is_over(spoken):
                last = self._written[: spoken.piece.end]
                continue
            played = self._player.heard(spoken.id)
            if not played:
                break
            guess = max(spoken.samples, round(len(spoken.piece.spoken) * SECONDS_PER_CHARACTER * self._player.rate))
            whole = spoken.samples if spoken.whole else guess
            last = self._written[: spoken.piece.start] + spoken.piece.written_upto(min(played / whole, 1.0))
        return last

    # what runs beside it

    async def run(self) -> None:
        """Synthesises what `say` queues, until `finish`. The answer runs this as a task."""
        while (spoken := await self._queue.get()) is not None:
            first, resampler = True, Resampler(self._tts.rate, self._player.rate)
            stream = self._tts.synthesize(spoken.piece.spoken, language=self._language, voice=self._voice)
            async with aclosing(stream):
                async for samples in stream:
                    sound = trim_start(samples, self._tts.rate) if first else samples
                    first = first and not len(sound)
                    self._made.set()
                    await self._play(spoken, resampler.push(sound))
            await self._play(spoken, resampler.flush())
            spoken.whole = True
            self._made.set()  # also where there was nothing in it to hear
        self._begun.set()  # also where there was nothing to say
        self._player.expect_more = False

    async def _play(self, spoken: _Spoken, samples: Samples) -> None:
        if not len(samples):
            return
        await self._released.wait()
        self._drop_cue()
        await self._ticks.until(lambda: self._player.queued_s() < AHEAD_S)
        spoken.samples += len(samples)
        self._player.put(Chunk(samples, spoken.id))
        self._player.expect_more = True
        self._begun.set()

    async def cue(self, text: str) -> None:
        """Says `text` while nothing else is there to be said; it stops as soon as there is."""
        chunks: list[Samples] = []
        async with aclosing(self._tts.synthesize(text, language=self._language, voice=self._voice)) as stream:
            async for samples in stream:
                chunks.append(samples)
        if chunks and self.silent and self._released.is_set() and not self._stopped:
            self._cue = _Spoken(Piece(text, text, 0, 0), self._take_id())
            samples = resample(np.concatenate(chunks), self._tts.rate, self._player.rate)
            self._player.put(Chunk(samples, self._cue.id))

    def announce(self) -> None:
        """Says which pieces have become audible since the last call; called at every tick."""
        for spoken in [self._cue, *self._pieces] if self._cue else self._pieces:
            if spoken.announced:
                continue
            began_s = self._player.began(spoken.id)
            if began_s is None:
                break
            audible_s = self._now_s() + began_s - self._player.position / self._player.rate
            if audible_s > self._now_s():
                break
            spoken.announced = True
            if spoken is self._cue:
                self._emit(CuePlayed(spoken.piece.written, audible_s))
            else:
                self.speaking = True
                self._emit(Speaking(self._turn, spoken.piece.written, spoken.piece.spoken, audible_s))

    def spoken_lately(self) -> str:
        """What the voice has said lately: the last three pieces that have begun."""
        return " ".join(spoken.piece.spoken for spoken in self._pieces if spoken.announced)[-400:]

    @property
    def next_id(self) -> int:
        """The first piece number that the next answer may use."""
        return self._next_id

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    async def _send(self, piece: Piece) -> None:
        spoken = _Spoken(piece, self._take_id())
        self._pieces.append(spoken)
        await self._queue.put(spoken)

    def _is_late(self) -> bool:
        return not self._pieces and self._now_s() - self._began_s > LATE_S

    def _runs_dry(self) -> bool:
        """Whether what has been said so far is nearly all that there is to be heard."""
        last = self._pieces[-1] if self._pieces else None
        return last is not None and self._begun.is_set() and last.whole and self._player.queued_s() < DRY_S

    def _drop_cue(self) -> None:
        if self._cue is not None and self.silent:
            self._player.stop()

    def _all_played(self) -> bool:
        return all(self._is_over(spoken) for spoken in self._pieces)

    def _is_over(self, spoken: _Spoken) -> bool:
        if not spoken.over:
            spoken.over = spoken.whole and self._player.heard(spoken.id) >= spoken.samples
        return spoken.over


def trim_start(samples: Samples, rate: int, *, quiet: float = 0.004, keep_s: float = 0.01) -> Samples:
    """`samples` without their leading silence; 150 to 250 ms in some voices. 10 ms are kept before the first sound."""
    loud = np.flatnonzero(np.abs(samples) > quiet)
    if not len(loud):
        return samples[:0]
    return samples[max(0, int(loud[0]) - round(keep_s * rate)) :]
