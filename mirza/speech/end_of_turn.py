"""End of turn: smart-turn v3 hears by words and intonation whether someone has finished."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mirza import models
from mirza.audio.base import MIC_RATE, Samples
from mirza.models.onnx import EngineThread, Session, Stop

MODEL = "smart-turn-v3"
FILE = "smart-turn-v3.2-cpu.onnx"

WINDOW = 8 * MIC_RATE  # the model looks at the last 8 s: 128000 samples
FFT = 400
HOP = 160
MELS = 80
FRAMES = WINDOW // HOP  # 800


class SmartTurn:
    """smart-turn v3.2 (BSD-2, https://github.com/pipecat-ai/smart-turn), int8, one thread: about 45 ms a question."""

    def __init__(self, cache_folder: Path | None = None) -> None:
        self._cache_folder = cache_folder
        self._thread = EngineThread("end-of-turn")
        self._session: Session | None = None

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, or damaged.
        """
        if self._session is None:
            self._session = await self._thread.run(lambda _: self._open())

    def _open(self) -> Session:
        return Session(models.verified_path(MODEL, self._cache_folder) / FILE, threads=1)

    async def probability(self, samples: Samples) -> float:
        """Whether a turn that sounds like `samples` (its last 8 s) is complete, 0 .. 1."""
        await self.load()
        session = self._session
        if session is None:
            return 0.0
        tail = np.array(samples[-WINDOW:], np.float32)

        def ask(stop: Stop) -> float:
            return float(session.run({"input_features": log_mel(tail)[None]}, stop)[0].item())

        return await self._thread.run(ask)

    async def unload(self) -> None:
        """Gives the memory back."""
        self._session = None


def log_mel(samples: Samples) -> NDArray[np.float32]:
    """Whisper's features `(80, 800)` of `(n,)` samples, n at most 128000; silence is put before shorter ones.

    As transformers' `WhisperFeatureExtractor` defines them with `do_normalize`: zero mean and unit variance; a
    short-time Fourier transform with a periodic Hann window of 400 and a hop of 160, centred, edges mirrored; power;
    80 mel bands on Slaney's scale; log10 floored at 1e-10 and at 8 below the largest; then (x + 4) / 4.
    """
    padded = np.zeros(WINDOW, np.float64)
    if len(samples):
        padded[-len(samples) :] = samples
    normal = (padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)
    mirrored = np.pad(normal, FFT // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(mirrored, FFT)[::HOP][:FRAMES]
    window = np.hanning(FFT + 1)[:-1]
    power = np.abs(np.fft.rfft(frames * window)) ** 2  # (800, 201)
    log = np.log10(np.maximum(mel_filters() @ power.T, 1e-10))
    return ((np.maximum(log, log.max() - 8.0) + 4.0) / 4.0).astype(np.float32)


@cache
def mel_filters() -> NDArray[np.float64]:
    """`(80, 201)`: triangles of equal area between 0 and 8 kHz on Slaney's mel scale.

    The scale is linear below 1 kHz, 15 mels, and logarithmic above, 27 mels for a factor of 6.4 (M. Slaney, Auditory
    Toolbox, 1998).
    """
    step = math.log(6.4) / 27.0
    top = 15.0 + math.log(MIC_RATE / 2 / 1000.0) / step
    mels = np.linspace(0.0, top, MELS + 2)
    hertz = np.where(mels < 15.0, mels * 200.0 / 3.0, 1000.0 * np.exp(step * (mels - 15.0)))
    edges: NDArray[np.float64] = hertz.astype(np.float64)[:, None]
    bins = np.linspace(0.0, MIC_RATE / 2, FFT // 2 + 1)
    rising: NDArray[np.float64] = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling: NDArray[np.float64] = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return np.maximum(0.0, np.minimum(rising, falling)) * (2.0 / (edges[2:] - edges[:-2]))
