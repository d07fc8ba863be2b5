"""`Sole`: how a foot rolls over the ground without sliding or sinking in.

Seen from the side, the foot's vertices have a convex outline. While the foot pitches, that outline
rolls: each corner stays where it is until the next one comes down. This holds for the very vertices
of the mesh, so a planted foot is planted exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from akd.zoo.mesh.shapes import Array


@dataclass(frozen=True)
class Outline:
    """The lower side of a foot's convex outline, from heel to toe tip."""

    z: Array
    """Corners, forward of the toes' joint, metres."""
    y: Array
    """Corners, above the toes' joint (so negative), metres."""
    turn: Array
    """Pitch at which each edge lies flat, radians, increasing."""
    ground: Array
    """Where each corner comes down, forward of where the joint is when the foot lies flat."""

    @classmethod
    def around(cls, points: Array) -> Outline:
        """Outline of points [N, 2], (z, y) from the toes' joint, which lie flat at zero pitch."""
        z, y = _lower_hull(points)
        step_z, step_y = np.diff(z), np.diff(y)
        turn = np.arctan2(step_y, step_z)
        travel = np.concatenate(((0.0,), np.cumsum(np.hypot(step_z, step_y))))
        flat = int(np.searchsorted(turn, 0.0))
        return cls(z, y, turn, travel - travel[flat] + z[flat])

    def joint(self, pitch: Array) -> tuple[Array, Array]:
        """Where the toes' joint is at given pitches (radians, positive with the heel up): forward
        of its place when flat, and above the ground."""
        corner = np.searchsorted(self.turn, pitch)
        z, y = self.z[corner], self.y[corner]
        sine, cosine = np.sin(pitch), np.cos(pitch)
        return self.ground[corner] - (y * sine + z * cosine), -(y * cosine - z * sine)


@dataclass(frozen=True)
class Sole:
    """Outlines of the toes, which the foot rolls over when it leaves the ground, and of the whole
    foot, on which it comes down where the heel comes first."""

    toes: Outline
    whole: Outline

    def joint(self, pitch: Array) -> tuple[Array, Array]:
        """As `Outline.joint`: on the toes for positive pitch, on the heel for negative."""
        front, back = self.toes.joint(pitch), self.whole.joint(pitch)
        return np.where(pitch < 0.0, back[0], front[0]), np.where(pitch < 0.0, back[1], front[1])

    @property
    def length(self) -> float:
        """From the back of the flat sole to the tip of the toes, metres."""
        return float(np.ptp(self.whole.z))


def _lower_hull(points: Array) -> tuple[Array, Array]:
    """Corners of the lower convex hull, from the smallest z to the largest."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    hull: list[Array] = []
    for point in points[order]:
        while len(hull) >= 2 and _left_turn(hull[-2], hull[-1], point) <= 0.0:
            hull.pop()
        if hull and point[0] - hull[-1][0] < 1e-9:
            continue
        hull.append(point)
    corners = np.asarray(hull, float)
    return corners[:, 0], corners[:, 1]


def _left_turn(a: Array, b: Array, c: Array) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
