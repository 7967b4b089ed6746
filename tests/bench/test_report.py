"""A run as a page, and the one command that makes it."""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mirza import cli
from mirza.bench import everything
from mirza.bench.extract import metrics_of
from mirza.bench.page import Heading, Paragraph, Plot, Table, html, markdown
from mirza.bench.plots import Bar, Series, bar_chart, line_chart
from mirza.bench.report import report
from mirza.bench.runfile import Metric, Run, Section, read_run
from mirza.bench.script import TALKS, read_scripts
from mirza.bench.soak import TINY, SoakReport, in_words, soak
from mirza.bench.talk_report import summed_up
from mirza.settings import SettingsTree

ENGINE = {
    "decoding": [{"how": "mirza, plain", "tokens_per_s": 20, "slowest": 19, "quickest": 21, "against_bare": 1.1}],
    "first_token": [
        {"context_tokens": 100, "cold_s": 0.1, "warm_s": 0.01},
        {"context_tokens": 1000, "cold_s": 1.0, "warm_s": 0.01},
    ],
    "bytes": {"model": 5_000_000},
    "memory": {},
    "turns": [
        {
            "contestant": "mirza",
            "scene": "warm",
            "first_token_s": 0.02,
            "first_token_min_s": 0.01,
            "first_token_max_s": 0.03,
            "first_speech_s": 0.02,
        }
    ],
    "verdict": [{"scene": "warm", "best_peer": "mlx_lm.server", "times_faster": 0.8}],
}


def a_run(**data: object) -> Run:
    sections = [
        Section(name=name, command=f"mirza bench {name}", data=value, metrics=metrics_of(name, value))
        for name, value in data.items()
    ]
    return Run(
        made="2026-01-01", provenance={"machine": {"cores": 2}, "model": {"sha256": {"a": "b"}}}, sections=sections
    )


# --- the page --------------------------------------------------------------------------------------------------------


def test_both_forms_of_a_page_say_the_same():
    blocks = [
        Heading("Head"),
        Paragraph("Made by `mirza <bench>`."),
        Table(("a", "b"), [("1|2", "<3>")]),
        Plot("", "A plot."),
    ]
    text, page = markdown(blocks), html(blocks)
    assert "| 1\\|2 | <3> |" in text
    assert "<td>1|2</td><td>&lt;3&gt;</td>" in page
    assert "<code>mirza &lt;bench&gt;</code>" in page
    assert "A plot." in text
    assert "A plot." in page


def test_a_page_needs_nothing_from_anywhere():
    page = html(report(a_run(engine=ENGINE)))
    assert "<svg" in page
    for outside in ("<script", "<link", "src=", "href=", "@import", "url("):
        assert outside not in page


def test_the_page_of_the_engine_has_the_exponent_of_the_first_token_and_the_turns_where_a_peer_is_ahead():
    text = markdown(report(a_run(engine=ENGINE)))
    assert "cold 1.00, warm 0.00" in text
    assert "| warm | mlx_lm.server | 0.80 |" in text
    assert "| machine: cores | 2 |" in text


def test_a_section_that_failed_and_one_of_another_version_are_told():
    run = a_run(engine={"decoding": "none"})
    run.sections.append(Section(name="text", command="mirza bench text", failed="it gave no report", load_before=7))
    text = markdown(report(run))
    assert "of another version" in text
    assert "There are no figures: it gave no report." in text
    assert "busy (load 7.0)" in text


def test_an_empty_talk_is_a_page_too():
    talk = summed_up([], []).model_dump(mode="json")
    assert "## Talk" in markdown(report(a_run(talk=talk)))


# --- plots -----------------------------------------------------------------------------------------------------------


def test_a_line_goes_through_its_points():
    svg = ElementTree.fromstring(line_chart([Series("one", [(0, 0), (10, 5)])], x="turns", y="MB"))
    line = svg.find("{*}polyline")
    assert line is not None
    first, last = [[float(value) for value in point.split(",")] for point in line.attrib["points"].split()]
    assert first[0] < last[0]
    assert first[1] > last[1]


def test_a_power_law_is_a_straight_line_on_logarithmic_axes():
    points = [(10.0**power, 3 * 10.0**power) for power in range(1, 5)]
    line = ElementTree.fromstring(line_chart([Series("a", points)], x="x", y="y", log=True)).find("{*}polyline")
    assert line is not None
    places = [[float(value) for value in point.split(",")] for point in line.attrib["points"].split()]
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(places)]
    assert all(math.isclose(slope, slopes[0], rel_tol=0.01) for slope in slopes)


def test_the_parts_of_a_bar_are_as_long_as_their_values():
    svg = ElementTree.fromstring(bar_chart([Bar("mirza", (1.0, 3.0))], ("a", "b"), unit="s"))
    widths = [float(part.attrib["width"]) for part in svg.findall("{*}rect")]
    assert widths[1] == pytest.approx(3 * widths[0], rel=0.01)


@pytest.mark.parametrize("points", [[(1, 1)], [(1, 0), (2, 0)], [(5, 3), (5, 3)], [(0, 1e-9), (1e9, 1e9)]])
def test_plots_of_little_are_plots(points: list[tuple[float, float]]):
    ElementTree.fromstring(line_chart([Series("a & b", points)], x="<x>", y="y"))


def test_nothing_is_no_plot():
    assert line_chart([], x="x", y="y") == ""
    assert line_chart([Series("zero", [(0, 0)])], x="x", y="y", log=True) == ""
    assert bar_chart([], (), unit="s") == ""


# --- metrics ---------------------------------------------------------------------------------------------------------


def test_a_report_that_is_not_understood_has_no_metrics_and_others_have():
    assert metrics_of("engine", {"decoding": 1}) == []
    assert metrics_of("talk", None) == []
    names = {metric.name for metric in metrics_of("engine", ENGINE)}
    assert {"engine.decoding.mirza, plain", "engine.first_token_cold.100", "engine.mirza.warm"} <= names
    assert metrics_of("pipeline", {"metrics": [Metric(name="a", unit="s", values=[1]).model_dump()]})[0].name == "a"


# --- a thousand turns, or a few --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def soaked() -> SoakReport:
    return soak(10, str(TINY))


def test_turns_with_the_real_engine_leave_nothing_behind(soaked: SoakReport):
    assert soaked.failures == []
    assert soaked.turns >= 10
    assert soaked.open_files_growth <= 0
    assert soaked.threads_growth <= 0
    assert len({sample.tasks for sample in soaked.samples}) <= 3


def test_turns_with_real_ears_and_a_real_voice_are_held_without_waiting_for_silence():
    report = soak(5, str(TINY), real=SettingsTree())
    assert report.failures == []
    assert report.real
    assert all(sample.voice_to_voice_s > 0 for sample in report.samples)
    assert report.open_files_growth <= 0
    assert report.threads_growth <= 0
    assert "with real ears and a real voice" in in_words(report)


def test_a_later_turn_feeds_no_more_tokens_than_an_early_one(soaked: SoakReport):
    fed = [sample.prefilled_tokens for sample in soaked.samples]
    assert max(fed[len(fed) // 2 :]) <= max(fed[: len(fed) // 2]) + 8


def test_a_soak_is_a_page_with_memory_over_turns(soaked: SoakReport):
    page = html(report(a_run(soak=soaked.model_dump(mode="json"))))
    assert "Resident memory over turns." in page
    assert page.count("<svg") == 2


def test_a_model_that_is_not_there_is_said_so(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["bench", "soak", "--model", "/none"]) == 1
    assert "no model folder" in capsys.readouterr().err


# --- the one command -------------------------------------------------------------------------------------------------


def test_one_command_writes_a_run_file_and_both_pages(tmp_path: Path):
    tiny = f"--set=llm.model={TINY}"
    assert cli.main(["bench", "all", "--quick", "--only", "pipeline", "--output", str(tmp_path), tiny]) == 0
    run = read_run(tmp_path / "run.json")
    (section,) = run.sections
    assert section.command == "mirza bench pipeline --turns 5 --runs 5"
    assert section.metrics
    assert isinstance(run.provenance, dict)
    assert "model.safetensors" in json.dumps(run.provenance["model"])
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# Mirza, measured")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Measures a benchmark that is a Python program; `sys.argv[-1]` is the file in which it keeps what it knows."""

    def measure(program: str, limit_s: float = 60.0) -> Section:
        script = tmp_path / "python"
        script.write_text(f"#!{sys.executable}\nimport os, sys, time\n{program}\n", encoding="utf-8")
        script.chmod(0o755)
        monkeypatch.setattr(sys, "executable", str(script))
        monkeypatch.setattr("mirza.bench.pace.pace", lambda: {"python": 0.01})
        return everything.measure(everything.Benchmark("growth", (), (), keeps=True), [], tmp_path, limit_s)

    return measure


def test_a_benchmark_that_breaks_is_told_of_and_the_command_that_says_why(written):
    section = written("sys.exit(3)")
    assert "it gave no report (status 3); `mirza bench growth` says why" in section.failed
    assert section.data is None


def test_what_is_no_report_is_told_of(written):
    assert "no report" in written("print('Traceback')").failed


def test_a_benchmark_that_hangs_is_cut_off_and_what_it_knew_by_then_is_kept(written):
    section = written("open(sys.argv[-1], 'w').write('{\"metrics\": []}'); time.sleep(600)", limit_s=3.0)
    assert "did not end within 0.05 minutes" in section.failed
    assert section.data == {"metrics": []}


def test_a_benchmark_that_is_cut_off_takes_with_it_what_it_started(written):
    """A server that it started holds the pipe, too: reading would never end."""
    section = written("import subprocess; subprocess.Popen(['sleep', '600']); time.sleep(600)", limit_s=3.0)
    assert "did not end within" in section.failed


def test_a_run_that_is_terminated_takes_its_benchmark_with_it_and_keeps_what_that_knew(written):
    section = written("open(sys.argv[-1], 'w').write('{\"metrics\": []}'); os.kill(os.getppid(), 15); time.sleep(600)")
    assert section.failed == everything.STOPPED
    assert section.data == {"metrics": []}


def test_half_a_report_is_a_page_and_says_that_it_is_half():
    run = a_run(engine={"decoding": ENGINE["decoding"]})
    run.sections[0].failed = "it did not end within 3 minutes"
    text = markdown(report(run))
    assert "Not all of it was measured: it did not end within 3 minutes." in text
    assert "mirza, plain" in text


def test_how_long_each_part_took_and_what_was_left_out_is_on_the_page():
    run = a_run(
        engine={**ENGINE, "left_out": ["first-token: nothing with 2,048 tokens"], "failed": {"turns": "it broke"}}
    )
    run.sections[0].seconds = 61.0
    run.sections.append(Section(name="soak", command="mirza bench soak", failed="the 45 minutes were over"))
    text = markdown(report(run))
    assert "| engine | 61 | whole |" in text
    assert "| soak | 0 | the 45 minutes were over |" in text
    assert "Left out, first-token: nothing with 2,048 tokens." in text
    assert "Not measured, turns: it broke." in text


def test_when_the_time_is_over_the_rest_is_left_out_and_says_so(tmp_path: Path):
    only = ["--only", "pipeline", "text", "--minutes", "0"]
    assert cli.main(["bench", "all", *only, "--output", str(tmp_path), f"--set=llm.model={TINY}"]) == 1
    sections = read_run(tmp_path / "run.json").sections
    assert [section.name for section in sections] == ["pipeline", "text"]
    assert {section.failed for section in sections} == {"the 0 minutes were over before it began"}


@pytest.mark.parametrize("benchmark", everything.BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_every_part_is_a_command_that_its_benchmark_understands(benchmark: everything.Benchmark):
    for arguments in (benchmark.arguments, benchmark.quick):
        parser = argparse.ArgumentParser()
        importlib.import_module(f"mirza.bench.{benchmark.bench}").add_arguments(parser)
        wanted = parser.parse_args([*arguments, "--json"])
        if benchmark.bench == "talk":
            assert read_scripts(TALKS, wanted.only)


def test_all_talks_are_held_in_one_part_or_another():
    parts = [benchmark.arguments for benchmark in everything.BENCHMARKS if benchmark.bench == "talk"]
    held = [script.name for part in parts for script in read_scripts(TALKS, part[part.index("--only") + 1 :])]
    assert sorted(held) == sorted(script.name for script in read_scripts(TALKS))


def test_talks_of_two_kinds_are_not_thrown_together():
    waits = {"metrics": [Metric(name="mirza.voice_to_voice", unit="s", values=[1]).model_dump()]}
    names = [metric.name for part in ("talk", "behaviour") for metric in metrics_of(part, waits)]
    assert names == ["mirza.voice_to_voice", "behaviour.mirza.voice_to_voice"]
