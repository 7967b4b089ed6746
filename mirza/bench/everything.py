"""`mirza bench all`: every benchmark, each in a process of its own, into one run file and one report.

What is measured stays, whatever happens to the rest: a benchmark that breaks, hangs or is cut off leaves the others
their figures, and its own as far as it came.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mirza.bench.runfile import Run, Section, write_run
from mirza.bench.take import load_average
from mirza.errors import MirzaError

if TYPE_CHECKING:
    from pydantic import JsonValue

    from mirza.settings import SettingsTree

RUN_FILE, MARKDOWN, HTML = "run.json", "report.md", "report.html"
MINUTES = 45.0
"""All of it, on two quiet cores; each part may take what is left."""
QUICK_LIMIT_S = 180.0
"""Each part, with --quick."""
TIDY_S = 10.0
"""To tidy up, for one that is cut off."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One part of the whole."""

    name: str
    arguments: tuple[str, ...]
    quick: tuple[str, ...]
    """Instead, with --quick."""
    command: str = ""
    """Of `mirza bench`, where it is not the name."""
    keeps: bool = False
    """It has --output, and writes there what it knows so far."""

    @property
    def bench(self) -> str:
        """The command of `mirza bench` that measures it."""
        return self.command or self.name


RUNS = "5"
"""Of what is compared from one run to the next: fewer than 4 a side never differ for certain."""
REAL_SECTIONS = ("memory", "bytes", "decoding", "first-token", "first-speech")
"""What is measured of a real model: on a CPU the rest, and turns beside servers, would take an hour."""
QUICK_ENGINE = ("--runs", "1", "--tokens", "16", "--contexts", "128", "512")

BENCHMARKS = (
    Benchmark("pipeline", (), ("--turns", "5", "--runs", "5")),
    Benchmark("text", ("--characters", "100000", "--runs", RUNS), ("--characters", "20000")),
    Benchmark(
        "engine",
        ("--runs", RUNS),
        (*QUICK_ENGINE, "--only", "memory", "bytes", "decoding", "first-token"),
        keeps=True,
    ),
    Benchmark(
        "model",
        ("--runs", RUNS, "--prompt-time", "120", "--only", *REAL_SECTIONS),
        (*QUICK_ENGINE, "--only", "memory", "bytes", "decoding", "first-token"),
        command="engine",
        keeps=True,
    ),
    Benchmark(
        "talk",
        ("--only", "question", "interruption", "prefill", "prefill-off"),
        ("--only", "question-capital", "question-sky"),
    ),
    Benchmark(
        "behaviour",
        ("--full-speed", "--only", "assent", "condition", "echo", "french", "pause", "unfinished"),
        ("--full-speed", "--only", "assent-mhm", "echo-6-120", "pause-the"),
        command="talk",
    ),
    Benchmark(
        "growth",
        (),
        ("--context", "256,1024,2048,4096", "--turns", "1,5,20", "--system", "64,500,1000,2000", "--runs", "1"),
        keeps=True,
    ),
    Benchmark("console", ("--pages", "150"), ("--turns", "100")),
    Benchmark("exactness", ("--conversations", "100"), ("--conversations", "5")),
    Benchmark("soak", (), ("--turns", "50")),
)
"""What matters most comes first, so that a run that is cut off has it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench all` takes."""
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser.add_argument("--output", type=Path, default=Path("out/bench"), metavar="DIR", help="where to (out/bench)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="less of everything: minutes, and wider spreads")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, metavar="N", help=f"for all of it; the rest is left out ({MINUTES:g})"
    )
    parser.add_argument("--peer", choices=["pipecat"], help="hold the talks with this one, too (make peers)")
    parser.add_argument("--json", action="store_true", help="print the run file")


def run(args: argparse.Namespace) -> int:
    """Measures, writes the run file and the report; 1 if a benchmark failed."""
    from mirza.bench.page import html, markdown
    from mirza.bench.report import report
    from mirza.blas import ensure_fast_blas
    from mirza.settings_sources import settings_of

    blas = ensure_fast_blas()
    settings = settings_of(args).tree
    folder: Path = args.output
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MirzaError(f"The folder {folder} cannot be made ({error.strerror}).", "Name another.") from error
    whole = Run(made=datetime.now(UTC).isoformat(timespec="seconds"), provenance=_provenance(settings, blas))
    end_s = time.monotonic() + 60 * args.minutes
    for benchmark in BENCHMARKS:
        if (args.only and benchmark.name not in args.only) or _measured_already(benchmark, settings):
            continue
        left_s = end_s - time.monotonic()
        arguments = _arguments(benchmark, args, settings)
        if left_s > 0:
            section = measure(benchmark, arguments, folder, min(left_s, QUICK_LIMIT_S) if args.quick else left_s)
        else:
            section = Section(name=benchmark.name, command=_shown(benchmark, arguments))
            section.failed = f"the {args.minutes:g} minutes were over before it began"
        whole.sections.append(section)
        write_run(whole, folder / RUN_FILE)
        if section.failed == STOPPED:
            break
    blocks = report(whole)
    (folder / MARKDOWN).write_text(markdown(blocks), encoding="utf-8")
    (folder / HTML).write_text(html(blocks), encoding="utf-8")
    if args.json:
        print(whole.model_dump_json(indent=1))
    _say(f"Written: {folder / RUN_FILE}, {folder / MARKDOWN}, {folder / HTML}")
    failed = [section for section in whole.sections if section.failed]
    for section in failed:
        _say(f"{section.name}: {section.failed}")
    return 1 if failed else 0


STOPPED = "it was stopped"


def measure(benchmark: Benchmark, arguments: Sequence[str], folder: Path, limit_s: float) -> Section:
    """Runs one benchmark in a process of its own, so that none leaves its memory, or its death, to the next."""
    from mirza.bench.extract import metrics_of
    from mirza.bench.pace import pace

    shown = _shown(benchmark, arguments)
    _say(f"... {shown}")
    section = Section(name=benchmark.name, command=shown, load_before=load_average(), pace_before=pace())
    began = time.monotonic()
    command = [sys.executable, "-m", "mirza", "bench", benchmark.bench, *arguments, "--json"]
    kept = folder / f".{benchmark.name}.json"
    kept.unlink(missing_ok=True)
    if benchmark.keeps:
        command += ["--output", str(kept)]
    printed = ""
    try:
        printed, status = _output(command, limit_s)
        section.failed = "" if printed else f"it gave no report (status {status}); `{shown}` says why"
    except subprocess.TimeoutExpired:
        section.failed = f"it did not end within {limit_s / 60:.3g} minutes"
    except KeyboardInterrupt:
        section.failed = STOPPED
    section.seconds, section.load_after = time.monotonic() - began, load_average()
    section.pace_after = pace()
    if not printed and kept.exists():
        printed = kept.read_text(encoding="utf-8")
    kept.unlink(missing_ok=True)
    try:
        section.data = cast("JsonValue", json.loads(printed)) if printed else None
    except ValueError:
        section.failed = f"what it printed is no report; `{shown}` says why"
    section.metrics = metrics_of(benchmark.name, section.data)
    return section


def _output(command: Sequence[str], limit_s: float) -> tuple[str, int]:
    """What a command prints, and its status. One that is cut off takes with it whatever it started."""
    with (
        _terminated_is_interrupted(),
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process,
    ):
        try:
            printed, _ = process.communicate(timeout=limit_s)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            _end(process)
            raise
    return printed, process.returncode


@contextmanager
def _terminated_is_interrupted() -> Generator[None]:
    """A `kill` is a Ctrl-C, too: else the benchmark, in a session of its own, would go on without anybody."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _end(process: subprocess.Popen[str]) -> None:
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(TIDY_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)


def _arguments(benchmark: Benchmark, args: argparse.Namespace, settings: SettingsTree) -> list[str]:
    from mirza import models
    from mirza.bench.judge import MODEL
    from mirza.folders import cache_folder

    arguments = [*(benchmark.quick if args.quick else benchmark.arguments)]
    if benchmark.bench == "engine":
        arguments += ["--model", _model_of(benchmark, settings)]
    if benchmark.bench == "talk":
        arguments += [f"--set={value}" for value in args.set]
        if args.peer and benchmark.name == "talk":
            arguments += ["--peer", args.peer]
        if not models.is_pulled(models.find(MODEL), cache_folder(settings.paths)):
            _say(f"Answers are not listened to: the judge's ears are missing (mirza models pull {MODEL}).")
            arguments.append("--no-judge")
    return arguments


def _shown(benchmark: Benchmark, arguments: Sequence[str]) -> str:
    return " ".join(["mirza", "bench", benchmark.bench, *arguments])


def _model_of(benchmark: Benchmark, settings: SettingsTree) -> str:
    """The engine runs on the tests' Qwen 3.5, which has thoughts and a drafter, unless a model is named."""
    from mirza.bench.soak import TINY
    from mirza.build import llm_folder

    named = settings.llm.model != "auto" or benchmark.name == "model"
    return llm_folder(settings) if named else str(TINY)


def _measured_already(benchmark: Benchmark, settings: SettingsTree) -> bool:
    """A model that is named is measured as `engine`, with everything, and not once more."""
    return benchmark.name == "model" and settings.llm.model != "auto"


def _provenance(settings: SettingsTree, blas: str | None) -> JsonValue:
    from mirza.bench.provenance import provenance
    from mirza.build import llm_folder
    from mirza.llm.mlx.loading import resolve

    folder = resolve(llm_folder(settings))
    return cast("JsonValue", json.loads(json.dumps(provenance(folder, "as stored", blas), default=str)))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
