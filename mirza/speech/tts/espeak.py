"""espeak-ng: robotic, immediate, every language. The floor that is always there."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from mirza.audio.base import Samples
from mirza.errors import ModelUnsupported
from mirza.models.onnx import EngineThread
from mirza.speech.base import Voice
from mirza.speech.tts.phonemes import EspeakProcess
from mirza.speech.tts.sentences import speakable_parts
from mirza.speech.tts.silence import trim_silence

ESPEAK_VOICES = {
    "en": "en-us",
    "fr": "fr",
    "de": "de",
    "es": "es",
    "it": "it",
    "pt": "pt-br",
    "nl": "nl",
    "pl": "pl",
    "ru": "ru",
    "uk": "uk",
    "tr": "tr",
    "ar": "ar",
    "hi": "hi",
    "zh": "cmn",
    "ja": "ja",
    "ko": "ko",
    "sv": "sv",
    "da": "da",
    "fi": "fi",
    "cs": "cs",
    "el": "el",
    "ro": "ro",
    "hu": "hu",
    "vi": "vi",
}
"""ISO 639-1 codes to espeak-ng's names. Japanese and Chinese characters are spelled out by it rather than read."""


class EspeakTts:
    """espeak-ng in its own process; any of its voices by name, e.g. `en-gb-scotland` or `fr-be`."""

    rate = 22_050
    voices: Sequence[Voice] = tuple(Voice(name, code, "robotic") for code, name in ESPEAK_VOICES.items())

    def __init__(self, *, speed: float = 1.0) -> None:
        self._speed = speed
        self._thread = EngineThread("tts")
        self._espeak = EspeakProcess()

    async def load(self) -> None:
        """Starts the process.

        Raises:
            ModelUnsupported: espeak-ng cannot run here.
        """
        await self._thread.run(lambda _: self._espeak.phonemes("ready", "en-us"))

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        """Speaks one piece: `(n,)` samples for each sentence of it.

        Raises:
            ModelUnsupported: espeak-ng does not know the language or the voice.
        """
        name = voice or ESPEAK_VOICES.get(language, "")
        if not name:
            raise ModelUnsupported(f"espeak-ng has no voice for {language}.", f"It has: {', '.join(ESPEAK_VOICES)}.")
        for part in speakable_parts(text):
            sound = await self._thread.run(lambda _, part=part: self._espeak.speak(part, name, self._speed))
            samples = trim_silence(sound, self._espeak.rate)
            if len(samples):
                yield samples

    async def unload(self) -> None:
        """Ends the process."""
        self._espeak.close()
