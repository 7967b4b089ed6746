"""`Parts`: what a conversation is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mirza.audio.base import Sound
from mirza.llm.base import BaseLlm, Tool
from mirza.speech.base import EndOfTurn, Stt, Tts, Vad
from mirza.speech.ear import Echo, WakeWord


@dataclass(frozen=True, slots=True)
class Parts:
    """What a conversation is made of: `mirza.build` reads it off the settings, tests take `mirza.testing`'s doubles."""

    llm: BaseLlm
    sound: Sound | None = None
    vad: Vad | None = None
    end_of_turn: EndOfTurn | None = None
    stt: Stt | None = None
    tts: Tts | None = None
    echo: Echo | None = None
    wake_word: WakeWord | None = None
    tools: Sequence[Tool] = ()
