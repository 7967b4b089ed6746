"""mlx-audio's voices, for Apple silicon: Kokoro, pocket-tts and more, on the MLX thread."""

# mlx-audio 0.6.2 is not typed: this file is its border.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingImports=false

from __future__ import annotations

import importlib
import inspect
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mirza import models
from mirza.audio.base import Samples
from mirza.errors import ModelDamaged, ModelUnsupported
from mirza.mlx_thread import MlxThread, Priority, Step
from mirza.speech.base import Voice
from mirza.speech.tts.sentences import speakable_parts

MODEL = "kokoro-82m-mlx"
STREAMING_INTERVAL_S = 0.3
KOKORO_LANGUAGES = {"en": "a", "es": "e", "fr": "f", "hi": "h", "it": "i", "ja": "j", "pt": "p", "zh": "z"}
"""The letter that Kokoro calls a language by; its voices' names begin with it (mlx-audio, models/kokoro)."""
KOKORO_VOICES = (
    Voice("af_heart", "en", "American, female"),
    Voice("ff_siwis", "fr", "French, female"),
    Voice("ef_dora", "es", "Spanish, female"),
    Voice("if_sara", "it", "Italian, female"),
    Voice("pf_dora", "pt", "Brazilian, female"),
    Voice("jf_alpha", "ja", "Japanese, female"),
    Voice("zf_xiaobei", "zh", "Chinese, female"),
)


class Synthesiser(Protocol):
    """What mlx-audio's models have in common."""

    sample_rate: int

    def generate(self, text: str, **options: Any) -> Generator[Any]: ...


class MlxAudioTts:
    """Any voice that mlx-audio loads; `model` is a name of the catalogue, a hub repository, or a folder.

    Models that stream yield sound every 0.3 s; the others (Kokoro) a sentence at a time.
    """

    def __init__(
        self,
        thread: MlxThread,
        model: str = MODEL,
        cache_folder: Path | None = None,
        *,
        voices: Sequence[Voice] = KOKORO_VOICES,
        speed: float = 1.0,
    ) -> None:
        self._thread = thread
        self._model_name = model or MODEL
        self._cache_folder = cache_folder
        self._speed = speed
        self._model: Synthesiser | None = None
        self._options: frozenset[str] = frozenset()
        self.voices = voices
        self.rate = 24_000

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, damaged, or of a kind that mlx-audio does not know.
        """
        if self._model is None:
            folder = models.path(self._model_name, self._cache_folder)
            model = await self._thread.call(lambda: _load(folder))
            self._options = frozenset(inspect.signature(model.generate).parameters)
            self.rate = int(model.sample_rate)
            self._model = model

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        """Speaks one piece, in chunks as they are ready. Closing it ends the work within a chunk.

        Raises:
            ModelUnsupported: no voice speaks `language`.
        """
        speaking = [known for known in self.voices if known.language == language]
        if not speaking:
            raise ModelUnsupported(f"{self._model_name} does not speak {language}.", "Choose another `tts.model`.")
        await self.load()
        model = self._model
        if model is None:
            return
        wishes = {
            "voice": voice or speaking[0].name or None,
            "speed": self._speed,
            "lang_code": KOKORO_LANGUAGES.get(language, language),
            "stream": True,
            "streaming_interval": STREAMING_INTERVAL_S,
            "verbose": False,
        }
        options = {name: value for name, value in wishes.items() if name in self._options}

        def speak() -> Generator[Samples | Step]:
            for part in speakable_parts(text):
                for result in model.generate(part, **options):
                    yield np.array(result.audio, np.float32).reshape(-1)

        async with aclosing(self._thread.run(speak, priority=Priority.VOICE, ahead=4)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def unload(self) -> None:
        """Gives the memory back."""
        self._model = None


def _load(folder: Path) -> Synthesiser:
    try:
        library: Any = importlib.import_module("mlx_audio.tts.utils")
    except ImportError as error:
        raise ModelUnsupported("mlx-audio is not installed.", "`pip install mlx-audio` adds it.") from error
    try:
        return library.load_model(folder)
    except ImportError as error:
        raise ModelUnsupported(
            f"{folder.name} needs the package {error.name}.", f"`pip install {error.name}`."
        ) from error
    except (ValueError, OSError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelDamaged(f"mlx-audio cannot load {folder}: {reason}", "Check `tts.model`.") from error
