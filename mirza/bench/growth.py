"""`mirza bench growth`: how cost grows with the context, with the turns, and with the system prompt.

The engine is real and asked as the pipeline asks it, on the tiny checkpoint of the tests unless a model is named: an
exponent says the same there, and a run takes minutes. What was measured is in the file of `--output` as soon as it is
known, so that a run that is cut off keeps what it has.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from mirza.bench.curves import SCENES, Curve, Curves
from mirza.bench.runfile import Metric, write_text
from mirza.bench.soak import TINY
from mirza.bench.take import load_average
from mirza.errors import MirzaError

if TYPE_CHECKING:
    from mirza.bench.growth_scenes import Grower

SCHEMA = 1
"""Of the report."""
CONTEXTS = (256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768)
TURNS = (1, 2, 5, 10, 20, 50, 100, 200)
SYSTEMS = (64, 125, 250, 500, 1000, 2000, 4000, 8000)
MARGIN = 512
"""Tokens of context beyond the largest size: answers, and the questions after them."""
TOKENS_A_TURN = 64
"""More than a turn of this talk has."""
BUSY = 2.5


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure."""

    model: Path
    contexts: Sequence[int] = CONTEXTS
    turns: Sequence[int] = TURNS
    systems: Sequence[int] = SYSTEMS
    runs: int = 3

    @property
    def context_tokens(self) -> int:
        """Room for the largest of all."""
        talk = TOKENS_A_TURN * max(self.turns, default=0)
        return max([*self.contexts, *self.systems, talk, 1024]) + MARGIN


class GrowthReport(BaseModel):
    """What was measured, as far as it is known."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA
    bench: str = "growth"
    model: str
    provenance: JsonValue
    runs: int
    curves: list[Curve] = []
    finished: bool = False
    seconds: float = 0.0
    load: float = 0.0
    notes: list[str] = []
    metrics: list[Metric] = []


def measure(plan: Plan, on_report: Callable[[GrowthReport], None], on_progress: Callable[[str], None]) -> GrowthReport:
    """Measures everything; `on_report` is given the report so far after each size.

    Raises:
        MirzaError: the model is not there, or was not made for sizes like these.
    """
    from mirza.blas import ensure_fast_blas

    blas = ensure_fast_blas()  # before MLX, which the next import brings
    from mirza.bench.growth_scenes import Grower
    from mirza.mlx_thread import MlxThread

    _check(plan)
    report = GrowthReport(model=plan.model.name, provenance=_provenance(plan.model, blas), runs=plan.runs)
    thread = MlxThread()
    try:
        with tempfile.TemporaryDirectory(prefix="mirza-growth-") as snapshots:
            grower = Grower(plan.model, Path(snapshots), plan.context_tokens, thread)
            asyncio.run(_grow(grower, plan, report, on_report, on_progress))
    finally:
        thread.close()
    report.finished = True
    on_report(report)
    return report


async def _grow(
    grower: Grower,
    plan: Plan,
    report: GrowthReport,
    on_report: Callable[[GrowthReport], None],
    on_progress: Callable[[str], None],
) -> None:
    curves, began = Curves(), time.perf_counter()

    def note(what: str) -> None:
        """What is known so far, before the next size begins."""
        report.curves = list(curves.all.values())
        report.metrics = [metric for curve in report.curves for metric in curve.metrics()]
        report.seconds, report.load = time.perf_counter() - began, load_average()
        if report.load > BUSY and not report.notes:
            report.notes.append(f"busy: {report.load:.1f} programs wanted this machine; measure again when it is idle")
        on_report(report)
        on_progress(what)

    await grower.load()
    if plan.turns:
        await grower.turns(plan.turns, curves, note)
    await grower.systems(plan.systems, plan.runs, curves, note)
    await grower.contexts(plan.contexts, plan.runs, curves, note)
    await grower.close()
    note("done")


def _check(plan: Plan) -> None:
    try:
        config: object = json.loads((plan.model / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MirzaError(f"There is no model in {plan.model}.", "Name a model's folder with --model.") from error
    outer = cast("dict[str, object]", config) if isinstance(config, dict) else {}
    text = outer.get("text_config", outer)
    positions = cast("dict[str, object]", text).get("max_position_embeddings") if isinstance(text, dict) else None
    largest = max([*plan.contexts, *plan.systems], default=0)
    if isinstance(positions, int) and largest > positions:
        raise MirzaError(
            f"{plan.model.name} was made for {positions} tokens, and {largest} were asked for.",
            f"Give --context and --system up to {positions}.",
        )


def _provenance(model: Path, blas: str | None) -> JsonValue:
    from mirza.bench.provenance import provenance

    return cast("JsonValue", json.loads(json.dumps(provenance(model, "as stored", blas), default=str)))


# --- the command -----------------------------------------------------------------------------------------------------


def _sizes(text: str) -> tuple[int, ...]:
    """`64,128,...` as numbers, in order."""
    sizes = tuple(sorted({int(size) for size in text.split(",") if size.strip()}))
    if sizes and sizes[0] < 1:
        raise ValueError(text)
    return sizes


_sizes.__name__ = "list of sizes"  # what argparse calls it where one is wrong


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench growth` takes."""
    parser.add_argument("--model", type=Path, default=TINY, metavar="DIR", help="a folder (the tests' tiny checkpoint)")
    for option, sizes, what in (
        ("--context", CONTEXTS, "lengths of a conversation's first message, in tokens"),
        ("--turns", TURNS, "turns of one conversation"),
        ("--system", SYSTEMS, "lengths of the system prompt, in tokens"),
    ):
        shown = ",".join(map(str, sizes))
        parser.add_argument(option, type=_sizes, default=sizes, metavar="N,N", help=f"{what} ({shown}); '' is none")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="of each size; fewer of the largest (3)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the report as JSON, from the first size on")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints what was measured."""
    if args.runs < 1 or not (args.context or args.turns or args.system):
        raise MirzaError("There is nothing to measure.", "Give sizes, and --runs 1 or more.")
    output: Path | None = args.output

    def keep(report: GrowthReport) -> None:
        if output is not None:
            write_text(output, report.model_dump_json(indent=1))

    plan = Plan(args.model, args.context, args.turns, args.system, args.runs)
    report = measure(plan, keep, lambda what: print(f"... {what}", file=sys.stderr, flush=True))
    print(report.model_dump_json(indent=1) if args.json else in_words(report))
    return 0


def in_words(report: GrowthReport) -> str:
    """The report as a person reads it."""
    lines = [f"{report.model}, {report.seconds:.0f} s", *report.notes]
    for scene, axis in SCENES.items():
        curves = [curve for curve in report.curves if curve.scene == scene]
        if curves:
            lines += ["", axis]
        for curve in curves:
            ends = f"{curve.points[0].median:.4g} to {curve.points[-1].median:.4g} {curve.expected.unit}"
            lines.append(f"  {curve.expected.what:32} {ends:28} {exponent(curve):22} {curve.verdict}")
    return "\n".join(lines)


def exponent(curve: Curve) -> str:
    """The exponent with its error, and how well the line fits."""
    if curve.fit is None:
        return ""
    return f"x^{curve.fit.exponent:.2f} ± {curve.fit.error:.2f} (R² {curve.fit.r2:.2f})"
