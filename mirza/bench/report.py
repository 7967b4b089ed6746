"""A run as a page: what each benchmark found, in tables and plots."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from pydantic import ValidationError

from mirza.bench.curves import SCENES, Curve
from mirza.bench.extract import EngineReport, ExactnessReport, TextReport
from mirza.bench.fit import fit
from mirza.bench.growth import GrowthReport, exponent
from mirza.bench.page import Block, Heading, Paragraph, Plot, Table
from mirza.bench.pipeline import PipelineReport
from mirza.bench.plots import Series, line_chart
from mirza.bench.runfile import Run, Section
from mirza.bench.soak import SoakReport
from mirza.bench.talk_page import talk_blocks
from mirza.bench.talk_report import TalkReport


def report(run: Run) -> list[Block]:
    """The page of a run."""
    blocks: list[Block] = [Heading("Mirza, measured", 1), Paragraph(f"Made {run.made}."), *_origin(run)]
    blocks += _parts(run)
    writers = {
        "talk": _talk,
        "behaviour": _talk,
        "engine": _engine,
        "model": _engine,
        "exactness": _exactness,
        "pipeline": _pipeline,
        "text": _text,
        "soak": _soak,
        "growth": _growth,
    }
    order = [*writers, *(section.name for section in run.sections if section.name not in writers)]
    for name in order:
        section = run.section(name)
        if section is None:
            continue
        write = writers.get(name, _metrics)
        blocks.append(Heading(name.capitalize()))
        busy = max(section.load_before, section.load_after)
        note = f" The machine was busy (load {busy:.1f}): times are worth little." if busy > 2.5 else ""
        blocks.append(Paragraph(f"Made by `{section.command}` in {section.seconds:.0f} s.{note}"))
        if section.failed and section.data is None:
            blocks.append(Paragraph(f"There are no figures: {section.failed}."))
            continue
        if section.failed:
            blocks.append(Paragraph(f"Not all of it was measured: {section.failed}."))
        try:
            blocks += write(section)
        except ValidationError:
            blocks.append(Paragraph("Its report is of another version; the run file has it whole."))
    return blocks


def _parts(run: Run) -> list[Block]:
    """How long each part took, and which are not whole."""
    if not run.sections:
        return []
    rows = [[section.name, f"{section.seconds:.0f}", section.failed or "whole"] for section in run.sections]
    rows.append(["all", f"{sum(section.seconds for section in run.sections):.0f}", ""])
    return [Table(("part", "seconds", ""), rows)]


# --- parts -----------------------------------------------------------------------------------------------------------


def _origin(run: Run) -> list[Block]:
    """What ran, where. The hashes of all files are in the run file."""
    origin = run.provenance if isinstance(run.provenance, dict) else {}
    rows: list[list[str]] = []
    for part in ("machine", "model", "versions"):
        values = origin.get(part)
        if isinstance(values, dict):
            rows += [
                [f"{part}: {name}", str(value)]
                for name, value in values.items()
                if value is not None and not isinstance(value, dict)
            ]
    return [Table(("what", ""), rows)] if rows else []


def _talk(section: Section) -> list[Block]:
    return talk_blocks(TalkReport.model_validate(section.data))


def _engine(section: Section) -> list[Block]:
    engine = EngineReport.model_validate(section.data)
    blocks: list[Block] = [
        *_what_of_the_engine(engine),
        Table(
            ("decoding", "tokens a second", "spread", "x bare loop", "drafts accepted"),
            [
                [
                    row.how,
                    f"{row.tokens_per_s:.1f}",
                    f"{row.slowest:.1f}-{row.quickest:.1f}",
                    f"{row.against_bare:.2f}",
                    f"{row.accepted_share:.0%}" if row.accepted_share else "",
                ]
                for row in engine.decoding
            ],
        ),
        Table(
            ("context, tokens", "first token, cold, ms", "warm, ms"),
            [
                [str(row.context_tokens), f"{1e3 * row.cold_s:.1f}", f"{1e3 * row.warm_s:.1f}"]
                for row in engine.first_token
            ],
        ),
    ]
    cold = [(float(row.context_tokens), 1e3 * row.cold_s) for row in engine.first_token]
    warm = [(float(row.context_tokens), 1e3 * row.warm_s) for row in engine.first_token]
    svg = line_chart([Series("cold", cold), Series("warm", warm)], x="context, tokens", y="first token, ms", log=True)
    if svg:
        blocks.append(Plot(svg, "First token against context length, logarithmic."))
    fits = {name: fit(points) for name, points in (("cold", cold), ("warm", warm))}
    said = ", ".join(f"{name} {found.exponent:.2f}" for name, found in fits.items() if found is not None)
    if said:
        blocks.append(Paragraph(f"Fitted exponents: {said} (1 is linear, 0 flat)."))
    if engine.turns:
        blocks.append(
            Table(
                ("turn", "who", "first token, ms", "spread, ms", "first word, ms", "reused of prompt"),
                [
                    [
                        row.scene,
                        row.contestant,
                        f"{1e3 * row.first_token_s:.1f}",
                        f"{1e3 * row.first_token_min_s:.1f}-{1e3 * row.first_token_max_s:.1f}",
                        f"{1e3 * row.first_speech_s:.1f}",
                        f"{row.reused_tokens} of {row.prompt_tokens}",
                    ]
                    for row in engine.turns
                ],
            )
        )
    if engine.verdict:
        rows = [[row.scene, row.best_peer, f"{row.times_faster:.2f}"] for row in engine.verdict]
        blocks.append(Table(("turn", "best peer", "Mirza is so many times faster"), rows))
    if engine.bytes:
        blocks.append(Table(("bytes", ""), [[name, f"{size:,.0f}"] for name, size in engine.bytes.items()]))
    return blocks


def _what_of_the_engine(engine: EngineReport) -> list[Block]:
    """Which model, how long each section took, and what was not measured."""
    model = engine.provenance.model
    seconds = ", ".join(f"{name} {took:.0f}" for name, took in engine.seconds.items())
    blocks: list[Block] = []
    if model:
        blocks.append(Paragraph(f"{model.get('folder')}, {model.get('dtype')}. Seconds: {seconds}."))
    blocks += [Paragraph(f"Not measured, {name}: {why}.") for name, why in engine.failed.items()]
    return [*blocks, *(Paragraph(f"Left out, {what}.") for what in engine.left_out)]


def _exactness(section: Section) -> list[Block]:
    found = ExactnessReport.model_validate(section.data)
    drafts = f"{found.accepted_tokens:,} of {found.drafted_tokens:,} drafts accepted"
    text = (
        f"{found.conversations:,} conversations, {found.answers:,} answers, {found.tokens:,} tokens compared with cold "
        f"runs; {found.interrupted:,} answers interrupted, {found.restarts:,} restarts, {drafts}: "
        f"{len(found.differences)} differences."
    )
    return [Paragraph(text)]


def _metrics(section: Section) -> list[Block]:
    """A benchmark that needs no more than this."""
    rows = [
        [metric.name.removeprefix(f"{section.name}."), metric.unit, f"{metric.median:.2f}", _ends(metric.values)]
        for metric in section.metrics
        if metric.values
    ]
    return [Table(("what", "unit", "median", "spread"), rows)]


def _pipeline(section: Section) -> list[Block]:
    own = PipelineReport.model_validate(section.data)
    return [
        Paragraph(f"{own.runs} runs of {own.turns} turns of 8 s; models are stand-ins, the sound card is taken off."),
        *_metrics(section),
    ]


def _text(section: Section) -> list[Block]:
    costs = TextReport.model_validate(section.data).text
    rows = [
        [cost.kind, f"{cost.characters:,}", f"{cost.seconds:.3f}", f"{cost.seconds_by_token:.3f}", f"{cost.growth:.2f}"]
        for cost in costs
    ]
    return [Table(("kind", "characters", "whole, s", "by token, s", "growth (2 is linear)"), rows)]


def _soak(section: Section) -> list[Block]:
    soak = SoakReport.model_validate(section.data)
    memory = [(float(sample.turns), sample.resident_mb) for sample in soak.samples]
    held = [(float(sample.turns), sample.held_mb) for sample in soak.samples]
    waits = [(float(sample.turns), sample.first_token_ms) for sample in soak.samples]
    blocks: list[Block] = [
        Paragraph(
            f"{soak.turns:,} turns with {soak.model}, {soak.talked_s / 60:.0f} minutes of talk in "
            f"{soak.took_s / 60:.1f} minutes; {soak.interrupted} interrupted, {soak.reopened} reopened, "
            f"{len(soak.failures)} failures."
        ),
        Table(
            ("after the first fifth", "growth"),
            [
                ["resident memory, MB", f"{soak.resident_growth_mb:+.1f}"],
                ["without what MLX keeps for reuse, MB", f"{soak.held_growth_mb:+.1f}"],
                ["open files", f"{soak.open_files_growth:+d}"],
                ["threads", f"{soak.threads_growth:+d}"],
                ["first token, last fifth over second", f"x {soak.first_token_drift:.2f}"],
            ],
        ),
    ]
    charts = {
        "Resident memory over turns.": line_chart(
            [Series("resident", memory), Series("without MLX's reserve", held)], x="turns", y="MB"
        ),
        "First token over turns.": line_chart([Series("first token", waits)], x="turns", y="ms"),
    }
    return [*blocks, *(Plot(svg, caption) for caption, svg in charts.items() if svg)]


def _growth(section: Section) -> list[Block]:
    growth = GrowthReport.model_validate(section.data)
    blocks: list[Block] = [Paragraph(f"{growth.model}; {growth.runs} runs of each size, fewer of the largest.")]
    blocks += [Paragraph(f"{note}.") for note in growth.notes]
    for scene, axis in SCENES.items():
        curves = [curve for curve in growth.curves if curve.scene == scene]
        if curves:
            blocks += [Heading(f"Against {axis}", 3), _exponents(curves), _curve_values(axis, curves)]
        for unit, caption in (("s", "Seconds"), ("MB", "Memory")):
            lines = [Series(curve.expected.what, curve.line) for curve in curves if curve.expected.unit == unit]
            svg = line_chart(lines, x=axis, y=unit, log=True)
            if svg:
                blocks.append(Plot(svg, f"{caption} against {axis}, logarithmic."))
    return blocks


def _exponents(curves: Sequence[Curve]) -> Table:
    rows = [
        [curve.expected.what, exponent(curve), f"x^{curve.expected.exponent:g}: {curve.expected.why}", curve.verdict]
        for curve in curves
    ]
    return Table(("what", "grows with", "expected", "found"), rows)


def _curve_values(axis: str, curves: Sequence[Curve]) -> Table:
    """Medians with their spread, a row for each size."""
    sizes = sorted({point.size for curve in curves for point in curve.points})
    rows: list[list[str]] = []
    for size in sizes:
        row = [f"{size:,}"]
        for curve in curves:
            point = next((point for point in curve.points if point.size == size), None)
            row.append("" if point is None else _with_spread(point.values))
        rows.append(row)
    return Table((axis, *(f"{curve.expected.what}, {curve.expected.unit}" for curve in curves)), rows)


def _with_spread(values: Sequence[float]) -> str:
    middle = f"{statistics.median(values):.4g}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.3g}-{max(values):.3g})"


def _ends(values: Sequence[float]) -> str:
    return f"{min(values):.2f}-{max(values):.2f}, {len(values)}"
