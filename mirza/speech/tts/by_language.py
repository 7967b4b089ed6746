"""`TtsByLanguage`: one voice for each language, each made and loaded when it is first needed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing

from mirza.audio.base import Samples
from mirza.speech.base import Tts, Voice

RATE = 24_000


class TtsByLanguage:
    """Speaks each language with the engine for it, at one rate.

    The engine for `first` is loaded at the start, so that a model that is missing is said before somebody speaks.
    """

    rate = RATE

    def __init__(self, first: str, engines: Mapping[str, Callable[[], Tts]], *, otherwise: Callable[[], Tts]) -> None:
        self._first, self._engines, self._otherwise = first, engines, otherwise
        self._loaded: dict[str, Tts] = {}
        self._loading = asyncio.Lock()

    @property
    def voices(self) -> Sequence[Voice]:
        """The voices of the engines that are loaded."""
        return [voice for engine in dict.fromkeys(self._loaded.values()) for voice in engine.voices]

    async def load(self) -> None:
        """Loads the voice of the language that is spoken first.

        Raises:
            ModelError: it is not there, damaged, or cannot run here.
        """
        await self._engine(self._first)

    async def unload(self) -> None:
        """Gives the memory of every voice back."""
        for engine in dict.fromkeys(self._loaded.values()):
            await engine.unload()
        self._loaded = {}

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        """Speaks `text` with the voice for `language`.

        Raises:
            ModelError: that voice is not there, damaged, or cannot run here.
        """
        from mirza.audio.resample import Resampler

        engine = await self._engine(language)
        resampler = Resampler(engine.rate, RATE)
        async with aclosing(engine.synthesize(text, language=language, voice=voice)) as stream:
            async for samples in stream:
                yield resampler.push(samples)
        yield resampler.flush()

    async def _engine(self, language: str) -> Tts:
        async with self._loading:
            if language not in self._loaded:
                make = self._engines.get(language, self._otherwise)
                engine = make()
                await engine.load()
                self._loaded[language] = engine
            return self._loaded[language]
