"""Makes the recordings of `recordings.toml` again: each question in its voice, 16 kHz, 16 bit, mono.

    python assets/make_recordings.py [FILE ...]

It needs the model kokoro-82m (`mirza models pull kokoro-82m`), the program flite, and for the reading by a person the
package moonshine-voice 0.1.0, whose wheel is fetched. The voices are none that Mirza answers with by default.
"""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import soundfile
import soxr

from mirza.audio.base import MIC_RATE, Samples
from mirza.models.entries import MOONSHINE
from mirza.models.fetch import fetch_pip
from mirza.speech.tts.espeak import EspeakTts
from mirza.speech.tts.kokoro import KokoroTts
from mirza.speech.tts.silence import trim_silence

ASSETS = Path(__file__).parent
PEAK = 0.5
BEFORE_S, AFTER_S = 0.3, 0.2
NOISE = 10 ** (-66 / 20)
"""A room is never digitally silent."""


async def main(wanted: list[str]) -> None:
    recordings = tomllib.loads((ASSETS / "recordings.toml").read_text(encoding="utf-8"))["recording"]
    kokoro, espeak = KokoroTts(), EspeakTts()
    try:
        for recording in recordings:
            file = ASSETS / recording["file"]
            if wanted and file.name not in wanted:
                continue
            maker, _, voice = recording["voice"].partition("/")
            match maker:
                case "kokoro":
                    parts = [
                        part async for part in kokoro.synthesize(recording["text"], language=recording["language"], voice=voice)
                    ]
                    sound, rate = np.concatenate(parts), kokoro.rate
                case "espeak":
                    parts = [part async for part in espeak.synthesize(recording["text"], voice=voice)]
                    sound, rate = np.concatenate(parts), espeak.rate
                case "flite":
                    sound, rate = flite(recording["text"], voice)
                case _:
                    sound, rate = person(voice, recording["until_s"])
            write(file, sound, rate)
            print(file)
    finally:
        await kokoro.unload()
        await espeak.unload()


def flite(text: str, voice: str) -> tuple[Samples, int]:
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["flite", "-voice", voice, "-t", text, "-o", file.name], check=True)
        sound, rate = soundfile.read(file.name, dtype="float32")
    return sound, rate


def person(member: str, until_s: float) -> tuple[Samples, int]:
    with tempfile.TemporaryDirectory() as folder:
        wheel = fetch_pip(MOONSHINE, Path(folder), lambda _: None)
        with zipfile.ZipFile(wheel) as archive:
            sound, rate = soundfile.read(io.BytesIO(archive.read(f"moonshine_voice/assets/{member}")), dtype="float32")
    mono = sound if sound.ndim == 1 else sound.mean(axis=1)
    return mono[: int(until_s * rate)], rate


def write(file: Path, sound: Samples, rate: int) -> None:
    """Silence around the voice, a little noise, the same loudness for all."""
    voice = trim_silence(soxr.resample(sound, rate, MIC_RATE).astype(np.float32), MIC_RATE, tail_s=0.05)
    voice = voice * (PEAK / np.abs(voice).max())
    padded = np.pad(voice, (int(BEFORE_S * MIC_RATE), int(AFTER_S * MIC_RATE)))
    noise = np.random.default_rng(len(padded)).standard_normal(len(padded)) * NOISE
    file.parent.mkdir(exist_ok=True)
    soundfile.write(file, (padded + noise).astype(np.float32), MIC_RATE, subtype="PCM_16")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
