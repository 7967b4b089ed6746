"""The doubles that users test with: honest, and the same each time."""

from __future__ import annotations

import asyncio
import threading

import numpy as np

from mirza.audio.base import BLOCK
from mirza.testing import LoudnessVad, ToneStt, ToneTts, recognise, run_virtual, said, silence, speech


def test_virtual_time_passes_at_once_and_in_order():
    async def main() -> list[float]:
        times: list[float] = []

        async def note(after_s: float) -> None:
            await asyncio.sleep(after_s)
            times.append(asyncio.get_running_loop().time())

        await asyncio.gather(note(3600.0), note(1.0), note(60.0))
        return times

    assert run_virtual(main()) == [1.0, 60.0, 3600.0]


def test_virtual_time_stands_still_while_a_thread_works():
    async def main() -> float:
        before = asyncio.get_running_loop().time()
        await asyncio.to_thread(threading.Event().wait, 0.05)
        return asyncio.get_running_loop().time() - before

    assert run_virtual(main()) == 0.0


def test_what_was_said_can_be_read_back_word_for_word():
    text = "The quick brown fox, isn't it? it it 42"
    assert [word for word, _ in recognise(said(text))] == text.split()


def test_a_word_cut_short_counts_and_half_a_sound_is_half_its_words():
    sound = said("one two three four")
    assert [word for word, _ in recognise(sound[: len(sound) // 2 + 1600])] == ["one", "two", "three"]


def test_the_recogniser_hears_nothing_in_silence_or_in_a_hum():
    async def heard() -> list[str]:
        stt = ToneStt()
        return [(await stt.transcribe(sound)).text for sound in (silence(1), speech(1), silence(0))]

    assert run_virtual(heard()) == ["", "", ""]


def test_the_voice_says_what_the_recogniser_understands():
    async def heard() -> str:
        chunks = [chunk async for chunk in ToneTts().synthesize("Mirza speaks.")]
        return (await ToneStt().transcribe(np.concatenate(chunks))).text

    assert run_virtual(heard()) == "Mirza speaks."


def test_the_detector_tells_voice_from_silence():
    vad = LoudnessVad()
    assert vad.probability(said("word word")[:BLOCK]) == 1.0
    assert vad.probability(silence(1)[:BLOCK]) == 0.0
