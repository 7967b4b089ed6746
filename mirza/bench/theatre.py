"""Plays a script to Mirza, with the real models, in real time or without the waiting, and records it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from mirza.audio.base import Samples
from mirza.bench.patient import Busy, patient_llm
from mirza.bench.reader import Reader
from mirza.bench.room import StagedSound
from mirza.bench.script import Script
from mirza.bench.take import Said, Take, Turn, load_average, resident_mb
from mirza.build import build_conversation
from mirza.events import (
    AnswerEnded,
    AnswerStarted,
    Ducked,
    Event,
    Failed,
    Heard,
    SpeechDelta,
    ThinkingDelta,
    TurnDropped,
    TurnEnded,
    TurnMeasured,
    TurnReopened,
)
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.watchers import Watcher


class Notes:
    """Writes down what Mirza says of itself, turn by turn."""

    def __init__(self, take: Take) -> None:
        self._take = take
        self._ended_s: float | None = None
        self._first_token_s: float | None = None

    def note(self, event: Event, now_s: float) -> None:
        """Takes the next event."""
        turns = self._take.turns
        match event:
            case TurnEnded(at_s):
                self._ended_s = at_s
            case AnswerStarted():
                self._first_token_s = None
            case ThinkingDelta() | SpeechDelta():
                self._first_token_s = now_s if self._first_token_s is None else self._first_token_s
            case TurnReopened():
                self._take.reopened += 1
                if turns and not turns[-1].said:
                    turns.pop()
            case Heard(text=text, at_s=at_s):
                turns.append(Turn(heard=text, heard_s=at_s, ended_s=self._ended_s))
            case AnswerEnded(said=said, at_s=at_s, interrupted=interrupted) if turns:
                turns[-1].said, turns[-1].interrupted, turns[-1].answered_s = said, interrupted, at_s
            case Ducked(at_s):
                self._take.lowered_s.append(at_s)
            case TurnMeasured(llm=llm) if turns:
                turns[-1].first_token_s, self._first_token_s = self._first_token_s, None
                turns[-1].prefilled_tokens, turns[-1].reused_tokens = llm.prefilled_tokens, llm.reused_tokens
            case TurnDropped(reason, text):
                self._take.dropped.append(f"{reason}: {text}")
            case Failed(error):
                self._take.failures.append(str(error))
            case _:
                pass


async def play(
    script: Script, sounds: list[Samples], settings: SettingsTree, recording: Path, busy: Busy | None = None
) -> Take:
    """Holds one scripted conversation with Mirza; writes its stereo recording. `busy` is that of `run_patiently`.

    Raises:
        MirzaError: a model is not there, or the recording cannot be written.
    """
    take = Take(system="mirza", script=script.name, recording=str(recording))
    sound = StagedSound(script, sounds)
    conversation = build_conversation(settings, sound=sound)
    if script.answers:
        conversation = Conversation(replace(conversation.parts, llm=Reader(script.answers)), settings)
    elif busy is not None:
        conversation = Conversation(replace(conversation.parts, llm=patient_llm(busy, settings)), settings)
    sound.idle = conversation.idle
    watching = asyncio.create_task(_watch(conversation, conversation.watch(), Notes(take)))
    async with conversation:
        await conversation.finished()
        take.underruns, take.resident_mb = sound.player.underruns, resident_mb()
        await conversation.interrupt()
    await watching
    sound.write(recording)
    take.place(sound.conductor.placed, sound.conductor.missed)
    take.history = [Said(role=message.role, content=message.content) for message in conversation.history.messages]
    take.load = load_average()
    return take


async def _watch(conversation: Conversation, events: Watcher, notes: Notes) -> None:
    async for event in events:
        notes.note(event, conversation.now_s())
