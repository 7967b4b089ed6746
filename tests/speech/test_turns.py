"""Turn taking, as lists of numbers: how sure the detector is of a voice in each block of 32 ms."""

from __future__ import annotations

import pytest

from mirza.settings import TurnSettings
from mirza.speech.turns import Began, Ended, Faded, Overlap, OverlapEnded, Paused, Signal, TurnTaker, WentOn

BLOCK_S = 0.032


def blocks(seconds: float) -> int:
    return round(seconds / BLOCK_S)


def hear(taker: TurnTaker, *stretches: tuple[float, float], start_s: float = 0.0) -> list[Signal]:
    """What `taker` says to stretches of (probability, seconds)."""
    now_s, signals = start_s, list[Signal]()
    for probability, seconds in stretches:
        for _ in range(blocks(seconds)):
            now_s += BLOCK_S
            signals += taker.hear(probability, now_s)
    return signals


def kinds(signals: list[Signal]) -> list[type]:
    return [type(signal) for signal in signals]


def test_a_voice_begins_a_turn_and_silence_ends_it():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    signals = hear(taker, (0.0, 1.0), (0.9, 1.0), (0.0, 3.0))

    assert kinds(signals) == [Began, Faded, Paused, Ended]
    began, _, paused, ended = signals
    assert isinstance(began, Began)
    assert isinstance(paused, Paused)
    assert isinstance(ended, Ended)
    assert began.voice_start_s == pytest.approx(1.0, abs=BLOCK_S)
    assert paused.voice_end_s == ended.voice_end_s == pytest.approx(2.0, abs=BLOCK_S)


@pytest.mark.parametrize("seconds", [0.032, 0.1, 0.16])
def test_a_click_is_no_turn(seconds: float):
    assert hear(TurnTaker(TurnSettings(), BLOCK_S), (0.0, 0.5), (1.0, seconds), (0.0, 3.0)) == []


def test_a_pause_that_is_judged_complete_ends_the_turn_at_once():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    hear(taker, (0.9, 1.0), (0.0, 0.23))
    taker.judged(0.25)
    assert kinds(hear(taker, (0.0, 0.1), start_s=1.23)) == [Ended]


def test_a_pause_that_is_judged_incomplete_waits_no_longer_than_the_setting():
    settings = TurnSettings(max_wait_s=1.0)
    taker = TurnTaker(settings, BLOCK_S)
    hear(taker, (0.9, 1.0), (0.0, 0.23))
    taker.judged(99.0)
    assert kinds(hear(taker, (0.0, 0.6), start_s=1.23)) == []
    assert kinds(hear(taker, (0.0, 0.4), start_s=1.83)) == [Ended]


def test_a_pause_that_nobody_judges_ends_all_the_same():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    assert kinds(hear(taker, (0.9, 1.0), (0.0, 3.0))) == [Began, Faded, Paused, Ended]
    assert not taker.talking


def test_going_on_after_a_pause_is_the_same_turn():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    assert kinds(hear(taker, (0.9, 1.0), (0.0, 0.5), (0.9, 0.5), (0.0, 3.0))) == [
        Began,
        Faded,
        Paused,
        WentOn,
        Faded,
        Paused,
        Ended,
    ]


def test_a_gap_in_which_a_word_may_end_is_told_and_taken_back():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    assert kinds(hear(taker, (0.9, 1.0), (0.0, 0.128), (0.9, 0.5))) == [Began, Faded, WentOn]


def test_a_gap_that_is_part_of_a_word_is_none():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    assert kinds(hear(taker, (0.9, 1.0), (0.0, 0.064), (0.9, 0.5))) == [Began]


def test_a_cough_in_a_pause_neither_reopens_nor_blocks_it():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    assert kinds(hear(taker, (0.9, 1.0), (0.0, 0.3), (0.9, 0.064), (0.0, 3.0))) == [Began, Faded, Paused, Ended]


def test_a_turn_without_end_is_ended():
    taker = TurnTaker(TurnSettings(max_turn_s=5), BLOCK_S)
    signals = hear(taker, (0.9, 5.2))
    assert kinds(signals) == [Began, Paused, Ended]


def test_a_voice_over_the_assistants_is_told_from_its_first_block():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    taker.audible = True
    signals = hear(taker, (0.9, 0.32), (0.0, 0.5))

    assert kinds(signals) == [Overlap] * 10 + [OverlapEnded]
    first, last = signals[0], signals[-1]
    assert isinstance(first, Overlap)
    assert isinstance(last, OverlapEnded)
    assert first.voiced_s == pytest.approx(BLOCK_S)
    assert last.voiced_s == pytest.approx(0.32)


def test_the_bar_is_higher_while_the_assistant_is_audible():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    taker.audible = True
    assert hear(taker, (0.6, 1.0)) == []
    taker.audible = False
    assert kinds(hear(taker, (0.6, 1.0), start_s=1.0)) == [Began]


def test_an_overlap_that_outlasts_the_answer_becomes_a_turn():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    taker.audible = True
    hear(taker, (0.9, 0.2))
    taker.audible = False
    assert Began in kinds(hear(taker, (0.9, 0.2), start_s=0.2))


def test_a_key_begins_and_ends_a_turn():
    taker = TurnTaker(TurnSettings(), BLOCK_S)
    assert kinds(taker.begin(1.0)) == [Began]
    assert taker.begin(1.0) == []
    assert kinds(taker.end(2.0)) == [Paused, Ended]
    assert taker.end(2.0) == []
