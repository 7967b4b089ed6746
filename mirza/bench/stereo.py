"""Reads a stereo recording of a talk back from its file: what is measured is what was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]

from mirza.audio.files import Recording
from mirza.errors import BadRecording


def read_stereo(file: Path) -> Recording:
    """Microphone left, loudspeaker right.

    Raises:
        BadRecording: it cannot be read, or is not stereo.
    """
    try:
        frames, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except (OSError, soundfile.LibsndfileError) as error:
        raise BadRecording(f"{file} cannot be read as sound.", "Hold the conversation again.") from error
    channels = np.asarray(frames, np.float32).T
    if len(channels) != 2:
        raise BadRecording(f"{file} has {len(channels)} channel, not microphone and loudspeaker.", "Name another file.")
    return Recording(channels[0], channels[1], int(rate))
