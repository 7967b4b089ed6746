"""`mirza talk`, as a user runs it: real models, recordings in, a stereo recording out."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest
import soundfile

from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import read_recording
from mirza.audio.resample import resample
from mirza.speech.phrases import plain
from mirza.speech.stt.whisper import WhisperStt

ASSETS = Path(__file__).parent.parent / "assets"
TEXTS = {
    Path(entry["file"]).stem: entry["text"]
    for entry in tomllib.loads((ASSETS / "recordings.toml").read_text(encoding="utf-8"))["recording"]
}
KEYS = {
    "heard",
    "said",
    "thinking_tokens",
    "speech_tokens",
    "end_of_turn_s",
    "stt_s",
    "first_token_s",
    "first_audio_s",
    "voice_to_voice_s",
}


def recording(name: str) -> Samples:
    return read_recording(ASSETS / "recordings" / f"{name}.wav")


def quiet(seconds: float) -> Samples:
    return np.zeros(round(seconds * MIC_RATE), np.float32)


def mirza_talk(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mirza", "talk", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@dataclass
class Talked:
    turns: list[dict[str, Any]]
    microphone: Samples
    loudspeaker: Samples
    rate: int
    asked: list[str]


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory) -> Talked:
    """One talk: a question over a telephone, one that is quiet and in noise, and two in one file."""
    folder = tmp_path_factory.mktemp("talk")
    telephone = resample(resample(recording("en-octopus"), MIC_RATE, 8000), 8000, MIC_RATE)
    sky = recording("en-sky") * 0.08
    noisy = sky + np.random.default_rng(0).normal(0, 0.002, len(sky)).astype(np.float32)
    two = np.concatenate([recording("en-capital"), quiet(6), recording("en-moon")])
    sounds = {"telephone": (telephone, "PCM_U8"), "noisy": (noisy, "FLOAT"), "two": (two, "PCM_24")}
    for name, (samples, subtype) in sounds.items():
        soundfile.write(folder / f"{name}.wav", samples, MIC_RATE, subtype=subtype)
    output = folder / "answers.wav"

    files = [folder / f"{name}.wav" for name in sounds]
    result = mirza_talk("--json", "--output", output, "--set", "llm.max_tokens=24", "--input", *files)

    assert result.returncode == 0, result.stderr
    stereo, rate = soundfile.read(output, dtype="float32")
    asked = [TEXTS[name] for name in ("en-octopus", "en-sky", "en-capital", "en-moon")]
    return Talked([json.loads(line) for line in result.stdout.splitlines()], stereo[:, 0], stereo[:, 1], rate, asked)


@pytest.mark.alone
@pytest.mark.models
def test_every_question_is_one_turn_and_is_understood(talked: Talked):
    assert len(talked.turns) == len(talked.asked)
    heard = [plain(turn["heard"]) for turn in talked.turns]
    assert jiwer.wer([plain(text) for text in talked.asked], heard) <= 0.10


@pytest.mark.alone
@pytest.mark.models
def test_a_turns_object_has_its_times_and_they_add_up(talked: Talked):
    for turn in talked.turns:
        assert turn.keys() >= KEYS
        stages = [turn[name] for name in ("end_of_turn_s", "stt_s", "first_token_s", "first_audio_s")]
        assert sum(stages) == pytest.approx(turn["voice_to_voice_s"], abs=0.01)
        assert turn["speech_tokens"] > 0
        assert turn["thinking_tokens"] == 0


@pytest.mark.alone
@pytest.mark.models
def test_from_the_second_turn_on_only_what_is_new_is_fed_to_the_model(talked: Talked):
    first, *later = talked.turns
    for turn in later:
        assert turn["reused_tokens"] > first["reused_tokens"]
        assert turn["prefilled_tokens"] <= 40


@pytest.mark.alone
@pytest.mark.models
def test_what_is_heard_on_the_recording_is_what_it_says_it_said(talked: Talked):
    """An independent recogniser listens to the loudspeaker's side."""

    async def listen() -> str:
        judge = WhisperStt("whisper-base")
        await judge.load()
        transcript = await judge.transcribe(resample(talked.loudspeaker, talked.rate, MIC_RATE), language="en")
        await judge.unload()
        return transcript.text

    said = " ".join(turn["said"] for turn in talked.turns)
    assert len(said.split()) >= 8
    assert jiwer.wer(plain(said), plain(asyncio.run(listen()))) <= 0.15


@pytest.mark.alone
@pytest.mark.models
def test_the_recording_has_the_questions_left_and_the_answers_right(talked: Talked):
    assert len(talked.microphone) == len(talked.loudspeaker)
    left, right = np.abs(talked.microphone) > 0.05, np.abs(talked.loudspeaker) > 0.05
    assert left.any()
    assert right.any()
    assert np.flatnonzero(left)[0] < np.flatnonzero(right)[0]


@pytest.mark.alone
@pytest.mark.models
def test_a_recording_with_no_speech_is_no_turn(tmp_path: Path):
    soundfile.write(tmp_path / "silence.wav", quiet(2), MIC_RATE)
    # Nothing would be asked of a language model: the ears are real, and it need not be read for this.
    result = mirza_talk("--json", "--input", tmp_path / "silence.wav", "--set", "llm.engine=scripted")
    assert (result.returncode, result.stdout) == (0, "")
    assert "Nobody was heard" in result.stderr


@pytest.mark.parametrize(
    ("name", "content"), [("no.wav", b"hello, I am no sound"), ("empty.wav", b""), ("header.wav", None), ("none", None)]
)
def test_a_file_that_is_no_recording_is_told_in_one_sentence(tmp_path: Path, name: str, content: bytes | None):
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    elif name == "header.wav":
        soundfile.write(file, quiet(0), MIC_RATE)
    result = mirza_talk("--json", "--input", file)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("mirza: ")
    assert "Traceback" not in result.stderr


def test_an_output_folder_that_is_not_there_is_told_before_anything_is_said(tmp_path: Path):
    result = mirza_talk("--input", ASSETS / "recordings" / "en-sky.wav", "--output", tmp_path / "no" / "where.wav")
    assert result.returncode == 1
    assert "There is no folder" in result.stderr


def test_a_model_that_is_not_there_is_told_with_the_command_that_gets_it(tmp_path: Path):
    result = mirza_talk(
        "--input",
        ASSETS / "recordings" / "en-sky.wav",
        "--set",
        f"paths.cache={tmp_path}",
        "--set",
        "llm.snapshots=false",
    )
    assert result.returncode == 1
    assert "mirza models pull" in result.stderr
    assert "Traceback" not in result.stderr
