"""Silence around synthesised speech: voices put 150 to 250 ms of it before the first sound, and the user waits."""

from __future__ import annotations

import numpy as np

from mirza.audio.base import Samples

FRAME_S = 0.005
QUIET = 10 ** (-50 / 20)
QUIET_OF_PEAK = 10 ** (-40 / 20)


def trim_silence(samples: Samples, rate: int, *, lead_s: float = 0.01, tail_s: float = 0.12) -> Samples:
    """`samples` without silence at its ends, but for `lead_s` and `tail_s`; all silence becomes none.

    Quiet is below -50 dBFS and 40 dB below the peak; a soft consonant lies 20 to 30 dB below.
    """
    frame = max(1, int(FRAME_S * rate))
    whole = samples[: len(samples) // frame * frame].reshape(-1, frame)
    if not len(whole):
        return samples[:0]
    loud = np.abs(whole).max(axis=1)
    heard = np.flatnonzero(loud > max(QUIET, float(loud.max()) * QUIET_OF_PEAK))
    if not len(heard):
        return samples[:0]
    first = max(0, int(heard[0]) * frame - int(lead_s * rate))
    last = min(len(samples), (int(heard[-1]) + 1) * frame + int(tail_s * rate))
    return samples[first:last]
