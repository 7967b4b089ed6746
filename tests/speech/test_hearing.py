"""Long turns are recognised in parts, each once; short ones as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from mirza.audio.base import BLOCK, MIC_RATE, Samples
from mirza.speech.base import Transcript
from mirza.speech.ear import Utterance
from mirza.speech.hearing import Hearing, cut_at
from mirza.testing import ToneStt, recognise, said, silence


class Counting(ToneStt):
    """Notes how many seconds it was given, and whether it was asked for a part of something that goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[float, bool]] = []

    async def transcribe(self, samples: Samples, *, language: str | None = None, partial: bool = False) -> Transcript:
        self.asked.append((len(samples) / MIC_RATE, partial))
        return Transcript(" ".join(word for word, _ in recognise(samples)), "en")


def utterance(sound: Samples) -> Utterance:
    """`sound` in whole blocks, with the voice that is in them."""
    blocks = np.pad(sound, (0, -len(sound) % BLOCK)).reshape(-1, BLOCK)
    return Utterance(blocks.ravel(), (np.abs(blocks).max(axis=1) > 0.01).astype(np.float32))


def words(first: int, count: int) -> str:
    return " ".join(f"word{number}" for number in range(first, first + count))


SENTENCES = [words(10 * number, 10) for number in range(8)]
"""Of 2.5 s each."""


async def listen_to(stt: Counting, sound: Samples, *, every_s: float = 0.5) -> tuple[Hearing, Transcript]:
    """Looks at a growing turn twice a second, then at all of it."""
    hearing = Hearing(stt, "en")
    for end in range(round(every_s * MIC_RATE), len(sound), round(every_s * MIC_RATE)):
        await hearing.so_far(utterance(sound[:end]))
    return hearing, await hearing.whole(utterance(sound))


async def test_every_word_of_a_long_turn_is_understood_once():
    sound = np.concatenate([part for sentence in SENTENCES for part in (said(sentence), silence(0.4))])
    _, heard = await listen_to(Counting(), sound)
    assert heard.text == " ".join(SENTENCES)


async def test_the_end_of_a_long_turn_costs_what_that_of_a_short_one_does():
    short, long = Counting(), Counting()
    await listen_to(short, np.concatenate([said(SENTENCES[0]), silence(0.4), said(SENTENCES[1])]))
    await listen_to(long, np.concatenate([part for sentence in SENTENCES for part in (silence(0.4), said(sentence))]))
    assert long.asked[-1][0] <= 1.1 * short.asked[-1][0]
    assert max(seconds for seconds, _ in long.asked) < 9.0


async def test_a_short_turn_is_understood_as_a_whole():
    stt = Counting()
    sound = np.concatenate([said(SENTENCES[0]), silence(0.4), said(SENTENCES[1])])
    await listen_to(stt, sound)
    assert [seconds for seconds, partial in stt.asked if not partial] == [
        pytest.approx(len(sound) / MIC_RATE, abs=0.04)
    ]


async def test_a_long_turn_without_a_pause_stays_whole():
    stt = Counting()
    _, heard = await listen_to(stt, said(" ".join(SENTENCES)))
    assert heard.text == " ".join(SENTENCES)
    assert all(partial for _, partial in stt.asked[:-1])


async def test_a_turn_that_is_reopened_goes_on_where_it_was():
    stt = Counting()
    before = np.concatenate([part for sentence in SENTENCES[:6] for part in (said(sentence), silence(0.4))])
    hearing, _ = await listen_to(stt, before)
    after = np.concatenate([before, said(SENTENCES[6])])
    heard = await hearing.whole(utterance(after))
    assert heard.text == " ".join(SENTENCES[:7])
    assert stt.asked[-1][0] < 9.0


async def test_a_look_that_is_cancelled_settles_nothing():
    class Gone(Counting):
        there = False

        async def transcribe(
            self, samples: Samples, *, language: str | None = None, partial: bool = False
        ) -> Transcript:
            if not self.there:
                raise TimeoutError
            return await super().transcribe(samples, language=language, partial=partial)

    sound = np.concatenate([part for sentence in SENTENCES[:4] for part in (said(sentence), silence(0.4))])
    stt = Gone()
    hearing = Hearing(stt, "en")
    with pytest.raises(TimeoutError):
        await hearing.so_far(utterance(sound))
    stt.there = True
    assert (await hearing.whole(utterance(sound))).text == " ".join(SENTENCES[:4])


def voice(*stretches: tuple[float, float]) -> Samples:
    """Probabilities of voice, from stretches of (probability, seconds)."""
    return np.concatenate([np.full(round(s * MIC_RATE / BLOCK), p, np.float32) for p, s in stretches])


def test_the_longest_pause_that_is_past_is_where_a_turn_is_cut():
    cut = cut_at(voice((0.9, 3), (0.1, 0.2), (0.9, 2), (0.1, 0.5), (0.9, 2), (0.1, 1.0)))
    assert cut is not None
    assert cut * BLOCK / MIC_RATE == pytest.approx(5.45, abs=0.05)


@pytest.mark.parametrize(
    "heard",
    [
        voice((0.9, 2), (0.1, 0.5), (0.9, 3)),  # not long yet
        voice((0.9, 7)),  # no pause
        voice((0.9, 3), (0.1, 0.1), (0.9, 4)),  # no more than a closed mouth
        voice((0.9, 1), (0.1, 0.5), (0.9, 6)),  # too little before it
        voice((0.9, 7), (0.1, 0.5), (0.9, 0.4)),  # it may be the end
    ],
)
def test_elsewhere_it_is_not_cut(heard: Samples):
    assert cut_at(heard) is None
