"""Which way a bare mesh is symmetric: the axes that its skeleton is laid out in."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from akd.math.triangles import double_areas

_SAMPLES = 1500
_AXES_FIRST = 0.9
"""A plane across a coordinate axis wins unless another is better than this fraction."""


@dataclass(frozen=True)
class BodyFrame:
    """Axes of the body: its plane of symmetry is x = 0, up is y, the ground y = 0, and z is along
    the body, either way round."""

    lateral: Float[np.ndarray, "3"]
    """Horizontal unit vector, in the mesh's own axes."""
    offset: float
    ground: float
    asymmetry: float
    """Mean distance from a mirrored point to the surface, in sizes of the body."""

    @property
    def along(self) -> Float[np.ndarray, "3"]:
        """Horizontal unit vector across `lateral`: x to the left of z."""
        return np.cross(self.lateral, (0.0, 1.0, 0.0))

    def into(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """From the mesh's axes to the body's."""
        return np.stack(
            (
                points @ self.lateral - self.offset,
                points[:, 1] - self.ground,
                points @ self.along,
            ),
            axis=1,
        )

    def out(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """From the body's axes to the mesh's."""
        return (
            (points[:, :1] + self.offset) * self.lateral
            + points[:, 2:] * self.along
            + (points[:, 1:2] + self.ground) * np.array((0.0, 1.0, 0.0))
        )


def find_frame(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> BodyFrame:
    """The vertical plane that the mesh mirrors itself in best."""
    points = surface_samples(vertices, faces, _SAMPLES)
    size = float(np.linalg.norm(np.ptp(vertices, axis=0))) or 1.0
    tree = KDTree(surface_samples(vertices, faces, 4 * _SAMPLES))
    best: tuple[float, float, np.ndarray, float] | None = None
    for degrees in (0, 90, *(a for a in range(15, 180, 15) if a != 90)):
        angle = math.radians(degrees)
        lateral = np.array([math.cos(angle), 0.0, math.sin(angle)])
        lateral[np.abs(lateral) < 1e-12] = 0.0
        across = points @ lateral
        middle = 0.5 * float((vertices @ lateral).min() + (vertices @ lateral).max())
        for offset in (middle, float(across.mean())):
            mirrored = points - 2.0 * (across - offset)[:, None] * lateral
            error = float(tree.query(mirrored)[0].mean()) / size
            # Of two planes that are as good, the one along the body is meant.
            narrow = float(np.ptp(vertices @ lateral)) / size
            judged = error * (_AXES_FIRST if degrees in (0, 90) else 1.0) * (1.0 + 0.2 * narrow)
            if best is None or judged < best[0] - 1e-9:
                best = (judged, error, lateral, offset)
    assert best is not None
    return BodyFrame(best[2], best[3], float(vertices[:, 1].min()), best[1])


def surface_samples(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], count: int
) -> Float[np.ndarray, "N 3"]:
    """Points spread over the surface by area, the same ones every time."""
    corners = vertices[faces]
    areas = double_areas(vertices, faces)
    rng = np.random.default_rng(0)
    chosen = rng.choice(len(faces), size=count, p=areas / areas.sum())
    u = rng.dirichlet((1.0, 1.0, 1.0), size=count)
    return (corners[chosen] * u[:, :, None]).sum(axis=1)
