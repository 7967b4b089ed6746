"""Recordings, and how well words agree, for tests that run the real models."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jiwer
import numpy as np
import soundfile
import soxr

from mirza.audio.base import MIC_RATE, Samples

ASSETS = Path(__file__).resolve().parents[2] / "assets"


@dataclass(frozen=True, slots=True)
class Recording:
    name: str
    language: str
    text: str
    samples: Samples
    question: bool


@cache
def recordings(language: str) -> list[Recording]:
    """What is in `assets/`, in one language."""
    entries = tomllib.loads((ASSETS / "recordings.toml").read_text(encoding="utf-8"))["recording"]
    return [
        Recording(entry["file"], language, entry["text"], _read(ASSETS / entry["file"]), entry.get("talk", True))
        for entry in entries
        if entry["language"] == language
    ]


def recording(name: str) -> Recording:
    return next(known for language in ("en", "fr") for known in recordings(language) if name in known.name)


def _read(file: Path) -> Samples:
    samples, rate = soundfile.read(file, dtype="float32")
    assert rate == MIC_RATE
    return samples


def at_16_khz(chunks: list[Samples], rate: int) -> Samples:
    return soxr.resample(np.concatenate(chunks), rate, MIC_RATE).astype(np.float32)


def words(text: str) -> str:
    """Only the words: what two transcripts are compared by."""
    return " ".join(re.sub(r"[^\w']+", " ", text.lower()).split())


def wer(true: list[str], heard: list[str]) -> float:
    """The word error rate over several texts, each counting by its length."""
    return float(jiwer.wer([words(text) for text in true], [words(text) or "-" for text in heard]))


def noise(seconds: float, rms: float, seed: int = 0) -> Samples:
    generator = np.random.default_rng(seed)
    return (generator.standard_normal(int(seconds * MIC_RATE)) * rms).astype(np.float32)


def silence(seconds: float) -> Samples:
    return np.zeros(int(seconds * MIC_RATE), np.float32)
