"""Line and bar charts as inline SVG: enough for a report that is one file and needs nothing from anywhere.

Own code, because a plotting library would be thirty times its size, and is needed for nothing else here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 12, 44
COLOURS = ("#2563eb", "#d97706", "#059669", "#be123c", "#7c3aed", "#475569")


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name, and its points."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of several parts, one after the other."""

    name: str
    parts: Sequence[float]


def line_chart(series: Sequence[Series], *, x: str, y: str, log: bool = False) -> str:
    """Lines over one another; `log` makes both axes logarithmic. Empty where there is nothing to show."""
    points = [point for line in series for point in line.points if not log or min(point) > 0]
    if not points:
        return ""
    scale = math.log10 if log else float
    xs, ys = [scale(point[0]) for point in points], [scale(point[1]) for point in points]
    low_x, high_x = min(xs), max(xs)
    low_y, high_y = (min(ys), max(ys)) if log else (min(0.0, *ys), max(ys))
    across, up = _Axis(low_x, high_x, LEFT, WIDTH - RIGHT), _Axis(low_y, high_y, HEIGHT - BOTTOM, TOP)
    body = _frame(x, y)
    for tick in _ticks(low_x, high_x, log=log):
        body.append(_text(across.at(tick), HEIGHT - BOTTOM + 16, _label(tick, log=log), "middle"))
    for tick in _ticks(low_y, high_y, log=log):
        body.append(_grid(up.at(tick)))
        body.append(_text(LEFT - 6, up.at(tick) + 4, _label(tick, log=log), "end"))
    for index, line in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(
            f"{across.at(scale(px)):.1f},{up.at(scale(py)):.1f}" for px, py in line.points if not log or min(px, py) > 0
        )
        body.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        body.append(_text(LEFT + 10, TOP + 16 + 16 * index, line.name, "start", colour))
    return _svg(body, HEIGHT)


def bar_chart(bars: Sequence[Bar], names: Sequence[str], *, unit: str) -> str:
    """Lying bars, each of the same parts; `names` are the parts'. Empty where there is nothing to show."""
    widest = max((sum(bar.parts) for bar in bars), default=0.0)
    if widest <= 0:
        return ""
    left, row = 190, 26
    height = TOP + row * len(bars) + 46
    across = _Axis(0.0, widest, left, WIDTH - RIGHT - 60)
    body: list[str] = []
    for index, bar in enumerate(bars):
        top, start = TOP + index * row, 0.0
        body.append(_text(left - 8, top + 15, bar.name, "end"))
        for number, part in enumerate(bar.parts):
            x, width, colour = across.at(start), across.at(part) - left, COLOURS[number % len(COLOURS)]
            body.append(
                f'<rect x="{x:.1f}" y="{top + 2}" width="{width:.1f}" height="{row - 8}" fill="{colour}"/>',
            )
            start += part
        body.append(_text(across.at(start) + 6, top + 15, f"{start:.2f} {unit}", "start"))
    at = float(left)
    for number, name in enumerate(names):
        body.append(_text(at, height - 14, f"■ {name}", "start", COLOURS[number % len(COLOURS)]))
        at += 20 + 7.2 * len(name)
    return _svg(body, height)


@dataclass(frozen=True, slots=True)
class _Axis:
    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """Where on the page a value is."""
        span = self.high - self.low or 1.0
        return self.begin + (value - self.low) / span * (self.end - self.begin)


def _ticks(low: float, high: float, *, log: bool) -> list[float]:
    if log:
        whole = [float(power) for power in range(math.ceil(low), math.floor(high) + 1)]
        return whole if len(whole) > 1 else [low, high]
    if high <= low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / 2))
    step *= next(factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def _label(tick: float, *, log: bool) -> str:
    value = 10**tick if log else tick
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def _frame(x: str, y: str) -> list[str]:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return [
        f'<line x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - RIGHT}" y2="{HEIGHT - BOTTOM}" stroke="#94a3b8"/>',
        f'<line x1="{LEFT}" y1="{TOP}" x2="{LEFT}" y2="{HEIGHT - BOTTOM}" stroke="#94a3b8"/>',
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, "middle"),
        f'<text x="14" y="{middle}" transform="rotate(-90 14 {middle})" text-anchor="middle">{escape(y)}</text>',
    ]


def _grid(y: float) -> str:
    return f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#e2e8f0"/>'


def _text(x: float, y: float, text: str, anchor: str, colour: str = "#334155") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'


def _svg(body: Sequence[str], height: float) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" xmlns="http://www.w3.org/2000/svg" role="img" font-size="12">'
    return head + "".join(body) + "</svg>"
