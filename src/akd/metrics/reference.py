"""What true clips measure, by action, kind of action and number of legs: reads `reference.json`.

`benchmarks/score_reference.py` makes the table, from the training side of `splits.toml` alone.
"""

from __future__ import annotations

import json
import math
from functools import cache
from importlib import resources
from typing import Literal

from akd.motion.actions import ACTIONS

AT_MOST = ("roughness", "tilt", "seam", "skate")
"""Measures of which less is better: the table has their median and 90th percentile."""
ABOUT = ("foot_travel", "pace")
"""Measures with a natural value: the table has the median and the spread of their logarithm."""
_WIDTH = 2.0
"""A value this many times the 90th percentile, or this many spreads away, halves the part."""

_LEAST = {"roughness": 1.0, "tilt": 6.0, "seam": 1.2, "skate": 0.3, "foot_travel": 0.4, "pace": 0.5}
"""Widths are at least these: the clips of the table vary less than artists do."""


@cache
def _table() -> dict[str, dict[str, tuple[float, float]]]:
    text = resources.files("akd.metrics").joinpath("reference.json").read_text("utf-8")
    return {
        group: {name: (values[name][0], values[name][1]) for name in (*AT_MOST, *ABOUT)}
        for group, values in json.loads(text)["groups"].items()
    }


def reference_of(action: str | None, legs: int) -> dict[str, tuple[float, float]]:
    """The reference of an action and number of legs, else of all actions of its kind on as many
    legs, else of all of its kind, else of all gaits."""
    table, kind = _table(), kind_of(action)
    names = (f"{action}/{legs}", f"{kind}/{legs}", kind, "gait")
    return next(table[name] for name in names if name in table)


def reference_row(action: str, legs: int) -> dict[str, tuple[float, float]] | None:
    """The reference of this very action and number of legs; None where there are too few clips."""
    return _table().get(f"{action}/{legs}")


def kind_of(action: str | None) -> Literal["gait", "leap", "goes down", "in place"]:
    """The kind of action: actions of a kind stand in for one of which there are too few clips. What
    is no known action counts as a gait."""
    if action is None or ACTIONS[action].is_cyclic:
        return "gait"
    if ACTIONS[action].froude > 0.0:
        return "leap"
    return "goes down" if ACTIONS[action].goes_down else "in place"


def natural_parts(
    values: dict[str, float], reference: dict[str, tuple[float, float]]
) -> dict[str, float]:
    """How near values are to those of true clips: 1 at the median or better, falling to 0."""
    parts = {}
    for name, value in values.items():
        if name not in reference:
            continue
        middle, width = reference[name]
        width = max(width, _LEAST[name])
        if name in AT_MOST:
            limit = _WIDTH * width
            part = (1.0 + (middle / limit) ** 2) / (1.0 + (value / limit) ** 2)
        else:
            away = math.log(max(value, 1e-6) / middle) / (_WIDTH * width)
            part = 1.0 / (1.0 + away**2)
        parts[name] = min(1.0, part)
    return parts
