"""The inside of a mesh on a grid: what is solid, how deep, and spheres that fill it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from akd.rig.autorig.frame import surface_samples
from akd.rig.skinning.surface_repair import weld
from akd.rig.skinning.visibility import Inside

_RESOLUTION = 72
"""Cells along the longest side of a body."""
_MOST_SPHERES = 600


@dataclass(frozen=True)
class Solid:
    """Cells of a body, symmetric about x = 0, in the axes of a `BodyFrame`; metres."""

    filled: Bool[np.ndarray, "X Y Z"]
    origin: Float[np.ndarray, "3"]
    """Centre of the first cell. The plane x = 0 lies between two cells."""
    cell: float

    def centres(self, places: Int[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """Where cells are."""
        return self.origin + self.cell * places

    def place(self, points: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, "N 3"]:
        """The cells that points are in, clipped to the grid."""
        index = np.rint((points - self.origin) / self.cell).astype(np.int64)
        return index.clip(0, np.array(self.filled.shape) - 1)

    @cached_property
    def depth(self) -> Float[np.ndarray, "X Y Z"]:
        """Distance from each cell to the nearest outside, metres."""
        depth = ndimage.distance_transform_edt(np.pad(self.filled, 1))
        return np.asarray(depth)[1:-1, 1:-1, 1:-1] * self.cell

    def extent(self, axis: int) -> float:
        """Extent along an axis, metres."""
        others = tuple({0, 1, 2} - {axis})
        layers = np.flatnonzero(self.filled.any(axis=others))
        return float((layers[-1] - layers[0] + 1) * self.cell)

    @property
    def height(self) -> float:
        """Extent along y, metres."""
        return self.extent(1)


def fill(vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> Solid:
    """The solid inside a mesh given in the axes of its `BodyFrame`.

    Cells are those that lie inside; with them the cells that the surface passes through, which thin
    parts consist of. The result is mirrored in x = 0, and only its largest piece is kept.
    """
    mesh = weld(vertices, faces)
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    cell = float((high - low).max()) / _RESOLUTION
    half = int(np.ceil(max(abs(low[0]), abs(high[0])) / cell)) + 1
    counts = np.ceil((high - low) / cell).astype(int) + 3
    origin = np.array([-(half - 0.5) * cell, low[1] + 0.5 * cell, low[2] - 0.5 * cell])
    shape = (2 * half, int(counts[1]), int(counts[2]))
    grid = np.moveaxis(np.indices(shape), 0, -1).reshape(-1, 3)
    inside = Inside(mesh.vertices, mesh.faces).depth(origin + cell * grid) >= 1
    filled = inside.reshape(shape)
    shell = np.zeros(shape, dtype=bool)
    area_points = surface_samples(mesh.vertices, mesh.faces, 40_000)
    index = np.rint((area_points - origin) / cell).astype(int).clip(0, np.array(shape) - 1)
    shell[tuple(index.T)] = True
    filled = np.asarray(ndimage.binary_fill_holes(filled | shell))
    filled = filled | filled[::-1]
    labels, count = ndimage.label(filled, structure=np.ones((3, 3, 3)))  # pyright: ignore[reportGeneralTypeIssues]
    if count > 1:
        sizes = np.bincount(labels.ravel())
        sizes[0] = 0
        filled = labels == sizes.argmax()
    return Solid(filled, origin, cell)


@dataclass(frozen=True)
class MedialGraph:
    """Spheres that fill a solid, and the ways between them through the inside."""

    centres: Float[np.ndarray, "N 3"]
    radii: Float[np.ndarray, "N"]
    lengths: Float[np.ndarray, "N N"]
    """Shortest way between spheres along the graph, metres; inf where there is none."""
    before: Int[np.ndarray, "N N"]
    """Predecessors on those ways."""

    def way(self, start: int, end: int) -> list[int]:
        """Spheres from one to another, both included."""
        path = [end]
        while path[-1] != start and self.before[start, path[-1]] >= 0:
            path.append(int(self.before[start, path[-1]]))
        return path[::-1]

    def nearest(self, point: Float[np.ndarray, "3"]) -> int:
        """The sphere whose surface is nearest to a point, measured from its centre."""
        return int((np.linalg.norm(self.centres - point, axis=1) - 0.3 * self.radii).argmin())

    @property
    def deepest(self) -> int:
        """The largest sphere."""
        return int(self.radii.argmax())

    def extremities(self, root: int, reach: float) -> list[int]:
        """Spheres further from the root than all others within `reach` along the graph."""
        far = np.where(np.isfinite(self.lengths[root]), self.lengths[root], -1.0)
        near = self.lengths <= reach
        return [i for i in range(len(far)) if far[i] > 0 and far[i] >= far[near[i]].max()]


def pack_spheres(solid: Solid) -> MedialGraph:
    """Fill the solid with spheres, the deepest first, none centred inside another.

    Two spheres are joined where they meet and the way between their centres stays inside.
    """
    places = np.argwhere(solid.filled)
    depth = solid.depth[tuple(places.T)]
    order = np.argsort(-depth, kind="stable")
    points = solid.centres(places)
    centres: list[np.ndarray] = []
    radii: list[float] = []
    covered = np.zeros(len(points), dtype=bool)
    for i in order:
        if covered[i]:
            continue
        if len(centres) == _MOST_SPHERES:
            break
        radius = max(float(depth[i]), solid.cell)
        centres.append(points[i])
        radii.append(radius)
        # A little more than the sphere: what is left between it and the skin needs no sphere.
        covered |= np.linalg.norm(points - points[i], axis=1) < 1.15 * radius + 0.5 * solid.cell
    middle, size = np.array(centres), np.array(radii)
    gaps = np.linalg.norm(middle[:, None] - middle[None], axis=-1)
    rows, columns = np.nonzero(
        np.triu(gaps < 1.15 * (size[:, None] + size[None]) + 2.0 * solid.cell, 1)
    )
    steps = np.linspace(0.0, 1.0, 9)[None, :, None]
    between = middle[rows][:, None] * (1 - steps) + middle[columns][:, None] * steps
    index = solid.place(between.reshape(-1, 3))
    is_inside = solid.filled[tuple(index.T)].reshape(len(rows), 9).all(axis=1)
    rows, columns = rows[is_inside], columns[is_inside]
    count = len(middle)
    weights = gaps[rows, columns]
    graph = coo_matrix((weights, (rows, columns)), shape=(count, count)).tocsr()
    lengths, before = dijkstra(graph, directed=False, return_predecessors=True)
    return MedialGraph(middle, size, lengths, before.astype(np.int64))
