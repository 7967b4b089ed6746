"""The people in the room: lines as sound, at 16 kHz. None of their voices is the one that answers.

A recording is taken where there is one (`tests/talks/sounds`, so that every machine hears the same); otherwise the line
is spoken now, and `keep` leaves a recording of it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import soundfile  # pyright: ignore[reportMissingTypeStubs]

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import read_recording
from mirza.audio.resample import resample
from mirza.bench.script import Line, Script
from mirza.errors import MirzaError
from mirza.speech.base import Tts

PEAK = 0.5
"""Every line is as loud as this, before its `level_db`."""
TELEPHONE_HZ = (300.0, 3400.0)
FLITE_TIMEOUT_S = 30


class Askers:
    """Speaks the lines of scripts. `folder` has the recordings; `cache` is where Mirza's models are."""

    def __init__(self, folder: Path, cache: Path, *, keep: bool = False) -> None:
        self._folder, self._cache, self._keep = folder, cache, keep
        self._engines: dict[str, Tts] = {}

    async def close(self) -> None:
        """Gives the voices' memory back."""
        for engine in self._engines.values():
            await engine.unload()
        self._engines = {}

    async def lines(self, script: Script) -> list[Samples]:
        """The sound of each line, `(n,)` at `MIC_RATE`.

        Raises:
            MirzaError: a line has no recording and cannot be spoken here.
        """
        return [await self._line(line, script) for line in script.lines]

    async def _line(self, line: Line, script: Script) -> Samples:
        samples = cough() if line.sound == "cough" else await self._voice(line)
        if script.telephone:
            samples = telephone(samples)
        peak = float(np.abs(samples).max())
        return (samples * (PEAK / peak * 10 ** (line.level_db / 20))).astype(np.float32)

    async def _voice(self, line: Line) -> Samples:
        if line.sound:
            return read_recording(self._folder / line.sound)
        file = self._folder / f"{sound_name(line)}.flac"
        if file.exists():
            return read_recording(file)
        samples = await self._speak(line)
        if self._keep:
            self._folder.mkdir(parents=True, exist_ok=True)
            soundfile.write(file, samples, MIC_RATE, subtype="PCM_16")
        return samples

    async def _speak(self, line: Line) -> Samples:
        engine, _, voice = line.voice.partition("/")
        if engine == "flite":
            return flite(line.text, voice)
        tts = await self._engine(engine)
        chunks = [samples async for samples in tts.synthesize(line.text, language=_language(voice), voice=voice)]
        return resample(np.concatenate(chunks), tts.rate, MIC_RATE)

    async def _engine(self, name: str) -> Tts:
        if name not in self._engines:
            match name:
                case "kokoro":
                    from mirza.speech.tts.kokoro import KokoroTts

                    tts: Tts = KokoroTts(self._cache)
                case "espeak":
                    from mirza.speech.tts.espeak import EspeakTts

                    tts = EspeakTts()
                case _:
                    raise MirzaError(f"No asker speaks with {name!r}.", "Use kokoro/..., espeak/... or flite/....")
            await tts.load()
            self._engines[name] = tts
        return self._engines[name]


def sound_name(line: Line) -> str:
    """The name of a line's recording: its voice and the first of its words, and how many there are."""
    words = re.findall(r"[^\W_]+", line.text.lower())
    return "-".join([line.voice.replace("/", "-"), *words[:8], str(len(words))])


def flite(text: str, voice: str) -> Samples:
    """`text` spoken by flite, a program of many Linux systems.

    Raises:
        MirzaError: it is not installed, or has no such voice.
    """
    program = shutil.which("flite")
    if program is None:
        raise MirzaError("flite is not installed, and a line is to be spoken by it.", "Try: apt install flite")
    with tempfile.TemporaryDirectory(prefix="mirza-flite-") as folder:
        file = Path(folder) / "line.wav"
        try:
            subprocess.run(
                [program, "-voice", voice, "-t", text, "-o", str(file)],
                check=True, capture_output=True, timeout=FLITE_TIMEOUT_S,
            )  # fmt: skip
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            raise MirzaError(
                f"flite did not speak with the voice {voice!r}.", "`flite -lv` lists its voices."
            ) from error
        return read_recording(file)


def telephone(samples: Samples) -> Samples:
    """`samples` as they come out of a telephone: only what lies in its band."""
    spectrum = np.fft.rfft(samples)
    hertz = np.fft.rfftfreq(len(samples), 1 / MIC_RATE)
    spectrum[(hertz < TELEPHONE_HZ[0]) | (hertz > TELEPHONE_HZ[1])] = 0
    return np.fft.irfft(spectrum, len(samples)).astype(np.float32)


def cough() -> Samples:
    """A cough: two bursts of air, the first one loud and sudden, coloured by a throat. No voice in it."""
    noise = np.random.default_rng(7)
    bursts: list[Samples] = []
    for length_s, loudness in ((0.16, 1.0), (0.08, 0.0), (0.22, 0.6)):
        time = np.arange(round(length_s * MIC_RATE)) / MIC_RATE
        air = noise.standard_normal(len(time)) * np.exp(-time / 0.06) * loudness
        throat = np.convolve(air, np.exp(-np.arange(64) / 12) * np.cos(2 * np.pi * 700 * np.arange(64) / MIC_RATE))
        bursts.append(throat[: len(time)].astype(np.float32))
    return np.concatenate(bursts)


def noise(seconds: float, level_db: float, seed: int) -> Samples:
    """Noise of a room, `(n,)` at `MIC_RATE`, `level_db` below full scale: pink, as fans and streets are."""
    count = round(seconds * MIC_RATE)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    spectrum /= np.sqrt(np.maximum(np.arange(len(spectrum)), 1))
    pink = np.fft.irfft(spectrum, count)
    return (pink / np.sqrt(np.mean(pink**2)) * 10 ** (level_db / 20)).astype(np.float32)


def _language(voice: str) -> str:
    return "fr" if voice.startswith(("ff_", "fr")) else "en"
