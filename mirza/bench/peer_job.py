"""`Job`: what a peer's process is told: which script to hold, with what, and where to leave the take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from mirza.audio.base import Samples
from mirza.bench.script import Script


class Job(BaseModel):
    """One script for a peer. Paths are absolute."""

    model_config = ConfigDict(extra="forbid")

    script: Script
    sounds: list[Path]
    """The lines, one `.npy` file each: float32 `(n,)` at 16 kHz."""
    recording: Path
    take: Path
    """Where the take is written, as JSON."""
    server: str
    """Where the language model is: the address of an OpenAI-compatible server."""
    model: str
    system: str
    max_tokens: int
    cache: Path
    """Where Mirza's speech models are."""
    semantic: bool = True
    """End of turn by the end-of-turn model; without, by silence alone."""

    def lines(self) -> list[Samples]:
        """The sounds."""
        return [np.load(file) for file in self.sounds]
