"""`mirza bench compare A B`: what is faster, slower, or within noise. Several runs can stand on each side.

A difference counts when it is larger than what the same program shows by itself: for every metric, the medians of
random halves of all values are compared as the two sides are (a permutation test, two-sided; P. Good, "Permutation,
Parametric and Bootstrap Tests of Hypotheses", 2005), and besides it must be at least 3 %. One value a side is never
enough.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mirza.bench.runfile import Better, Metric, Run, read_run

SHUFFLES = 2000
SURE = 0.05
SMALLEST = 0.03
"""A smaller change is not worth a word, however certain."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric, before and after."""

    name: str
    unit: str
    before: float
    after: float
    before_spread: str
    after_spread: str
    change: float | None
    """As a share of before; `None` where before is 0."""
    verdict: str
    """`better`, `worse`, `within noise`, `changed` (neither is better), `one value`, `gone`, `new`."""


def compare(before: Sequence[Run], after: Sequence[Run]) -> list[Difference]:
    """Every metric that either side has, in the order of the first run that has it."""
    old, new = _pooled(before), _pooled(after)
    found: list[Difference] = []
    for key in dict.fromkeys([*old, *new]):
        match old.get(key), new.get(key):
            case Metric() as one, Metric() as other:
                found.append(_difference(one, other))
            case Metric() as one, None:
                found.append(Difference(one.name, one.unit, one.median, 0.0, _spread(one), "", None, "gone"))
            case None, Metric() as other:
                found.append(Difference(other.name, other.unit, 0.0, other.median, "", _spread(other), None, "new"))
            case _:
                pass
    return found


def _pooled(runs: Sequence[Run]) -> dict[str, Metric]:
    """The values of several runs, metric by metric."""
    pooled: dict[str, Metric] = {}
    for run in runs:
        for section in run.sections:
            for metric in section.metrics:
                known = pooled[metric.name].values if metric.name in pooled else []
                if metric.values:
                    pooled[metric.name] = metric.model_copy(update={"values": [*known, *metric.values]})
    return pooled


def _difference(one: Metric, other: Metric) -> Difference:
    change = other.median / one.median - 1 if one.median else None
    return Difference(
        one.name, one.unit, one.median, other.median, _spread(one), _spread(other), change, _verdict(one, other, change)
    )


def _verdict(one: Metric, other: Metric, change: float | None) -> str:
    if one.values == other.values or one.median == other.median:
        return "within noise"
    counts = one.unit == "" and all(value == int(value) for value in [*one.values, *other.values])
    if not counts:  # a count is what it is; a time by itself is not
        if min(len(one.values), len(other.values)) < 2:
            return "one value"
        if change is not None and abs(change) < SMALLEST:
            return "within noise"
        if probability(one.values, other.values) > SURE:
            return "within noise"
    if one.better is Better.NEITHER:
        return "changed"
    return "better" if (other.median < one.median) == (one.better is Better.LESS) else "worse"


def probability(one: Sequence[float], other: Sequence[float]) -> float:
    """How often halves drawn at random differ as much in their medians as these two do."""
    rng = random.Random(0)
    both = [*one, *other]
    seen = abs(statistics.median(one) - statistics.median(other))
    as_much = 0
    for _ in range(SHUFFLES):
        rng.shuffle(both)
        as_much += abs(statistics.median(both[: len(one)]) - statistics.median(both[len(one) :])) >= seen - 1e-12
    return (as_much + 1) / (SHUFFLES + 1)


def _spread(metric: Metric) -> str:
    return f"{min(metric.values):.4g}-{max(metric.values):.4g}, n = {len(metric.values)}"


# --- the command -----------------------------------------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `mirza bench compare` takes."""
    parser.add_argument("before", type=Path, metavar="A", help="a run file, or a folder with run files of several runs")
    parser.add_argument("after", type=Path, metavar="B", help="another one")
    parser.add_argument("--json", action="store_true", help="print the differences as JSON")


def run(args: argparse.Namespace) -> int:
    """Prints the differences; 1 if anything became worse."""
    before, after = _runs(args.before), _runs(args.after)
    differences = compare(before, after)
    if args.json:
        print(json.dumps([asdict(difference) for difference in differences], ensure_ascii=False, indent=1))
    else:
        print("\n".join([*_warnings(before, after), *_table(differences)]))
    return 1 if any(difference.verdict == "worse" for difference in differences) else 0


def _runs(path: Path) -> list[Run]:
    files = sorted(path.glob("**/run.json")) if path.is_dir() else [path]
    return [read_run(file) for file in files or [path / "run.json"]]


def _warnings(before: Sequence[Run], after: Sequence[Run]) -> list[str]:
    """What makes two runs hard to compare."""
    lines: list[str] = []
    if len({json.dumps(_model(run), sort_keys=True) for run in [*before, *after]}) > 1:
        lines.append("These runs are of different models or machines: differences need not be the program's.")
    loads = [section.load_before for run in [*before, *after] for section in run.sections]
    if loads and max(loads) > 2:
        lines.append(f"One of the machines was busy (load {max(loads):.1f}): its times are worth little.")
    return lines


def _model(run: Run) -> object:
    if not isinstance(run.provenance, dict):
        return None
    machine = run.provenance.get("machine")
    processor = machine.get("processor") if isinstance(machine, dict) else None
    return [run.provenance.get("model"), processor]


def _table(differences: Sequence[Difference]) -> list[str]:
    width = max((len(difference.name) for difference in differences), default=0)
    lines: list[str] = []
    for one in differences:
        change = "" if one.change is None else f"{one.change:+.0%}"
        lines.append(
            f"{one.name:{width}}  {one.before:10.4g} {one.after:10.4g} {one.unit:6} {change:>6}  {one.verdict:12} "
            f"({one.before_spread or 'none'} | {one.after_spread or 'none'})"
        )
    return lines or ["There is no metric in either."]
