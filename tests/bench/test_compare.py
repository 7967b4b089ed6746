"""Two runs side by side: what is better, worse, or within noise."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from mirza import cli
from mirza.bench.compare import compare, probability
from mirza.bench.runfile import SCHEMA, Better, Metric, Run, Section, percentile, read_run, write_run
from mirza.errors import MirzaError


def a_run(*metrics: Metric, model: str = "a", load: float = 0.0) -> Run:
    section = Section(name="talk", command="mirza bench talk", load_before=load, metrics=list(metrics))
    return Run(made="2026-01-01T00:00:00+00:00", provenance={"model": {"folder": model}}, sections=[section])


def seconds(*values: float, name: str = "wait", unit: str = "s", better: Better = Better.LESS) -> Metric:
    return Metric(name=name, unit=unit, better=better, values=list(values))


def verdict(before: Metric, after: Metric) -> str:
    (difference,) = compare([a_run(before)], [a_run(after)])
    return difference.verdict


STEADY = (1.00, 1.02, 0.99, 1.01, 1.00, 0.98, 1.03, 1.01)


def test_clearly_quicker_is_better_and_clearly_slower_is_worse():
    quicker = tuple(value * 0.8 for value in STEADY)
    assert verdict(seconds(*STEADY), seconds(*quicker)) == "better"
    assert verdict(seconds(*quicker), seconds(*STEADY)) == "worse"


def test_more_is_better_where_more_is_better():
    more = tuple(value * 1.5 for value in STEADY)
    rate = {"unit": "1/s", "better": Better.MORE}
    assert verdict(seconds(*STEADY, **rate), seconds(*more, **rate)) == "better"


def test_what_wavers_as_much_as_it_differs_is_within_noise():
    assert verdict(seconds(1.0, 2.0, 1.5, 0.7), seconds(1.2, 1.9, 1.4, 0.9)) == "within noise"
    assert verdict(seconds(*STEADY), seconds(*(value * 1.01 for value in STEADY))) == "within noise"


def test_few_values_a_side_say_nothing_about_a_time_and_one_says_all_about_a_count():
    assert verdict(seconds(1.0), seconds(0.5)) == "too few values"
    assert verdict(seconds(1.0, 1.1, 0.9), seconds(0.5, 0.6, 0.4)) == "too few values"
    assert verdict(seconds(1.0, 1.1, 0.9, 1.0), seconds(0.5, 0.6, 0.4, 0.5)) == "better"
    assert verdict(seconds(3, unit=""), seconds(0, unit="")) == "better"
    assert verdict(seconds(0, unit=""), seconds(0, unit="")) == "within noise"


def test_two_runs_of_the_same_thing_are_rarely_called_different():
    rng = random.Random(0)
    wrong = 0
    for _ in range(60):
        one, other = ([rng.lognormvariate(0, 0.3) for _ in range(10)] for _ in range(2))
        wrong += verdict(seconds(*one), seconds(*other)) != "within noise"
    assert wrong <= 8  # one in twenty is what 5 % means; three more spare


def test_several_runs_stand_on_one_side():
    before = [a_run(seconds(value)) for value in STEADY]
    after = [a_run(seconds(value * 0.7)) for value in STEADY]
    (difference,) = compare(before, after)
    assert difference.verdict == "better"
    assert difference.before_spread.endswith("n = 8")
    assert difference.change == pytest.approx(-0.3, abs=0.02)


def test_turns_are_compared_each_with_itself():
    """They differ from one another by far more than anything that was changed makes them differ."""
    waits = (0.5, 4.0, 1.0, 9.0, 2.0, 0.7, 3.0, 6.0)
    of = [f"script {number}" for number in range(len(waits))]
    before = seconds(*waits).model_copy(update={"of": of})
    after = seconds(*(0.9 * wait for wait in reversed(waits))).model_copy(update={"of": of[::-1]})
    (difference,) = compare([a_run(before)], [a_run(after)])
    assert (difference.verdict, difference.change) == ("better", pytest.approx(-0.1))
    assert verdict(seconds(*waits), seconds(*(0.9 * wait for wait in waits))) == "within noise"
    wavering = seconds(*(wait * (0.9, 1.1)[number % 2] for number, wait in enumerate(waits)))
    assert verdict(before, wavering.model_copy(update={"of": of})) == "within noise"
    few = [metric.model_copy(update={"of": of[:4], "values": metric.values[:4]}) for metric in (before, after)]
    assert verdict(*few) == "too few values"


def test_what_changed_no_more_than_the_machine_itself_is_within_noise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    slower = seconds(*(value * 1.2 for value in STEADY))
    before, after = a_run(seconds(*STEADY)), a_run(slower)
    before.sections[0].pace_before = {"python": 0.010, "memory": 0.010}
    after.sections[0].pace_before = {"python": 0.010, "memory": 0.010}
    assert compare([before], [after])[0].verdict == "worse"
    before.sections[0].pace_after = {"memory": 0.013}  # it changed while the first run was made
    assert compare([before], [after])[0].verdict == "within noise"
    before.sections[0].pace_after = {}
    after.sections[0].pace_before = {"python": 0.010, "memory": 0.013}
    assert compare([before], [after])[0].verdict == "within noise"
    for name, run in (("before", before), ("after", after)):
        write_run(run, tmp_path / f"{name}.json")
    assert cli.main(["bench", "compare", str(tmp_path / "before.json"), str(tmp_path / "after.json")]) == 0
    assert "The machine itself was unsteady (talk 30%)" in capsys.readouterr().out


def test_what_only_one_side_has_is_told():
    differences = compare([a_run(seconds(1, name="old"))], [a_run(seconds(1, name="new"))])
    assert {difference.name: difference.verdict for difference in differences} == {"old": "gone", "new": "new"}


def test_the_odds_are_those_of_drawing_halves():
    assert probability([1, 1, 1, 1], [1, 1, 1, 1]) == 1
    assert probability([1, 2, 3, 4, 5], [11, 12, 13, 14, 15]) < 0.05


def test_a_run_file_is_read_as_it_was_written(tmp_path: Path):
    run = a_run(seconds(1.0, 2.0))
    write_run(run, tmp_path / "run.json")
    assert read_run(tmp_path / "run.json") == run


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no run file"),
        ('{"schema_version": 99, "made": "", "provenance": null}', "version 99"),
        ("{}", "no run file"),
    ],
)
def test_a_file_that_is_no_run_file_is_said_so(tmp_path: Path, content: str, message: str):
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(MirzaError, match=message):
        read_run(tmp_path / "run.json")
    with pytest.raises(MirzaError, match="cannot be read"):
        read_run(tmp_path / "none.json")


def test_a_disk_that_refuses_is_said_so(tmp_path: Path):
    with pytest.raises(MirzaError, match="cannot be written"):
        write_run(a_run(), tmp_path / "none" / "run.json")


def test_the_command_compares_files_and_folders_and_ends_with_1_where_something_got_worse(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for side, factor in (("before", 1.0), ("after", 1.4)):
        for number, value in enumerate(STEADY):
            folder = tmp_path / side / str(number)
            folder.mkdir(parents=True)
            write_run(a_run(seconds(value * factor), model=side, load=9.0), folder / "run.json")

    assert cli.main(["bench", "compare", str(tmp_path / "before"), str(tmp_path / "after")]) == 1
    shown = capsys.readouterr().out
    assert "worse" in shown
    assert "different models or machines" in shown
    assert "busy (load 9.0)" in shown
    assert cli.main(["bench", "compare", str(tmp_path / "after"), str(tmp_path / "before"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["verdict"] == "better"


def test_percentiles_are_values_that_were_measured():
    assert percentile(list(range(100)), 0.95) == 95
    assert percentile([3.0, 1.0], 0.95) == 3.0
    assert SCHEMA == 1
