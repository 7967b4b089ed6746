"""What is to be said is said, in the right language, without silence before it, and can be cut off at any moment."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirza import models
from mirza.audio.base import Samples
from mirza.errors import ModelDamaged, ModelNotFound, ModelUnsupported
from mirza.mlx_thread import MlxThread
from mirza.speech.base import Tts
from mirza.speech.stt.moonshine import MoonshineStt
from mirza.speech.stt.whisper import WhisperStt
from mirza.speech.tts.espeak import ESPEAK_VOICES, EspeakTts
from mirza.speech.tts.kokoro import SYMBOLS, KokoroTts, respell
from mirza.speech.tts.mlx_audio import MlxAudioTts
from mirza.speech.tts.phonemes import EspeakProcess
from mirza.speech.tts.piper import PiperTts
from mirza.speech.tts.sentences import LONGEST, speakable_parts
from mirza.speech.tts.silence import trim_silence
from tests.speech.real import at_16_khz, recordings, wer

ANSWERS = [
    "Sure, the weather in Lisbon today is sunny with a gentle breeze.",
    "Bees make honey from the nectar of flowers.",
    "The moon is a solid body of rock that travels around the earth.",
    "Blue light is scattered more than other colors because it travels in shorter waves.",
]

models_needed = pytest.mark.models


@pytest.fixture(scope="module")
def piper() -> Iterator[PiperTts]:
    tts = PiperTts()
    yield tts
    asyncio.run(tts.unload())


@pytest.fixture(scope="module")
def kokoro() -> Iterator[KokoroTts]:
    if not models.is_pulled(models.find("kokoro-82m")) and not os.environ.get("MIRZA_REQUIRE_MODELS"):
        pytest.skip("Kokoro is not on this disk, and npm, which carries its voices, not on this machine")
    tts = KokoroTts()
    yield tts
    asyncio.run(tts.unload())


@pytest.fixture(scope="module")
def espeak() -> Iterator[EspeakTts]:
    tts = EspeakTts()
    yield tts
    asyncio.run(tts.unload())


@pytest.fixture(scope="module")
def judge() -> WhisperStt:
    """Another recogniser than the one that listens in a conversation."""
    return WhisperStt("whisper-tiny-en")


async def spoken(tts: Tts, text: str, **options: str) -> Samples:
    chunks = [chunk async for chunk in tts.synthesize(text, **options)]
    return at_16_khz(chunks, tts.rate) if chunks else np.zeros(0, np.float32)


# --- said ------------------------------------------------------------------------------------------------------------


@models_needed
async def test_what_piper_says_another_model_understands(piper: PiperTts, judge: WhisperStt):
    heard = [(await judge.transcribe(await spoken(piper, text))).text for text in ANSWERS]
    assert wer(ANSWERS, heard) <= 0.15


@models_needed
async def test_kokoro_speaks_english_and_french(kokoro: KokoroTts, judge: WhisperStt):
    heard = (await judge.transcribe(await spoken(kokoro, ANSWERS[0]))).text
    assert wer(ANSWERS[:1], [heard]) <= 0.10
    french = "Bien sûr, il fait beau aujourd'hui à Lisbonne."
    sound = await spoken(kokoro, french, language="fr")
    understood = await WhisperStt().transcribe(sound)
    assert understood.language == "fr"
    assert wer([french], [understood.text]) <= 0.15


@models_needed
async def test_espeak_is_understood_more_or_less(espeak: EspeakTts):
    """The floor: two words in three, by a recogniser that never heard it. Piper is held to more."""
    listener = MoonshineStt()
    heard = [(await listener.transcribe(await spoken(espeak, text))).text for text in ANSWERS]
    assert wer(ANSWERS, heard) <= 0.35


async def test_espeak_has_a_voice_for_every_language_it_names(espeak: EspeakTts):
    texts = {"ru": "Да", "uk": "Так", "ar": "نعم", "hi": "हाँ", "zh": "是", "ja": "はい", "ko": "네", "el": "Ναι"}
    for language in ESPEAK_VOICES:
        sound = await spoken(espeak, texts.get(language, "banana"), language=language)
        assert len(sound) > 16_000 * 0.1, language


async def test_speed_is_speed():
    slow, quick = EspeakTts(speed=0.7), EspeakTts(speed=1.5)
    assert len(await spoken(slow, ANSWERS[0])) > 1.5 * len(await spoken(quick, ANSWERS[0]))
    await slow.unload()
    await quick.unload()


@models_needed
async def test_one_word_is_said_and_nothing_else(piper: PiperTts, kokoro: KokoroTts, judge: WhisperStt):
    for tts in (piper, kokoro):
        for text in ("Yes.", "No", "Three!"):
            sound = await spoken(tts, text)
            assert 0.15 < len(sound) / 16_000 < 1.5
            assert np.abs(sound).max() > 0.05


@models_needed
async def test_no_silence_before_a_voice_and_little_after_it(piper: PiperTts, kokoro: KokoroTts):
    for tts in (piper, kokoro):
        sound = await spoken(tts, ANSWERS[1])
        loud = np.flatnonzero(np.abs(sound) > 0.01)
        assert loud[0] / 16_000 < 0.05
        assert (len(sound) - loud[-1]) / 16_000 < 0.2


@models_needed
async def test_what_cannot_be_spoken_is_no_sound(piper: PiperTts, espeak: EspeakTts):
    for tts in (piper, espeak):
        for text in ("", "   ", "...", "?!", "🙂", "—", "\n"):
            assert not len(await spoken(tts, text))


@models_needed
async def test_each_sentence_comes_as_it_is_ready(piper: PiperTts):
    chunks = [chunk async for chunk in piper.synthesize("First this. Then that! And now the third?")]
    assert len(chunks) == 3


@models_needed
async def test_strange_text_harms_nothing(piper: PiperTts, espeak: EspeakTts):
    for tts in (piper, espeak):
        for text in ("\x00\x01 hello", "a" * 500, "naïve café — “quoted” (so-called) 日本 <b>", "{}" * 50 + " end"):
            await spoken(tts, text)
        assert len(await spoken(tts, "Still here.")) > 4000


# --- cut off ---------------------------------------------------------------------------------------------------------


@models_needed
async def test_a_voice_that_is_cut_off_speaks_again_at_once(piper: PiperTts, judge: WhisperStt):
    async with aclosing(piper.synthesize(" ".join(ANSWERS))) as chunks:
        async for _ in chunks:
            break
    speaking = asyncio.create_task(spoken(piper, " ".join(ANSWERS * 3)))
    await asyncio.sleep(0.05)
    speaking.cancel()
    sound = await spoken(piper, " ".join(ANSWERS[:3]))  # several: each is spoken a little otherwise each time
    assert speaking.cancelled()
    assert wer([" ".join(ANSWERS[:3])], [(await judge.transcribe(sound)).text]) <= 0.3


@models_needed
async def test_an_unloaded_voice_can_be_used_again():
    tts = PiperTts()
    assert len(await spoken(tts, "Once."))
    await tts.unload()
    assert len(await spoken(tts, "Twice."))
    await tts.unload()


# --- refused ---------------------------------------------------------------------------------------------------------


@models_needed
async def test_a_language_or_voice_that_there_is_not_is_refused(piper: PiperTts, kokoro: KokoroTts, espeak: EspeakTts):
    with pytest.raises(ModelUnsupported, match=r"not fr.*kokoro"):
        await spoken(piper, "Bonjour", language="fr")
    with pytest.raises(ModelUnsupported, match="no voice amy"):
        await spoken(piper, "Hello", voice="amy")
    with pytest.raises(ModelUnsupported, match="does not speak de"):
        await spoken(kokoro, "Hallo", language="de")
    with pytest.raises(ModelUnsupported, match="af_heart"):
        await spoken(kokoro, "Hello", voice="ff_siwis")
    with pytest.raises(ModelUnsupported, match="tlh"):
        await spoken(espeak, "nuqneH", language="tlh")
    with pytest.raises(ModelUnsupported, match="nobody"):
        await spoken(espeak, "Hello", voice="nobody")


@models_needed
async def test_voices_that_are_missing_or_damaged_are_named(tmp_path: Path):
    with pytest.raises(ModelNotFound, match="mirza models pull piper-joe"):
        await PiperTts(cache_folder=tmp_path).load()
    with pytest.raises(ModelNotFound, match="mirza models pull kokoro-82m"):
        await KokoroTts(tmp_path).load()
    copy = shutil.copytree(models.path("piper-joe"), models.models_folder(tmp_path) / "piper-joe")
    (copy / "voice.onnx.json").write_text("{}")
    with pytest.raises(ModelDamaged, match=r"voice\.onnx\.json"):
        await PiperTts(cache_folder=tmp_path).load()


async def test_a_folder_of_ones_own_that_holds_no_voice_is_named(tmp_path: Path):
    with pytest.raises(ModelDamaged, match="no Piper voice"):
        await PiperTts(str(tmp_path)).load()
    (tmp_path / "mine.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelDamaged, match=r"mine\.onnx\.json"):
        await PiperTts(str(tmp_path)).load()
    source = models.path("piper-joe") / "voice.onnx.json"
    shutil.copy(source, tmp_path / "mine.onnx.json")
    with pytest.raises(ModelDamaged, match=r"mine\.onnx cannot be read"):
        await PiperTts(str(tmp_path)).load()


# --- phonemes --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def process() -> Iterator[EspeakProcess]:
    process = EspeakProcess()
    yield process
    process.close()


def test_punctuation_stays_where_it_was(process: EspeakProcess):
    phonemes = process.phonemes('Well, "is it" true? Yes; it is.', "en-us")
    assert [mark for mark in phonemes if mark in ",?;."] == [",", "?", ";", "."]


def test_a_point_within_a_number_is_said(process: EspeakProcess):
    assert "pɔɪnt" in process.phonemes("It is 3.5 metres.", "en-us")


def test_foreign_words_leave_no_marks(process: EspeakProcess):
    assert "(" not in process.phonemes("J'écoute du rock and roll sur mon smartphone", "fr")


def workers() -> set[int]:
    ours = ["pgrep", "-P", str(os.getpid()), "-f", "espeak_worker"]
    return {int(pid) for pid in subprocess.run(ours, check=True, capture_output=True, text=True).stdout.split()}


def test_ctrl_c_is_not_for_the_process(process: EspeakProcess):
    before = process.phonemes("hello", "en-us")
    there = workers()
    for pid in there:
        os.kill(pid, signal.SIGINT)
    assert process.phonemes("hello", "en-us") == before
    assert workers() == there


def test_a_process_that_dies_is_started_again(process: EspeakProcess):
    before = process.phonemes("hello", "en-us")
    for pid in workers():
        os.kill(pid, signal.SIGKILL)
    assert process.phonemes("hello", "en-us") == before


def test_the_gpl_library_is_never_loaded_here(process: EspeakProcess):
    """Mirza talks to espeak-ng over pipes: nothing of it is in this process, and nothing of Mirza in its own."""
    process.speak("hello", "en-us")
    assert "espeakng_loader" not in sys.modules
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert "espeak" not in maps.read_text()
    worker = Path(sys.modules[EspeakProcess.__module__].__file__ or "").with_name("espeak_worker.py")
    assert "mirza" not in "".join(line for line in worker.read_text().splitlines() if "import" in line)


def test_english_phonemes_are_respelled_as_kokoro_learnt_them(process: EspeakProcess):
    spelled = respell(process.phonemes("Joyful kite, how now: the bird's chair.", "en-us"), "en")
    assert set("ʤYIWʧA") - {"A"} <= set(spelled)
    assert not set(spelled) - set(SYMBOLS)


# --- pieces ----------------------------------------------------------------------------------------------------------


@given(st.text(alphabet=st.sampled_from("ab .,;!?…。—\n\"'é日1"), max_size=900))
def test_no_letter_is_lost_and_no_part_is_long(text: str):
    parts = speakable_parts(text)
    assert max(map(len, parts), default=0) <= LONGEST
    assert [c for part in parts for c in part if c.isalnum()] == [c for c in text if c.isalnum()]


def test_a_sentence_is_a_part_and_a_point_in_a_number_is_none():
    assert speakable_parts('It is 3.5 km. "Really?" she asked! No… 終わり。はい') == [
        "It is 3.5 km.",
        '"Really?',
        "she asked!",
        "No…",
        "終わり。",
        "はい",
    ]


def test_soft_beginnings_are_kept_and_silence_is_not():
    rate = 22_050
    soft = (np.sin(np.arange(rate // 10)) * 0.02).astype(np.float32)
    loud = (np.sin(np.arange(rate // 2)) * 0.5).astype(np.float32)
    quiet = np.zeros(rate // 4, np.float32)
    trimmed = trim_silence(np.concatenate([quiet, soft, loud, quiet]), rate)
    expected = len(soft) + len(loud) + 0.13 * rate
    assert abs(len(trimmed) - expected) < 0.02 * rate
    assert len(trim_silence(quiet, rate)) == 0
    assert len(trim_silence(quiet[:0], rate)) == 0


def test_recordings_have_nothing_to_trim_but_their_ends():
    for one in recordings("en"):
        trimmed = trim_silence(one.samples, 16_000, lead_s=0, tail_s=0)
        assert 0.6 * len(one.samples) < len(trimmed) < len(one.samples)


# --- mlx-audio -------------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """As mlx-audio's `GenerationResult` (0.6.2)."""

    audio: Any
    sample_rate: int = 24_000


class StandIn:
    """In place of Kokoro on MLX, whose weights are only on the hub: real arrays, mlx-audio's own signature."""

    sample_rate = 24_000

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.closed = False

    def generate(self, text: str, voice: str, speed: float = 1.0, lang_code: str = "a") -> Generator[Result]:
        import mlx.core as mx

        self.asked.append((text, voice, lang_code))
        try:
            for _ in range(3):
                yield Result(mx.ones(2400) * 0.1)
        finally:
            self.closed = True


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    model = StandIn()
    monkeypatch.setitem(sys.modules, "mlx_audio.tts.utils", SimpleNamespace(load_model=lambda _: model))
    return model


async def test_a_voice_of_mlx_audio_speaks_in_chunks_on_the_mlx_thread(stand_in: StandIn, tmp_path: Path):
    thread = MlxThread()
    try:
        tts = MlxAudioTts(thread, str(tmp_path))
        chunks = [chunk async for chunk in tts.synthesize("One. Two.", language="fr")]
        assert [len(chunk) for chunk in chunks] == [2400] * 6
        assert chunks[0].dtype == np.float32
        assert stand_in.asked == [("One.", "ff_siwis", "f"), ("Two.", "ff_siwis", "f")]
        stand_in.closed = False
        async with aclosing(tts.synthesize("One.")) as cut:
            async for _ in cut:
                break
        assert stand_in.closed, "who stops listening stops the work"
        with pytest.raises(ModelUnsupported, match="does not speak tlh"):
            await spoken(tts, "nuqneH", language="tlh")
    finally:
        thread.close()


async def test_a_voice_of_mlx_audio_that_is_not_here_is_named(tmp_path: Path):
    with pytest.raises(ModelNotFound, match="mirza models pull kokoro-82m-mlx"):
        await MlxAudioTts(MlxThread(), cache_folder=tmp_path).load()


async def test_a_folder_that_mlx_audio_cannot_read_is_named(tmp_path: Path):
    (tmp_path / "config.json").write_text('{"model_type": "no such kind"}')
    thread = MlxThread()
    try:
        with pytest.raises(ModelDamaged, match=r"tts\.model"):
            await MlxAudioTts(thread, str(tmp_path)).load()
    finally:
        thread.close()
