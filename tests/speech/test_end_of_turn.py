"""Whether somebody has finished is heard, not counted in silence."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import numpy as np
import pytest
from faster_whisper.feature_extractor import FeatureExtractor

from mirza import models
from mirza.audio.base import BLOCK, MIC_RATE
from mirza.errors import ModelDamaged, ModelNotFound
from mirza.speech.end_of_turn import WINDOW, SmartTurn, log_mel
from mirza.speech.vad import SileroVad, voice_probabilities
from tests.speech.real import noise, recording, recordings, silence

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def turn() -> SmartTurn:
    return SmartTurn()


async def test_every_question_counts_as_finished(turn: SmartTurn):
    for language in ("en", "fr"):
        for spoken in recordings(language):
            if spoken.question:
                assert await turn.probability(spoken.samples) > 0.5, spoken.name


async def test_a_person_who_pauses_within_a_list_has_not_finished(turn: SmartTurn):
    """Cut-off synthetic speech is no test: voices end every text as if it were whole. This is a person, reading."""
    spoken = recording("two-cities").samples
    voice = voice_probabilities(SileroVad(), spoken)
    quiet = 0
    pauses: list[float] = []
    for i, probability in enumerate(voice):
        quiet = quiet + 1 if probability < 0.35 else 0
        if quiet == 6 and i > 2 * MIC_RATE // BLOCK:  # 0.2 s, as `turns.stop_s` has it
            pauses.append(await turn.probability(spoken[: (i + 1) * BLOCK]))
    assert len(pauses) >= 2
    assert min(pauses) < 0.3
    assert pauses[-1] < 0.5, "the age of foolishness is not the end"


async def test_only_the_last_eight_seconds_matter(turn: SmartTurn):
    spoken = recording("capital").samples
    padded = np.concatenate([silence(8), spoken])
    longer = np.concatenate([noise(20, 0.1), padded])
    assert await turn.probability(longer[-WINDOW:]) == await turn.probability(longer)


async def test_nothing_and_a_single_sample_are_answered(turn: SmartTurn):
    for samples in (silence(0), silence(0.0001), silence(1)):
        assert 0 <= await turn.probability(samples) <= 1


async def test_it_does_not_hold_up_the_loop(turn: SmartTurn):
    await turn.load()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await turn.probability(recording("capital").samples)
    ticking.cancel()
    assert ticks > 10


def test_the_features_are_whispers():
    """Compared with faster-whisper's, which leave the normalising to others."""
    spoken = recording("octopus").samples
    padded = np.pad(spoken, (WINDOW - len(spoken), 0)).astype(np.float64)
    normal = ((padded - padded.mean()) / np.sqrt(padded.var() + 1e-7)).astype(np.float32)
    theirs = FeatureExtractor(feature_size=80)(normal, padding=0)[:, :800]
    ours = log_mel(spoken)
    assert ours.shape == theirs.shape == (80, 800)
    assert np.abs(ours - theirs).max() < 1e-3


async def test_a_model_that_is_missing_or_damaged_is_named(tmp_path: Path):
    with pytest.raises(ModelNotFound, match="smart-turn-v3"):
        await SmartTurn(tmp_path).load()
    copy = shutil.copytree(models.path("smart-turn-v3"), models.models_folder(tmp_path) / "smart-turn-v3")
    file = next(copy.glob("*.onnx"))
    content = bytearray(file.read_bytes())
    content[1000] ^= 1
    file.write_bytes(content)
    with pytest.raises(ModelDamaged, match="smart-turn-v3"):
        await SmartTurn(tmp_path).load()
