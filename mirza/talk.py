"""`mirza talk`: a spoken conversation, live or with recordings, and what each stage of it took."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mirza.errors import BadRecording, MirzaError, NoDevice
from mirza.events import (
    CuePlayed,
    Event,
    Failed,
    Heard,
    Interrupted,
    Notice,
    Resumed,
    Speaking,
    ThinkingBudgetChanged,
    TurnDropped,
    TurnMeasured,
    TurnReopened,
)
from mirza.metrics import stages, turn_object

if TYPE_CHECKING:
    from mirza.audio.base import Samples
    from mirza.audio.files import RecordedSound
    from mirza.pipeline import Conversation
    from mirza.settings import SettingsTree
    from mirza.watchers import Watcher

ANSWER_RATE = 24_000
"""Hertz of a recorded talk: enough for every voice here, and a multiple of the microphone's 8 kHz."""

BETWEEN_S = 0.5
"""Silence between an answer and the next recorded question."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza talk` takes."""
    parser.add_argument(
        "--input", nargs="+", metavar="FILE", help="recordings to talk with instead of a microphone, one after another"
    )
    parser.add_argument("--output", metavar="FILE", help="write a stereo recording: microphone left, loudspeaker right")
    parser.add_argument("--assets", action="store_true", help="use the recordings that come with Mirza")
    parser.add_argument("--json", action="store_true", help="one object a turn on standard output, and nothing else")


def run(args: argparse.Namespace) -> int:
    """Holds the conversation; returns the exit status."""
    from mirza.log import set_up
    from mirza.settings_sources import settings_of

    settings = settings_of(args).tree
    set_up(settings.log, settings.paths)
    report = JsonReport() if args.json else TextReport()
    output = Path(args.output) if args.output else None
    if output is not None and not output.absolute().parent.is_dir():
        raise MirzaError(f"There is no folder {output.absolute().parent}.", "Make it, or name another with --output.")
    if args.input:
        return asyncio.run(_with_recordings(settings, _read(args.input), output, report))
    if not args.assets:
        try:
            return asyncio.run(_live(settings, report))
        except NoDevice as error:
            report.note(f"{error} Using the recordings that come with Mirza.")
    return asyncio.run(_with_recordings(settings, _assets(settings), output or _answers_file(settings), report))


# --- two ways to talk ------------------------------------------------------------------------------------------------


async def _live(settings: SettingsTree, report: Report) -> int:
    """Talks until Ctrl-C, or until the devices are gone for good. What was said is kept, as what is typed is."""
    from mirza.console.chat import builder
    from mirza.console.session import Session
    from mirza.folders import conversations_file

    session = Session(settings, builder(sound=True), conversations_file(settings.paths))
    session.listen(report.event)
    session.on_progress = report.progress
    number: int | None = None
    with suppress(asyncio.CancelledError):  # Ctrl-C is how a live talk ends
        async with session:
            report.note("Listening. Speak; interrupt whenever you like; Ctrl-C ends it.")
            try:
                await session.conversation.finished()
            finally:
                number = session.number
    if number is not None:
        report.note(f"Kept: type on with `mirza chat --resume {number}`.")
    return 0


async def _with_recordings(
    settings: SettingsTree, questions: Sequence[Samples], output: Path | None, report: Report
) -> int:
    """Asks one recorded question after another, each when the answer before it has been heard."""
    from mirza.audio.files import RecordedSound
    from mirza.build import build_conversation

    sound = RecordedSound(questions[0], rate=ANSWER_RATE)
    conversation = build_conversation(settings, sound=sound, on_progress=report.progress)
    watching = asyncio.create_task(_watch(conversation.watch(), report))
    async with conversation:
        asking = asyncio.create_task(_ask(conversation, sound, questions))
        sound.finish_when(lambda: asking.done() and conversation.idle())
        await conversation.finished()
        asking.cancel()
    await watching
    if output is not None:
        sound.write_stereo(output)
        report.note(f"Recorded in {output} (you left, Mirza right).")
    if not report.turns:
        report.note("Nobody was heard to speak.")
    return 1 if report.failed else 0


async def _ask(conversation: Conversation, sound: RecordedSound, questions: Sequence[Samples]) -> None:
    """Says each question when nothing is going on any more; the first one is being said already."""
    from mirza.audio.base import MIC_RATE

    for index, question in enumerate(questions):
        if index:
            sound.say(question, sound.now_s() + BETWEEN_S)
        await conversation.pass_time(len(question) / MIC_RATE + BETWEEN_S)
        await conversation.settled()


def _read(files: Sequence[str]) -> list[Samples]:
    from mirza.audio.files import read_recording

    return [read_recording(file) for file in files]


def _assets(settings: SettingsTree) -> list[Samples]:
    """The questions in `assets/`, in the language that is spoken."""
    from mirza.audio.files import read_recording
    from mirza.folders import PROJECT

    index = PROJECT / "assets" / "recordings.toml"
    if not index.exists():
        raise BadRecording("Mirza's own recordings are not here.", "Give one with --input FILE.")
    language = settings.stt.language if settings.stt.language != "auto" else "en"
    entries = tomllib.loads(index.read_text(encoding="utf-8"))["recording"]
    files = [entry["file"] for entry in entries if entry["language"] == language and entry.get("talk", True)]
    if not files:
        raise BadRecording(f"There is no recording in the language {language!r}.", "Give one with --input FILE.")
    return [read_recording(index.parent / file) for file in files]


def _answers_file(settings: SettingsTree) -> Path:
    from mirza.folders import data_folder

    return data_folder(settings.paths) / "talk.wav"


# --- what is shown ---------------------------------------------------------------------------------------------------


class Report:
    """What a person, or a program, is told of a talk."""

    def __init__(self) -> None:
        self.turns = 0
        self.failed = False

    def event(self, event: Event) -> None:
        """Shows an event, or does not."""

    def note(self, text: str) -> None:
        """Says something that is no part of the conversation."""
        print(text, file=sys.stderr)

    def progress(self, what: str, share: float) -> None:
        """Says how far loading is."""


class JsonReport(Report):
    """One object a turn."""

    def event(self, event: Event) -> None:
        match event:
            case TurnMeasured():
                self.turns += 1
                print(json.dumps(turn_object(event), ensure_ascii=False), flush=True)
            case Failed(error):
                self.failed = True
                self.note(f"mirza: {error}")
            case _:
                pass


class TextReport(Report):
    """A transcript with times."""

    def event(self, event: Event) -> None:
        match event:
            case Heard(text=text):
                self._print(f"\nYou    {text}")
            case Speaking(text=text):
                self._print(f"Mirza  {text}")
            case CuePlayed(text=text):
                self._print(f"Mirza  ({text})")
            case Interrupted(heard=heard):
                self._print(f"       - interrupted; you heard: {heard or 'nothing'}")
            case Resumed():
                self._print("       - goes on")
            case TurnReopened():
                self._print("       - you went on; the answer is begun again")
            case TurnDropped(reason=reason):
                self._print(f"       - no turn: {reason}")
            case ThinkingBudgetChanged(budget=budget):
                self._print(f"       - thinking budget: {budget}")
            case TurnMeasured():
                self.turns += 1
                self._print(stage_line(event))
            case Notice(text=text):
                self._print(f"       - {text}")
            case Failed(error):
                self.failed = True
                self.note(f"mirza: {error}")
            case _:
                pass

    def progress(self, what: str, share: float) -> None:
        self.note(f"{share:4.0%}  {what}")

    def _print(self, line: str) -> None:
        print(line, flush=True)


def stage_line(turn: TurnMeasured) -> str:
    """The stages of a turn on one line: they add up to the whole."""
    parts = " + ".join(f"{stage.name} {stage.seconds:.2f}" for stage in stages(turn))
    whole = f" = {turn.voice_to_voice_s:.2f} s" if turn.voice_to_voice_s is not None else ""
    return f"       {parts}{whole}; {turn.llm.tokens_per_s:.0f} tokens/s"


async def _watch(watcher: Watcher, report: Report) -> None:
    async for event in watcher:
        report.event(event)
