"""Piper voices by onnxruntime: natural speech in a twentieth of its length, on two cores."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mirza import models
from mirza.audio.base import Samples
from mirza.errors import ModelDamaged, ModelUnsupported
from mirza.models.onnx import EngineThread, Session, Stop
from mirza.speech.base import Voice
from mirza.speech.tts.phonemes import EspeakProcess
from mirza.speech.tts.sentences import speakable_parts
from mirza.speech.tts.silence import trim_silence

MODEL = "piper-joe"
PAD, BEGIN, END = "_", "^", "$"


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Session
    ids: dict[str, list[int]]
    scales: tuple[float, float, float]
    """Noise, length and rhythm, as the voice's file suggests."""
    espeak_voice: str


class PiperTts:
    """A Piper voice (VITS, https://github.com/rhasspy/piper), without Piper's GPL code: ONNX and phonemes are enough.

    `model` is a name of the catalogue, or a folder with one's own `*.onnx` and `*.onnx.json`.
    """

    rate = 22_050
    voices: Sequence[Voice] = (Voice("joe", "en", "American, male"),)

    def __init__(
        self, model: str = MODEL, cache_folder: Path | None = None, *, speed: float = 1.0, threads: int = 2
    ) -> None:
        self._model_name = model or MODEL
        self._cache_folder = cache_folder
        self._speed = speed
        self._threads = threads
        self._thread = EngineThread("tts")
        self._espeak = EspeakProcess()
        self._loaded: _Loaded | None = None

    async def load(self) -> None:
        """Makes the model ready, and the phonemes' process.

        Raises:
            ModelError: it is not there, damaged, or cannot run here.
        """
        if self._loaded is None:
            self._loaded = await self._thread.run(lambda _: self._open())

    def _open(self) -> _Loaded:
        folder = models.verified_path(self._model_name, self._cache_folder)
        file = next(iter(sorted(folder.glob("*.onnx"))), None)
        if file is None:
            raise ModelDamaged(f"{folder} holds no Piper voice (*.onnx).", "Check `tts.model`.")
        config = _read_config(file.with_name(file.name + ".json"))
        inference, espeak_voice = config["inference"], str(config["espeak"]["voice"])
        self.rate = int(config["audio"]["sample_rate"])
        if self._model_name != MODEL:
            self.voices = (Voice(file.stem, espeak_voice.split("-", maxsplit=1)[0]),)
        loaded = _Loaded(
            Session(file, self._threads),
            config["phoneme_id_map"],
            (inference["noise_scale"], inference["length_scale"], inference["noise_w"]),
            espeak_voice,
        )
        self._say(loaded, "Ready.", Stop())  # the first run is slow, and shows that all parts work together
        return loaded

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        """Speaks one piece: `(n,)` samples for each sentence of it.

        Raises:
            ModelUnsupported: the voice speaks another language, or there is no voice of that name.
        """
        await self.load()
        self._check(language, voice)
        for part in speakable_parts(text):
            loaded = self._loaded
            if loaded is None:
                return
            samples = await self._thread.run(lambda stop, part=part, loaded=loaded: self._say(loaded, part, stop))
            if len(samples):
                yield samples

    def _check(self, language: str, voice: str) -> None:
        speaks = self.voices[0]
        if language != speaks.language:
            raise ModelUnsupported(
                f"The voice {speaks.name} speaks {speaks.language}, not {language}.",
                'Set `tts.engine = "kokoro"` (English, French and more) or `"espeak"` (every language).',
            )
        if voice not in ("", speaks.name):
            raise ModelUnsupported(f"Piper has no voice {voice}.", f"Its voice is {speaks.name}.")

    def _say(self, loaded: _Loaded, text: str, stop: Stop) -> Samples:
        ids = phoneme_ids(self._espeak.phonemes(text, loaded.espeak_voice), loaded.ids)
        if len(ids) <= 3:
            return np.zeros(0, np.float32)
        noise, length, rhythm = loaded.scales
        arrays = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array([noise, length / self._speed, rhythm], np.float32),
        }
        sound: Samples = loaded.session.run(arrays, stop)[0].astype(np.float32).reshape(-1)
        return trim_silence(np.clip(sound, -1.0, 1.0), self.rate)

    async def unload(self) -> None:
        """Gives the memory back, and ends the phonemes' process."""
        self._loaded = None
        self._espeak.close()


def phoneme_ids(phonemes: str, table: dict[str, list[int]]) -> list[int]:
    """The numbers of `phonemes`, a pad after each, between begin and end; unknown marks are left out."""
    ids = [*table[BEGIN], *table[PAD]]
    for phoneme in unicodedata.normalize("NFD", phonemes):
        if phoneme in table:
            ids += [*table[phoneme], *table[PAD]]
    return ids + table[END]


def _read_config(file: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        for key in ("inference", "espeak", "audio", "phoneme_id_map"):
            config[key]
    except (OSError, ValueError, KeyError) as error:
        raise ModelDamaged(f"{file} is missing or is no Piper configuration.", "Check `tts.model`.") from error
    return config
