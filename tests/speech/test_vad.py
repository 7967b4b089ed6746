"""Voice is told from everything else."""

from __future__ import annotations

import numpy as np
import pytest

from mirza.audio.base import BLOCK, MIC_RATE
from mirza.speech.vad import SileroVad, voice_probabilities
from tests.speech.real import noise, recordings, silence


@pytest.fixture(scope="module")
def vad() -> SileroVad:
    return SileroVad()


def test_silence_noise_and_tones_are_no_voice(vad: SileroVad):
    tone = (np.sin(np.arange(3 * MIC_RATE) * 0.05) * 0.3).astype(np.float32)
    clicks = silence(3)
    clicks[:: MIC_RATE // 2] = 0.9
    for sound in (silence(3), noise(3, 0.003), noise(3, 0.1), tone, clicks):
        assert voice_probabilities(vad, sound).max() < 0.5


def test_in_every_recording_most_of_it_is_voice_and_the_ends_are_not(vad: SileroVad):
    for language in ("en", "fr"):
        for spoken in recordings(language):
            voice = voice_probabilities(vad, spoken.samples)
            assert (voice > 0.5).mean() > 0.5, spoken.name
            assert voice[:5].max() < 0.5, spoken.name


def test_a_voice_in_a_noisy_room_is_still_a_voice(vad: SileroVad):
    spoken = recordings("en")[0].samples
    noisy = spoken + noise(len(spoken) / MIC_RATE, float(np.sqrt(np.mean(spoken**2))) / 4)[: len(spoken)]
    assert (voice_probabilities(vad, noisy) > 0.5).mean() > 0.4


def test_after_a_reset_the_same_sound_is_judged_the_same(vad: SileroVad):
    spoken = recordings("en")[0].samples
    once = voice_probabilities(vad, spoken)
    voice_probabilities(vad, recordings("en")[1].samples)
    assert np.array_equal(once, voice_probabilities(vad, spoken))


def test_a_block_that_is_read_only_or_strided_is_taken(vad: SileroVad):
    block = np.zeros((BLOCK, 2), np.float32)[:, 0]
    block.flags.writeable = False
    assert 0 <= vad.probability(block) < 0.5


@pytest.mark.parametrize("size", [0, 511, 513, 1024])
def test_a_block_of_another_size_is_a_mistake_of_the_caller(vad: SileroVad, size: int):
    with pytest.raises(ValueError, match="512"):
        vad.probability(np.zeros(size, np.float32))
