"""Settings to a ready conversation: the only file that knows which engine is which.

An engine is a function from settings to a part. Ours are in the tables below; a package adds one with an entry point in
the group `mirza.llm`, `mirza.stt` or `mirza.tts`, and its name becomes a value of `llm.engine`, `stt.engine`,
`tts.engine`. Engines are imported when they are chosen, so that a text console needs no audio library.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, TypeVar, cast

from mirza.errors import ModelNotFound, SettingsError
from mirza.folders import cache_folder, snapshot_folder
from mirza.history import History
from mirza.llm.base import BaseLlm, OnProgress
from mirza.parts import Parts
from mirza.pipeline import Conversation
from mirza.settings import SettingsTree
from mirza.speech.base import EndOfTurn, Stt, Tts, Vad
from mirza.speech.ear import Echo, WakeWord

if TYPE_CHECKING:
    from mirza.audio.base import Sound
    from mirza.mlx_thread import MlxThread

T = TypeVar("T")
Maker = Callable[[SettingsTree], T]


def build_conversation(
    settings: SettingsTree,
    *,
    history: History | None = None,
    sound: Sound | bool = False,
    on_progress: OnProgress | None = None,
) -> Conversation:
    """A conversation as the settings want it, not loaded yet.

    `sound` is a `Sound`, or whether to use the settings' microphone and loudspeaker; without, it is for the keyboard.

    Raises:
        SettingsError: an engine that does not exist is asked for.
        ModelNotFound: a model is not on this disk.
    """
    llm = make_llm(settings)
    if sound is False:
        return Conversation(Parts(llm), settings, history, on_progress)

    def notify(text: str) -> None:
        conversation.notify(text)

    parts = Parts(
        llm,
        sound=_devices(settings, notify) if sound is True else sound,
        vad=make_vad(),
        end_of_turn=make_end_of_turn(settings),
        stt=make_stt(settings),
        tts=make_tts(settings),
        echo=make_echo(settings),
        wake_word=make_wake_word(settings),
    )
    conversation = Conversation(parts, settings, history, on_progress)
    return conversation


# --- language models -------------------------------------------------------------------------------------------------


def make_llm(settings: SettingsTree) -> BaseLlm:
    """The language model that `llm.engine` names."""
    makers: dict[str, Maker[BaseLlm]] = {"mlx": _mlx_llm, "openai": _openai_llm, "scripted": _scripted_llm}
    return _make("llm", settings.llm.engine, makers, settings)


def _mlx_llm(settings: SettingsTree) -> BaseLlm:
    from mirza.llm.mlx.qwen import MlxQwenLlm

    snapshots = snapshot_folder(settings.paths) if settings.llm.snapshots else None
    return MlxQwenLlm(llm_folder(settings), settings.llm, thread=mlx_thread(), snapshot_dir=snapshots)


def llm_folder(settings: SettingsTree) -> str:
    """Where the language model is: pulled by Mirza, a folder, or a repository that the hub's own cache holds."""
    from mirza import models

    cache_dir, name = cache_folder(settings.paths), settings.llm.model
    if name == "auto":
        name = models.best_llm(models.machine_memory_bytes(), cache_dir).name
    try:
        return str(models.path(name, cache_dir))
    except ModelNotFound:
        if name.count("/") == 1 and name[0] not in "./~":
            return name
        raise


def _openai_llm(settings: SettingsTree) -> BaseLlm:
    from mirza.llm.openai import OpenAiLlm

    return OpenAiLlm(settings.openai, settings.llm)


def _scripted_llm(settings: SettingsTree) -> BaseLlm:
    from mirza.llm.scripted import ScriptedLlm

    return ScriptedLlm(max_tokens=settings.llm.max_tokens, thought="I repeat what I was told. " * 40, token_s=0.02)


@cache
def mlx_thread() -> MlxThread:
    """The one thread of this process on which MLX runs."""
    from mirza.mlx_thread import MlxThread

    return MlxThread()


# --- ears ------------------------------------------------------------------------------------------------------------


def make_vad() -> Vad:
    """The voice detector."""
    from mirza.speech.vad import SileroVad

    return SileroVad()


def make_end_of_turn(settings: SettingsTree) -> EndOfTurn:
    """The end-of-turn model."""
    from mirza.speech.end_of_turn import SmartTurn

    return SmartTurn(cache_folder(settings.paths))


def make_stt(settings: SettingsTree) -> Stt:
    """The recogniser that `stt.engine` names; `auto` is Moonshine for English and Whisper for all else."""
    engine = settings.stt.engine
    if engine == "auto":
        engine = "moonshine" if settings.stt.language == "en" else "whisper"
    makers: dict[str, Maker[Stt]] = {"moonshine": _moonshine, "whisper": _whisper, "mlx-audio": _mlx_audio_stt}
    return _make("stt", engine, makers, settings)


def _moonshine(settings: SettingsTree) -> Stt:
    from mirza.speech.stt.moonshine import MoonshineStt

    return MoonshineStt(cache_folder(settings.paths))


def _whisper(settings: SettingsTree) -> Stt:
    from mirza.speech.stt.whisper import WhisperStt

    return WhisperStt(settings.stt.model or "whisper-base", cache_folder(settings.paths))


def _mlx_audio_stt(settings: SettingsTree) -> Stt:
    from mirza.speech.stt.mlx_audio import MlxAudioStt

    return MlxAudioStt(mlx_thread(), settings.stt.model, cache_folder(settings.paths))


# --- mouth -----------------------------------------------------------------------------------------------------------


def make_tts(settings: SettingsTree) -> Tts:
    """The voice that `tts.engine` names; `auto` has one for each language."""
    makers: dict[str, Maker[Tts]] = {
        "auto": _auto_tts,
        "piper": _piper,
        "kokoro": _kokoro,
        "espeak": _espeak,
        "mlx-audio": _mlx_audio_tts,
    }
    return _make("tts", settings.tts.engine, makers, settings)


def _auto_tts(settings: SettingsTree) -> Tts:
    from mirza.speech.tts.by_language import TtsByLanguage

    return TtsByLanguage(
        settings.stt.language if settings.stt.language != "auto" else "en",
        {"en": lambda: _piper(settings), "fr": lambda: _kokoro(settings), "es": lambda: _kokoro(settings)},
        otherwise=lambda: _espeak(settings),
    )


def _piper(settings: SettingsTree) -> Tts:
    from mirza.speech.tts.piper import PiperTts

    return PiperTts(settings.tts.model, cache_folder(settings.paths), speed=settings.tts.speed)


def _kokoro(settings: SettingsTree) -> Tts:
    from mirza.speech.tts.kokoro import KokoroTts

    return KokoroTts(cache_folder(settings.paths), speed=settings.tts.speed)


def _espeak(settings: SettingsTree) -> Tts:
    from mirza.speech.tts.espeak import EspeakTts

    return EspeakTts(speed=settings.tts.speed)


def _mlx_audio_tts(settings: SettingsTree) -> Tts:
    from mirza.speech.tts.mlx_audio import MlxAudioTts

    return MlxAudioTts(mlx_thread(), settings.tts.model, cache_folder(settings.paths), speed=settings.tts.speed)


# --- sound -----------------------------------------------------------------------------------------------------------


def _devices(settings: SettingsTree, on_notice: Callable[[str], None]) -> Sound:
    from mirza.audio.devices import DeviceSound

    return DeviceSound(settings.audio.input, settings.audio.output, on_notice=on_notice)


def make_echo(settings: SettingsTree) -> Echo | None:
    """The echo canceller, unless `audio.echo_cancel` is off."""
    if settings.audio.echo_cancel == "off":
        return None
    from mirza.audio.echo import make_echo_canceller

    return make_echo_canceller()


def make_wake_word(settings: SettingsTree) -> WakeWord | None:
    """The listener for `audio.wake_word`, if there is one."""
    if not settings.audio.wake_word:
        return None
    from mirza.speech.wake_word import MicroWakeWord

    return MicroWakeWord(settings.audio.wake_word)


# --- engines by name -------------------------------------------------------------------------------------------------


def _make(kind: str, name: str, ours: dict[str, Maker[T]], settings: SettingsTree) -> T:
    """The engine called `name`: one of ours, or one that an installed package adds.

    Raises:
        SettingsError: there is none.
    """
    if name in ours:
        return ours[name](settings)
    added = {entry.name: entry for entry in entry_points(group=f"mirza.{kind}")}
    if name in added:
        make = cast("Maker[T]", added[name].load())
        return make(settings)
    known = [*ours, *added]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise SettingsError(f"{kind}.engine is {name!r}, which is no engine.", f"{hint}There are: {', '.join(known)}.")
