"""Metrics as rows of text, for pages and terminals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from akd.metrics.judge import demo_conditions
from akd.metrics.motion import MotionMetrics


def _each(values: Sequence[float], form: str) -> str:
    return " ".join(format(v, form) for v in values) if values else "no feet"


def _action(metrics: MotionMetrics) -> str:
    action = metrics.action
    if action is None:
        return "not looked at"
    asked = "" if action.probability is None else f"{action.asked} {action.probability:.2f}; "
    return f"{asked}looks like {action.said}"


_ROWS: tuple[tuple[str, Callable[[MotionMetrics], str]], ...] = (
    ("verdict", lambda m: m.verdict),
    ("score, 0 to 1", lambda m: f"{m.score:.2f}"),
    ("action by recogniser B", _action),
    ("travel, leg lengths", lambda m: f"{m.travel:.2f}"),
    ("speed, m/s", lambda m: f"{m.speed:.2f}"),
    ("feet swing, leg lengths", lambda m: f"{m.foot_travel:.2f}"),
    ("each foot on the ground, of the time", lambda m: _each(m.contact, ".0%")),
    ("skate while on it, of body speed", lambda m: _each(m.skate, ".0%")),
    ("left/right correlation, pair by pair", lambda m: _each(m.alternation, ".2f")),
    ("deepest under the ground, of height", lambda m: f"{m.penetration:.2%}"),
    ("float, of height", lambda m: f"{m.float_:.2%}"),
    ("root leans, degrees", lambda m: f"{m.tilt:.1f}"),
    ("roughness, g", lambda m: f"{m.roughness:.2f}"),
    ("loop gap, of height", lambda m: f"{m.loop_gap:.2%}"),
    ("limbs stretch, of height", lambda m: f"{m.limb_stretch:.2%}"),
    ("surface changes shape, of edges", lambda m: f"{m.shape_change:.2%}"),
    ("conditions of a demo that fail", lambda m: "; ".join(demo_conditions(m)) or "none"),
)


def metric_rows(metrics: Mapping[str, MotionMetrics]) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table: one metric a row, one motion a column."""
    head = ["", *metrics]
    return head, [[name, *(show(m) for m in metrics.values())] for name, show in _ROWS]
