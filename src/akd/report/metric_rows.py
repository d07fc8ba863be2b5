"""Metrics as the rows of a page's table: what was measured, and what a walk should have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from akd.metrics.action import ActionScore
from akd.metrics.limits import ALTERNATION, CONTACT, DEPTH, FOOT_TRAVEL, SKATE, TRAVEL
from akd.metrics.motion_metrics import MotionMetrics
from akd.metrics.reference import reference_of
from akd.report.page import Row


@dataclass(frozen=True)
class _Metric:
    name: str
    show: Callable[[MotionMetrics], str]
    wanted: str | Callable[[MotionMetrics], str] = ""
    """What it should be; of the last motion where that depends on the action."""
    holds: Callable[[MotionMetrics], bool] | None = None
    applies: Callable[[MotionMetrics], bool] = lambda _: True
    measure: str = ""
    """Its name in the reference table, where that has the median of true clips."""
    known: Callable[[MotionMetrics], bool] = lambda _: True
    """A metric that is known of no motion has no row."""

    def row(
        self, metrics: Sequence[MotionMetrics], reference: Mapping[str, tuple[float, float]]
    ) -> Row:
        wanted = self.wanted if isinstance(self.wanted, str) else self.wanted(metrics[-1])
        marks = []
        if self.measure:
            wanted = f"true clips: {reference[self.measure][0]:.2f}"
        if self.holds is not None:
            holds = {True: "good", False: "bad"}
            marks = [holds[self.holds(m)] if self.applies(m) else "" for m in metrics]
            wanted = wanted if any(marks) else ""  # a wave need not travel
        return Row(self.name, [self.show(m) for m in metrics], marks, wanted)


_SPACE, _MINUS = "\u00a0", "\u2212"


def _each(values: Sequence[float], form: str) -> str:
    return f"{_SPACE}· ".join(format(v, form) for v in values).replace("-", _MINUS) or "no feet"


def _each_percent(values: Sequence[float]) -> str:
    return _each([100 * v for v in values], ".0f") + (f"{_SPACE}%" if values else "")


def _percent(value: float, decimals: int = 1) -> str:
    return f"{100 * value:.{decimals}f}{_SPACE}%"


def _seam(value: float) -> str:
    """A motion that stands still has no usual steps."""
    return f"{value:.2f}" if math.isfinite(value) else "none"


def _action(action: ActionScore | None) -> str:
    if action is None:
        return "not evaluated"
    asked = "" if action.probability is None else f"{action.asked} {action.probability:.2f}; "
    return f"{asked}looks like {action.said}"


def _must_travel(metrics: MotionMetrics) -> bool:
    return metrics.must_travel


_PARTS: dict[str, tuple[_Metric, ...]] = {
    "": (
        _Metric("score, 0 to 1", lambda m: f"{m.score:.2f}"),
        _Metric(
            "action by recogniser B", lambda m: _action(m.action),
            known=lambda m: m.action is not None,
        ),
        _Metric(
            "action by recogniser C", lambda m: _action(m.action_c),
            known=lambda m: m.action_c is not None,
        ),
    ),
    "body": (
        _Metric(
            "travel, leg lengths", lambda m: f"{m.travel:.2f}", f"at least {TRAVEL:g}",
            lambda m: m.travel >= TRAVEL, _must_travel,
        ),
        _Metric("speed, m/s", lambda m: f"{m.speed:.2f}"),
        _Metric("speed / √(g · leg length)", lambda m: f"{m.pace:.2f}", measure="pace"),
        _Metric("length of the clip, s", lambda m: f"{m.duration:.2f}"),
        _Metric(
            "lean of the root, degrees", lambda m: f"{m.tilt:.1f}",
            lambda m: f"below {m.lean_limit:.0f}",
            lambda m: m.tilt < m.lean_limit, lambda m: not m.goes_down,
        ),
        _Metric(
            "deepest penetration, of height", lambda m: _percent(m.penetration, 2),
            f"at most {_percent(DEPTH, 0)}", lambda m: m.penetration <= DEPTH,
        ),
        _Metric("roughness, g", lambda m: f"{m.roughness:.2f}", measure="roughness"),
        _Metric("seam, of usual steps", lambda m: _seam(m.seam), measure="seam"),
        _Metric("loop gap, of height", lambda m: _percent(m.loop_gap)),
        _Metric("limb stretch, of height", lambda m: _percent(m.limb_stretch, 2)),
        _Metric("shape change, of edge lengths", lambda m: _percent(m.shape_change)),
    ),
    "feet": (
        _Metric(
            "feet swing, leg lengths", lambda m: f"{m.foot_travel:.2f}",
            f"at least {FOOT_TRAVEL:g}", lambda m: m.foot_travel >= FOOT_TRAVEL,
            _must_travel,
        ),
        _Metric(
            "contact of each foot, of the time", lambda m: _each_percent(m.contact),
            f"at least {_percent(CONTACT, 0)}",
            lambda m: bool(m.contact) and min(m.contact) >= CONTACT, _must_travel,
        ),
        _Metric(
            "skate of each foot, of body speed", lambda m: _each_percent(m.skate),
            f"at most {_percent(SKATE, 0)}",
            lambda m: bool(m.skate) and max(m.skate) <= SKATE, _must_travel,
        ),
        _Metric(
            "left/right correlation of each leg pair", lambda m: _each(m.alternation, ".2f"),
            f"at most {ALTERNATION:g}".replace("-", _MINUS),
            lambda m: bool(m.alternation) and max(m.alternation) <= ALTERNATION,
            lambda m: m.must_alternate,
        ),
        _Metric("clearance of the lowest foot, of height", lambda m: _percent(m.float_, 2)),
    ),
}  # fmt: skip


def metric_rows(metrics: Mapping[str, MotionMetrics]) -> dict[str, list[Row]]:
    """Rows by the part of the table they belong to; one metric a row, one motion a cell.

    What `demo_conditions` bounds is marked `good` or `bad`. True clips are those of the last
    motion's action and number of legs.
    """
    found = list(metrics.values())
    reference = reference_of(found[-1].asked, len(found[-1].contact))
    return {
        part: [m.row(found, reference) for m in rows if any(map(m.known, found))]
        for part, rows in _PARTS.items()
    }
