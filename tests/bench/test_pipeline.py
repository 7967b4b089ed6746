"""Mirza's own cost: counts, which are the same on every machine. CI keeps them from creeping up."""

from __future__ import annotations

import json

import pytest

from mirza import cli
from mirza.bench.pipeline import measure


@pytest.fixture(scope="module")
def report():
    return measure(turns=3, runs=1)


def test_a_turn_costs_no_more_events_recognitions_and_answers_than_it_did(report):
    assert report.events_per_turn <= 40
    assert report.stt_calls_per_turn <= 5
    assert report.llm_calls_per_turn <= 1
    assert report.prefills_per_turn <= 4


def test_processor_time_is_taken_off_for_what_is_only_simulated(report):
    (own,), (card,) = report.cpu_ms_per_turn, report.sound_card_ms_per_turn
    assert own > 0
    assert card > 0
    assert report.cpu_ms_per_sound_second == [pytest.approx(own * 3 / report.sound_s)]


def test_the_report_is_one_json_object(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "pipeline", "--turns", "1", "--runs", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["turns"] == 1


def test_nothing_to_measure_is_said_so(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "pipeline", "--turns", "0"]) == 1
    assert "nothing to measure" in capsys.readouterr().err
