"""The thread that owns the sound devices: it opens them, listens, notices that they are gone, and opens them again.

PortAudio's calls may block, and its callbacks may not wait for anybody; so neither belongs on the event loop. Callbacks
copy samples into a queue, this thread makes blocks of them, and the event loop gets whole blocks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mirza.audio.base import BLOCK, MIC_RATE, Block
from mirza.audio.player import Player
from mirza.audio.portaudio import Device, PortAudio, choose
from mirza.audio.session import Session
from mirza.errors import DeviceLost, MirzaError, NoDevice

PAUSES_S = (0.2, 0.5, 1.0, 2.0, 5.0)
"""Between attempts to open a device again; the last one for ever after."""

BLOCK_S = BLOCK / MIC_RATE

DEFAULTS_EVERY = round(1 / BLOCK_S)
"""Blocks between two looks at the system's default devices."""

SILENT_BLOCKS = round(5 / BLOCK_S)
"""A microphone that delivers zeros and nothing else for this long is muted, or forbidden to us."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Both devices run, and sound has arrived."""


@dataclass(frozen=True, slots=True)
class Closed:
    """Nothing will come any more."""


class Duplex:
    """One microphone and one loudspeaker, for as long as the conversation lasts. `emit` is called by its thread."""

    def __init__(
        self,
        portaudio: PortAudio,
        microphone: str,
        loudspeaker: str,
        player: Player,
        *,
        emit: Callable[[Block | Opened | Closed | MirzaError | str], None],
        defaults: Callable[[], object],
        give_up_s: float | None,
    ) -> None:
        self.emitted = 0
        """Blocks so far."""
        self.lost_inputs = 0
        self.lost_outputs = 0
        self._portaudio, self._microphone, self._loudspeaker = portaudio, microphone, loudspeaker
        self._player, self._emit, self._defaults, self._give_up_s = player, emit, defaults, give_up_s
        self._closing = threading.Event()
        self._session: Session | None = None
        self._zeros = 0

    def run(self) -> None:
        """Listens until `close`."""
        try:
            session = self._open()
        except MirzaError as error:
            self._emit(error)
            return
        self._emit(Opened())
        while session is not None:
            reason = self._listen(session)
            self._close(session)
            if self._closing.is_set():
                break
            self._emit(f"{reason} Trying to open sound again.")
            session = self._open_again()
        self._emit(Closed())

    def close(self) -> None:
        """Makes `run` return soon. Called by any thread."""
        self._closing.set()
        session = self._session
        if session is not None:
            session.end("")

    def _open(self) -> Session:
        """Opens both devices and waits for the first sound.

        Raises:
            NoDevice: one of them is not there, or does not start.
        """
        found = self._portaudio.devices()
        microphone = choose(found, self._microphone, output=False)
        loudspeaker = choose(found, self._loudspeaker, output=True)
        session = Session(self._portaudio, microphone, loudspeaker, self._player, first=self.emitted * BLOCK)
        self._session = session
        if self._closing.is_set():
            session.end("")
        elif not session.wait():
            self._close(session)
            raise NoDevice(
                f"No sound comes from the microphone {microphone.name!r}.",
                "Plug it in again, or choose another one: `mirza doctor` lists them.",
            )
        return session

    def _close(self, session: Session) -> None:
        session.close()
        self._session = None
        self.lost_inputs += session.lost_inputs
        self.lost_outputs += session.lost_outputs

    def _listen(self, session: Session) -> str:
        """Passes blocks on until the devices are gone, another one is the default, or `close`: says why."""
        default = self._defaults()
        for near, played in session.blocks():
            if self._closing.is_set():
                return ""
            self._pass_on(near, played)
            follows = not (self._microphone and self._loudspeaker)
            if follows and self.emitted % DEFAULTS_EVERY == 0 and self._defaults() != default:
                return "The system's default sound device is another one now."
        return session.reason

    def _open_again(self) -> Session | None:
        """Tries until it works, or `close`. Meanwhile the room is silent and its clock goes on."""
        tried, waited_s = 0, 0.0
        while not self._closing.is_set():
            pause_s = PAUSES_S[min(tried, len(PAUSES_S) - 1)]
            tried, waited_s = tried + 1, waited_s + pause_s
            for _ in range(round(pause_s / BLOCK_S)):
                if self._closing.wait(BLOCK_S):
                    return None
                self._pass_on(np.zeros(BLOCK, np.float32), np.zeros(BLOCK, np.float32))
            try:
                self._portaudio.reread()
                session = self._open()
            except NoDevice as error:
                if self._give_up_s is not None and waited_s >= self._give_up_s:
                    self._emit(DeviceLost(f"The sound device did not come back: {error.what}", error.do))
                    return None
                continue
            self._emit(f"Sound is back: {_names(session.microphone, session.loudspeaker)}.")
            return session
        return None

    def _pass_on(self, near: np.ndarray, played: np.ndarray) -> None:
        self.emitted += 1
        self._emit(Block(near, played, self.emitted * BLOCK / MIC_RATE))
        silent = self._session is not None and not near.any()
        self._zeros = self._zeros + 1 if silent else 0
        if self._zeros == SILENT_BLOCKS:
            self._emit(
                "The microphone delivers nothing but digital silence. Is it muted? On macOS, allow the terminal to use "
                "it in System Settings, Privacy & Security, Microphone."
            )


def _names(microphone: Device, loudspeaker: Device) -> str:
    if microphone.name == loudspeaker.name:
        return microphone.name
    return f"microphone {microphone.name}, loudspeaker {loudspeaker.name}"
