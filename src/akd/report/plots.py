"""Charts as SVG text, drawn by hand: curves over time, and bars of when something touches.

The text stands on its own, inside a page or as a file, with no script, font or style sheet. Its
width follows the page; its drawing is `WIDTH` units wide. Classes (`s0`, `f0`, `grid`, `soft` ...)
let a page's style sheet change its colours. A chart over seconds says in `data-axis` where its time
is: first and last second, left, right, top and bottom of the plot.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

Values = Sequence[float] | Sequence[int] | np.ndarray

WIDTH = 480.0
PLOT_HEIGHT = 170.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 8.0, 32.0, 40.0
LETTER = 7.0
"""Room for a letter of a label."""
ROW = 20.0
"""Height of one row of bars, and of one line of the legend."""
MOST_POINTS = 800
"""Of one curve; a longer one keeps the least and the greatest value of every stretch."""
COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8c564b"
)  # fmt: skip
"""Told apart with every kind of colour blindness; the first six are Okabe and Ito's."""
DASHES = ("", "6 3", "2 2", "8 3 2 3")
"""When the colours have been used up, they come again dashed."""


def line_chart(
    series: Mapping[str, Values],
    *,
    x: Values,
    title: str,
    unit: str,
    x_label: str = "seconds",
    faint: Collection[str] = (),
) -> str:
    """Curves over a common axis, as SVG text.

    Args:
        series: The curves by name, one value for each of `x`. A value that is not finite is a gap.
        x: Where the values stand, ascending: seconds, or what `x_label` says.
        title: Stands above.
        unit: Of the values, written behind the title; "" for none.
        x_label: Written under the horizontal axis.
        faint: Names of curves that stay in the background.
    """
    places = _ascending(x)
    curves = _rows("series", series, places, float)
    finite = [values[np.isfinite(values)] for values in curves.values()]
    everything = np.concatenate(finite) if finite else np.zeros(0)
    ticks = _ticks(*_range(everything), most=6)
    across, legend = _ticks(places[0], places[-1], most=7, within=True), _Legend(list(curves))
    height = TOP + PLOT_HEIGHT + BOTTOM + legend.height
    box = _Box(places[0], places[-1], ticks[0], ticks[-1], TOP, TOP + PLOT_HEIGHT)
    parts = [_title(title, unit)]
    for tick in ticks:
        y = box.y(tick)
        parts.append(_line(LEFT, y, WIDTH - RIGHT, y, "axis" if tick == 0 else "grid"))
        parts.append(_text(LEFT - 8, y + 4, _number(tick, ticks), anchor="end"))
    parts += _horizontal_axis(box, across, x_label)
    for index, (name, values) in enumerate(curves.items()):
        drawn = _polylines(box, *_thin(places, values))
        opacity = ' opacity="0.4"' if name in faint else ""
        parts.append(f'<g fill="none" {_stroke(index)}{opacity}>{drawn}</g>')
    parts.append(legend.at(TOP + PLOT_HEIGHT + BOTTOM))
    return _svg(height, title, parts, box if x_label == "seconds" else None)


def contact_chart(
    contacts: Mapping[str, Sequence[bool] | np.ndarray], *, x: Values, title: str
) -> str:
    """One row of bars for each name, filled where its value is true, as SVG text.

    A value holds from its place in `x` (seconds, ascending) to the next one; the last one for as
    long as the one before it.
    """
    places = _ascending(x)
    rows = _rows("contacts", contacts, places, bool)
    last = places[-1] + (places[-1] - places[-2] if len(places) > 1 else 1.0)
    edges = np.append(places, last)
    longest = max((len(name) for name in rows), default=0)
    left = max(LEFT, 10 + LETTER * longest)
    bottom = TOP + ROW * max(len(rows), 1)
    box = _Box(edges[0], edges[-1], 0.0, 1.0, TOP, bottom, left=left)
    parts = [_title(title, "")]
    for index, (name, values) in enumerate(rows.items()):
        top = TOP + ROW * index
        share = 100 * float(values.mean())
        parts.append(_text(left - 8, top + 14, name, anchor="end"))
        parts.append(
            f'<rect x="{left:.1f}" y="{top + 3:.1f}" width="{WIDTH - RIGHT - left:.1f}" '
            f'height="{ROW - 6:.1f}" fill="#f1f1f1" class="bar"/>'
        )
        bars = "".join(
            f'<rect x="{box.x(edges[a]):.1f}" y="{top + 3:.1f}" '
            f'width="{max(box.x(edges[b]) - box.x(edges[a]), 0.5):.1f}" height="{ROW - 6:.1f}"/>'
            for a, b in _runs(values)
        )
        label = escape(f"{name}: {share:.0f} % of the time")
        colour = COLOURS[index % len(COLOURS)]
        style = f'fill="{colour}" class="f{index % len(COLOURS)}"'
        parts.append(f"<g {style}><title>{label}</title>{bars}</g>")
    parts += _horizontal_axis(box, _ticks(edges[0], edges[-1], most=7, within=True), "seconds")
    return _svg(bottom + BOTTOM, title, parts, box)


class _Box:
    """From values to the drawing's coordinates."""

    def __init__(
        self, x0: float, x1: float, y0: float, y1: float, top: float, bottom: float,
        *, left: float = LEFT,
    ) -> None:  # fmt: skip
        self.left, self.top, self.bottom = left, top, bottom
        self.first, self.last = x0, x1
        self._x0, self._across = x0, (WIDTH - RIGHT - left) / ((x1 - x0) or 1.0)
        self._y0, self._up = y0, (bottom - top) / ((y1 - y0) or 1.0)

    def x(self, value: float) -> float:
        return self.left + (value - self._x0) * self._across

    def y(self, value: float) -> float:
        return self.bottom - (value - self._y0) * self._up


class _Legend:
    """Names with a stroke of their curve before them, in as many lines as they need."""

    def __init__(self, names: list[str]) -> None:
        self._places: list[tuple[float, float, str]] = []
        x, row = 0.0, 0
        for name in names:
            width = 36 + LETTER * len(name)
            if x > 0 and x + width > WIDTH - RIGHT:
                x, row = 0.0, row + 1
            self._places.append((x, row * ROW, name))
            x += width
        self.height = ROW * (row + 1) if names else 0.0

    def at(self, top: float) -> str:
        return "".join(
            f'<path d="M{x:.1f} {top + y + 8:.1f}h20" fill="none" {_stroke(i)}/>'
            + _text(x + 25, top + y + 12, name)
            for i, (x, y, name) in enumerate(self._places)
        )


def _rows(
    kind: str, series: Mapping[str, Any], places: np.ndarray, dtype: type
) -> dict[str, np.ndarray]:
    """The series as arrays, one value for each of the places."""
    rows = {name: np.asarray(values, dtype=dtype) for name, values in series.items()}
    for name, values in rows.items():
        if values.shape != places.shape:
            raise ValueError(
                f"{kind} {name!r} must have one value for each of x, got {values.shape} for "
                f"{len(places)}"
            )
    return rows


def _ascending(x: Values) -> np.ndarray:
    places = np.asarray(x, dtype=float)
    if places.ndim != 1 or len(places) == 0:
        raise ValueError(f"x must be a list of at least one number, got shape {places.shape}")
    if not np.isfinite(places).all() or (np.diff(places) <= 0).any():
        raise ValueError("x must be finite and ascending")
    return places


def _range(values: np.ndarray) -> tuple[float, float]:
    """Range of the axis: all values, and zero where it is not far off."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    span = high - low
    if low > 0 and low < span:
        low = 0.0
    if high < 0 and -high < span:
        high = 0.0
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        reach = abs(low) / 2 or 1.0
        return low - reach, high + reach
    return low, high


def _ticks(low: float, high: float, *, most: int, within: bool = False) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) round a range, or within it."""
    span = (high - low) or 1.0
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(factor for factor in (1, 2, 5, 10, 20) if span / (step * factor) <= most)
    slack = 1e-9
    if within:
        first, last = math.ceil(low / step - slack), math.floor(high / step + slack)
    else:
        first, last = math.floor(low / step + slack), math.ceil(high / step - slack)
    return [i * step for i in range(first, last + 1)]


def _number(value: float, ticks: list[float]) -> str:
    """With as many decimals as the distance between ticks asks for."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else abs(value) or 1.0
    if max(abs(t) for t in ticks) >= 1e6 or step < 1e-4:
        return f"{value:.3g}"
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:.{decimals}f}"


def _horizontal_axis(box: _Box, ticks: list[float], label: str) -> list[str]:
    parts = [_line(box.left, box.bottom, WIDTH - RIGHT, box.bottom, "axis")]
    for tick in ticks:
        at = box.x(tick)
        parts.append(_line(at, box.bottom, at, box.bottom + 4, "axis"))
        parts.append(_text(at, box.bottom + 16, _number(tick, ticks), anchor="middle"))
    middle = (box.left + WIDTH - RIGHT) / 2
    parts.append(_text(middle, box.bottom + 32, label, anchor="middle", soft=True))
    return parts


def _thin(x: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST_POINTS` points, peaks kept."""
    if len(x) <= MOST_POINTS:
        return x, values
    edges = np.linspace(0, len(x), MOST_POINTS // 2 + 1).astype(int)
    chosen: list[int] = []
    for a, b in itertools.pairwise(edges):
        stretch = values[a:b]
        if np.isfinite(stretch).all():
            chosen += sorted({a + int(stretch.argmin()), a + int(stretch.argmax())})
        else:
            chosen += range(a, b)
    return x[chosen], values[chosen]


def _polylines(box: _Box, x: np.ndarray, values: np.ndarray) -> str:
    good = np.isfinite(values)
    made = []
    for a, b in _runs(good):
        points = " ".join(f"{box.x(x[i]):.1f},{box.y(values[i]):.1f}" for i in range(a, b))
        if b - a == 1:
            at = f'cx="{box.x(x[a]):.1f}" cy="{box.y(values[a]):.1f}"'
            made.append(f'<circle {at} r="1.2"/>')
        else:
            made.append(f'<polyline points="{points}"/>')
    return "".join(made)


def _runs(values: np.ndarray) -> list[tuple[int, int]]:
    """Beginnings and ends of the stretches that are true."""
    padded = np.concatenate(([False], values, [False])).astype(np.int8)
    change = np.diff(padded)
    begins, ends = (change == 1).nonzero()[0].tolist(), (change == -1).nonzero()[0].tolist()
    return list(zip(begins, ends, strict=True))


def _stroke(index: int) -> str:
    dash = DASHES[index // len(COLOURS) % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'class="s{index % len(COLOURS)}" '
        f'stroke="{COLOURS[index % len(COLOURS)]}" stroke-width="1.6" '
        f'stroke-linejoin="round"{dashed}'
    )


def _line(x0: float, y0: float, x1: float, y1: float, kind: str) -> str:
    colour = {"axis": "#888", "grid": "#e2e2e2"}[kind]
    return (
        f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" stroke="{colour}" '
        f'class="{kind}" stroke-width="1"/>'
    )


def _title(title: str, unit: str) -> str:
    behind = f'<tspan dx="8" font-weight="400" fill="#555" class="soft">{escape(unit)}</tspan>'
    return (
        f'<text x="0" y="15" font-size="13" font-weight="600" fill="#222">{escape(title)}'
        f"{behind if unit else ''}</text>"
    )


def _text(x: float, y: float, text: str, *, anchor: str = "start", soft: bool = False) -> str:
    colour = 'fill="#555" class="soft"' if soft else 'fill="#222"'
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" {colour}>'
        f"{escape(text)}</text>"
    )


def _svg(height: float, title: str, parts: list[str], time: _Box | None) -> str:
    axis = ""
    if time is not None:
        ends = (time.first, time.last, time.left, WIDTH - RIGHT, time.top, time.bottom)
        axis = f'data-axis="{" ".join(f"{v:.6g}" for v in ends)}" '
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:.0f} {height:.0f}" '
        f'width="100%" {axis}role="img" aria-label="{escape(title, quote=True)}" '
        'font-family="system-ui, Helvetica, Arial, sans-serif">'
        f'<rect width="100%" height="100%" fill="#fff" class="back"/>{"".join(parts)}</svg>'
    )
