"""`mirza bench console`: a longer conversation costs no more on the screen. Counts are watched, no times."""

from __future__ import annotations

import json

from mirza.bench.console import FEW
from mirza.bench.extract import metrics_of
from mirza.cli import main
from mirza.console.transcript import MOST, PAGE, STEP

EDGES = 2


def test_a_longer_conversation_has_no_more_widgets_on_the_screen(capsys):
    assert main(["bench", "console", "--turns", "50", "--opens", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    few, many = report["few"], report["many"]
    assert (few["turns"], many["turns"]) == (FEW, 50)
    assert few["widgets_opened"] == many["widgets_opened"] == PAGE + EDGES
    assert many["widgets_most"] <= MOST + STEP + EDGES < 2 * 50
    assert many["steps"] > 2 * few["steps"]  # it went through all of it, and back
    names = {metric.name for metric in metrics_of("console", report)}
    assert {"console.open_cpu", "console.step_cpu", "console.step_ratio", "console.resident_growth"} <= names


def test_too_few_turns_tell_nothing(capsys):
    assert main(["bench", "console", "--turns", "3"]) == 1
    assert f"Give --turns {FEW} or more." in capsys.readouterr().err
