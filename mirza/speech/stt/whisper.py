"""Whisper by faster-whisper: many languages on the CPU, and which of them it was."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mirza import models
from mirza.audio.base import MIC_RATE, Samples
from mirza.errors import ModelDamaged, ModelUnsupported
from mirza.models.onnx import EngineThread, Stop
from mirza.speech.base import Transcript
from mirza.speech.stt.guard import Guard

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

MODEL = "whisper-base"
TOKENS_PER_S = 10
"""Of voice; more is a loop."""
SURE_OF_LANGUAGE_S = 1.0
"""Less voice ("oui") does not tell which language it is."""


@dataclass(frozen=True, slots=True)
class _Model:
    whisper: WhisperModel
    guard: Guard


class WhisperStt:
    """Whisper (MIT) in int8, 0.7 s for 3.5 s of speech on two cores; `model` is a name of the catalogue or a folder."""

    def __init__(self, model: str = MODEL, cache_folder: Path | None = None, threads: int = 2) -> None:
        self._model_name = model or MODEL
        self._cache_folder = cache_folder
        self._threads = threads
        self._thread = EngineThread("stt")
        self._model: _Model | None = None
        self._last_language: str | None = None
        self.languages: Sequence[str] = ("en",)

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, or damaged.
        """
        if self._model is None:
            self._model = await self._thread.run(lambda _: self._open())

    def _open(self) -> _Model:
        from faster_whisper import WhisperModel

        folder = models.verified_path(self._model_name, self._cache_folder)
        try:
            whisper = WhisperModel(
                str(folder), device="cpu", compute_type="int8", cpu_threads=self._threads, local_files_only=True
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelDamaged(f"{folder} is no Whisper model: {error}.", "Check `stt.model`.") from error
        if whisper.model.is_multilingual:
            self.languages = ("en", *(code for code in whisper.supported_languages if code != "en"))
        return _Model(whisper, Guard())

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        """What was said, and in which language. A partial costs as much as a final.

        Raises:
            ModelUnsupported: the model does not know `language`.
        """
        await self.load()
        if language is not None and language not in self.languages:
            raise ModelUnsupported(
                f"{self._model_name} does not understand {language}.", f"It knows: {', '.join(self.languages)}."
            )
        model = self._model
        if model is None:
            return Transcript("")
        heard = await self._thread.run(lambda stop: _transcribe(model, samples, language, self._last_language, stop))
        if heard.text and len(samples) >= SURE_OF_LANGUAGE_S * MIC_RATE:
            self._last_language = heard.language
        return heard

    async def unload(self) -> None:
        """Gives the memory back."""
        self._model = None


def _transcribe(model: _Model, samples: Samples, language: str | None, last: str | None, stop: Stop) -> Transcript:
    """Each chunk by itself: text of an earlier one would carry its mistakes, and its loops, into the next."""
    voiced = model.guard.listen(samples)
    if language is None and voiced.voice_s < SURE_OF_LANGUAGE_S:
        language = last
    if voiced.voice_s == 0.0:
        return Transcript("", language or "en", voiced.no_speech)
    texts: list[str] = []
    for chunk in model.guard.chunks(voiced):
        if stop.asked:
            break
        segments, info = model.whisper.transcribe(
            chunk,
            language=language,
            beam_size=1,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=True,
            max_new_tokens=16 + int(TOKENS_PER_S * voiced.voice_s),
        )
        texts += [segment.text.strip() for segment in segments]
        language = language or info.language
    return Transcript(model.guard.check(" ".join(texts), voiced), language or "en", voiced.no_speech)
