"""Scripted conversations: who says what and when, and what has to come of it. One YAML file each, in `tests/talks`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mirza.errors import MirzaError
from mirza.folders import PROJECT

TALKS = PROJECT / "tests" / "talks"
"""Where the scripts of Mirza's own benchmark are, in a clone."""

Seconds = Annotated[float, Field(ge=0, le=600)]


class Means(StrEnum):
    """What a line is, and so what has to come of it."""

    TURN = "turn"
    """A question: an answer to it is heard."""
    PART = "part"
    """The beginning of a question: nothing is heard before the next line."""
    INTERRUPTION = "interruption"
    """A question over the answer: silence at once, then an answer to it."""
    STOP = "stop"
    """Over the answer: silence at once, and nothing more."""
    NOTHING = "nothing"
    """Assent, laughter, a cough: it stops nothing and gets no answer."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class Line(_Part):
    """Something that is heard in the room. One of the last four says when; without, half a second after the start."""

    text: str = ""
    """The words."""
    voice: str = "kokoro/bf_emma"
    """ENGINE/VOICE: `kokoro/af_heart`, `espeak/en-us`, `flite/slt`."""
    sound: str = ""
    """A recording beside the script, or `cough`: instead of a voice."""
    means: Means = Means.TURN
    level_db: Annotated[float, Field(ge=-60, le=12)] = 0.0
    at: Seconds | None = None
    """Seconds after the start."""
    pause: Seconds | None = None
    """Seconds after the end of the line before."""
    into_answer: Seconds | None = None
    """Seconds after the first sound of the answer to the line before."""
    after_answer: Seconds | None = None
    """Seconds of silence after the answer to the line before."""

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if sum(time is not None for time in (self.at, self.pause, self.into_answer, self.after_answer)) > 1:
            raise ValueError("a line has one of at, pause, into_answer, after_answer")
        if not self.text and not self.sound:
            raise ValueError("a line has a text or a sound")
        return self


class EchoRoom(_Part):
    """The loudspeaker in the microphone."""

    gain_db: Annotated[float, Field(ge=-60, le=6)]
    delay_s: Annotated[float, Field(ge=0, le=1)]


class Script(_Part):
    """One conversation."""

    name: str = ""
    about: str = ""
    group: str = "talk"
    """Scripts of a group are summed up in one row."""
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]
    room: EchoRoom | None = None
    noise_db: Annotated[float, Field(ge=-100, le=0)] | None = None
    """Noise in the room, RMS in dB of full scale."""
    telephone: bool = False
    """Voices sound as over a telephone: 300 to 3,400 Hz."""
    settings: dict[str, bool | int | float | str] = {}
    """Settings of this conversation, by name: `conversation.prefill: false`."""
    needs: tuple[str, ...] = ()
    """Models, by their names in the catalogue, without which it is left out."""
    within_s: Seconds | None = None
    """The most that an answer may take, from the last sample of the question to its first."""
    silent_within_s: Seconds = 0.5
    """The most that an interruption may take to silence."""
    table_only: bool = False
    """Not held, but one of the recordings on which ends of turns are decided."""
    compare_with: str = ""
    """The script that this one is the other half of: same talk, another setting."""
    repeat: Annotated[int, Field(ge=1, le=1000)] = 1
    """The lines are said so many times, round after round. The first says when, after the end of the round before."""
    reads: str = ""
    """A text beside the script. Its paragraphs are the answers, read out in place of a language model's."""
    answers: tuple[str, ...] = ()
    """The paragraphs of `reads`."""
    only_by_name: bool = False
    """It takes long, and is held only where it, or its group, is asked for."""

    @model_validator(mode="after")
    def _ends_with_something(self) -> Self:
        if self.lines[-1].means is Means.PART:
            raise ValueError("the last line is a part: the rest of the question is missing")
        if self.repeat > 1 and self.lines[0].after_answer is None:
            raise ValueError("a talk that is repeated begins with a line that has after_answer")
        return self

    @property
    def questions(self) -> tuple[str, ...]:
        """What is asked, turn by turn, parts put together."""
        questions: list[str] = []
        begun: list[str] = []
        for line in self.lines:
            if line.means in (Means.PART, Means.TURN, Means.INTERRUPTION):
                begun.append(line.text)
            if line.means in (Means.TURN, Means.INTERRUPTION):
                questions.append(" ".join(begun))
                begun = []
        return tuple(questions)


def read_scripts(folder: Path, only: Sequence[str] = ()) -> list[Script]:
    """The scripts of a folder, by name; `only` those whose name or group is one of these.

    Raises:
        MirzaError: the folder or a script in it is not there, or says something that is no script.
    """
    if not folder.is_dir():
        hint = "They come with a clone of the repository; name another folder with --talks."
        raise MirzaError(f"There is no folder of scripted conversations at {folder}.", hint)
    scripts = [_read(file) for file in sorted(folder.glob("*.yaml"))]
    if not scripts:
        raise MirzaError(f"There is no scripted conversation (*.yaml) in {folder}.", "Name another with --talks.")
    known = {script.name for script in scripts} | {script.group for script in scripts}
    for name in only:
        if name not in known:
            raise MirzaError(f"There is no conversation or group {name!r}.", f"There are: {', '.join(sorted(known))}.")
    if not only:
        return [script for script in scripts if not script.only_by_name]
    return [script for script in scripts if {script.name, script.group} & set(only)]


def spelt_out(script: Script) -> Script:
    """The script with all its rounds in it. In the first one there is no answer that its first line could wait for."""
    first, *rest = script.lines
    lines = (first.model_copy(update={"after_answer": None}), *rest, *script.lines * (script.repeat - 1))
    return script if script.repeat == 1 else script.model_copy(update={"lines": lines, "repeat": 1})


def _read(file: Path) -> Script:
    try:
        content = cast(object, yaml.safe_load(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeError, yaml.YAMLError) as error:
        raise MirzaError(f"{file} cannot be read as YAML: {_first_line(error)}.", "Mend it.") from error
    try:
        script = Script.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise MirzaError(f"{file} is no script: {where}: {first['msg']}.", "Mend it.") from error
    answers = _paragraphs(file.with_name(script.reads)) if script.reads else script.answers
    return spelt_out(script.model_copy(update={"name": script.name or file.stem, "answers": answers}))


def _paragraphs(file: Path) -> tuple[str, ...]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise MirzaError(f"{file}, which a script reads out, cannot be read.", "Mend the script's `reads`.") from error
    return tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip())


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
