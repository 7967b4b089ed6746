"""How long a silence must last."""

from __future__ import annotations

import pytest

from mirza.settings import TurnSettings
from mirza.speech.base import Transcript
from mirza.speech.patience import patience

SETTINGS = TurnSettings()


def test_a_finished_sentence_is_answered_almost_at_once():
    assert patience(0.98, Transcript("What time is it?"), SETTINGS) < SETTINGS.stop_s + 0.1


def test_the_surer_the_end_the_shorter_the_wait():
    waits = [patience(share / 20, Transcript("It is late"), SETTINGS) for share in range(21)]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] == pytest.approx(SETTINGS.max_wait_s)


def test_words_that_break_off_outweigh_a_falling_voice():
    assert patience(0.99, Transcript("I want to know the"), SETTINGS) == SETTINGS.max_wait_s


def test_without_a_model_the_wait_is_in_between():
    wait = patience(None, Transcript("It is late"), SETTINGS)
    assert SETTINGS.stop_s < wait < SETTINGS.max_wait_s


def test_no_wait_is_longer_than_the_setting():
    short = TurnSettings(max_wait_s=0.3)
    assert all(patience(p, Transcript("and"), short) <= 0.3 for p in (None, 0.0, 0.5, 1.0))
