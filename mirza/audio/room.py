"""`Room`: how a microphone hears a loudspeaker: quieter, later, and off the walls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mirza.audio.base import MIC_RATE, Samples


def walls(decay_s: float = 0.035, *, seed: int = 0) -> Samples:
    """An impulse response, `(n,)` at `MIC_RATE`, of energy 1: a direct sound, then reflections.

    Reflections are noise that falls by 60 dB in `decay_s`, the usual model of a diffuse room (J. Moorer, "About This
    Reverberation Business", Computer Music Journal 3(2), 1979).
    """
    count = max(round(decay_s * MIC_RATE), 1)
    noise = np.random.default_rng(seed).standard_normal(count)
    response = 0.3 * noise * 10 ** (-3 * np.arange(count) / count)
    response[0] = 1.0
    return (response / np.sqrt((response**2).sum())).astype(np.float32)


class Room:
    """Feeds what is played back into the microphone.

    `gain_db` is the echo's level below the loudspeaker's samples, `delay_s` the way from there to the microphone's
    samples, `response` an impulse response `(n,)` at `MIC_RATE`. `drive` above 0 makes a small loudspeaker of it, that
    does not stay linear when it is loud (tanh).
    """

    def __init__(
        self, gain_db: float = -12.0, delay_s: float = 0.06, response: Samples | None = None, *, drive: float = 0.0
    ) -> None:
        self._gain = np.float32(10 ** (gain_db / 20))
        self._delay = round(delay_s * MIC_RATE)
        self._response = walls() if response is None else response
        self._drive = np.float32(drive)
        self._past = np.zeros(self._delay + len(self._response) - 1, np.float32)
        self._spectrum: tuple[int, NDArray[np.complex128]] | None = None

    def echo(self, played: Samples) -> Samples:
        """What the microphone gets while `played`, `(n,)` at `MIC_RATE`, is in the air. Call it without a gap."""
        if self._drive > 0:
            played = (np.tanh(played * self._drive) / self._drive).astype(np.float32)
        sound = np.concatenate([self._past, played])
        self._past = sound[len(played) :]
        reach = len(self._response) - 1 + len(played)
        heard = sound[:reach]
        if not heard.any():
            return np.zeros(len(played), np.float32)
        return (self._gain * self._convolve(heard)).astype(np.float32)

    def _convolve(self, sound: Samples) -> Samples:
        """The part of the convolution with the response in which the response lies wholly inside `sound`."""
        size = 1 << (len(sound) - 1).bit_length()
        if self._spectrum is None or self._spectrum[0] != size:
            self._spectrum = size, np.fft.rfft(self._response, size)
        full = np.fft.irfft(np.fft.rfft(sound, size) * self._spectrum[1], size)
        return full[len(self._response) - 1 : len(sound)].astype(np.float32)
