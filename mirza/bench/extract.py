"""What of each benchmark's own report becomes a metric of the run file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from mirza.bench.runfile import Better, Metric


class _Part(BaseModel):
    """Reports say more than what is read here."""

    model_config = ConfigDict(extra="ignore")


class Reported(_Part):
    """A benchmark that names its metrics itself: talk, pipeline, soak, growth."""

    metrics: list[Metric]


class Decoding(_Part):
    how: str
    tokens_per_s: float
    slowest: float
    quickest: float
    against_bare: float
    accepted_share: float = 0.0


class FirstToken(_Part):
    context_tokens: int
    cold_s: float
    warm_s: float


class EngineTurn(_Part):
    contestant: str
    scene: str
    first_token_s: float
    first_token_min_s: float
    first_token_max_s: float
    first_speech_s: float
    prompt_tokens: int | None = None
    reused_tokens: int | None = None


class EngineVerdict(_Part):
    scene: str
    best_peer: str
    times_faster: float


class EngineReport(_Part):
    """`mirza bench engine`; one that was cut off has some of it."""

    decoding: list[Decoding] = []
    first_token: list[FirstToken] = []
    bytes: dict[str, float] = {}
    memory: dict[str, float] = {}
    turns: list[EngineTurn] = []
    verdict: list[EngineVerdict] = []


class ExactnessReport(_Part):
    """`mirza bench exactness`."""

    conversations: int
    answers: int
    tokens: int
    interrupted: int
    restarts: int
    drafted_tokens: int
    accepted_tokens: int
    differences: list[JsonValue]


class TextCost(_Part):
    kind: str
    characters: int
    seconds: float
    seconds_by_token: float
    growth: float


class TextReport(_Part):
    """`mirza bench text`."""

    text: list[TextCost]


def metrics_of(name: str, data: JsonValue) -> list[Metric]:
    """The metrics of one benchmark's report; none of one that is not understood."""
    readers: dict[str, Callable[[JsonValue], Sequence[Metric]]] = {
        "engine": _engine,
        "exactness": _exactness,
        "text": _text,
    }
    try:
        return [*readers.get(name, _reported)(data)]
    except ValidationError:
        return []


def _reported(data: JsonValue) -> Sequence[Metric]:
    return Reported.model_validate(data).metrics


def _engine(data: JsonValue) -> Sequence[Metric]:
    report = EngineReport.model_validate(data)
    metrics = [
        Metric(
            name=f"engine.decoding.{row.how}",
            unit="1/s",
            better=Better.MORE,
            values=[row.slowest, row.tokens_per_s, row.quickest],
        )
        for row in report.decoding
    ]
    for row in report.first_token:
        metrics.append(Metric(name=f"engine.first_token_cold.{row.context_tokens}", unit="s", values=[row.cold_s]))
        metrics.append(Metric(name=f"engine.first_token_warm.{row.context_tokens}", unit="s", values=[row.warm_s]))
    for turn in report.turns:
        values = [turn.first_token_min_s, turn.first_token_s, turn.first_token_max_s]
        metrics.append(Metric(name=f"engine.{turn.contestant}.{turn.scene}", unit="s", values=values))
    metrics += [Metric(name=f"engine.bytes.{name}", unit="", values=[size]) for name, size in report.bytes.items()]
    return metrics


def _exactness(data: JsonValue) -> Sequence[Metric]:
    report = ExactnessReport.model_validate(data)
    return [
        Metric(name="exactness.differences", unit="", values=[float(len(report.differences))]),
        Metric(name="exactness.tokens", unit="", better=Better.NEITHER, values=[float(report.tokens)]),
    ]


def _text(data: JsonValue) -> Sequence[Metric]:
    metrics: list[Metric] = []
    for cost in TextReport.model_validate(data).text:
        metrics.append(Metric(name=f"text.{cost.kind}", unit="s", values=[cost.seconds]))
        metrics.append(Metric(name=f"text.{cost.kind}.growth", unit="x", values=[cost.growth]))
    return metrics
