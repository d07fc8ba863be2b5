"""What a template is fitted to: legs, crotch, neck, ends of head, tail and arms, and which way is
forward. Everything in the axes of the body's frame, turned so that it faces +z; metres."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from akd.rig.autorig.legs import Leg, find_legs
from akd.rig.autorig.solid import MedialGraph, Solid, pack_spheres

_MIDDLE = 0.04
"""Half the width of what counts as the middle of the body, in heights."""
_SHOULDERS = 1.6
"""Shoulders are this much wider than a head."""


@dataclass(frozen=True)
class Landmarks:
    """Measurements of a body that faces +z."""

    solid: Solid
    graph: MedialGraph
    legs: tuple[Leg, ...]
    """Of the left half, from the front backwards."""

    @property
    def height(self) -> float:
        """Extent along y, metres."""
        return self.solid.height

    def turned(self) -> Landmarks:
        """The same body, facing the other way."""
        solid = turned_round(self.solid)
        graph = replace(self.graph, centres=self.graph.centres * [-1.0, 1.0, -1.0])
        return Landmarks(solid, graph, _from_the_front(find_legs(solid)))

    def middle(self) -> Float[np.ndarray, "N 3"]:
        """Cells of the middle of the body."""
        points = self.solid.centres(np.argwhere(self.solid.filled))
        return points[np.abs(points[:, 0]) < max(_MIDDLE * self.height, 1.1 * self.solid.cell)]

    def column(self, z: float, *, around: float | None = None) -> tuple[float, float]:
        """Lowest and highest y of the body's middle at a place along it; of several pieces the
        tallest, or the one nearest to the height `around`."""
        half = self.solid.filled.shape[0] // 2
        layer = self.solid.place(np.array([[0.0, 0.0, z]]))[0, 2]
        filled = self.solid.filled[half, :, layer]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], filled.astype(int), [0]))))
        if not len(edges):
            return (np.nan, np.nan)
        runs = edges.reshape(-1, 2)
        if around is None:
            low, high = runs[np.argmax(runs[:, 1] - runs[:, 0])]
        else:
            place = (around - self.solid.origin[1]) / self.solid.cell
            low, high = runs[np.argmin(np.abs(runs.mean(axis=1) - place))]
        base = self.solid.origin[1] - 0.5 * self.solid.cell
        return float(base + low * self.solid.cell), float(base + high * self.solid.cell)

    def width(self, y: float) -> float:
        """Half the width of the piece around the middle at a height."""
        return float(len(self._around_middle(y)) * self.solid.cell)

    def _around_middle(self, y: float) -> Bool[np.ndarray, "X Z"]:
        """Cells of the left half of the piece around the middle at a height."""
        half = self.solid.filled.shape[0] // 2
        layer = self.solid.place(np.array([[0.0, y, 0.0]]))[0, 1]
        across = self.solid.filled[half:, layer]
        gap = np.flatnonzero(~across.any(axis=1))
        return across[: gap[0]] if len(gap) else across

    def crotch(self) -> float:
        """Lowest height at which the middle of the body is more than legs that touch."""
        half = self.solid.filled.shape[0] // 2
        runs = self.solid.filled[half].sum(axis=1).astype(float)
        layers = np.arange(len(runs)) * self.solid.cell / self.height
        of_trunk = (layers > 0.5) & (layers < 0.75)
        if not of_trunk.any():
            return 0.45 * self.height  # too few layers to see a crotch
        trunk = float(np.median(runs[of_trunk]))
        thin = np.flatnonzero((runs < 0.6 * trunk) & (layers < 0.6))
        return float((thin[-1] + 1 if len(thin) else 0) * self.solid.cell)

    def section(self, y: float) -> float:
        """Area of the piece around the middle at a height, arms that hang beside it left out."""
        return float(self._around_middle(y).sum() * self.solid.cell**2)

    def neck(self) -> float:
        """Height of the base of the neck: where shoulders begin, coming down from the crown. A head
        that no shoulders are wider than ends where the body is thinnest below it."""
        heights = np.arange(self.height, 0.5 * self.height, -self.solid.cell)
        widths = np.array([self.width(y) for y in heights])
        head = float(widths[heights > 0.88 * self.height].max())
        shoulders = np.flatnonzero((widths > _SHOULDERS * head) & (heights < 0.9 * self.height))
        if len(shoulders):
            return float(heights[shoulders[0]])
        areas = np.array([self.section(y) for y in heights])
        widest, best = 0.0, -1
        for i, area in enumerate(areas):
            if best < 0:
                widest = max(widest, float(area))
                if area < 0.72 * widest and heights[i] < 0.97 * self.height:
                    best = i
            elif area < areas[best]:
                best = i
            elif area > 1.5 * areas[best]:
                break
        return float(heights[best]) if best >= 0 else 0.82 * self.height

    def chest_width(self, neck: float) -> float:
        """Half the width of the trunk below the arms: where, coming down from the neck, arms part
        from it. Most of the width below the neck where they never do."""
        heights = np.arange(neck - self.solid.cell, 0.45 * self.height, -self.solid.cell)
        widest = 0.0
        for y in heights:
            width = self.width(float(y))
            if width < 0.72 * widest:
                return width
            widest = max(widest, width)
        return 0.65 * self.width(neck - 0.03 * self.height)

    def head_end(self, behind: float) -> Float[np.ndarray, "3"]:
        """The furthest place forwards and up, ahead of a place along the body."""
        points = self.middle()
        ahead = points[points[:, 2] > behind]
        points = ahead if len(ahead) else points
        best = points[(points[:, 2] + 0.35 * points[:, 1]).argmax()]
        return np.array([0.0, best[1], best[2]])

    def tail_end(self, before: float) -> Float[np.ndarray, "3"] | None:
        """The furthest place back, where it is clear of the body."""
        points = self.middle()
        best = points[points[:, 2].argmin()]
        if before - best[2] < 0.15 * self.height:
            return None
        return np.array([0.0, best[1], best[2]])

    def line(
        self, start: Float[np.ndarray, "3"], end: Float[np.ndarray, "3"]
    ) -> Float[np.ndarray, "N 3"]:
        """A way through the inside between two places, smoothed."""
        way = self.graph.way(self.graph.nearest(start), self.graph.nearest(end))
        points = np.concatenate(([start], self.graph.centres[way], [end]))
        for _ in range(3):
            points[1:-1] = 0.25 * points[:-2] + 0.5 * points[1:-1] + 0.25 * points[2:]
        return points


def along_line(line: Float[np.ndarray, "N 3"], share: float) -> Float[np.ndarray, "3"]:
    """The place at a fraction of a line's length."""
    steps = np.linalg.norm(np.diff(line, axis=0), axis=1)
    total = np.concatenate(([0.0], np.cumsum(steps)))
    return np.array([np.interp(share * total[-1], total, line[:, i]) for i in range(3)])


def find_landmarks(solid: Solid) -> tuple[Landmarks, float]:
    """Measure a solid, turned to face +z; and by how much forward was certain: negative where the
    solid had to be turned round."""
    legs = find_legs(solid)
    vote = _forward_vote(solid, legs)
    marks = Landmarks(solid, pack_spheres(solid), _from_the_front(legs))
    return (marks if vote >= 0 else marks.turned()), vote


def turned_round(solid: Solid) -> Solid:
    """A solid seen from behind: x and z the other way."""
    far = solid.origin + solid.cell * (np.array(solid.filled.shape) - 1)
    origin = np.array([-far[0], solid.origin[1], -far[2]])
    return Solid(solid.filled[::-1, :, ::-1], origin, solid.cell)


def _from_the_front(legs: list[Leg]) -> tuple[Leg, ...]:
    return tuple(sorted(legs, key=lambda leg: -float(leg.sole[2])))


def _forward_vote(solid: Solid, legs: list[Leg]) -> float:
    """Above zero where the body faces +z: toes point forwards, and a head is held above a tail."""
    height = solid.height
    toes = 0.0
    for leg in legs:
        shank = leg.at(min(0.12 * height, 0.5 * leg.top))
        front, back = leg.span[1] - shank[2], shank[2] - leg.span[0]
        toes += (front - back) / (0.08 * height)
    ends = 0.0
    if len(legs) != 1 or solid.extent(2) > 0.5 * height:
        points = solid.centres(np.argwhere(solid.filled))
        tops = []
        for sign in (1.0, -1.0):
            z = points[:, 2] * sign
            edge = np.quantile(z, 0.93)
            tops.append(float(np.quantile(points[z >= edge, 1], 0.9)))
        ends = 4.0 * (tops[0] - tops[1]) / height
    return float(np.clip(toes / max(len(legs), 1), -1.5, 1.5)) + ends
