"""Verdicts summed up: a row a system and a group, each file against the peer's, each script against its other half."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from pydantic import BaseModel, ConfigDict

from mirza.bench.judge import Verdict
from mirza.bench.runfile import Better, Metric, percentile
from mirza.bench.script import Script
from mirza.bench.turn_table import TurnRow

SCHEMA = 1


class Spread(BaseModel):
    """Some values: how many, the middle, the value that 95 of 100 do not pass, and the two ends."""

    model_config = ConfigDict(extra="forbid")

    n: int
    median: float
    p95: float
    least: float
    most: float


class Row(BaseModel):
    """One system, or one system in one group of scripts."""

    model_config = ConfigDict(extra="forbid")

    system: str
    group: str
    conversations: int
    right_turns: int
    """Conversations with the right number of turns."""
    voice_to_voice_s: Spread | None
    end_of_turn_s: Spread | None
    first_token_s: Spread | None
    silence_s: Spread | None
    duck_s: Spread | None
    cut_offs: int
    missed_interruptions: int
    false_stops: int
    self_heard_turns: int
    false_signs: int = 0
    """With open loudspeakers: how often the voice was lowered although nobody spoke."""
    talked_s: float = 0.0
    spoken_s: float = 0.0
    """How long the loudspeaker was audible."""
    reopened: int
    underruns: int | None
    heard_wer: Spread | None
    answer_wer: Spread | None
    history_wer: Spread | None


class FileRatio(BaseModel):
    """One script, Mirza against a peer: medians of voice to voice over its turns and runs."""

    model_config = ConfigDict(extra="forbid")

    script: str
    mirza_s: float
    peer_s: float
    ratio: float


class OtherHalf(BaseModel):
    """Two scripts that differ in one thing."""

    model_config = ConfigDict(extra="forbid")

    script: str
    compared_with: str
    first_token_s: float | None
    first_token_other_s: float | None
    ratio: float | None
    prefilled_tokens: float | None
    prefilled_tokens_other: float | None


class TalkReport(BaseModel):
    """All of `mirza bench talk`."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = SCHEMA
    full_speed: bool = False
    """Time passed only while a model worked."""
    systems: list[Row]
    groups: list[Row]
    file_by_file: list[FileRatio]
    other_halves: list[OtherHalf]
    faults: dict[str, list[str]]
    """By system and script, what was not as the script wants it."""
    turn_table: list[TurnRow]
    skipped: list[str]
    load: Spread | None
    metrics: list[Metric]
    conversations: list[dict[str, object]]


@dataclass(frozen=True, slots=True)
class _Measure:
    """A metric of verdicts: its name, and its values in one of them."""

    name: str
    unit: str
    values: Callable[[Verdict], Iterable[float | None]]


MEASURES = (
    _Measure("voice_to_voice", "s", lambda verdict: (outcome.voice_to_voice_s for outcome in verdict.outcomes)),
    _Measure("end_of_turn", "s", lambda verdict: verdict.end_of_turn_s),
    _Measure("first_token", "s", lambda verdict: verdict.first_token_s),
    _Measure("interruption_to_silence", "s", lambda verdict: (outcome.silence_s for outcome in verdict.outcomes)),
    _Measure("ducking", "s", lambda verdict: (outcome.duck_s for outcome in verdict.outcomes)),
    _Measure("heard_wer", "", lambda verdict: [verdict.heard_wer]),
    _Measure("answer_wer", "", lambda verdict: verdict.answer_wer),
    _Measure("history_wer", "", lambda verdict: verdict.history_wer),
)


def summed_up(
    scripts: Sequence[Script],
    verdicts: Sequence[Verdict],
    table: Sequence[TurnRow] = (),
    skipped: Sequence[str] = (),
    *,
    full_speed: bool = False,
) -> TalkReport:
    """The report of all takes; `table` is about the same recordings, `skipped` says what was left out."""
    systems = list(dict.fromkeys(verdict.system for verdict in verdicts))
    groups = list(dict.fromkeys(verdict.group for verdict in verdicts))
    of = {system: [verdict for verdict in verdicts if verdict.system == system] for system in systems}
    rows = [
        _row(system, group, [verdict for verdict in of[system] if verdict.group == group])
        for group in groups
        for system in systems
    ]
    faults: dict[str, list[str]] = {}
    for verdict in verdicts:
        if verdict.faults:
            faults.setdefault(f"{verdict.system} {verdict.script}", []).extend(verdict.faults)
    return TalkReport(
        full_speed=full_speed,
        systems=[_row(system, "all", of[system]) for system in systems],
        groups=[row for row in rows if row.conversations],
        file_by_file=_file_by_file(of),
        other_halves=_other_halves(scripts, of.get("mirza", [])),
        faults=faults,
        turn_table=list(table),
        skipped=list(skipped),
        load=spread(verdict.load for verdict in verdicts),
        metrics=[metric for system in systems for metric in _metrics(system, of[system])],
        conversations=[asdict(verdict) for verdict in verdicts],
    )


def spread(values: Iterable[float | None]) -> Spread | None:
    """The spread of the values that there are; `None` where there are none."""
    there = [value for value in values if value is not None]
    if not there:
        return None
    return Spread(
        n=len(there),
        median=statistics.median(there),
        p95=percentile(there, 0.95),
        least=min(there),
        most=max(there),
    )


def _median(values: Iterable[Sequence[float]]) -> float | None:
    known = spread(value for several in values for value in several)
    return None if known is None else known.median


def _row(system: str, group: str, verdicts: Sequence[Verdict]) -> Row:
    def spread_of(name: str) -> Spread | None:
        measure = next(measure for measure in MEASURES if measure.name == name)
        return spread(value for verdict in verdicts for value in measure.values(verdict))

    counted = [verdict.underruns for verdict in verdicts if verdict.underruns is not None]
    return Row(
        system=system,
        group=group,
        conversations=len(verdicts),
        right_turns=sum(verdict.turns_heard == verdict.turns_expected for verdict in verdicts),
        voice_to_voice_s=spread_of("voice_to_voice"),
        end_of_turn_s=spread_of("end_of_turn"),
        first_token_s=spread_of("first_token"),
        silence_s=spread_of("interruption_to_silence"),
        duck_s=spread_of("ducking"),
        cut_offs=sum(verdict.count("cut_off") for verdict in verdicts),
        missed_interruptions=sum(verdict.count("missed") for verdict in verdicts),
        false_stops=sum(verdict.count("false_stop") for verdict in verdicts),
        self_heard_turns=sum(verdict.self_heard for verdict in verdicts),
        false_signs=sum(verdict.false_signs for verdict in verdicts),
        talked_s=sum(verdict.talked_s for verdict in verdicts),
        spoken_s=sum(verdict.spoken_s for verdict in verdicts),
        reopened=sum(verdict.reopened for verdict in verdicts),
        underruns=sum(counted) if counted else None,
        heard_wer=spread_of("heard_wer"),
        answer_wer=spread_of("answer_wer"),
        history_wer=spread_of("history_wer"),
    )


def _metrics(system: str, verdicts: Sequence[Verdict]) -> list[Metric]:
    """What `mirza bench compare` looks at."""
    found: list[Metric] = []
    for measure in MEASURES:
        values: list[float] = []
        of: list[str] = []
        for verdict in verdicts:
            for number, value in enumerate(measure.values(verdict), 1):
                if value is not None:
                    values.append(value)
                    of.append(f"{verdict.script} {number}")
        if values:
            found.append(Metric(name=f"{system}.{measure.name}", unit=measure.unit, values=values, of=of))
    counts = {
        "wrong_turn_counts": [verdict.turns_heard != verdict.turns_expected for verdict in verdicts],
        "cut_offs": [verdict.count("cut_off") for verdict in verdicts],
        "missed_interruptions": [verdict.count("missed") for verdict in verdicts],
        "false_stops": [verdict.count("false_stop") for verdict in verdicts],
        "self_heard_turns": [verdict.self_heard for verdict in verdicts],
        "false_signs": [verdict.false_signs for verdict in verdicts],
    }
    for name, numbers in counts.items():
        found.append(Metric(name=f"{system}.{name}", unit="", better=Better.LESS, values=[float(sum(numbers))]))
    resident = [verdict.resident_mb for verdict in verdicts if verdict.resident_mb]
    if resident:
        found.append(Metric(name=f"{system}.resident", unit="MB", values=resident))
    return found


def _file_by_file(of: dict[str, list[Verdict]]) -> list[FileRatio]:
    """Scripts that both answered. The ratio is of medians: a file with one wrong turn is not a better file."""
    found: list[FileRatio] = []
    for peer in [system for system in of if system != "mirza"]:
        for script in dict.fromkeys(verdict.script for verdict in of[peer]):
            both = [
                spread(
                    outcome.voice_to_voice_s
                    for verdict in of.get(system, [])
                    if verdict.script == script
                    for outcome in verdict.outcomes
                )
                for system in ("mirza", peer)
            ]
            ours, theirs = both
            if ours is not None and theirs is not None and theirs.median > 0:
                found.append(
                    FileRatio(
                        script=script,
                        mirza_s=ours.median,
                        peer_s=theirs.median,
                        ratio=ours.median / theirs.median,
                    )
                )
    return found


def _other_halves(scripts: Sequence[Script], verdicts: Sequence[Verdict]) -> list[OtherHalf]:
    found: list[OtherHalf] = []
    for script in scripts:
        if not script.compare_with:
            continue
        mine = [verdict for verdict in verdicts if verdict.script == script.name]
        others = [verdict for verdict in verdicts if verdict.script == script.compare_with]
        here, other = (_median(verdict.first_token_s for verdict in half) for half in (mine, others))
        found.append(
            OtherHalf(
                script=script.name,
                compared_with=script.compare_with,
                first_token_s=here,
                first_token_other_s=other,
                ratio=here / other if here is not None and other else None,
                prefilled_tokens=_median(verdict.prefilled_tokens for verdict in mine),
                prefilled_tokens_other=_median(verdict.prefilled_tokens for verdict in others),
            )
        )
    return found


# --- for people ------------------------------------------------------------------------------------------------------


def in_words(report: TalkReport) -> str:
    """The report as a person reads it."""
    lines: list[str] = []
    for row in [*report.systems, *report.groups]:
        lines += _row_lines(row)
    if report.file_by_file:
        ratios = spread(line.ratio for line in report.file_by_file)
        assert ratios is not None
        lines.append(f"file by file, mirza / peer: median {ratios.median:.2f} ({ratios.least:.2f}-{ratios.most:.2f})")
        lines += [
            f"  {line.script:24} {line.mirza_s:6.2f} s {line.peer_s:6.2f} s {line.ratio:6.2f}"
            for line in report.file_by_file
        ]
    for half in report.other_halves:
        if half.ratio is not None:
            lines.append(
                f"first token, {half.script} / {half.compared_with}: {half.ratio:.2f} "
                f"({half.first_token_s:.2f} s / {half.first_token_other_s:.2f} s)"
            )
    if report.turn_table:
        lines.append("end of turn by         cut off, complete and in a pause    wait, median and p95")
    for row in report.turn_table:
        cut = f"{row.cut_complete:3} of {row.complete:3} {row.cut_in_pause:5} of {row.with_pause:3}"
        lines.append(f"  {row.decided_by:20} {cut} {row.wait_median_s:20.2f} s {row.wait_p95_s:6.2f} s")
    lines += report.skipped
    for where, faults in report.faults.items():
        lines += [f"{where}: {fault}" for fault in faults]
    if report.load is not None and report.load.median > 2:
        lines.append(f"The machine was busy (load {report.load.median:.1f}): times from it are worth little.")
    return "\n".join(lines)


def _row_lines(row: Row) -> list[str]:
    right = f"{row.right_turns} with the right number of turns"
    minutes = f"{row.talked_s / 60:.1f} minutes, {row.spoken_s / 60:.1f} of them with the loudspeaker audible"
    lines = [f"{row.system}, {row.group}: {row.conversations} conversations, {right}; {minutes}"]
    times = {
        "voice to voice": row.voice_to_voice_s,
        "end of turn": row.end_of_turn_s,
        "first token": row.first_token_s,
        "interruption to silence": row.silence_s,
        "ducked after": row.duck_s,
    }
    for name, value in times.items():
        if value is not None:
            lines.append(f"  {name:24} {_seconds(value)}")
    lines.append(
        f"  cut-offs {row.cut_offs}, missed interruptions {row.missed_interruptions}, false stops {row.false_stops}, "
        f"self-heard turns {row.self_heard_turns}, false signs {row.false_signs}, reopened {row.reopened}, "
        f"underruns {'not counted' if row.underruns is None else row.underruns}"
    )
    rates = {"heard": row.heard_wer, "answers": row.answer_wer, "history after interruptions": row.history_wer}
    known = [f"{name} {value.median:.1%}" for name, value in rates.items() if value is not None]
    if known:
        lines.append(f"  word error rate, median: {', '.join(known)}")
    return lines


def _seconds(value: Spread) -> str:
    return f"median {value.median:.2f} s, p95 {value.p95:.2f} ({value.least:.2f}-{value.most:.2f}, n = {value.n})"
