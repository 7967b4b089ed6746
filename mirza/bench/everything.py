"""`mirza bench all`: every benchmark, each in a process of its own, into one run file and one report."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
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
TIMEOUT_S = 4 * 3600.0
"""A benchmark that takes longer than this has hung."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One part of the whole."""

    name: str
    arguments: tuple[str, ...]
    quick: tuple[str, ...]
    """Instead, with --quick."""


BENCHMARKS = (
    Benchmark("engine", (), ("--runs", "1", "--tokens", "32", "--no-peers")),
    Benchmark("exactness", ("--conversations", "100"), ("--conversations", "5")),
    Benchmark("text", (), ("--characters", "100000")),
    Benchmark("pipeline", (), ("--turns", "5", "--runs", "3")),
    Benchmark("soak", (), ("--turns", "50")),
    Benchmark("talk", ("--runs", "3"), ("--only", "question")),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench all` takes."""
    names = [benchmark.name for benchmark in BENCHMARKS]
    parser.add_argument("--output", type=Path, default=Path("out/bench"), metavar="DIR", help="where to (out/bench)")
    parser.add_argument("--only", nargs="+", choices=names, metavar="NAME", help=f"some of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="less of everything: minutes, and wider spreads")
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
    for benchmark in BENCHMARKS:
        if not args.only or benchmark.name in args.only:
            whole.sections.append(measure(benchmark, _arguments(benchmark, args, settings)))
            write_run(whole, folder / RUN_FILE)  # what is measured stays, whatever happens to the rest
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


def measure(benchmark: Benchmark, arguments: Sequence[str]) -> Section:
    """Runs one benchmark in a process of its own, so that none leaves its memory, or its death, to the next."""
    from mirza.bench.extract import metrics_of

    shown = " ".join(["mirza", "bench", benchmark.name, *arguments])
    _say(f"... {shown}")
    section = Section(name=benchmark.name, command=shown, load_before=load_average())
    began = time.monotonic()
    command = [sys.executable, "-m", "mirza", "bench", benchmark.name, *arguments, "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        section.failed = f"it did not end within {TIMEOUT_S / 3600:g} hours"
        return section
    section.seconds, section.load_after = time.monotonic() - began, load_average()
    try:
        section.data = cast("JsonValue", json.loads(done.stdout))
    except ValueError:
        section.failed = f"it gave no report (status {done.returncode}); `{shown}` says why"
        return section
    section.metrics = metrics_of(benchmark.name, section.data)
    return section


def _arguments(benchmark: Benchmark, args: argparse.Namespace, settings: SettingsTree) -> list[str]:
    from mirza import models
    from mirza.bench.judge import MODEL
    from mirza.folders import cache_folder

    arguments = [*(benchmark.quick if args.quick else benchmark.arguments)]
    if benchmark.name in {"talk"}:
        arguments += [f"--set={value}" for value in args.set]
        if args.peer:
            arguments += ["--peer", args.peer]
        if not models.is_pulled(models.find(MODEL), cache_folder(settings.paths)):
            _say(f"Answers are not listened to: the judge's ears are missing (mirza models pull {MODEL}).")
            arguments.append("--no-judge")
    return arguments


def _provenance(settings: SettingsTree, blas: str | None) -> JsonValue:
    from mirza.bench.provenance import provenance
    from mirza.build import llm_folder
    from mirza.llm.mlx.loading import resolve

    folder = resolve(llm_folder(settings))
    return cast("JsonValue", json.loads(json.dumps(provenance(folder, "as stored", blas), default=str)))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
