"""The four seams between samples and words: `Vad`, `EndOfTurn`, `Stt`, `Tts`.

All samples are mono float32 `(n,)`, -1 .. 1. What comes in is at `MIC_RATE`, 16 kHz; what goes out at the voice's rate.
Models behind these seams run on threads of their own and never on the event loop's.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Protocol

from mirza.audio.base import Samples


class Vad(Protocol):
    """Voice detection: is this voice?"""

    def probability(self, samples: Samples) -> float:
        """Whether the `(512,)` samples that follow the last ones are voice, 0 .. 1. Well under a millisecond."""
        ...

    def reset(self) -> None:
        """Forgets what was heard."""
        ...


class EndOfTurn(Protocol):
    """Has the speaker finished, by meaning and intonation?"""

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, damaged, or cannot run here.
        """
        ...

    async def unload(self) -> None:
        """Gives the memory back."""
        ...

    async def probability(self, samples: Samples) -> float:
        """Whether a turn that sounds like `samples` (up to its last 8 s are looked at) is complete, 0 .. 1."""
        ...


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was understood.

    `no_speech` is how sure the recogniser is that nobody spoke, 0 .. 1; `sure` is false where its words are guesses, as
    laughter gets them.
    """

    text: str
    language: str = "en"
    no_speech: float = 0.0
    sure: bool = True


class Stt(Protocol):
    """Speech recognition."""

    @property
    def languages(self) -> Sequence[str]:
        """ISO 639-1 codes; the first one is the default."""
        ...

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, damaged, or cannot run here.
        """
        ...

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        """What was said. `language` is an ISO 639-1 code, or `None` to find out.

        `partial` says that the user is still talking: quick matters more than right.
        """
        ...

    async def unload(self) -> None:
        """Gives the memory back."""
        ...


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice that a `Tts` can speak with."""

    name: str
    language: str
    description: str = ""


class Tts(Protocol):
    """Speech synthesis."""

    @property
    def rate(self) -> int:
        """Hertz of what `synthesize` yields."""
        ...

    @property
    def voices(self) -> Sequence[Voice]:
        """What it can speak with."""
        ...

    async def load(self) -> None:
        """Makes the model ready.

        Raises:
            ModelError: it is not there, damaged, or cannot run here.
        """
        ...

    def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        """Speaks one speakable piece: chunks of samples as they are ready. `voice` empty means the language's default.

        Raises:
            ModelUnsupported: no voice of this engine speaks `language`.
        """
        ...

    async def unload(self) -> None:
        """Gives the memory back."""
        ...
