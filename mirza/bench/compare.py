"""`mirza bench compare A B`: what is faster, slower, or within noise. Several runs can stand on each side.

A difference counts when it is larger than what the same program shows by itself: for every metric, the medians of
random halves of all values are compared as the two sides are (a permutation test, two-sided; P. Good, "Permutation,
Parametric and Bootstrap Tests of Hypotheses", 2005), and besides it must be at least 3 %. Where both sides have values
of the same things, of the turns of the same scripts, each is compared with itself, and what is drawn is which of the
two is whose (the same book, paired): a turn differs from another by far more than from itself. Three values a side are
never enough: of their 20 divisions, two are as extreme as any.

All values of one run come from one hour of one machine, and the hours differ. So each part of a run has the pace of the
machine before and after it (`mirza.bench.pace`), and what changed no more than these differ is within noise. Several
runs a side are better still.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
from collections.abc import Iterator, Sequence
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
    """`better`, `worse`, `within noise`, `changed` (neither is better), `too few values`, `gone`, `new`."""


def compare(before: Sequence[Run], after: Sequence[Run]) -> list[Difference]:
    """Every metric that either side has, in the order of the first run that has it."""
    old, new = _pooled(before), _pooled(after)
    drifts = drift(before, after)
    part_of = {metric.name: section.name for run in before for section in run.sections for metric in section.metrics}
    found: list[Difference] = []
    for key in dict.fromkeys([*old, *new]):
        match old.get(key), new.get(key):
            case Metric() as one, Metric() as other:
                found.append(_difference(one, other, drifts.get(part_of[key], 0.0)))
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
                known = pooled.get(metric.name)
                if metric.values and known is not None:
                    more = {"values": [*known.values, *metric.values], "of": [*known.of, *metric.of]}
                    pooled[metric.name] = metric.model_copy(update=more)
                elif metric.values:
                    pooled[metric.name] = metric
    return pooled


def drift(before: Sequence[Run], after: Sequence[Run]) -> dict[str, float]:
    """How unsteady the machine itself was around a part, in all runs together: slowest over quickest, less 1."""
    paces = _paces([*before, *after])
    return {part: max(max(all_) / min(all_) for all_ in works.values()) - 1 for part, works in paces.items()}


def _paces(runs: Sequence[Run]) -> dict[str, dict[str, list[float]]]:
    """All paces of a part, before and after it, by the work that was timed."""
    seconds: dict[str, dict[str, list[float]]] = {}
    for section in (section for run in runs for section in run.sections):
        for work, took in (*section.pace_before.items(), *section.pace_after.items()):
            seconds.setdefault(section.name, {}).setdefault(work, []).append(took)
    return seconds


def _difference(one: Metric, other: Metric, drift: float) -> Difference:
    ratios = _ratios(one, other)
    change = other.median / one.median - 1 if one.median else None
    if ratios:
        change = math.exp(statistics.median(ratios)) - 1
    verdict = _verdict(one, other, change, ratios, drift)
    return Difference(one.name, one.unit, one.median, other.median, _spread(one), _spread(other), change, verdict)


def _ratios(one: Metric, other: Metric) -> list[float]:
    """How much more each thing is that both have, in logarithms of ratios; none where they are not of the same."""
    before, after = dict(_by_thing(one)), dict(_by_thing(other))
    both = [(before[thing], after[thing]) for thing in before if thing in after]
    return [math.log(new / old) for old, new in both] if all(old > 0 and new > 0 for old, new in both) else []


def _by_thing(metric: Metric) -> Iterator[tuple[str, float]]:
    """The median of each thing's values."""
    if len(metric.of) != len(metric.values):
        return
    values: dict[str, list[float]] = {}
    for thing, value in zip(metric.of, metric.values, strict=True):
        values.setdefault(thing, []).append(value)
    for thing, of_it in values.items():
        yield thing, statistics.median(of_it)


def _verdict(one: Metric, other: Metric, change: float | None, ratios: Sequence[float], drift: float) -> str:
    if one.values == other.values or (one.median == other.median and not ratios):
        return "within noise"
    counts = one.unit == "" and all(value == int(value) for value in [*one.values, *other.values])
    if not counts:  # a count is what it is; a time by itself is not
        sizes = len(one.values), len(other.values)
        least = 2 / 2 ** len(ratios) if ratios else 2 / math.comb(sum(sizes), sizes[0])
        if least > SURE:
            return "too few values"
        if change is not None and change > -1 and abs(math.log1p(change)) <= math.log1p(max(SMALLEST, drift)):
            return "within noise"
        if (paired_probability(ratios) if ratios else probability(one.values, other.values)) > SURE:
            return "within noise"
    if one.better is Better.NEITHER:
        return "changed"
    less = other.median < one.median if counts or change is None else change < 0
    return "better" if less == (one.better is Better.LESS) else "worse"


def paired_probability(ratios: Sequence[float]) -> float:
    """How often logarithms of ratios have as large a mean, if it is drawn for each which side is which."""
    rng = random.Random(0)
    seen = abs(sum(ratios))
    as_much = sum(
        abs(sum(ratio if rng.random() < 0.5 else -ratio for ratio in ratios)) >= seen - 1e-12 for _ in range(SHUFFLES)
    )
    return (as_much + 1) / (SHUFFLES + 1)


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
    unsteady = {part: share for part, share in drift(before, after).items() if share >= SMALLEST}
    if unsteady:
        parts = ", ".join(f"{part} {share:.0%}" for part, share in unsteady.items())
        lines.append(f"The machine itself was unsteady ({parts}): smaller differences are within noise.")
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
            f"{one.name:{width}}  {one.before:10.4g} {one.after:10.4g} {one.unit:6} {change:>6}  {one.verdict:14} "
            f"({one.before_spread or 'none'} | {one.after_spread or 'none'})"
        )
    return lines or ["There is no metric in either."]
