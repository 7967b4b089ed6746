"""`mirza bench exactness`: the same greedy tokens, whatever is switched on.

Conversations are drawn at random (turns, budgets, interruptions at any token, questions fed while they are spoken,
restarts from the disk, tool calls, a context that overflows), and held with the engine as it is set up at random
(prefix reuse, drafting and its depth, chunk size), in float32. Each answer's ids are compared with a cold run of
mlx-vlm's own loop over the same prompt, and the prompt with what the model's template makes of the messages.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mirza.bench.scenes import Knobs, draw
from mirza.errors import ModelUnsupported

if TYPE_CHECKING:
    from mirza.bench.stage import Stage


@dataclass(frozen=True, slots=True)
class Difference:
    """Where an engine said something else than a cold run, and how to see it again."""

    scene: int
    turn: int
    what: str
    position: int
    expected: str
    got: str
    gap: float
    """How sure the cold run was there: its best logit less the second. Under 1e-4 it is a tie of rounding."""
    knobs: Knobs
    reproduce: str


@dataclass(slots=True)
class Report:
    """What was compared, and what differed."""

    conversations: int = 0
    answers: int = 0
    tokens: int = 0
    interrupted: int = 0
    restarts: int = 0
    tool_calls: int = 0
    overflows: int = 0
    refused: int = 0
    """Conversations that ended early: one message is too long for their context."""
    reused_tokens: int = 0
    prefilled_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    seconds: float = 0.0
    differences: list[Difference] = field(default_factory=list[Difference])


def run_scenes(
    model: str, conversations: int, seed: int, first: int = 0, on_progress: Callable[[Report], None] = lambda _: None
) -> Report:
    """Holds conversations `first` .. `first + conversations` of this seed, and compares every answer.

    Raises:
        ModelError: the model is not there, damaged, or refused every question.
    """
    from mirza.bench.stage import Stage

    report = Report()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mirza-exactness-") as folder:
        stage = Stage(model, Path(folder))
        for number in range(first, first + conversations):
            _hold(stage, report, seed, number, model)
            report.refused = len(stage.refusals)
            report.seconds = time.perf_counter() - start
            on_progress(report)
    if not report.answers:
        raise ModelUnsupported(
            f"Nothing was compared: {stage.refusals[-1] if stage.refusals else 'no conversation was held.'}",
            "Ask for more conversations, or name another model.",
        )
    return report


def _hold(stage: Stage, report: Report, seed: int, number: int, model: str) -> None:
    scene = draw(seed, number)
    report.conversations += 1
    for played in stage.play(scene):
        report.answers += 1
        report.tokens += len(played.said)
        report.interrupted += played.interrupted
        report.restarts += played.restarted
        report.tool_calls += played.called
        report.overflows += played.stats.dropped_messages > 0
        report.reused_tokens += played.stats.reused_tokens
        report.prefilled_tokens += played.stats.prefilled_tokens
        report.drafted_tokens += played.stats.drafted_tokens
        report.accepted_tokens += played.stats.accepted_tokens
        again = f"mirza bench exactness --seed {seed} --first {number} --conversations 1 --model {model}"
        for fault in played.faults:
            report.differences.append(
                Difference(
                    number,
                    played.turn,
                    fault.what,
                    fault.position,
                    fault.expected,
                    fault.got,
                    fault.gap,
                    scene.knobs,
                    again,
                )
            )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--conversations", type=int, default=100, metavar="N", help="how many (100)")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="draws others (0)")
    parser.add_argument(
        "--first", type=int, default=0, metavar="I", help="begin with this one: reproduces a difference"
    )
    parser.add_argument(
        "--model",
        default="",
        metavar="DIR",
        help="a folder, a repository or a catalogue name (the tiny Qwen 3.5 of the tests)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the report; 1 if anything differed."""
    from mirza.blas import ensure_fast_blas

    ensure_fast_blas()
    from mirza.bench.soak import TINY

    shown = 0

    def progress(report: Report) -> None:
        nonlocal shown
        for difference in report.differences[shown:]:
            print("\n".join(_lines(difference)), file=sys.stderr, flush=True)
        shown = len(report.differences)
        if report.conversations % 25 == 0:
            print(f"{report.conversations} of {args.conversations}, {shown} differences", file=sys.stderr, flush=True)

    report = run_scenes(args.model or str(TINY), args.conversations, args.seed, args.first, progress)
    if args.json:
        print(json.dumps(asdict(report), ensure_ascii=False, indent=1))
    else:
        print(_in_words(report))
    return 1 if report.differences else 0


def _in_words(report: Report) -> str:
    lines = [
        f"{report.conversations} conversations, {report.answers} answers, {report.tokens} tokens compared",
        f"{report.interrupted} interrupted, {report.restarts} restarts, {report.tool_calls} tool calls, "
        f"{report.overflows} with a full context, {report.refused} ended early by a message too long for it",
        f"{report.reused_tokens} tokens reused, {report.prefilled_tokens} fed, "
        f"{report.accepted_tokens} of {report.drafted_tokens} drafts accepted",
        f"{len(report.differences)} differences, {report.seconds:.0f} s",
    ]
    return "\n".join(lines + [line for difference in report.differences for line in _lines(difference)])


def _lines(difference: Difference) -> list[str]:
    return [
        f"  turn {difference.turn}, {difference.what} at {difference.position} (gap {difference.gap:.2g}):",
        f"    expected {difference.expected!r}",
        f"    got      {difference.got!r}",
        f"    {difference.reproduce}",
    ]
