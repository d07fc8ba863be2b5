"""Where joints are expected, given a body's measures: what was learned from bodies with a skeleton.

A template's rules put joints near to where they belong. What is left follows from the shape of the
body in part: a linear model of a few measures, fitted by ridge regression to creatures of the zoo's
training side and to artists' rigs, says what, and how far joints still are from there. The numbers
are in `expectation.json`, written by `benchmarks/autorig_expectation.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import Float

from akd.rig.autorig.fitted import Fitted
from akd.rig.autorig.templates import Placed

_FURTHEST = 2.0
"""Measures count as no further from the mean than this, in spreads: bodies unlike any that was
learned from are not extrapolated to."""


@dataclass(frozen=True)
class Expectation:
    """A linear model of one template's joints."""

    mean: Float[np.ndarray, "M"]
    """Of the measures, in heights."""
    spread: Float[np.ndarray, "M"]
    slopes: dict[str, Float[np.ndarray, "1+M 3"]]
    """Of the joints' offsets, in heights; the first row is the mean offset."""
    left_over: dict[str, Float[np.ndarray, "3"]]
    """How far joints are from where they are expected, in heights."""

    def features(self, measures: Float[np.ndarray, "M"]) -> Float[np.ndarray, "1+M"]:
        """One, and the measures in spreads from their mean."""
        scaled = (measures - self.mean) / self.spread
        return np.concatenate(([1.0], scaled.clip(-_FURTHEST, _FURTHEST)))


def measure(fitted: Fitted) -> Float[np.ndarray, "M"]:
    """Measures of a body that its template's joints depend on, in heights."""
    assert fitted.embedding is not None
    by_plan = {"quadruped": _of_quadruped, "biped": _of_biped, "theropod": _of_theropod}
    values = by_plan[fitted.embedding.plan.name](fitted)
    return np.nan_to_num(np.array(values)) / fitted.marks.height


def expect(
    placed: list[Placed], fitted: Fitted
) -> tuple[list[Placed], dict[str, Float[np.ndarray, "3"]]]:
    """Joints where they are expected in this body, and how far off they may be, in heights."""
    assert fitted.embedding is not None
    model = expectations().get(fitted.embedding.plan.name)
    if model is None:
        return placed, {}
    features, height = model.features(measure(fitted)), fitted.marks.height
    moved = []
    for joint in placed:
        slopes = model.slopes.get(joint.name)
        offset = np.zeros(3) if slopes is None else features @ slopes * height
        if not joint.name.startswith("left_"):
            offset[0] = 0.0
        moved.append(Placed(joint.name, joint.parent, joint.position + offset))
    return moved, model.left_over


@cache
def expectations() -> dict[str, Expectation]:
    """The bundled models, by template."""
    text = files("akd.rig.autorig").joinpath("expectation.json").read_text("utf-8")
    return {
        plan: Expectation(
            np.array(given["mean"]),
            np.array(given["spread"]),
            {name: np.array(joint["slopes"]) for name, joint in given["joints"].items()},
            {name: np.array(joint["left_over"]) for name, joint in given["joints"].items()},
        )
        for plan, given in json.loads(text).items()
    }


def _of_quadruped(fitted: Fitted) -> list[float]:
    """Belly and back over both pairs of feet and between them, legs, head, tail, neck, girth."""
    marks, fore, hind = fitted.marks, fitted.leg("fore_foot"), fitted.leg("hind_foot")
    front, back = float(fore.sole[2]), float(hind.sole[2])
    around = 0.6 * marks.height
    values: list[float] = []
    for leg in (fore, hind):
        column = marks.column(float(leg.sole[2]), around=around)
        values += [*column, leg.top, float(leg.line[-1, 0])]
    values += marks.column(0.5 * (front + back), around=around)
    head, tail = marks.head_end(front), marks.tail_end(back)
    values += [front - back, float(head[1]), float(head[2]) - front]
    values += [0.0 if tail is None else back - float(tail[2])]
    values += marks.column(front + 0.3 * (float(head[2]) - front))
    return [*values, float(marks.graph.radii.max())]


def _of_biped(fitted: Fitted) -> list[float]:
    """Crotch, neck, girth, hips, shoulders, chest, and where the hand is held."""
    marks, hand = fitted.marks, fitted.end("hand")
    neck = marks.neck()
    values = [marks.crotch(), neck, float(marks.graph.radii.max())]
    values += [float(fitted.leg("foot").line[-1, 0]), marks.width(0.99 * neck)]
    values += [marks.chest_width(neck)]
    return [*values, *((0.0, 0.0) if hand is None else (float(hand[0]), float(hand[1])))]


def _of_theropod(fitted: Fitted) -> list[float]:
    """Belly and back over the legs, legs, head, tail and girth."""
    marks, leg = fitted.marks, fitted.leg("foot")
    z = float(leg.line[-1, 2])
    head, tail = marks.head_end(z + 0.1 * marks.height), marks.tail_end(z)
    values = [*marks.column(z), leg.top, float(leg.line[-1, 0]), float(leg.sole[2]) - z]
    values += [float(head[1]), float(head[2]) - z, 0.0 if tail is None else z - float(tail[2])]
    return [*values, float(marks.graph.radii.max())]
