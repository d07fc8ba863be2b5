"""Legs from the ground up: where a body stands, and the line along the middle of each leg."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage

from akd.rig.autorig.solid import Solid

_SOLE = 0.05
"""What is lower than this fraction of the body's height stands on the ground."""
_TOES = 0.03
"""Places nearer than this fraction of the height to each other are one foot."""
_WIDER = 4.0
"""A leg ends where its section is this much larger than at its thinnest."""


@dataclass(frozen=True)
class Leg:
    """A leg of the left half, from its sole to where it joins the body; the axes of the frame."""

    line: Float[np.ndarray, "L 3"]
    """Middle of its section, one layer of cells after another, from the ground up."""
    sole: Float[np.ndarray, "3"]
    """Middle of what stands on the ground."""
    span: tuple[float, float]
    """Least and greatest z of the sole."""

    @property
    def top(self) -> float:
        """Height of where it joins the body."""
        return float(self.line[-1, 1])

    def at(self, height: float) -> Float[np.ndarray, "3"]:
        """The middle of the leg at a height; above its top, straight on from there."""
        line = self.line
        x = np.interp(height, line[:, 1], line[:, 0])
        z = np.interp(height, line[:, 1], line[:, 2])
        return np.array([x, height, z])


def find_legs(solid: Solid) -> list[Leg]:
    """Legs of the left half, by their place along the body from the lowest z on."""
    half = solid.filled.shape[0] // 2
    left = solid.filled[half:]
    layers = max(2, round(_SOLE * solid.height / solid.cell))
    ground = int(np.flatnonzero(solid.filled.any(axis=(0, 2)))[0])
    standing = left[:, ground : ground + layers].any(axis=1)
    spread = max(1, round(0.5 * _TOES * solid.height / solid.cell))
    joined = ndimage.binary_dilation(standing, iterations=spread)
    labels, count = ndimage.label(joined, structure=np.ones((3, 3)))  # pyright: ignore[reportGeneralTypeIssues]
    soles = [standing & (labels == i + 1) for i in range(count)]
    legs = []
    for i, sole in enumerate(soles):
        others = np.any([s for k, s in enumerate(soles) if k != i] or [np.zeros_like(sole)], axis=0)
        leg = _trace(solid, left, sole, others, ground)
        if leg is not None:
            legs.append(leg)
    return sorted(legs, key=lambda leg: float(leg.sole[2]))


def _trace(
    solid: Solid,
    left: Bool[np.ndarray, "X Y Z"],
    sole: Bool[np.ndarray, "X Z"],
    others: Bool[np.ndarray, "X Z"],
    ground: int,
) -> Leg | None:
    """Follow a leg upwards through layers until it is part of something larger."""
    half = solid.filled.shape[0] // 2
    current, rest = sole, others
    line, areas, in_middle = [], [], []
    for layer in range(ground, left.shape[1]):
        labels, _ = ndimage.label(left[:, layer])  # pyright: ignore[reportGeneralTypeIssues]
        touched = np.unique(labels[current & (labels > 0)])
        touched = touched[touched > 0]
        if not len(touched):
            break
        section = np.isin(labels, touched)
        beside = np.isin(labels, np.unique(labels[rest & (labels > 0)])) & (labels > 0)
        area = int(section.sum())
        climbed = (layer - ground) * solid.cell / solid.height
        is_merged = bool((section & beside).any()) and climbed > _SOLE
        is_wide = climbed > 2 * _SOLE and area > _WIDER * min(areas)
        reaches_middle = bool(section[0].any()) and climbed > 3 * _SOLE
        if is_merged or is_wide or (reaches_middle and area > 1.3 * min(areas)):
            break
        x, z = np.nonzero(section)
        middle = np.array([x.mean() + half, layer, z.mean()])
        line.append(solid.origin + solid.cell * middle)
        areas.append(area)
        chords = section.sum(axis=1)
        in_middle.append(bool(chords[0] >= 0.9 * chords.max()))
        current, rest = section, beside if beside.any() else rest
    if np.argwhere(sole)[:, 0].mean() < 1.5 or np.mean(in_middle or [True]) > 0.6:
        return None  # a trunk, a tail or a belly: it stands in the middle
    if len(line) < 3 or (len(line) * solid.cell) < 0.08 * solid.height:
        return None
    x, z = np.nonzero(sole)
    flat = solid.origin + solid.cell * np.array([x.mean() + half, ground, z.mean()])
    along = solid.origin[2] + solid.cell * np.array([z.min(), z.max()])
    return Leg(np.array(line), flat, (float(along[0]), float(along[1])))
