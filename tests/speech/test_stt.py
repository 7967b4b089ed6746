"""What was said is understood, what was not said is not made up, and memory stays flat."""

from __future__ import annotations

import asyncio
import resource
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soxr
from numpy.typing import NDArray

from mirza import models
from mirza.audio.base import MIC_RATE, Samples
from mirza.audio.files import read_recording
from mirza.errors import ModelDamaged, ModelNotFound, ModelUnsupported
from mirza.mlx_thread import MlxThread
from mirza.models.onnx import Arrays, Session, Stop
from mirza.speech.stt.guard import Guard, Voiced, without_loops
from mirza.speech.stt.mlx_audio import MlxAudioStt
from mirza.speech.stt.moonshine import MoonshineStt, decode, text_of
from mirza.speech.stt.whisper import WhisperStt
from mirza.speech.tts.piper import PiperTts
from tests.speech.real import at_16_khz, noise, recording, recordings, silence, wer, words

pytestmark = pytest.mark.models

TALKS = Path(__file__).parent.parent / "talks" / "sounds"


@pytest.fixture(scope="module")
def moonshine() -> MoonshineStt:
    return MoonshineStt()


@pytest.fixture(scope="module")
def whisper() -> WhisperStt:
    return WhisperStt()


@pytest.fixture(scope="module")
def guard() -> Guard:
    return Guard()


# --- understood ------------------------------------------------------------------------------------------------------


async def test_at_most_one_word_in_ten_is_misheard(moonshine: MoonshineStt):
    spoken = recordings("en")
    heard = [(await moonshine.transcribe(one.samples)).text for one in spoken]
    assert wer([one.text for one in spoken], heard) <= 0.10


def telephone(samples: Samples) -> Samples:
    """8 kHz, as a telephone has it."""
    return soxr.resample(soxr.resample(samples, MIC_RATE, 8000), 8000, MIC_RATE).astype(np.float32)


async def test_soft_loud_noisy_and_telephone_speech_is_understood(moonshine: MoonshineStt):
    true: list[str] = []
    heard: list[str] = []
    for one in [recording(name) for name in ("capital", "octopus", "moon")]:
        level = float(np.sqrt(np.mean(one.samples**2)))
        noisy = one.samples + noise(len(one.samples) / MIC_RATE, level / 10)[: len(one.samples)]
        for sound in (one.samples * 0.01, np.clip(one.samples * 4, -1, 1), noisy, telephone(one.samples)):
            true.append(one.text)
            heard.append((await moonshine.transcribe(sound)).text)
    assert wer(true, heard) <= 0.15


async def test_a_minute_of_speech_is_understood_to_its_end(moonshine: MoonshineStt):
    spoken = [one for one in recordings("en") if one.question] * 4
    gap = noise(0.6, 0.0005)
    sound = np.concatenate([part for one in spoken for part in (one.samples, gap)])
    assert len(sound) > 50 * MIC_RATE
    heard = (await moonshine.transcribe(sound)).text
    assert wer([" ".join(one.text for one in spoken)], [heard]) <= 0.15


class Counted:
    """A model that counts its runs."""

    def __init__(self, session: Session) -> None:
        self._session, self.inputs, self.outputs, self.runs = session, session.inputs, session.outputs, 0

    def run(self, arrays: Arrays, stop: Stop) -> list[NDArray[Any]]:
        self.runs += 1
        return self._session.run(arrays, stop)


async def test_what_is_understood_while_somebody_speaks_is_not_worked_out_again(moonshine: MoonshineStt):
    await moonshine.load()
    model = moonshine._model
    assert model is not None
    alone = drafted = 0
    for one in recordings("en"):
        counted = Counted(model.decoder)
        plain = decode(model.encoder, counted, one.samples, [], Stop()).tokens
        alone += counted.runs
        so_far = decode(model.encoder, model.decoder, one.samples[: -MIC_RATE // 2], [], Stop()).tokens
        counted = Counted(model.decoder)
        again = decode(model.encoder, counted, one.samples, so_far, Stop()).tokens
        drafted += counted.runs
        assert words(text_of(model.pieces, again)) == words(text_of(model.pieces, plain))
    assert drafted < alone / 2


@pytest.mark.parametrize("draft", [[5], [29999] * 40, list(range(3, 60))], ids=["one", "a loop", "many"])
async def test_a_draft_that_is_wrong_is_not_believed(moonshine: MoonshineStt, draft: list[int]):
    await moonshine.load()
    model = moonshine._model
    assert model is not None
    sound = recording("octopus").samples
    plain, other = (decode(model.encoder, model.decoder, sound, some, Stop()).tokens for some in ([], draft))
    assert words(text_of(model.pieces, other)) == words(text_of(model.pieces, plain))


async def test_words_that_were_made_of_laughter_are_guesses(moonshine: MoonshineStt):
    laughter = read_recording(TALKS / "kokoro-af_heart-ha-ha-ha-ha-4.flac")
    around = np.zeros(MIC_RATE // 4, np.float32)
    assert not (await moonshine.transcribe(np.concatenate([around, laughter, around]))).sure
    assert all([(await moonshine.transcribe(one.samples)).sure for one in recordings("en")])


async def test_another_turn_is_understood_from_its_own_beginning(moonshine: MoonshineStt):
    one, other = recording("octopus").samples, recording("capital").samples
    expected = (await MoonshineStt().transcribe(other)).text
    await moonshine.transcribe(one, partial=True)
    assert (await moonshine.transcribe(other)).text == expected


async def test_less_than_a_second_is_understood_or_left_alone(moonshine: MoonshineStt):
    spoken = recording("capital").samples
    for seconds in (0.01, 0.1, 0.3, 0.6, 0.9):
        heard = await moonshine.transcribe(spoken[: int(seconds * MIC_RATE)])
        assert len(heard.text.split()) <= 4


async def test_what_is_said_in_french_is_heard_as_french(whisper: WhisperStt):
    spoken = recordings("fr")
    heard = [await whisper.transcribe(one.samples) for one in spoken]
    assert wer([one.text for one in spoken], [one.text for one in heard]) <= 0.10
    assert {one.language for one in heard} == {"fr"}


async def test_whisper_tells_english_from_french_and_takes_a_hint(whisper: WhisperStt):
    one = recording("moon")
    assert (await whisper.transcribe(one.samples)).language == "en"
    assert words((await whisper.transcribe(one.samples, language="en")).text) == words(one.text)


async def test_a_recogniser_of_mlx_audio_hears_on_the_mlx_thread(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MLX_DISABLE_COMPILE", "1")
    thread = MlxThread()
    try:
        stt = MlxAudioStt(thread, "whisper-tiny-en-mlx")
        one = recording("octopus")
        heard = await stt.transcribe(one.samples)
        assert wer([one.text], [heard.text]) <= 0.2
        assert heard.language == "en"
        assert (await stt.transcribe(noise(2, 0.003))).text == ""
        with pytest.raises(ModelUnsupported, match="does not understand fr"):
            await stt.transcribe(one.samples, language="fr")
        await stt.unload()
    finally:
        thread.close()


# --- not made up -----------------------------------------------------------------------------------------------------


def sounds_without_words() -> Iterator[Samples]:
    yield silence(0)
    yield silence(3)
    yield noise(3, 0.003)
    yield noise(20, 0.1)
    yield (np.sin(np.arange(3 * MIC_RATE) * 0.05) * 0.3).astype(np.float32)
    yield np.full(MIC_RATE, np.nan, np.float32)


async def test_where_nobody_spoke_nothing_is_heard(moonshine: MoonshineStt, whisper: WhisperStt):
    for stt in (moonshine, whisper):
        for sound in sounds_without_words():
            heard = await stt.transcribe(sound)
            assert heard.text == ""
            assert heard.no_speech > 0.5


async def test_a_real_thank_you_is_heard(moonshine: MoonshineStt):
    tts = PiperTts()
    try:
        for text in ("Thank you.", "Thank you for watching."):
            sound = at_16_khz([chunk async for chunk in tts.synthesize(text)], tts.rate)
            assert words((await moonshine.transcribe(sound)).text) == words(text)
    finally:
        await tts.unload()


def voiced(seconds: float) -> Voiced:
    blocks = round(seconds * MIC_RATE / 512)
    return Voiced(np.zeros(blocks * 512, np.float32), np.ones(blocks, np.float32))


@pytest.mark.parametrize(
    "text",
    [
        "Thank you for watching!",
        "Subtitles by the Amara.org community",
        "Merci d'avoir regardé cette vidéo.",
        "ご視聴ありがとうございました",
    ],
)
def test_what_subtitles_end_with_needs_a_voice_that_had_time_to_say_it(guard: Guard, text: str):
    assert guard.check(text, voiced(0.0)) == ""
    assert guard.check(text, voiced(0.05)) == ""
    assert guard.check(text, voiced(2.0)) == text


def test_a_loop_is_no_speech_and_insisting_is(guard: Guard):
    assert guard.check("you " * 40, voiced(1.0)) == ""
    assert guard.check("no no no no no", voiced(1.5)) == "no no no no no"
    assert guard.check("so I said to him " + "and then " * 30, voiced(3.0)) == "so I said to him and then"
    assert guard.check("you you you you", voiced(0.05)) == ""
    assert guard.check("はい" * 60, voiced(2.0)) == ""
    assert (
        guard.check("今日はとてもいい天気ですね、散歩に行きましょう", voiced(3.0))
        == "今日はとてもいい天気ですね、散歩に行きましょう"
    )


def test_loops_of_every_length_are_said_once():
    assert without_loops(["a", "b", "c", "d", "e", "f", "g", "h"]) == "a b c d e f g h"
    assert without_loops(["go"] + ["round", "and", "round"] * 6 + ["stop"]) == "go round and round stop"
    assert without_loops(["ha"] * 3) == "ha ha ha"
    assert without_loops([]) == ""


def test_long_speech_is_cut_where_nobody_speaks(guard: Guard):
    probabilities = np.ones(60 * MIC_RATE // 512, np.float32)
    for second in (20, 38):
        probabilities[second * MIC_RATE // 512 :][:10] = 0.0
    sound = np.arange(len(probabilities) * 512, dtype=np.float32)
    parts = guard.chunks(Voiced(sound, probabilities))
    assert np.array_equal(np.concatenate(parts), sound)
    assert max(map(len, parts)) <= 24 * MIC_RATE
    assert [round(part[0] / MIC_RATE) for part in parts[1:3]] == [20, 38]


# --- well behaved ----------------------------------------------------------------------------------------------------


async def test_a_partial_that_nobody_waits_for_does_not_hold_up_the_final(moonshine: MoonshineStt):
    one = recording("moon")
    long = np.concatenate([one.samples] * 12)
    before = await moonshine.transcribe(one.samples)
    partials = [asyncio.create_task(moonshine.transcribe(long, partial=True)) for _ in range(4)]
    await asyncio.sleep(0.05)
    for partial in partials:
        partial.cancel()
    assert await moonshine.transcribe(one.samples) == before
    assert all(partial.cancelled() for partial in await _ended(partials))


async def _ended(tasks: list[asyncio.Task[object]]) -> list[asyncio.Task[object]]:
    await asyncio.wait(tasks)
    return tasks


def peak_memory_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak / 1e3


async def test_memory_is_flat_over_utterances_of_thirty_lengths(moonshine: MoonshineStt):
    """Each new length once cost other projects hundreds of megabytes."""
    spoken = np.concatenate([one.samples for one in recordings("en")])
    lengths = np.random.default_rng(1).permutation(np.linspace(0.5, 8.0, 30))
    await moonshine.transcribe(spoken[: 9 * MIC_RATE])
    before = peak_memory_mb()
    for seconds in lengths:
        await moonshine.transcribe(spoken[: int(seconds * MIC_RATE)])
    assert peak_memory_mb() - before < 60


async def test_an_unloaded_recogniser_can_be_used_again(moonshine: MoonshineStt):
    one = recording("moon")
    await moonshine.unload()
    assert words((await moonshine.transcribe(one.samples)).text) == words(one.text)


async def test_a_language_that_is_not_understood_is_refused(moonshine: MoonshineStt, whisper: WhisperStt):
    sound = recording("moon").samples
    with pytest.raises(ModelUnsupported, match="English only"):
        await moonshine.transcribe(sound, language="fr")
    with pytest.raises(ModelUnsupported, match="tlh"):
        await whisper.transcribe(sound, language="tlh")


async def test_models_that_are_missing_or_damaged_are_named(tmp_path: Path):
    with pytest.raises(ModelNotFound, match="mirza models pull moonshine-tiny-en"):
        await MoonshineStt(tmp_path).load()
    with pytest.raises(ModelNotFound, match="mirza models pull whisper-base"):
        await WhisperStt(cache_folder=tmp_path).load()
    copy = shutil.copytree(models.path("moonshine-tiny-en"), models.models_folder(tmp_path) / "moonshine-tiny-en")
    tokens = copy / "tokenizer.bin"
    tokens.write_bytes(tokens.read_bytes()[:-1] + b"\0")
    with pytest.raises(ModelDamaged, match=r"tokenizer\.bin"):
        await MoonshineStt(tmp_path).load()


async def test_a_folder_that_holds_no_whisper_is_named(tmp_path: Path):
    (tmp_path / "model.bin").write_bytes(b"no model")
    with pytest.raises(ModelDamaged, match=r"stt\.model"):
        await WhisperStt(str(tmp_path)).load()
