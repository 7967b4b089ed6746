"""Who listens and speaks in a soak, and what is said to them: doubles for speed, or everything that people use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.echo import make_echo_canceller
from mirza.audio.files import RecordedSound, read_recording
from mirza.audio.room import Room
from mirza.bench.askers import sound_name
from mirza.bench.script import TALKS, Means, read_scripts
from mirza.build import make_end_of_turn, make_stt, make_tts, make_vad
from mirza.llm.base import BaseLlm
from mirza.parts import Parts
from mirza.settings import SettingsTree
from mirza.talk import ANSWER_RATE
from mirza.testing import LoudnessVad, ScriptedEndOfTurn, ToneStt, ToneTts, said, silence

QUESTIONS = (
    "please turn on the kitchen lights",
    "please count to five",
    "turn off the bedroom lights please",
    "count to twenty three now please",
    "spell the numbers to nine please",
)


@dataclass(frozen=True, slots=True)
class Cast:
    """The parts of a conversation, its sound, and what a user may say: questions, and how one goes on."""

    parts: Parts
    sound: RecordedSound
    questions: Sequence[Samples]
    more: Samples
    pause_s: float
    """For a question, and to think before it."""


def doubles(llm: BaseLlm) -> Cast:
    """Stand-ins that take no time: all work is the engine's."""
    sound = RecordedSound(silence(0), rate=MIC_RATE, record=False, finish_when=_never, max_tail_s=1e9)
    parts = Parts(llm, sound, LoudnessVad(), ScriptedEndOfTurn(), ToneStt(), ToneTts(seconds=0.4, word_s=0.15))
    return Cast(parts, sound, [said(question) for question in QUESTIONS], said("and quickly"), pause_s=3.0)


def people(llm: BaseLlm, settings: SettingsTree) -> Cast:
    """The settings' own ears and voice, open loudspeakers, and the recorded voices of the scripted talks.

    Raises:
        MirzaError: a model or the recordings are not there.
    """
    sound = RecordedSound(silence(0), rate=ANSWER_RATE, room=Room(), record=False, finish_when=_never, max_tail_s=1e9)
    parts = Parts(
        llm,
        sound,
        make_vad(),
        make_end_of_turn(settings),
        make_stt(settings),
        make_tts(settings),
        echo=make_echo_canceller(),
    )
    return Cast(parts, sound, [read_recording(file) for file in _questions()], read_recording(_MORE), pause_s=6.0)


def _questions() -> list[Path]:
    lines = [script.lines[0] for script in read_scripts(TALKS, ["question"])]
    return [_SOUNDS / f"{sound_name(line)}.flac" for line in lines if line.means is Means.TURN and not line.sound]


def _never() -> bool:
    return False


_SOUNDS = TALKS / "sounds"
_MORE = _SOUNDS / "kokoro-am_michael-how-tall-are-they-4.flac"
