"""`DeviceSound`: a real microphone and a real loudspeaker, which may vanish, come back, or be swapped for others."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable

from mirza.audio.base import BLOCK, MIC_RATE, Block
from mirza.audio.defaults import system_defaults
from mirza.audio.duplex import Closed, Duplex, Opened
from mirza.audio.player import Player
from mirza.audio.portaudio import Device, PortAudio, SoundDevicePortAudio, choose
from mirza.errors import DeviceLost, MirzaError, NoDevice

WAITING_BLOCKS = 1_000
"""Blocks that wait for a pipeline that is busy, 32 s; then the oldest are dropped, and counted."""

OPEN_S = 10.0
"""Seconds that opening two devices may take."""


def devices(portaudio: PortAudio | None = None) -> list[Device]:
    """The microphones and loudspeakers that there are.

    Raises:
        NoDevice: PortAudio is not installed.
    """
    return (portaudio or SoundDevicePortAudio()).devices()


class DeviceSound:
    """A microphone and a loudspeaker, each at its own rate.

    `microphone` and `loudspeaker` are numbers, names or parts of names; empty is the system's default, also when that
    becomes another one. The player runs at the loudspeaker's rate, so that its callback only copies. When a device
    goes, the room falls silent, the player keeps its place, and both are opened again with growing pauses: `on_notice`
    is told, in the event loop's thread. With `give_up_s`, `blocks` raises `DeviceLost` after that many seconds without.

    Raises:
        NoDevice: there is none, no such one, or PortAudio is not installed.
    """

    def __init__(
        self,
        microphone: str = "",
        loudspeaker: str = "",
        *,
        on_notice: Callable[[str], None] = lambda text: None,
        give_up_s: float | None = None,
        portaudio: PortAudio | None = None,
        defaults: Callable[[], object] = system_defaults,
    ) -> None:
        portaudio = portaudio or SoundDevicePortAudio()
        found = portaudio.devices()
        choose(found, microphone, output=False)
        self.player = Player(choose(found, loudspeaker, output=True).rate)
        self.dropped = 0
        """Blocks that nobody took in time."""
        self._on_notice = on_notice
        self._duplex = Duplex(
            portaudio,
            microphone,
            loudspeaker,
            self.player,
            emit=self._emit,
            defaults=defaults,
            give_up_s=give_up_s,
        )
        self._thread = threading.Thread(target=self._duplex.run, name="sound", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._opened: asyncio.Future[None] | None = None
        self._blocks: deque[Block] = deque()
        self._end: DeviceLost | Closed | None = None
        self._arrived = asyncio.Event()

    @property
    def lost_inputs(self) -> int:
        """Times the microphone's samples were lost because nobody took them in time."""
        return self._duplex.lost_inputs

    @property
    def lost_outputs(self) -> int:
        """Times the loudspeaker had to play silence because nothing came in time."""
        return self._duplex.lost_outputs

    async def open(self) -> None:
        """Starts both.

        Raises:
            NoDevice: one of them does not start.
        """
        self._loop = asyncio.get_running_loop()
        self._opened = self._loop.create_future()
        self._thread.start()
        try:
            await asyncio.wait_for(self._opened, OPEN_S)
        except TimeoutError as error:
            await self.close()
            raise NoDevice(
                f"The sound devices did not start within {OPEN_S:.0f} s.",
                "Unplug them and plug them in again, or choose others: `mirza doctor` lists them.",
            ) from error

    async def blocks(self) -> AsyncIterator[Block]:
        """The microphone, block by block, until `close`.

        Raises:
            DeviceLost: the device is gone and did not come back within `give_up_s`.
        """
        while True:
            while self._blocks:
                yield self._blocks.popleft()
            if isinstance(self._end, DeviceLost):
                raise self._end
            if self._end is not None:
                return
            self._arrived.clear()
            await self._arrived.wait()

    def now_s(self) -> float:
        """Seconds of the room that were captured."""
        return self._duplex.emitted * BLOCK / MIC_RATE

    async def close(self) -> None:
        """Stops both, at once. Closing twice is fine."""
        self._duplex.close()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, OPEN_S)
        self._receive(Closed())

    def _emit(self, item: Block | Opened | Closed | MirzaError | str) -> None:
        """Called by the sound's thread."""
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._receive, item)
        except RuntimeError:  # the loop was closed before the sound was
            self._duplex.close()

    def _receive(self, item: Block | Opened | Closed | MirzaError | str) -> None:
        match item:
            case Block():
                if len(self._blocks) >= WAITING_BLOCKS:
                    self._blocks.popleft()
                    self.dropped += 1
                self._blocks.append(item)
            case Opened():
                if self._opened is not None and not self._opened.done():
                    self._opened.set_result(None)
            case str():
                self._on_notice(item)
            case DeviceLost() | Closed():
                self._end = self._end or item
            case MirzaError():
                if self._opened is not None and not self._opened.done():
                    self._opened.set_exception(item)
        self._arrived.set()
