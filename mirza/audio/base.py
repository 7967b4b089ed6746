"""`Sound`: a microphone and a loudspeaker on one clock, which is all that the pipeline knows of devices and files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from mirza.audio.player import Player
from mirza.audio.samples import Samples

MIC_RATE = 16_000
"""Hertz. Every microphone delivers this, whatever the device's own rate."""

BLOCK = 512
"""Samples of a microphone block: 32 ms, what the voice detector takes."""


@dataclass(frozen=True, slots=True)
class Block:
    """32 ms of the room, and what the loudspeaker played meanwhile."""

    samples: Samples
    """`(BLOCK,)` at `MIC_RATE`, from the microphone."""
    played: Samples
    """`(BLOCK,)` at `MIC_RATE`: what left the loudspeaker during this block, for the echo canceller."""
    end_s: float
    """The clock at the end of this block."""


class Sound(Protocol):
    """A microphone and a loudspeaker on one clock."""

    player: Player
    """What is queued for the loudspeaker."""

    async def open(self) -> None:
        """Starts both.

        Raises:
            NoDevice: there is none, or PortAudio is not installed.
        """
        ...

    def blocks(self) -> AsyncIterator[Block]:
        """The microphone, block by block, until the recording ends or `close` is called.

        Raises:
            DeviceLost: the device is gone and did not come back.
        """
        ...

    def now_s(self) -> float:
        """Seconds since `open`, counted in samples."""
        ...

    async def close(self) -> None:
        """Stops both, at once. Closing twice is fine."""
        ...
