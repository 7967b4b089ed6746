"""One record a turn, from events alone."""

from __future__ import annotations

import pytest

from mirza.events import (
    AnswerEnded,
    AnswerStarted,
    Event,
    Heard,
    LlmStats,
    Speaking,
    SpeechDelta,
    SpeechEnded,
    TurnEnded,
    TurnMeasured,
    TurnReopened,
)
from mirza.metrics import Metrics


def measure(*events: tuple[float, Event]) -> TurnMeasured:
    metrics = Metrics()
    records = [record for at_s, event in events if (record := metrics.watch(event, at_s))]
    assert len(records) == 1
    return records[0]


def test_the_stages_are_told_apart_and_add_up():
    turn = measure(
        (1.2, SpeechEnded(1.0)),
        (1.3, TurnEnded(1.3)),
        (1.4, Heard(1, "hello", "en", 1.4)),
        (1.4, AnswerStarted(1, 1.4)),
        (1.6, SpeechDelta("Hi")),
        (2.0, Speaking(1, "Hi", "Hi", 1.9)),
        (2.5, AnswerEnded(1, "Hi", 2.5)),
    )
    stages = (turn.end_of_turn_s, turn.stt_s, turn.first_token_s, turn.first_audio_s)
    assert stages == pytest.approx((0.3, 0.1, 0.2, 0.3))
    assert turn.voice_to_voice_s == pytest.approx(0.9)
    assert (turn.heard, turn.said) == ("hello", "Hi")


def test_what_was_prepared_while_waiting_costs_nothing():
    turn = measure(
        (1.2, SpeechEnded(1.0)),
        (1.3, AnswerStarted(1, 1.3)),
        (1.4, SpeechDelta("Hi")),
        (2.0, TurnEnded(2.0)),
        (2.0, Heard(1, "hello", "en", 2.0)),
        (2.1, Speaking(1, "Hi", "Hi", 2.05)),
        (2.5, AnswerEnded(1, "Hi", 2.5)),
    )
    stages = (turn.end_of_turn_s, turn.stt_s, turn.first_token_s, turn.first_audio_s)
    assert stages == pytest.approx((1.0, 0.0, 0.0, 0.05))
    assert turn.voice_to_voice_s == pytest.approx(1.05)


def test_a_reopened_turn_is_measured_from_its_last_word():
    turn = measure(
        (1.2, SpeechEnded(1.0)),
        (1.3, TurnEnded(1.3)),
        (1.5, TurnReopened(1.5)),
        (3.2, SpeechEnded(3.0)),
        (3.3, TurnEnded(3.3)),
        (3.3, Heard(1, "hello there", "en", 3.3)),
        (3.6, Speaking(1, "Hi", "Hi", 3.5)),
        (4.0, AnswerEnded(1, "Hi", 4.0)),
    )
    assert turn.voice_to_voice_s == pytest.approx(0.5)


def test_a_typed_turn_has_no_voice_to_wait_for():
    turn = measure(
        (5.0, Heard(1, "hello", "en", 5.0, typed=True)),
        (5.0, AnswerStarted(1, 5.0)),
        (5.2, SpeechDelta("Hi")),
        (5.5, AnswerEnded(1, "Hi", 5.5)),
    )
    assert (turn.end_of_turn_s, turn.stt_s, turn.voice_to_voice_s) == (None, None, None)
    assert turn.first_token_s == pytest.approx(0.2)


def test_tools_in_between_add_their_tokens_up():
    stats = LlmStats(prompt_tokens=10, prefilled_tokens=10, speech_tokens=4, decode_s=1.0, first_token_s=0.1)
    turn = measure(
        (1.0, Heard(1, "hello", "en", 1.0, typed=True)),
        (2.5, AnswerEnded(1, "Hi", 2.5, runs=(stats, stats))),
    )
    assert (turn.llm.speech_tokens, turn.llm.prefilled_tokens, turn.llm.prompt_tokens) == (8, 20, 10)
    assert turn.llm.tokens_per_s == pytest.approx(3.5)
