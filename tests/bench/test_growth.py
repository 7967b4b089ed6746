"""How cost grows: exponents are right where they are known, and the engine's counts stay flat where they should."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from mirza import cli
from mirza.bench.curves import EXPECTED, SCENES, Curve, CurvePoint, Curves
from mirza.bench.extract import metrics_of
from mirza.bench.fit import fit
from mirza.bench.growth import GrowthReport
from mirza.bench.page import html, markdown
from mirza.bench.report import report as page_of
from mirza.bench.runfile import Run, Section

SIZES = [2.0**power for power in range(8, 16)]


# --- exponents -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, -1.0])
def test_a_power_law_has_its_exponent(exponent: float):
    found = fit([(size, 3e-4 * size**exponent) for size in SIZES])
    assert found is not None
    assert math.isclose(found.exponent, exponent, abs_tol=1e-9)
    assert found.error < 1e-6
    assert found.bends_at is None


def test_noise_is_in_the_error_and_the_true_exponent_within_three_of_it():
    rng = random.Random(1)
    found = fit([(size, size**0.8 * rng.lognormvariate(0, 0.1)) for size in SIZES])
    assert found is not None
    assert 0 < found.error < 0.1
    assert abs(found.exponent - 0.8) < 3 * found.error
    assert 0.9 < found.r2 < 1


def test_what_is_flat_and_then_linear_bends_where_it_does():
    found = fit([(size, max(size, 2048.0)) for size in SIZES])
    assert found is not None
    assert found.bends_at == pytest.approx(2048)
    assert found.before == pytest.approx(0, abs=0.01)
    assert found.after == pytest.approx(1, abs=0.01)
    assert found.last == found.after


@pytest.mark.parametrize("points", [[], [(1, 1)], [(2, 3), (2, 4)], [(1, 0), (2, 0)], [(-1, 2), (3, 4)]])
def test_too_little_has_no_exponent(points: list[tuple[float, float]]):
    assert fit(points) is None


# --- what is said of a curve -----------------------------------------------------------------------------------------


def curve(name: str, exponent: float) -> Curve:
    curves = Curves()
    for size in SIZES:
        curves.add(name, int(size), size**exponent)
    return curves.all[name]


@pytest.mark.parametrize(
    ("name", "exponent", "verdict"),
    [
        ("context.warm", 0.0, "as expected"),
        ("context.warm", 1.0, "faster than expected"),
        ("context.cold", 1.0, "as expected"),
        ("context.cold", 0.5, "as expected"),
        ("context.cold", 2.0, "faster than expected"),
    ],
)
def test_a_curve_is_judged_by_what_was_expected(name: str, exponent: float, verdict: str):
    assert curve(name, exponent).verdict == verdict


def test_a_curve_that_bends_is_judged_by_its_last_part():
    curves = Curves()
    for size in SIZES:
        curves.add("turns.warm", int(size), max(size, 2048.0))
    assert "faster than expected; 0.00 up to 2,048, 1.00 from there" in curves.all["turns.warm"].verdict


def test_noise_is_called_noise():
    curves = Curves()
    for size, value in ((1, 1.0), (2, 9.0), (4, 1.0), (8, 9.0)):
        curves.add("turns.warm", size, value)
    assert curves.all["turns.warm"].verdict == "too noisy to tell"
    assert Curve(name="turns.warm", points=[CurvePoint(size=1, values=[1])]).verdict == "too few sizes"


def test_every_curve_belongs_to_a_scene():
    assert {Curve(name=name).scene for name in EXPECTED} == set(SCENES)


# --- the real engine, at small sizes ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> GrowthReport:
    """One small run, as it is kept."""
    file = tmp_path_factory.mktemp("growth") / "growth.json"
    sizes = ["--context", "128,512", "--turns", "1,2,12", "--system", "64,400", "--runs", "1"]
    assert cli.main(["bench", "growth", *sizes, "--output", str(file)]) == 0
    return GrowthReport.model_validate_json(file.read_bytes())


@pytest.fixture(scope="module")
def curves(measured: GrowthReport) -> dict[str, Curve]:
    return {curve.name: curve for curve in measured.curves}


def test_everything_that_is_expected_is_measured(measured, curves: dict[str, Curve]):
    assert set(curves) == set(EXPECTED)
    assert measured.finished
    assert all(point.values for curve in curves.values() for point in curve.points)


def test_a_later_turn_feeds_as_many_tokens_as_an_early_one(curves: dict[str, Curve]):
    fed = [point.median for point in curves["turns.fed"].points]
    assert fed[-1] <= fed[1]
    context = [point.median for point in curves["turns.context"].points]
    assert context[-1] > 8 * context[0]


def test_the_state_and_its_file_grow_with_the_context_and_no_faster(curves: dict[str, Curve]):
    for name in ("context.snapshot", "context.memory"):
        small, large = (point.median for point in curves[name].points)
        assert small < large <= 4 * small, name


def test_a_head_worth_a_file_is_found_again_after_a_restart(curves: dict[str, Curve]):
    assert [point.size for point in curves["system.restored"].points] == [400]


def test_a_growth_is_a_page_and_has_metrics_for_each_size(measured):
    data = measured.model_dump(mode="json")
    metrics = metrics_of("growth", data)
    assert {"growth.context.cold.512", "growth.turns.warm.12", "growth.system.cold.exponent"} <= {
        metric.name for metric in metrics
    }
    run = Run(made="2026-01-01", provenance=None, sections=[Section(name="growth", command="x", data=data)])
    text, whole = markdown(page_of(run)), html(page_of(run))
    assert "### Against context, tokens" in text
    assert "only the new question is fed" in text
    assert whole.count("<svg") == 6


def test_a_report_that_was_cut_off_is_a_report(measured):
    """What is written after the first sizes, before anything is finished."""
    half = measured.model_copy(update={"curves": measured.curves[:3], "finished": False})
    again = GrowthReport.model_validate_json(half.model_dump_json())
    assert [curve.name for curve in again.curves] == [curve.name for curve in half.curves]


# --- wrong use -------------------------------------------------------------------------------------------------------


def test_a_model_that_is_not_there_and_sizes_it_was_not_made_for_are_refused(capsys, tmp_path: Path):
    assert cli.main(["bench", "growth", "--model", str(tmp_path)]) == 1
    assert "There is no model in" in capsys.readouterr().err
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 512}), encoding="utf-8")
    (tmp_path / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert cli.main(["bench", "growth", "--model", str(tmp_path), "--context", "1024"]) == 1
    assert "was made for 512 tokens, and" in capsys.readouterr().err


def test_nothing_to_measure_is_said_so(capsys):
    assert cli.main(["bench", "growth", "--context", "", "--turns", "", "--system", ""]) == 1
    assert "nothing to measure" in capsys.readouterr().err


def test_a_size_that_is_none_is_refused(capsys):
    with pytest.raises(SystemExit):
        cli.main(["bench", "growth", "--context", "1,x"])
    assert "list of sizes" in capsys.readouterr().err
