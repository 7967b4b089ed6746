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
    runs: list[float] = []

    @property
    def values(self) -> list[float]:
        """Each run; of an older report what there is of them."""
        return self.runs or [self.slowest, self.tokens_per_s, self.quickest]


class FirstToken(_Part):
    context_tokens: int
    cold_s: float
    warm_s: float
    cold_runs_s: list[float] = []
    warm_runs_s: list[float] = []


class EngineTurn(_Part):
    contestant: str
    scene: str
    first_token_s: float
    first_token_min_s: float
    first_token_max_s: float
    first_speech_s: float
    prompt_tokens: int | None = None
    reused_tokens: int | None = None
    first_token_runs_s: list[float] = []

    @property
    def values(self) -> list[float]:
        """Each run; of an older report what there is of them."""
        return self.first_token_runs_s or [self.first_token_min_s, self.first_token_s, self.first_token_max_s]


class FirstSpeechRow(_Part):
    thinking_tokens: int
    cold: bool
    first_token_s: float | None
    first_speech_s: float | None


class EngineProvenance(_Part):
    model: dict[str, JsonValue] = {}


class EngineVerdict(_Part):
    scene: str
    best_peer: str
    times_faster: float


class EngineReport(_Part):
    """`mirza bench engine`; one that was cut off has some of it."""

    provenance: EngineProvenance = EngineProvenance()
    seconds: dict[str, float] = {}
    failed: dict[str, str] = {}
    left_out: list[str] = []
    decoding: list[Decoding] = []
    first_token: list[FirstToken] = []
    bytes: dict[str, float] = {}
    memory: dict[str, float] = {}
    first_speech: list[FirstSpeechRow] = []
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
    runs: list[float] = []


class TextReport(_Part):
    """`mirza bench text`."""

    text: list[TextCost]


def metrics_of(name: str, data: JsonValue) -> list[Metric]:
    """The metrics of one benchmark's report; none of one that is not understood."""
    readers: dict[str, Callable[[JsonValue], Sequence[Metric]]] = {
        "engine": lambda data: _engine("engine", data),
        "model": lambda data: _engine("model", data),
        "behaviour": _behaviour,
        "exactness": _exactness,
        "text": _text,
    }
    try:
        return [*readers.get(name, _reported)(data)]
    except ValidationError:
        return []


def _reported(data: JsonValue) -> Sequence[Metric]:
    return Reported.model_validate(data).metrics


def _behaviour(data: JsonValue) -> Sequence[Metric]:
    """Talks of another kind than those of `talk`: their times are not to be thrown together."""
    return [metric.model_copy(update={"name": f"behaviour.{metric.name}"}) for metric in _reported(data)]


def _engine(name: str, data: JsonValue) -> Sequence[Metric]:
    report = EngineReport.model_validate(data)
    metrics = [
        Metric(name=f"{name}.decoding.{row.how}", unit="1/s", better=Better.MORE, values=row.values)
        for row in report.decoding
    ]
    for row in report.first_token:
        for kind, values in (("cold", row.cold_runs_s or [row.cold_s]), ("warm", row.warm_runs_s or [row.warm_s])):
            metrics.append(Metric(name=f"{name}.first_token_{kind}.{row.context_tokens}", unit="s", values=values))
    metrics += [
        Metric(name=f"{name}.{turn.contestant}.{turn.scene}", unit="s", values=turn.values) for turn in report.turns
    ]
    metrics += [Metric(name=f"{name}.bytes.{what}", unit="", values=[size]) for what, size in report.bytes.items()]
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
        metrics.append(Metric(name=f"text.{cost.kind}", unit="s", values=cost.runs or [cost.seconds]))
        metrics.append(Metric(name=f"text.{cost.kind}.growth", unit="x", values=[cost.growth]))
    return metrics
