"""`Take`: one scripted conversation as it was held, by Mirza or by a peer; written beside its stereo recording.

Times are seconds on the recording's clock.
"""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from mirza.bench.conductor import Placed
from mirza.errors import MirzaError


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PlacedLine(_Part):
    """A line of the script, as it was said."""

    line: int
    at_s: float
    voice_start_s: float
    voice_end_s: float


class Turn(_Part):
    """A turn, by the assistant's own account."""

    heard: str
    heard_s: float
    """When it was understood, and taken for a turn."""
    said: str = ""
    """What it believes was heard of its answer."""
    ended_s: float | None = None
    """When it decided that the user had finished."""
    first_token_s: float | None = None
    interrupted: bool = False
    answered_s: float | None = None
    """When its answer was over."""
    prefilled_tokens: int | None = None
    reused_tokens: int | None = None


class Said(_Part):
    """One message of the history at the end."""

    role: str
    content: str


class Take(_Part):
    """One conversation."""

    system: str
    """`mirza`, or the name of a peer."""
    script: str
    recording: str = ""
    """The stereo WAV file: microphone left, loudspeaker right."""
    placed: list[PlacedLine] = []
    missed: list[int] = []
    """Lines that found no answer to interrupt."""
    turns: list[Turn] = []
    history: list[Said] = []
    reopened: int = 0
    lowered_s: list[float] = []
    """When it lowered its voice, because somebody might be interrupting."""
    dropped: list[str] = []
    """What was heard and taken for no turn, and why."""
    underruns: int | None = None
    """`None` where it is not counted."""
    failures: list[str] = []
    load: float = 0.0
    """The machine's load average, over a minute, when it ended."""
    resident_mb: float = 0.0

    def place(self, placed: list[Placed], missed: list[int]) -> None:
        """Notes which lines were said, and when."""
        self.placed = [
            PlacedLine(line=line.line, at_s=line.at_s, voice_start_s=line.voice_start_s, voice_end_s=line.voice_end_s)
            for line in placed
        ]
        self.missed = missed


def read_take(file: Path) -> Take:
    """A take that was written by another process.

    Raises:
        MirzaError: it is not there, or no take.
    """
    try:
        return Take.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise MirzaError(
            f"{file} holds no take of a conversation ({type(error).__name__}).", "Play it again."
        ) from error


def load_average() -> float:
    """The machine's load over the last minute."""
    return os.getloadavg()[0]


def resident_mb() -> float:
    """This process's memory, in MB; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
