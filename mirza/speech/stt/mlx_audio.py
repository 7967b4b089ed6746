"""mlx-audio's recognisers, for Apple silicon: Whisper, Parakeet and more, on the MLX thread."""

# mlx-audio 0.6.2 is not typed: this file is its border.
# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingImports=false

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from mirza import models
from mirza.audio.base import Samples
from mirza.errors import ModelDamaged, ModelUnsupported
from mirza.mlx_thread import MlxThread
from mirza.speech.base import Transcript
from mirza.speech.stt.guard import Guard, Voiced

MODEL = "parakeet-tdt-v3"


class Recogniser(Protocol):
    """What mlx-audio's models have in common."""

    def generate(self, audio: Any, **options: Any) -> Any: ...


class MlxAudioStt:
    """Any recogniser that mlx-audio loads; `model` is a name of the catalogue, a hub repository, or a folder."""

    def __init__(
        self,
        thread: MlxThread,
        model: str = MODEL,
        cache_folder: Path | None = None,
        languages: Sequence[str] = (),
    ) -> None:
        """`languages` are those of the catalogue, or English, unless they are given."""
        self._thread = thread
        self._model_name = model or MODEL
        self._cache_folder = cache_folder
        self._model: Recogniser | None = None
        self._guard: Guard | None = None
        self._options: frozenset[str] = frozenset()
        known = {entry.name: entry.languages for entry in models.catalogue()}
        self.languages: Sequence[str] = languages or known.get(self._model_name, ("en",))

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, damaged, or of a kind that mlx-audio does not know.
        """
        if self._model is None:
            self._guard = Guard()
            folder = models.path(self._model_name, self._cache_folder)
            model = await self._thread.call(lambda: _load(folder))
            self._options = frozenset(inspect.signature(model.generate).parameters)
            self._model = model

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        """What was said.

        Raises:
            ModelUnsupported: the model does not know `language`.
        """
        if language is not None and language not in self.languages:
            raise ModelUnsupported(
                f"{self._model_name} does not understand {language}.", f"It knows: {', '.join(self.languages)}."
            )
        await self.load()
        model, guard = self._model, self._guard
        if model is None or guard is None:
            return Transcript("")
        voiced = guard.listen(samples)
        if voiced.voice_s == 0.0:
            return Transcript("", language or self.languages[0], voiced.no_speech)
        texts: list[str] = []
        for chunk in guard.chunks(voiced):  # the voice gets its turn between two chunks
            texts.append(await self._thread.call(lambda chunk=chunk: self._hear(model, chunk, language)))
        return _checked(guard, texts, voiced, language or self.languages[0])

    def _hear(self, model: Recogniser, samples: Samples, language: str | None) -> str:
        import mlx.core as mx

        wishes = {
            "language": language,
            "verbose": None,
            "temperature": 0.0,
            "condition_on_previous_text": False,
            "return_timestamps": False,
        }
        options = {name: value for name, value in wishes.items() if name in self._options}
        if "decode_options" in self._options:  # Whisper's last parameter takes what its decoder knows
            options["fp16"] = mx.metal.is_available()
        return str(model.generate(mx.array(samples), **options).text)

    async def unload(self) -> None:
        """Gives the memory back."""
        self._model = None


def _checked(guard: Guard, texts: list[str], voiced: Voiced, language: str) -> Transcript:
    return Transcript(guard.check(" ".join(texts), voiced), language, voiced.no_speech)


def _load(folder: Path) -> Recogniser:
    try:
        import mlx.core as mx

        library: Any = importlib.import_module("mlx_audio.stt.utils")
    except ImportError as error:
        raise ModelUnsupported("mlx-audio is not installed.", "`pip install mlx-audio` adds it.") from error
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config.get("model_type") == "whisper" and not mx.metal.is_available():
            return _whisper_in_float32(folder, config)
        return library.load_model(folder)
    except (ValueError, OSError, KeyError, RuntimeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ModelDamaged(f"mlx-audio cannot load {folder}: {reason}", "Check `stt.model`.") from error


def _whisper_in_float32(folder: Path, config: dict[str, Any]) -> Recogniser:
    """mlx-audio's loader makes it float16 (0.6.2), which takes ten times as long on a CPU."""
    mx: Any = importlib.import_module("mlx.core")
    whisper: Any = importlib.import_module("mlx_audio.stt.models.whisper.whisper")
    model = whisper.Model(whisper.ModelDimensions.from_dict(config), mx.float32)
    weights: dict[str, Any] = {}
    for file in sorted(folder.glob("*.safetensors")):
        weights |= mx.load(str(file))
    model.load_weights(list(model.sanitize(weights).items()))
    mx.eval(model.parameters())
    return whisper.Model.post_load_hook(model, folder)
