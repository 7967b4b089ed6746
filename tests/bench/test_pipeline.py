"""Mirza's own cost: counts, which are the same on every machine. CI keeps them from creeping up."""

from __future__ import annotations

import json

import pytest

from mirza import cli
from mirza.bench.pipeline import TURN_BLOCKS, measure


@pytest.fixture(scope="module")
def report():
    return measure(turns=3, runs=1)


def test_a_turn_costs_no_more_events_recognitions_and_answers_than_it_did(report):
    assert report.events_per_turn <= 36
    assert report.stt_calls_per_turn <= 4
    assert report.llm_calls_per_turn <= 1
    assert report.prefills_per_turn <= 3


def test_a_turn_wakes_no_more_tasks_than_it_did_and_a_quiet_block_wakes_none(report):
    """Of all blocks of a turn: who waits for the loudspeaker is woken when there is something to do, not by each."""
    assert report.steps_per_turn <= 130
    assert report.steps_per_turn < TURN_BLOCKS
    assert report.steps_per_listening_block < 0.1


def test_a_longer_conversation_costs_as_many_steps_a_turn(report):
    later = measure(turns=12, runs=1)
    assert later.steps_per_turn <= report.steps_per_turn * 1.05
    assert later.events_per_turn <= report.events_per_turn * 1.05


def test_processor_time_is_taken_off_for_what_is_only_simulated(report):
    (own,), (card,) = report.own_ms_per_turn, report.sound_card_ms_per_turn
    assert own > 0
    assert card > 0
    assert report.sound_s == pytest.approx(3 * 8)


def test_the_report_is_one_json_object(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "pipeline", "--turns", "1", "--runs", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["turns"] == 1


def test_nothing_to_measure_is_said_so(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "pipeline", "--turns", "0"]) == 1
    assert "nothing to measure" in capsys.readouterr().err
