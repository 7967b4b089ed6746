"""Honest doubles for every model and device, and a clock that does not wait. Mirza's own tests use them; so can yours.

    talk = converse(said("What time is it?"), silence(3), replies=["Time to talk."])
    assert talk.answers == ["Time to talk."]
    assert talk.audible == "Time to talk."

Sound is real here, samples and all, but a word is a pair of tones (`said`), so that a double can recognise and speak
it exactly. What the loudspeaker played can be read back from the recording, which is how a test knows what was heard
without asking the code under test. The event loop's time is virtual: thirty seconds of talk run in milliseconds, the
same each time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import RecordedSound, Recording
from mirza.audio.room import Room
from mirza.events import AnswerEnded, Event, Heard
from mirza.history import History
from mirza.llm.base import BaseLlm, Message, Tool
from mirza.llm.scripted import Reply, ScriptedLlm
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.speech.base import Stt, Transcript, Tts, Voice
from mirza.speech.ear import Echo, WakeWord

E = TypeVar("E")
T = TypeVar("T")

# --- time ------------------------------------------------------------------------------------------------------------


class _NoWait(selectors.DefaultSelector):
    """Looks for input without waiting for it, and notes how long it was asked to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0.0)
        if not ready:
            if timeout is None:  # a thread is at work: wait for it, time stands still
                return super().select(None)
            self.now_s += max(timeout, 0.0)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when everybody waits, and then at once."""

    def __init__(self) -> None:
        self._no_wait = _NoWait()
        super().__init__(self._no_wait)

    def time(self) -> float:
        return self._no_wait.now_s


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Runs `main` to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)


# --- sound -----------------------------------------------------------------------------------------------------------


WORD_S = 0.25
GAP_S = 0.03
_LOW = 300.0 + 60.0 * np.arange(28, dtype=np.float64)
_HIGH = 2500.0 + 100.0 * np.arange(35, dtype=np.float64)
_words: dict[str, int] = {}


def _tones(word: str) -> tuple[float, float]:
    """The two tones, in hertz, that are `word`: as on a telephone's keys, each pair is one word."""
    number = _words.setdefault(word, len(_words)) % (len(_LOW) * len(_HIGH))
    return float(_LOW[number % len(_LOW)]), float(_HIGH[number // len(_LOW)])


def said(text: str, *, word_s: float = WORD_S, loudness: float = 0.3) -> Samples:
    """The sound of `text`: each word `word_s` long, a pair of tones and a gap of 30 ms."""
    return np.concatenate([_word(word, word_s, loudness) for word in text.split()] or [silence(0)])


def _word(word: str, word_s: float, loudness: float) -> Samples:
    time = np.arange(round((word_s - GAP_S) * MIC_RATE)) / MIC_RATE
    low, high = _tones(word)
    tone = loudness * (np.sin(2 * np.pi * low * time) + np.sin(2 * np.pi * high * time)) / np.sqrt(2)
    return np.concatenate([tone, np.zeros(round(GAP_S * MIC_RATE))]).astype(np.float32)


def recognise(samples: Samples, *, quiet: float = 0.01) -> list[tuple[str, float]]:
    """The words that were `said` in `samples` and when each began, in seconds; a word cut short counts."""
    hop = round(0.01 * MIC_RATE)
    frames = samples[: len(samples) // hop * hop].reshape(-1, hop)
    if not len(frames):
        return []
    by_number = {number: word for word, number in _words.items()}
    time = np.arange(hop) / MIC_RATE
    low, high = (np.argmax(_energy(frames, tones, time), axis=1) for tones in (_LOW, _HIGH))
    loud = np.sqrt(np.mean(np.square(frames), axis=1)) > quiet
    numbers = np.where(loud, low + len(_LOW) * high, -1)
    found: list[tuple[str, float]] = []
    run, before = 0, -1
    for index, number in enumerate(numbers.tolist()):
        run = run + 1 if number == before else 1
        before = number
        if number in by_number and run == 3:  # 30 ms of the same pair: a word, not an edge
            found.append((by_number[number], (index - 2) * 0.01))
    return found


def _energy(frames: Samples, tones: NDArray[np.float64], time: NDArray[np.float64]) -> NDArray[np.float64]:
    waves = np.exp(-2j * np.pi * tones[:, None] * time)
    return np.abs(frames @ waves.T)


def speech(seconds: float) -> Samples:
    """A voice without words: a hum."""
    time = np.arange(round(seconds * MIC_RATE)) / MIC_RATE
    return (0.3 * np.sin(2 * np.pi * 120 * time)).astype(np.float32)


def silence(seconds: float) -> Samples:
    """Nothing."""
    return np.zeros(round(seconds * MIC_RATE), np.float32)


# --- doubles ---------------------------------------------------------------------------------------------------------


class LoudnessVad:
    """A voice detector that takes everything louder than `threshold` (RMS) for a voice."""

    def __init__(self, threshold: float = 0.02) -> None:
        self.threshold = threshold

    def probability(self, samples: Samples) -> float:
        return 1.0 if float(np.sqrt(np.mean(np.square(samples)))) > self.threshold else 0.0

    def reset(self) -> None:
        return


class ScriptedEndOfTurn:
    """An end-of-turn model that gives these probabilities, or fails so, in turn; then the last one for ever."""

    def __init__(self, probabilities: Sequence[float | Exception] = (0.95,), seconds: float = 0.05) -> None:
        self._probabilities, self._seconds = list(probabilities), seconds

    async def load(self) -> None:
        return

    async def unload(self) -> None:
        return

    async def probability(self, samples: Samples) -> float:
        await asyncio.sleep(self._seconds)
        judged = self._probabilities.pop(0) if len(self._probabilities) > 1 else self._probabilities[0]
        if isinstance(judged, Exception):
            raise judged
        return judged


class ToneStt:
    """A recogniser that understands what was `said`, exactly, after `seconds`."""

    def __init__(self, *, seconds: float = 0.08, language: str = "en") -> None:
        self.languages: Sequence[str] = (language,)
        self.calls = 0
        self._seconds, self._language = seconds, language

    async def load(self) -> None:
        return

    async def unload(self) -> None:
        return

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        self.calls += 1
        await asyncio.sleep(self._seconds)
        return Transcript(" ".join(word for word, _ in recognise(samples)), language or self._language)


class ToneTts:
    """A voice whose every word is `said`; a piece takes `seconds` to make, and comes in one chunk."""

    rate = MIC_RATE

    def __init__(self, *, seconds: float = 0.1, word_s: float = WORD_S) -> None:
        self.voices: Sequence[Voice] = (Voice("tones", "en"),)
        self.spoken: list[str] = []
        """Every piece that was asked for, in order."""
        self._seconds, self._word_s = seconds, word_s

    async def load(self) -> None:
        return

    async def unload(self) -> None:
        return

    async def synthesize(self, text: str, *, language: str = "en", voice: str = "") -> AsyncGenerator[Samples]:
        self.spoken.append(text)
        await asyncio.sleep(self._seconds)
        yield said(text, word_s=self._word_s)


# --- a whole conversation --------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Talk:
    """What happened in a conversation, and how it sounded."""

    events: list[Event]
    history: tuple[Message, ...]
    recording: Recording

    def of(self, kind: type[E]) -> list[E]:
        """The events of one class, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def heard(self) -> list[str]:
        """The user's turns, as understood."""
        return [event.text for event in self.of(Heard)]

    @property
    def answers(self) -> list[str]:
        """The answers, as far as they were heard, by the conversation's own account."""
        return [event.said for event in self.of(AnswerEnded)]

    @property
    def audible(self) -> str:
        """What the loudspeaker really played, read off the recording."""
        return " ".join(word for word, _ in recognise(self.recording.loudspeaker, quiet=0.001))

    def audible_from(self, start_s: float) -> str:
        """What the loudspeaker played from `start_s` on."""
        return " ".join(word for word, at_s in recognise(self.recording.loudspeaker, quiet=0.001) if at_s >= start_s)

    def loud(self, start_s: float, end_s: float) -> float:
        """Loudness of the loudspeaker in a stretch of the recording, RMS, 0 .. 1."""
        rate = self.recording.rate
        part = self.recording.loudspeaker[round(start_s * rate) : round(end_s * rate)]
        return float(np.sqrt(np.mean(np.square(part)))) if len(part) else 0.0


Interject = Callable[[Event, RecordedSound], None]
"""Told every event as it happens; may `say` something into the room."""

Drive = Callable[[Conversation], Coroutine[Any, Any, None]]
"""Runs beside the conversation, as a person at the keyboard would."""


def converse(
    *sounds: Samples,
    replies: Sequence[Reply] = (),
    llm: BaseLlm | None = None,
    stt: Stt | None = None,
    tts: Tts | None = None,
    complete: Sequence[float | Exception] = (0.95,),
    settings: SettingsTree | None = None,
    tools: Sequence[Tool] = (),
    room: Room | None = None,
    echo: Echo | None = None,
    wake_word: WakeWord | None = None,
    interject: Interject | None = None,
    drive: Drive | None = None,
    history: History | None = None,
) -> Talk:
    """Holds a conversation with doubles, in virtual time; `sounds` are what the microphone hears, one after another."""
    parts = Parts(
        llm=llm or ScriptedLlm(replies, token_s=0.05, first_token_s=0.1),
        sound=RecordedSound(np.concatenate(sounds), rate=MIC_RATE, tail_s=0.5, max_tail_s=60.0, room=room),
        vad=LoudnessVad(),
        end_of_turn=ScriptedEndOfTurn(complete),
        stt=stt or ToneStt(),
        tts=tts or ToneTts(),
        echo=echo,
        wake_word=wake_word,
        tools=tools,
    )
    conversation = Conversation(parts, settings or SettingsTree(), history)
    return run_virtual(_converse(conversation, interject, drive))


async def _converse(conversation: Conversation, interject: Interject | None, drive: Drive | None) -> Talk:
    sound = conversation.parts.sound
    assert isinstance(sound, RecordedSound)
    events: list[Event] = []
    watcher = conversation.watch()

    async def watch() -> None:
        async for event in watcher:
            events.append(event)
            if interject is not None:
                interject(event, sound)

    watching = asyncio.create_task(watch())
    async with conversation:
        driving = asyncio.create_task(drive(conversation)) if drive is not None else None
        sound.finish_when(lambda: conversation.idle() and (driving is None or driving.done()))
        await conversation.finished()
        if driving is not None:
            await driving
    await watching
    return Talk(events, conversation.history.messages, sound.recording())
