"""`StagedSound`: a room in which a conductor says a script's lines, with a microphone and a loudspeaker that record."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np

from mirza.audio.base import Block, Samples
from mirza.audio.files import RecordedSound
from mirza.audio.player import Player
from mirza.audio.room import Room
from mirza.bench.askers import noise
from mirza.bench.conductor import Conductor
from mirza.bench.script import Script
from mirza.talk import ANSWER_RATE

NOISE_S = 1.0


class StagedSound:
    """A room in which a conductor says a script's lines: a `Sound` like a device, without one."""

    def __init__(self, script: Script, sounds: list[Samples]) -> None:
        room = Room(script.room.gain_db, script.room.delay_s) if script.room else None
        self.conductor = Conductor(script, sounds)
        self._inner = RecordedSound(
            np.zeros(0, np.float32), rate=ANSWER_RATE, room=room, finish_when=lambda: False, max_tail_s=600.0
        )
        self.player: Player = self._inner.player
        self.idle: Callable[[], bool] = lambda: True
        """Whether the assistant is doing nothing; given by whoever knows it."""
        self._noise_db, self._noise_until_s = script.noise_db, 0.0

    async def open(self) -> None:
        """Starts the clock."""
        await self._inner.open()

    def now_s(self) -> float:
        """Seconds since `open`."""
        return self._inner.now_s()

    async def close(self) -> None:
        """Ends the microphone."""
        await self._inner.close()

    def write(self, file: Path) -> None:
        """Writes the stereo recording.

        Raises:
            AudioError: it cannot be written.
        """
        self._inner.write_stereo(file)

    async def blocks(self) -> AsyncIterator[Block]:
        """The room, until the script is over."""
        self._add_noise()
        async for block in self._inner.blocks():
            for begin in self.conductor.hear(block.played, block.end_s, idle=self.idle()):
                self._inner.say(begin.samples, begin.at_s)
            self._add_noise()
            if self.conductor.over(idle=self.idle()):
                return
            yield block

    def _add_noise(self) -> None:
        if self._noise_db is not None and self._noise_until_s < self.now_s() + NOISE_S:
            self._inner.say(noise(NOISE_S, self._noise_db, round(self._noise_until_s)), self._noise_until_s)
            self._noise_until_s += NOISE_S
