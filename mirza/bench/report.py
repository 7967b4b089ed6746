"""A run as a page: what each benchmark found, in tables and plots."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import ValidationError

from mirza.bench.extract import EngineReport, ExactnessReport, TextReport
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
    writers = {
        "talk": _talk,
        "engine": _engine,
        "exactness": _exactness,
        "pipeline": _pipeline,
        "text": _text,
        "soak": _soak,
    }
    for name, write in writers.items():
        section = run.section(name)
        if section is None:
            continue
        blocks.append(Heading(name.capitalize()))
        busy = max(section.load_before, section.load_after)
        note = f" The machine was busy (load {busy:.1f}): times are worth little." if busy > 2.5 else ""
        blocks.append(Paragraph(f"Made by `{section.command}` in {section.seconds:.0f} s.{note}"))
        if section.failed:
            blocks.append(Paragraph(f"There are no figures: {section.failed}."))
            continue
        try:
            blocks += write(section)
        except ValidationError:
            blocks.append(Paragraph("Its report is of another version; the run file has it whole."))
    return blocks


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
        blocks.append(
            Paragraph(
                f"Fitted exponents: cold {_exponent(cold):.2f}, warm {_exponent(warm):.2f} (1 is linear, 0 flat)."
            )
        )
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
    blocks.append(Table(("bytes", ""), [[name, f"{size:,.0f}"] for name, size in engine.bytes.items()]))
    return blocks


def _exponent(points: Sequence[tuple[float, float]]) -> float:
    """Of the power law through the points, least squares of logarithms."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len(logs) < 2:
        return math.nan
    middle_x, middle_y = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    spread = sum((x - middle_x) ** 2 for x, _ in logs)
    return sum((x - middle_x) * (y - middle_y) for x, y in logs) / spread if spread else math.nan


def _exactness(section: Section) -> list[Block]:
    found = ExactnessReport.model_validate(section.data)
    drafts = f"{found.accepted_tokens:,} of {found.drafted_tokens:,} drafts accepted"
    text = (
        f"{found.conversations:,} conversations, {found.answers:,} answers, {found.tokens:,} tokens compared with cold "
        f"runs; {found.interrupted:,} answers interrupted, {found.restarts:,} restarts, {drafts}: "
        f"{len(found.differences)} differences."
    )
    return [Paragraph(text)]


def _pipeline(section: Section) -> list[Block]:
    own = PipelineReport.model_validate(section.data)
    rows = [
        [metric.name.removeprefix("pipeline."), metric.unit, f"{metric.median:.2f}", _ends(metric.values)]
        for metric in own.metrics
    ]
    return [
        Paragraph(
            f"{own.runs} runs of {own.turns} turns, doubles for all models; the simulated sound card is taken off."
        ),
        Table(("what", "unit", "median", "spread"), rows),
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
                ["open files", f"{soak.open_files_growth:+d}"],
                ["threads", f"{soak.threads_growth:+d}"],
                ["first token, last fifth over second", f"x {soak.first_token_drift:.2f}"],
            ],
        ),
    ]
    charts = {
        "Resident memory over turns.": line_chart([Series("resident", memory)], x="turns", y="MB"),
        "First token over turns.": line_chart([Series("first token", waits)], x="turns", y="ms"),
    }
    return [*blocks, *(Plot(svg, caption) for caption, svg in charts.items() if svg)]


def _ends(values: Sequence[float]) -> str:
    return f"{min(values):.2f}-{max(values):.2f}, {len(values)}"
