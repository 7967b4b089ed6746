"""A recording as the microphone: what was said, what was played, and when."""

import asyncio
import errno
import resource
from pathlib import Path

import numpy as np
import pytest
import soundfile

from mirza.audio.base import BLOCK, MIC_RATE
from mirza.audio.files import LEAD_S, STEP, RecordedSound
from mirza.audio.player import Chunk
from mirza.audio.room import Room
from mirza.errors import AudioError

from .virtual_time import in_virtual_time

RATES = [16_000, 22_050, 24_000, 44_100, 48_000]


def voice(seconds: float, rate: int = MIC_RATE, seed: int = 1) -> np.ndarray:
    """Noise in the band of speech that swells and falls like syllables."""
    count = round(seconds * rate)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    hertz = np.fft.rfftfreq(count, 1 / rate)
    spectrum[(hertz < 150) | (hertz > 3500)] = 0
    sound = np.fft.irfft(spectrum, count)
    sound *= 0.55 + 0.45 * np.sin(2 * np.pi * 4 * np.arange(count) / rate)
    return (0.3 * sound / np.abs(sound).max()).astype(np.float32)


async def listen(sound: RecordedSound, on_block=lambda block: None) -> list:
    await sound.open()
    blocks = []
    async for block in sound.blocks():
        blocks.append(block)
        on_block(block)
    await sound.close()
    return blocks


def test_the_recording_is_heard_whole_in_blocks_of_32_ms_each_on_time():
    said = voice(2.0)
    blocks = in_virtual_time(listen(RecordedSound(said)))

    heard = np.concatenate([block.samples for block in blocks])
    assert all(block.samples.shape == block.played.shape == (BLOCK,) for block in blocks)
    assert all(block.samples.dtype == block.played.dtype == np.float32 for block in blocks)
    assert [block.end_s for block in blocks] == [(k + 1) * BLOCK / MIC_RATE for k in range(len(blocks))]
    assert np.abs(heard[: len(said)] - said).max() < 1e-3


def test_a_block_comes_when_its_last_sample_has_been_spoken_and_not_before():
    async def talk():
        sound, loop, times = RecordedSound(voice(1.0)), asyncio.get_running_loop(), []
        start = loop.time()
        await listen(sound, lambda block: times.append((loop.time() - start, block.end_s)))
        return times

    for at_s, end_s in in_virtual_time(talk()):
        assert at_s == pytest.approx(end_s, abs=1e-6)


def test_a_slow_listener_does_not_shift_the_clock():
    async def talk():
        sound, loop = RecordedSound(voice(1.0)), asyncio.get_running_loop()
        await sound.open()
        start = loop.time()
        async for block in sound.blocks():
            if block.end_s == 5 * BLOCK / MIC_RATE:
                await asyncio.sleep(0.2)
        return loop.time() - start, sound.now_s()

    took_s, counted_s = in_virtual_time(talk())
    assert took_s == pytest.approx(counted_s, abs=1e-6)


def test_two_runs_of_the_same_recording_are_the_same_to_the_bit():
    def run():
        return in_virtual_time(listen(RecordedSound(voice(1.0))))

    for one, other in zip(run(), run(), strict=True):
        assert np.array_equal(one.samples, other.samples)


@pytest.mark.parametrize("rate", RATES)
def test_what_is_played_is_written_down_sample_for_sample_where_it_was_in_the_air(rate: int):
    answer = voice(0.7, rate)
    sound = RecordedSound(voice(0.5), rate=rate, finish_when=lambda: sound.player.idle())  # noqa: PLW0108

    def on_block(block):
        if block.end_s == pytest.approx(10 * BLOCK / MIC_RATE):
            sound.player.put(Chunk(answer, piece=1))

    in_virtual_time(listen(sound, on_block))

    recording, began_s = sound.recording(), sound.player.began(1)
    assert began_s is not None
    at = round(began_s * rate)
    assert recording.rate == rate
    assert len(recording.microphone) == len(recording.loudspeaker)
    assert np.abs(recording.loudspeaker[at : at + len(answer)] - answer).max() < 1e-4
    assert not recording.loudspeaker[:at].any()
    assert not recording.loudspeaker[at + len(answer) :].any()
    assert 10 * BLOCK / MIC_RATE <= began_s <= 10 * BLOCK / MIC_RATE + STEP / MIC_RATE + LEAD_S


@pytest.mark.parametrize("rate", RATES)
def test_each_block_carries_what_the_loudspeaker_played_meanwhile(rate: int):
    answer = voice(1.0, rate)
    sound = RecordedSound(voice(0.5), rate=rate, finish_when=lambda: sound.player.idle())  # noqa: PLW0108
    sound.player.put(Chunk(answer, piece=1))

    blocks = in_virtual_time(listen(sound))

    played = np.concatenate([block.played for block in blocks])
    in_the_air = np.pad(answer, (round(sound.player.latency_s * rate), rate))[: 2 * rate]
    expected = voice_at_mic_rate(in_the_air, rate)[: len(played)]
    error = played[: len(expected)] - expected
    assert 10 * np.log10((expected**2).sum() / (error**2).sum()) > 40


def voice_at_mic_rate(samples: np.ndarray, rate: int) -> np.ndarray:
    """Resampled by its spectrum, to have another opinion."""
    count = round(len(samples) * MIC_RATE / rate)
    return np.fft.irfft(np.fft.rfft(samples)[: count // 2 + 1], count) * count / len(samples)


def test_after_the_recording_it_is_quiet_until_the_answer_has_been_played_and_the_tail_is_over():
    answer = voice(3.0, 48_000)
    sound = RecordedSound(voice(0.5), tail_s=0.5)
    sound.finish_when(sound.player.idle)
    sound.player.put(Chunk(answer, piece=1))

    blocks = in_virtual_time(listen(sound))

    assert sound.now_s() == pytest.approx(3.0 + 0.5, abs=0.1)
    assert all(0 < np.abs(block.samples).max() < 1e-3 for block in blocks[20:])


def test_a_talk_that_never_falls_idle_ends_all_the_same():
    sound = RecordedSound(voice(0.5), finish_when=lambda: False, max_tail_s=3.0)

    in_virtual_time(listen(sound))

    assert sound.now_s() == pytest.approx(3.5, abs=0.1)


def test_somebody_can_speak_when_something_happens():
    word = voice(0.4, seed=2)
    sound = RecordedSound(voice(0.3), tail_s=1.0)

    def on_block(block):
        if block.end_s == 20 * BLOCK / MIC_RATE:
            sound.say(word)

    blocks = in_virtual_time(listen(sound, on_block))

    heard = np.concatenate([block.samples for block in blocks])
    assert np.abs(heard[20 * BLOCK : 20 * BLOCK + len(word)] - word).max() < 1e-3
    assert sound.now_s() > 20 * BLOCK / MIC_RATE + 0.4 + 1.0


def test_two_people_can_speak_at_once():
    one, other = voice(1.0, seed=1), voice(0.5, seed=2)
    sound = RecordedSound(one)
    sound.say(other, at_s=0.25)

    heard = np.concatenate([block.samples for block in in_virtual_time(listen(sound))])

    expected = one.copy()
    expected[4000 : 4000 + len(other)] += other
    assert np.abs(heard[: len(expected)] - expected).max() < 1e-3


def test_closing_ends_the_microphone_at_once_and_twice_is_fine():
    async def talk():
        sound = RecordedSound(voice(5.0))
        await sound.open()
        count = 0
        async for _ in sound.blocks():
            count += 1
            if count == 3:
                await sound.close()
                await sound.close()
        return count

    assert in_virtual_time(talk()) == 3


def test_the_room_gives_the_answer_back_quieter_and_later():
    answer = voice(1.0, MIC_RATE)
    sound = RecordedSound(
        np.zeros(0, np.float32),
        rate=MIC_RATE,
        room=Room(-12, 0.1, np.ones(1, np.float32)),
        finish_when=lambda: sound.player.idle(),  # noqa: PLW0108
    )
    sound.player.put(Chunk(answer, piece=1))

    heard = np.concatenate([block.samples for block in in_virtual_time(listen(sound))])

    at = round((LEAD_S + 0.1) * MIC_RATE)
    assert np.abs(heard[at : at + len(answer)] - answer * 10 ** (-12 / 20)).max() < 1e-3
    assert np.abs(heard[:at]).max() < 1e-3


def test_reflections_are_those_of_the_impulse_response():
    response = np.zeros(400, np.float32)
    response[[0, 100, 399]] = 1.0, 0.5, -0.25
    room, sound = Room(0, 0.02, response), voice(0.5)
    blocks = [room.echo(sound[at : at + BLOCK]) for at in range(0, len(sound) - BLOCK, BLOCK)]

    expected = np.convolve(np.concatenate([np.zeros(320, np.float32), sound]), response)
    heard = np.concatenate(blocks)
    assert np.abs(heard - expected[: len(heard)]).max() < 1e-5


# --- written down ----------------------------------------------------------------------------------------------------


def test_the_stereo_file_has_the_microphone_left_and_the_loudspeaker_right(tmp_path: Path):
    said, answer = voice(1.0), voice(0.5, 48_000, seed=3)
    sound = RecordedSound(said)
    sound.player.put(Chunk(answer, piece=1))
    in_virtual_time(listen(sound))

    sound.write_stereo(tmp_path / "talk.wav")

    frames, rate = soundfile.read(tmp_path / "talk.wav", dtype="float32")
    assert (rate, frames.shape[1]) == (48_000, 2)
    assert len(frames) == pytest.approx(sound.now_s() * rate, abs=2)
    at = round(LEAD_S * rate)
    assert np.abs(frames[at : at + len(answer), 1] - answer).max() < 1e-4
    assert np.corrcoef(frames[: 3 * len(said) : 3, 0], said)[0, 1] > 0.999


def test_a_full_disk_is_said_and_leaves_nothing_behind(tmp_path: Path):
    sound = RecordedSound(voice(1.0))
    in_virtual_time(listen(sound))
    path = tmp_path / "talk.wav"
    path.write_bytes(b"the recording before")

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(AudioError, match=r"Make room") as refused:
            sound.write_stereo(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert isinstance(refused.value.__cause__, OSError)
    assert refused.value.__cause__.errno in (errno.EFBIG, errno.ENOSPC)
    assert path.read_bytes() == b"the recording before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_said(tmp_path: Path):
    sound = RecordedSound(voice(0.1))
    with pytest.raises(AudioError, match="could not be written"):
        sound.write_stereo(tmp_path / "nowhere" / "talk.wav")


def test_an_hour_can_be_listened_to_without_keeping_it():
    sound = RecordedSound(voice(1.0), record=False)
    in_virtual_time(listen(sound))
    assert len(sound.recording().microphone) == 0
