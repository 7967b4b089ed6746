"""Open loudspeakers: Mirza's own voice comes back through the room, and is no user; the user still gets through."""

import asyncio
import sys
from types import ModuleType

import numpy as np
import pytest

from mirza.audio.base import BLOCK, MIC_RATE
from mirza.audio.delay import DelayFinder
from mirza.audio.echo import FRAME, EchoCanceller, SpeexCanceller, make_echo_canceller
from mirza.audio.files import RecordedSound
from mirza.audio.guard import EchoGuard
from mirza.audio.player import Chunk
from mirza.audio.resample import resample
from mirza.audio.room import Room, walls
from mirza.speech.tts.espeak import EspeakTts
from mirza.speech.vad import SileroVad, voice_probabilities

from .virtual_time import in_virtual_time

STORY = [
    "The castle stood on a hill above the river, and nobody had lived in it for a hundred years.",
    "In the spring the children went up there to look for the treasure of the old king.",
    "They found a door that was locked, a well without water, and a cat that was not afraid of them.",
    "When evening came, the youngest one heard somebody singing behind the wall.",
]
QUESTIONS = ["What is the weather going to be tomorrow?", "Stop, please, I meant the other one."]

LEVEL = 0.1
"""RMS of both voices."""

LEARNING_S = 2.0

AUDIBLE = 0.7
"""How sure the detector has to be of a voice while Mirza is audible."""


def said(texts: list[str], voice: str, gap_s: float) -> np.ndarray:
    async def speak():
        tts = EspeakTts()
        await tts.load()
        parts = []
        for text in texts:
            parts += [chunk async for chunk in tts.synthesize(text, voice=voice)]
            parts.append(np.zeros(round(gap_s * tts.rate), np.float32))
        await tts.unload()
        return resample(np.concatenate(parts), tts.rate, MIC_RATE)

    sound = asyncio.run(speak())
    return sound * np.float32(LEVEL / np.sqrt((sound[np.abs(sound) > 1e-3] ** 2).mean()))


@pytest.fixture(scope="module")
def answer() -> np.ndarray:
    """18 s of Mirza, whole blocks."""
    sound = said(STORY, "en-us", 0.3)
    return sound[: len(sound) // BLOCK * BLOCK]


@pytest.fixture(scope="module")
def question(answer: np.ndarray) -> np.ndarray:
    """Another voice, twice over the answer, after the canceller had time to learn."""
    sound, out = said(QUESTIONS, "en-gb-scotland", 1.5), np.zeros_like(answer)
    begin = 6 * MIC_RATE
    out[begin : begin + len(sound)] = sound
    return out


def in_blocks(sound: np.ndarray) -> list[np.ndarray]:
    return [sound[at : at + BLOCK] for at in range(0, len(sound), BLOCK)]


def heard_in_room(answer: np.ndarray, room: Room) -> np.ndarray:
    hiss = 5e-4 * np.random.default_rng(2).standard_normal(len(answer), np.float32)
    return np.concatenate([room.echo(block) for block in in_blocks(answer)]) + hiss


def cleaned(canceller, microphone: np.ndarray, answer: np.ndarray) -> np.ndarray:
    pairs = zip(in_blocks(microphone), in_blocks(answer), strict=True)
    return np.concatenate([canceller.process(near, far) for near, far in pairs])


def voiced(sound: np.ndarray) -> np.ndarray:
    return voice_probabilities(SileroVad(), sound) > 0.5


ROOMS = [(-20, 0.08), (-20, 0.3), (-6, 0.02), (-6, 0.3)]


@pytest.mark.parametrize(("gain_db", "delay_s"), ROOMS)
def test_mirza_alone_in_the_room_hears_nobody(answer: np.ndarray, gain_db: float, delay_s: float):
    echo = heard_in_room(answer, Room(gain_db, delay_s, drive=3.0))

    clean = cleaned(make_echo_canceller(), echo, answer)

    assert voiced(echo).mean() > 0.5
    blocks = voiced(clean)
    assert blocks[: round(LEARNING_S * MIC_RATE / BLOCK)].sum() <= 4
    assert blocks[round(LEARNING_S * MIC_RATE / BLOCK) :].mean() < 0.005


@pytest.mark.parametrize("delay_s", [0.06, 0.12, 0.3])
def test_the_first_words_of_all_are_nobodys_whichever_they_are(answer: np.ndarray, delay_s: float):
    """A delay that was found too early used to be wrong; what was removed for half a second was no echo."""
    for begin in range(1, 15, 4):
        first = np.concatenate(
            [np.zeros(30 * BLOCK, np.float32), answer[begin * MIC_RATE // BLOCK * BLOCK :][: 60 * BLOCK]]
        )
        canceller = make_echo_canceller()
        clean = cleaned(canceller, heard_in_room(first, Room(-6, delay_s)), first)
        assert (voice_probabilities(SileroVad(), clean) > AUDIBLE).sum() <= 2
        assert canceller.delay_s == pytest.approx(delay_s, abs=0.001)


@pytest.mark.parametrize(("gain_db", "delay_s"), ROOMS)
def test_a_user_who_speaks_over_mirza_gets_through(
    answer: np.ndarray, question: np.ndarray, gain_db: float, delay_s: float
):
    microphone = heard_in_room(answer, Room(gain_db, delay_s, drive=3.0)) + question

    clean = cleaned(make_echo_canceller(), microphone, answer)

    speaking = voiced(question)
    assert speaking.sum() > 60
    assert voiced(clean)[speaking].mean() > 0.9
    assert likeness(clean, question) > 0.7


def likeness(clean: np.ndarray, voice: np.ndarray, lag: int = FRAME) -> float:
    """How alike the spectrograms of two sounds are, 0 .. 1, where the second is not silent.

    Not the waveforms: Speex takes away what is below the telephone band. Its suppressor is a frame of 16 ms late.
    """
    one, other = (np.abs(spectrogram(sound)) for sound in (clean[lag:], voice[: len(voice) - lag]))
    where = other.sum(axis=1) > 0.1
    return float(np.corrcoef(one[where].ravel(), other[where].ravel())[0, 1])


def spectrogram(sound: np.ndarray) -> np.ndarray:
    frames = sound[: len(sound) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return np.fft.rfft(frames * np.hanning(BLOCK), axis=1)[:, 10:128]  # 0.3 to 4 kHz


def test_while_mirza_is_silent_the_user_is_not_touched(question: np.ndarray):
    microphone = question + heard_in_room(np.zeros_like(question), Room())

    assert np.array_equal(cleaned(make_echo_canceller(), microphone, np.zeros_like(question)), microphone)


def test_with_headphones_there_is_no_echo_and_nothing_is_taken_from_the_user(answer: np.ndarray, question: np.ndarray):
    early = np.roll(question, -5 * MIC_RATE)  # within the first seconds of the first answer
    microphone = early + heard_in_room(np.zeros_like(answer), Room())

    clean = cleaned(make_echo_canceller(), microphone, answer)

    assert voiced(clean)[voiced(early)].mean() > 0.95


def test_a_headset_that_takes_over_is_learnt_anew(answer: np.ndarray):
    """From a loudspeaker 20 ms away to one at 300 ms, in mid-talk."""
    half = len(answer) // 2 // BLOCK * BLOCK
    echo = heard_in_room(answer, Room(-6, 0.02))
    echo[half:] = heard_in_room(answer, Room(-6, 0.3))[half:]
    canceller = make_echo_canceller()

    blocks = voiced(cleaned(canceller, echo, answer))

    assert canceller.delay_s == pytest.approx(0.3, abs=0.005)
    assert blocks[(half + 3 * MIC_RATE) // BLOCK :].mean() < 0.01
    assert blocks[half // BLOCK :].sum() * BLOCK / MIC_RATE < 2.5


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gain_db", "delay_s"), ROOMS)
def test_the_delay_is_found_within_a_second_of_speech_and_never_wrong(
    answer: np.ndarray, question: np.ndarray, gain_db: float, delay_s: float
):
    microphone = heard_in_room(answer, Room(gain_db, delay_s, drive=3.0)) + question
    finder, found, first = DelayFinder(), [], None
    for k, (near, far) in enumerate(zip(in_blocks(microphone), in_blocks(answer), strict=True)):
        if (delay := finder.push(near, far)) is not None:
            found.append(delay)
            first = k if first is None else first

    assert first is not None
    assert first * BLOCK / MIC_RATE < 1.0 + delay_s
    assert np.abs(np.array(found) - delay_s * MIC_RATE).max() <= 80  # the direct sound, or a first reflection


def test_without_an_echo_no_delay_is_found(answer: np.ndarray, question: np.ndarray):
    finder = DelayFinder()
    microphone = question + heard_in_room(np.zeros_like(answer), Room())

    found = [finder.push(near, far) for near, far in zip(in_blocks(microphone), in_blocks(answer), strict=True)]

    assert set(found) == {None}


def shares(microphone: np.ndarray, answer: np.ndarray, where: np.ndarray) -> np.ndarray:
    """What the guard says in the blocks `where`."""
    guard, out = EchoGuard(), []
    for near, far, wanted in zip(in_blocks(microphone), in_blocks(answer), where, strict=True):
        guard.push(near, far)
        out.append(guard.own() if wanted else np.nan)
    return np.array(out)[where]


def test_the_guard_tells_an_echo_from_another_voice(answer: np.ndarray, question: np.ndarray):
    echo = heard_in_room(answer, Room(-12, 0.08, walls(seed=4), drive=3.0))
    loud = np.array([(block**2).mean() > 1e-3 for block in in_blocks(answer)])
    loud[: MIC_RATE // BLOCK] = False
    user = np.array([(block**2).mean() > 3e-3 for block in in_blocks(question)])

    alone = shares(echo, answer, loud & ~user)
    over = shares(0.2 * echo + question, answer, loud & user)

    assert np.percentile(alone, 10) > 0.7
    assert np.percentile(over, 95) < 0.5


@pytest.mark.parametrize("broken", [ImportError("pyaec"), AttributeError("'NoneType' has no attribute 'AecNew'")])
def test_where_speex_does_not_install_the_guard_works_alone(
    answer: np.ndarray, question: np.ndarray, monkeypatch, broken: Exception
):
    class Broken(ModuleType):
        def __getattr__(self, name: str):
            raise broken

    monkeypatch.setitem(sys.modules, "pyaec", Broken("pyaec"))
    echo = heard_in_room(answer, Room(-12, 0.08))
    after = round(1.5 * MIC_RATE / BLOCK)

    alone = voiced(cleaned(make_echo_canceller(), echo, answer))
    both = voiced(cleaned(make_echo_canceller(), echo + question, answer))

    assert alone[after:].mean() < 0.05
    assert both[voiced(question)].mean() > 0.8


def test_speex_is_freed_with_its_canceller():
    for _ in range(200):
        SpeexCanceller()


def test_each_run_of_the_canceller_is_the_same(answer: np.ndarray):
    echo = heard_in_room(answer[: 5 * MIC_RATE // BLOCK * BLOCK], Room(-6, 0.1))
    far = answer[: len(echo)]

    assert np.array_equal(cleaned(make_echo_canceller(), echo, far), cleaned(make_echo_canceller(), echo, far))


def test_through_the_recorded_sound_a_whole_answer_is_no_turn(answer: np.ndarray):
    """The player's samples, the room, the blocks and the canceller together, as the pipeline has them."""
    sound = RecordedSound(np.zeros(0, np.float32), rate=MIC_RATE, room=Room(-6, 0.15, drive=3.0))
    sound.finish_when(sound.player.idle)
    sound.player.put(Chunk(answer, piece=1))
    canceller = EchoCanceller(SpeexCanceller)

    async def talk():
        clean = []
        async for block in sound.blocks():
            clean.append(canceller.process(block.samples, block.played))
        return np.concatenate(clean)

    assert voiced(in_virtual_time(talk())).sum() * BLOCK / MIC_RATE < 0.3
    assert sound.player.heard(1) == len(answer)
