"""Kokoro by onnxruntime: the best voices that run on a CPU, in English, French, Spanish, Italian and Portuguese."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mirza import models
from mirza.audio.base import Samples
from mirza.errors import ModelDamaged, ModelUnsupported
from mirza.models.onnx import EngineThread, Session, Stop
from mirza.speech.base import Voice
from mirza.speech.tts.phonemes import EspeakProcess
from mirza.speech.tts.sentences import speakable_parts
from mirza.speech.tts.silence import trim_silence

MODEL = "kokoro-82m"
STYLES, STYLE_WIDTH = 510, 256
"""A voice is a style for each number of phonemes."""

# The symbols that Kokoro-82M was trained with, by number: `vocab` of its config.json
# (https://huggingface.co/hexgrad/Kokoro-82M).
SYMBOLS = {
    **dict(zip(';:,.!?', range(1, 7), strict=True)),
    **dict(zip('—…"()“” \u0303ʣʥʦʨᵝ\uab67AI', range(9, 26), strict=True)),
    "O": 31, "Q": 33, "S": 35, "T": 36, "W": 39, "Y": 41, "ᵊ": 42,
    **dict(zip("abcdef", range(43, 49), strict=True)),
    **dict(zip("hijklmnopqrstuvwxyzɑɐɒæ", range(50, 73), strict=True)),
    "β": 75, "ɔ": 76, "ɕ": 77, "ç": 78, "ɖ": 80, "ð": 81, "ʤ": 82, "ə": 83, "ɚ": 85, "ɛ": 86, "ɜ": 87, "ɟ": 90,
    "ɡ": 92, "ɥ": 99, "ɨ": 101, "ɪ": 102, "ʝ": 103, "ɯ": 110, "ɰ": 111, "ŋ": 112, "ɳ": 113, "ɲ": 114, "ɴ": 115,
    "ø": 116, "ɸ": 118, "θ": 119, "œ": 120, "ɹ": 123, "ɾ": 125, "ɻ": 126, "ʁ": 128, "ɽ": 129, "ʂ": 130, "ʃ": 131,
    "ʈ": 132, "ʧ": 133, "ʊ": 135, "ʋ": 136, "ʌ": 138, "ɣ": 139, "ɤ": 140, "χ": 142, "ʎ": 143, "ʒ": 147, "ʔ": 148,
    "ˈ": 156, "ˌ": 157, "ː": 158, "ʰ": 162, "ʲ": 164, "↓": 169, "→": 171, "↗": 172, "↘": 173, "ᵻ": 177,
}  # fmt: skip

# English diphthongs and affricates are one letter each in the phonemes that Kokoro learnt from; these come from the
# description of its phonemes (https://github.com/hexgrad/misaki, EN_PHONES.md).
AFFRICATES = (("dʒ", "ʤ"), ("tʃ", "ʧ"), ("dz", "ʣ"), ("ts", "ʦ"))
ENGLISH = (
    ("dʒ", "ʤ"), ("tʃ", "ʧ"), ("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("ɔɪ", "Y"), ("oʊ", "O"), ("əʊ", "Q"),
    ("ɚ", "əɹ"), ("ɜː", "ɜ"), ("ɐ", "ə"), ("r", "ɹ"), ("x", "k"), ("ɬ", "l"), ("ʔ", "t"), ("n̩", "ᵊn"), ("l̩", "ᵊl"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice of Kokoro and the espeak-ng voice whose phonemes it reads (`en` is British there)."""

    voice: Voice
    espeak: str


SPEAKERS = (
    Speaker(Voice("af_heart", "en", "American, female"), "en-us"),
    Speaker(Voice("af_bella", "en", "American, female"), "en-us"),
    Speaker(Voice("am_michael", "en", "American, male"), "en-us"),
    Speaker(Voice("bf_emma", "en", "British, female"), "en"),
    Speaker(Voice("bm_george", "en", "British, male"), "en"),
    Speaker(Voice("ff_siwis", "fr", "French, female"), "fr"),
    Speaker(Voice("ef_dora", "es", "Spanish, female"), "es"),
    Speaker(Voice("if_sara", "it", "Italian, female"), "it"),
    Speaker(Voice("pf_dora", "pt", "Brazilian, female"), "pt-br"),
)


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Session
    styles: dict[str, NDArray[np.float32]]
    """`(510, 256)` for each voice."""


class KokoroTts:
    """Kokoro-82M (Apache-2.0), int8: 0.3 of the speech's length on two cores."""

    rate = 24_000
    voices: Sequence[Voice] = tuple(speaker.voice for speaker in SPEAKERS)

    def __init__(self, cache_folder: Path | None = None, *, speed: float = 1.0, threads: int = 2) -> None:
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
        folder = models.verified_path(MODEL, self._cache_folder)
        styles: dict[str, NDArray[np.float32]] = {}
        for speaker in SPEAKERS:
            file = folder / "voices" / f"{speaker.voice.name}.bin"
            style = np.fromfile(file, "<f4")
            if style.size != STYLES * STYLE_WIDTH:
                raise ModelDamaged(f"{file} is no voice.", f"Get it again: `mirza models pull {MODEL} --force`.")
            styles[speaker.voice.name] = style.reshape(STYLES, STYLE_WIDTH)
        loaded = _Loaded(Session(folder / "model.onnx", self._threads), styles)
        self._say(loaded, SPEAKERS[0], "Ready.", Stop())
        return loaded

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        """Speaks one piece: `(n,)` samples for each sentence of it.

        Raises:
            ModelUnsupported: no voice of Kokoro speaks `language`, or there is no voice of that name in it.
        """
        await self.load()
        speaker = choose(language, voice)
        for part in speakable_parts(text):
            loaded = self._loaded
            if loaded is None:
                return
            samples = await self._thread.run(
                lambda stop, part=part, loaded=loaded: self._say(loaded, speaker, part, stop)
            )
            if len(samples):
                yield samples

    def _say(self, loaded: _Loaded, speaker: Speaker, text: str, stop: Stop) -> Samples:
        phonemes = respell(self._espeak.phonemes(text, speaker.espeak), speaker.voice.language)
        numbers = [SYMBOLS[symbol] for symbol in phonemes if symbol in SYMBOLS][:STYLES]
        if not numbers:
            return np.zeros(0, np.float32)
        arrays = {
            "tokens": np.array([[0, *numbers, 0]], np.int64),
            "style": loaded.styles[speaker.voice.name][len(numbers) - 1][None],
            "speed": np.array([self._speed], np.float32),
        }
        sound: Samples = loaded.session.run(arrays, stop)[0].astype(np.float32).reshape(-1)
        return trim_silence(np.clip(sound, -1.0, 1.0), self.rate)

    async def unload(self) -> None:
        """Gives the memory back, and ends the phonemes' process."""
        self._loaded = None
        self._espeak.close()


def choose(language: str, voice: str) -> Speaker:
    """The voice of that name, or the language's first.

    Raises:
        ModelUnsupported: there is none.
    """
    speakers = [speaker for speaker in SPEAKERS if speaker.voice.language == language]
    if not speakers:
        known = ", ".join(dict.fromkeys(speaker.voice.language for speaker in SPEAKERS))
        raise ModelUnsupported(
            f"Kokoro does not speak {language}.", f'It speaks {known}; `tts.engine = "espeak"` speaks every language.'
        )
    if not voice:
        return speakers[0]
    found = next((speaker for speaker in speakers if speaker.voice.name == voice), None)
    if found is None:
        names = ", ".join(speaker.voice.name for speaker in speakers)
        raise ModelUnsupported(f"Kokoro has no voice {voice} for {language}.", f"Its voices for it: {names}.")
    return found


def respell(phonemes: str, language: str) -> str:
    """espeak-ng's phonemes in the letters that Kokoro was trained with."""
    for theirs, ours in ENGLISH if language == "en" else AFFRICATES:
        phonemes = phonemes.replace(theirs, ours)
    return re.sub(r"\s+", " ", phonemes).strip()
