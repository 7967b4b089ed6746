"""The part of a report that is about talks."""

from __future__ import annotations

import statistics

from mirza.bench.page import Block, Heading, Paragraph, Plot, Table
from mirza.bench.plots import Bar, bar_chart
from mirza.bench.talk_report import Row, Spread, TalkReport

TIMES = ("voice to voice, s", "end of turn, s", "first token, s", "silence, s", "ducked, s")
COUNTS = ("cut-offs", "missed", "false stops", "self-heard", "WER heard", "WER answer")
HOW = (
    "Times: median (least-most), and their number. Voice to voice is from the last audible sample of the question to "
    "the first of the answer, silence from the first sample of an interruption to the last of the answer, on one "
    "stereo recording. Missed are interruptions."
)


def talk_blocks(talk: TalkReport) -> list[Block]:
    """What `mirza bench talk` found."""
    columns = ("system", "talks", "right turns", *TIMES, *COUNTS)
    faults = [[where, fault] for where, several in talk.faults.items() for fault in several]
    blocks: list[Block] = [
        Paragraph(HOW),
        Table(columns, [_talk_row(row) for row in talk.systems]),
        Heading("By kind of talk", 3),
        Table(columns, [_talk_row(row) for row in talk.groups]),
        *_stages(talk),
        *_file_by_file(talk),
        *_turn_table(talk),
        *_other_halves(talk),
    ]
    if faults:
        blocks += [Heading("What was not as it should be", 3), Table(("talk", "what"), faults)]
    return [*blocks, *(Paragraph(text) for text in talk.skipped)]


def _file_by_file(talk: TalkReport) -> list[Block]:
    if not talk.file_by_file:
        return []
    rows = [
        [line.script, f"{line.mirza_s:.2f}", f"{line.peer_s:.2f}", f"{line.ratio:.2f}"] for line in talk.file_by_file
    ]
    ratios = [line.ratio for line in talk.file_by_file]
    ahead = sum(ratio > 1 for ratio in ratios)
    return [
        Heading("File by file", 3),
        Table(("script", "Mirza, s", "peer, s", "Mirza / peer"), rows),
        Paragraph(
            f"Median ratio {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}); "
            f"the peer is ahead on {ahead} of {len(ratios)}."
        ),
    ]


def _turn_table(talk: TalkReport) -> list[Block]:
    rows = [
        [
            row.decided_by,
            f"{row.cut_complete} of {row.complete}",
            f"{row.cut_in_pause} of {row.with_pause}",
            f"{row.wait_median_s:.2f}",
            f"{row.wait_p95_s:.2f}",
        ]
        for row in talk.turn_table
    ]
    columns = ("turn ends by", "cut off, complete", "cut off, in a pause", "wait, median, s", "wait, p95, s")
    return [Heading("Where turns end", 3), Table(columns, rows)] if rows else []


def _other_halves(talk: TalkReport) -> list[Block]:
    rows = [
        [
            f"{half.script} / {half.compared_with}",
            _number(half.first_token_s),
            _number(half.first_token_other_s),
            _number(half.ratio),
            _number(half.prefilled_tokens, 0),
            _number(half.prefilled_tokens_other, 0),
        ]
        for half in talk.other_halves
        if half.ratio is not None
    ]
    columns = ("scripts", "first token, s", "of the other, s", "ratio", "tokens fed at the end", "of the other")
    return [Heading("Long questions against short ones", 3), Table(columns, rows)] if rows else []


def _talk_row(row: Row) -> list[str]:
    times = (row.voice_to_voice_s, row.end_of_turn_s, row.first_token_s, row.silence_s, row.duck_s)
    counts = (row.cut_offs, row.missed_interruptions, row.false_stops, row.self_heard_turns)
    rates = (row.heard_wer, row.answer_wer)
    name = row.system if row.group == "all" else f"{row.group}: {row.system}"
    return [
        name,
        str(row.conversations),
        str(row.right_turns),
        *(_spread(time) for time in times),
        *(str(count) for count in counts),
        *("" if rate is None else f"{rate.median:.1%}" for rate in rates),
    ]


def _stages(talk: TalkReport) -> list[Block]:
    """Latency by stage: medians do not add up exactly, so that the last stage is what is left of the whole."""
    bars: list[Bar] = []
    for row in [*talk.systems, *talk.groups]:
        whole, end, token = row.voice_to_voice_s, row.end_of_turn_s, row.first_token_s
        if whole is None or end is None or token is None:
            continue
        parts = (
            end.median,
            max(token.median - end.median, 0.0),
            max(whole.median - max(token.median, end.median), 0.0),
        )
        bars.append(Bar(row.system if row.group == "all" else f"{row.group}: {row.system}", parts))
    svg = bar_chart(bars, ("end of turn decided", "first token", "first sound"), unit="s")
    return [Plot(svg, "Latency by stage, medians, seconds after the last sample of the question.")] if svg else []


def _spread(value: Spread | None) -> str:
    return "" if value is None else f"{value.median:.2f} ({value.least:.2f}-{value.most:.2f}), {value.n}"


def _number(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}"
