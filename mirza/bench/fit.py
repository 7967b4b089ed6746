"""How something grows: the exponent of a power law, least squares of logarithms, and where it changes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

Point = tuple[float, float]

SIDE = 3
"""Points that a part of a bent line needs; the one where it bends belongs to both."""
BETTER = 0.25
"""A bent line is told of when its squared error is below this share of the straight one's ..."""
ANOTHER = 0.3
"""... and its two exponents are at least this far apart."""


class Fit(BaseModel):
    """`y = a * x ** exponent`."""

    model_config = ConfigDict(extra="forbid")

    exponent: float
    error: float
    """Standard error of the exponent; 0 for two points, which any power law goes through."""
    r2: float
    """Share of the variance of the logarithms that it explains; near 0 for what is flat."""
    bends_at: float | None = None
    before: float | None = None
    """The exponent up to there."""
    after: float | None = None
    """From there on."""

    @property
    def last(self) -> float:
        """The exponent where `x` is large."""
        return self.exponent if self.after is None else self.after


def fit(points: Sequence[Point]) -> Fit | None:
    """The power law through all points above 0, and through both parts if they follow two; `None` under two points."""
    logs = sorted((math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0)
    if len({x for x, _ in logs}) < 2:
        return None
    whole = _Line(logs)
    found = Fit(exponent=whole.slope, error=whole.error, r2=whole.r2)
    bends = [(_Line(logs[: place + 1]), _Line(logs[place:]), place) for place in range(SIDE - 1, len(logs) - SIDE + 1)]
    if not bends:
        return found
    before, after, place = min(bends, key=lambda bend: bend[0].squares + bend[1].squares)
    if before.squares + after.squares < BETTER * whole.squares and abs(after.slope - before.slope) >= ANOTHER:
        found.bends_at, found.before, found.after = math.exp(logs[place][0]), before.slope, after.slope
    return found


class _Line:
    """The straight line nearest to some points."""

    def __init__(self, points: Sequence[Point]) -> None:
        count = len(points)
        middle_x, middle_y = (sum(values) / count for values in zip(*points, strict=True))
        spread = sum((x - middle_x) ** 2 for x, _ in points)
        self.slope = sum((x - middle_x) * (y - middle_y) for x, y in points) / spread if spread else 0.0
        self.squares = sum((y - middle_y - self.slope * (x - middle_x)) ** 2 for x, y in points)
        variance = sum((y - middle_y) ** 2 for _, y in points)
        self.r2 = 1.0 - self.squares / variance if variance else 1.0
        self.error = math.sqrt(self.squares / (count - 2) / spread) if count > 2 and spread else 0.0
