"""Recordings of every format that people have, and of every kind that holds no sound: each file is really written."""

import os
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from mirza.audio.base import MIC_RATE
from mirza.audio.files import read_recording
from mirza.errors import BadRecording

RATES = [8_000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000, 192_000]
SUBTYPES = ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE", "ULAW", "ALAW"]


def tone(rate: int, seconds: float = 1.0, hertz: float = 440.0) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)).astype(np.float32)


def loudest_hertz(samples: np.ndarray) -> float:
    return float(np.abs(np.fft.rfft(samples)).argmax() * MIC_RATE / len(samples))


@pytest.mark.parametrize("channels", [1, 2, 8])
@pytest.mark.parametrize("rate", RATES)
def test_every_rate_and_number_of_channels_becomes_mono_at_16_khz(tmp_path: Path, rate: int, channels: int):
    path = tmp_path / "question.wav"
    soundfile.write(path, np.repeat(tone(rate)[:, None], channels, axis=1), rate)

    samples = read_recording(path)

    assert samples.dtype == np.float32
    assert samples.ndim == 1
    assert len(samples) == pytest.approx(MIC_RATE, abs=2)
    assert loudest_hertz(samples) == pytest.approx(440, abs=2)
    assert np.sqrt((samples**2).mean()) == pytest.approx(0.5 / np.sqrt(2), rel=0.02)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_every_width_of_a_sample_sounds_the_same(tmp_path: Path, subtype: str):
    path = tmp_path / "question.wav"
    soundfile.write(path, tone(MIC_RATE), MIC_RATE, subtype=subtype)

    error = read_recording(path) - tone(MIC_RATE)

    assert np.abs(error).max() < (0.02 if subtype in ("PCM_U8", "ULAW", "ALAW") else 1e-4)


@pytest.mark.parametrize("suffix", ["flac", "ogg", "aiff", "mp3"])
def test_other_files_with_sound_in_them_are_read_too(tmp_path: Path, suffix: str):
    path = tmp_path / f"question.{suffix}"
    soundfile.write(path, tone(MIC_RATE), MIC_RATE)

    assert loudest_hertz(read_recording(path)) == pytest.approx(440, abs=2)


def test_one_loud_channel_among_silent_ones_is_still_heard(tmp_path: Path):
    frames = np.zeros((MIC_RATE, 2), np.float32)
    frames[:, 1] = tone(MIC_RATE)
    soundfile.write(tmp_path / "right.wav", frames, MIC_RATE)

    assert np.abs(read_recording(tmp_path / "right.wav")).max() == pytest.approx(0.25, rel=0.01)


def test_float_samples_beyond_full_scale_are_brought_back_without_clipping(tmp_path: Path):
    soundfile.write(tmp_path / "loud.wav", 6 * tone(MIC_RATE), MIC_RATE, subtype="FLOAT")

    samples = read_recording(tmp_path / "loud.wav")

    assert np.abs(samples).max() == pytest.approx(1.0)
    assert np.corrcoef(samples, tone(MIC_RATE))[0, 1] > 0.9999


def test_a_recording_that_was_cut_short_gives_what_is_there(tmp_path: Path):
    path = tmp_path / "cut.wav"
    soundfile.write(path, tone(MIC_RATE), MIC_RATE)
    path.write_bytes(path.read_bytes()[: 44 + MIC_RATE])

    assert len(read_recording(path)) == MIC_RATE // 2


# --- no sound --------------------------------------------------------------------------------------------------------


def header_only(path: Path) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(MIC_RATE)


def with_a_nan(path: Path) -> None:
    samples = tone(MIC_RATE)
    samples[100] = np.nan
    soundfile.write(path, samples, MIC_RATE, subtype="FLOAT")


def with_infinity(path: Path) -> None:
    samples = tone(MIC_RATE)
    samples[100] = np.inf
    soundfile.write(path, samples, MIC_RATE, subtype="FLOAT")


def unknown_codec(path: Path) -> None:
    header = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 0x7777, 1, MIC_RATE, MIC_RATE * 2, 2, 16)
    body = header + b"data" + struct.pack("<I", 4) + b"\0\0\0\0"
    path.write_bytes(b"RIFF" + struct.pack("<I", len(body)) + body)


BAD_FILES = {
    "text": (
        lambda path: path.write_text("no sound, whatever its name says\n" * 20),
        "cannot be read as sound",
    ),
    "noise": (lambda path: path.write_bytes(np.random.default_rng(0).bytes(4096)), "cannot be read as sound"),
    "riff": (lambda path: path.write_bytes(b"RIFF"), "cannot be read as sound"),
    "codec": (unknown_codec, "cannot be read as sound"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "header": (header_only, "no samples"),
    "nan": (with_a_nan, "no numbers"),
    "infinite": (with_infinity, "no numbers"),
    "folder": (lambda path: path.mkdir(), "is a folder"),
    "missing": (lambda path: None, "There is no file"),
    "pipe": (os.mkfifo, "not an ordinary file"),
}


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_without_sound_says_what_it_is_and_what_to_do(tmp_path: Path, kind: str):
    make, says = BAD_FILES[kind]
    path = tmp_path / "question.wav"
    make(path)

    with pytest.raises(BadRecording, match=says) as refused:
        read_recording(path)

    assert str(path) in refused.value.what
    assert refused.value.do.endswith((".", ".wav"))


def test_samples_without_a_header_are_refused_with_the_way_to_add_one(tmp_path: Path):
    (tmp_path / "question.raw").write_bytes(b"\1\2" * 1000)

    with pytest.raises(BadRecording, match="ffmpeg"):
        read_recording(tmp_path / "question.raw")


def test_a_name_that_no_disk_can_hold_is_refused(tmp_path: Path):
    with pytest.raises(BadRecording):
        read_recording(tmp_path / ("x" * 5000))


def test_a_file_that_may_not_be_read_says_how_to_allow_it(tmp_path: Path):
    path = tmp_path / "private.wav"
    soundfile.write(path, tone(MIC_RATE), MIC_RATE)
    path.chmod(0)
    tmp_path.chmod(0o711)
    for folder in list(tmp_path.parents)[:2]:
        folder.chmod(0o711)
    root = os.geteuid() == 0  # whom no mode keeps out
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(BadRecording, match=r"may not be read.*chmod"):
            read_recording(path)
    finally:
        if root:
            os.seteuid(0)
