"""How something grew, as curves: what was measured at each size, what was expected, and the fitted exponent."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from mirza.bench.fit import Fit, fit
from mirza.bench.runfile import Better, Metric

TOLERANCE = 0.2
"""An exponent may be this much above the expected one, and two standard errors."""
NOISY = 0.25
"""A larger standard error than this says nothing."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a curve is, and how it should grow."""

    what: str
    unit: str
    exponent: float
    why: str


EXPECTED: Mapping[str, Expected] = {
    "context.cold": Expected("first token, cold", "s", 1, "every token is fed once; attention adds a part in squares"),
    "context.warm": Expected("first token, warm", "s", 0, "only the new question is fed"),
    "context.settle": Expected("tidying up in idle time", "s", 0, "only the last answer is fed again"),
    "context.restored": Expected("first token after a restart", "s", 1, "the state is read back, byte by byte"),
    "context.memory": Expected("memory of the state", "MB", 1, "keys and values of each token, and one state"),
    "context.peak": Expected("memory at most, cold", "MB", 1, "the state, and what one step of prefill needs"),
    "context.snapshot": Expected("snapshot file", "MB", 1, "keys and values of each token, and one state"),
    "turns.warm": Expected("first token, warm", "s", 0, "only the new question is fed"),
    "turns.settle": Expected("tidying up in idle time", "s", 0, "only the last answer is fed again"),
    "turns.fed": Expected("tokens fed a turn", "tokens", 0, "only the new question is fed"),
    "turns.context": Expected("tokens of the conversation", "tokens", 1, "each turn adds its own"),
    "turns.memory": Expected("memory of the state", "MB", 1, "keys and values of each token, and one state"),
    "turns.resident": Expected("memory of the process", "MB", 0, "the model and the libraries are most of it"),
    "system.cold": Expected("first token, cold", "s", 1, "every token is fed once; attention adds a part in squares"),
    "system.load": Expected("making the system prompt ready", "s", 1, "every token is fed once, and kept on disk"),
    "system.warm": Expected("first token, warm", "s", 0, "only the question is fed"),
    "system.restored": Expected("first token after a restart", "s", 1, "the state is read back, byte by byte"),
    "system.memory": Expected("memory of the state", "MB", 1, "keys and values of each token, and one state"),
    "system.snapshot": Expected("snapshot file", "MB", 1, "keys and values of each token, and one state"),
}
SCENES = {"context": "context, tokens", "turns": "turns", "system": "system prompt, tokens"}


class CurvePoint(BaseModel):
    """Everything that was measured at one size."""

    model_config = ConfigDict(extra="forbid")

    size: int
    values: list[float]

    @property
    def median(self) -> float:
        """The middle value."""
        return statistics.median(self.values)


class Curve(BaseModel):
    """One thing against one size."""

    model_config = ConfigDict(extra="forbid")

    name: str
    points: list[CurvePoint] = []
    fit: Fit | None = None

    @property
    def expected(self) -> Expected:
        """What it is, and how it should grow."""
        return EXPECTED[self.name]

    @property
    def scene(self) -> str:
        """What it grew with: `context`, `turns` or `system`."""
        return self.name.partition(".")[0]

    @property
    def line(self) -> list[tuple[float, float]]:
        """The medians."""
        return [(float(point.size), point.median) for point in self.points]

    @property
    def verdict(self) -> str:
        """Whether it grew as it should, in words."""
        if self.fit is None:
            return "too few sizes"
        if self.fit.error > NOISY and self.fit.bends_at is None:
            return "too noisy to tell"
        allowed = self.expected.exponent + TOLERANCE + 2 * self.fit.error
        said = "faster than expected" if self.fit.last > allowed else "as expected"
        if self.fit.bends_at is not None:
            said += f"; {self.fit.before:.2f} up to {self.fit.bends_at:,.0f}, {self.fit.after:.2f} from there"
        return said

    def metrics(self) -> list[Metric]:
        """What `mirza bench compare` compares."""
        name = f"growth.{self.name}"
        found = [
            Metric(name=f"{name}.{point.size}", unit=self.expected.unit, values=point.values) for point in self.points
        ]
        if self.fit is not None:
            found.append(Metric(name=f"{name}.exponent", unit="x", better=Better.LESS, values=[self.fit.exponent]))
        return found


class Curves:
    """Curves that grow as their values come."""

    def __init__(self) -> None:
        self.all: dict[str, Curve] = {}

    def add(self, name: str, size: int, value: float) -> None:
        """Notes one value; the fit is of all of them by then."""
        curve = self.all.setdefault(name, Curve(name=name))
        if not curve.points or curve.points[-1].size != size:
            curve.points.append(CurvePoint(size=size, values=[]))
        curve.points[-1].values.append(value)
        curve.fit = fit(curve.line)
