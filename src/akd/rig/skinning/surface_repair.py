"""A mesh as the solvers want it: one vertex a place, no faces without area, faces look outwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from akd.math.triangles import connected_pieces, double_areas

_SAME_PLACE = 1e-6
"""Vertices nearer to each other than this fraction of the mesh's size are one."""


@dataclass(frozen=True)
class WeldedMesh:
    """W vertices that stand for the V of the file."""

    vertices: Float[np.ndarray, "W 3"]
    faces: Int[np.ndarray, "F 3"]
    """Without those that have no area; each component's faces look outwards."""
    source: Int[np.ndarray, "V"]
    """The welded vertex that each vertex of the file became."""
    component: Int[np.ndarray, "W"]
    """Which connected part each vertex is in; a vertex on no face is a part by itself."""
    on_face: np.ndarray
    """[W], whether a vertex is on any face."""

    @property
    def size(self) -> float:
        """Diagonal of the bounding box."""
        return float(np.linalg.norm(np.ptp(self.vertices, axis=0)))


def weld(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"], *, is_turned: bool = True
) -> WeldedMesh:
    """Merge vertices in the same place, drop faces without area, and turn parts outwards.

    Files split vertices wherever a texture or a normal has a seam, and heat must cross those.
    Raises `ValueError` where nothing with an area is left.
    """
    if not len(vertices) or not len(faces):
        raise ValueError(f"a mesh needs vertices and faces, got {len(vertices)} and {len(faces)}")
    if not np.isfinite(vertices).all():
        raise ValueError("vertices must be finite")
    size = float(np.linalg.norm(np.ptp(vertices, axis=0)))
    if size <= 0.0:
        raise ValueError("all vertices are in one place: the mesh has no extent")
    keys = np.rint((vertices - vertices.min(axis=0)) / (_SAME_PLACE * size)).astype(np.int64)
    _, first, source = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    source = source.ravel()
    # In the order of the file, so that the result does not depend on how rows sort.
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    source, points = rank[source], vertices[first[order]]
    welded = source[faces]
    welded = welded[double_areas(points, welded) > (1e-9 * size) ** 2]
    if not len(welded):
        raise ValueError("no face of the mesh has an area")
    # A face that is there twice would count twice; the first stays.
    _, once = np.unique(np.sort(welded, axis=1), axis=0, return_index=True)
    welded = welded[np.sort(once)]
    component = connected_pieces(welded, len(points))
    on_face = np.zeros(len(points), dtype=bool)
    on_face[welded.ravel()] = True
    if is_turned:
        welded = _turned_outwards(points, welded, component)
    return WeldedMesh(points, welded, source, component, on_face)


def _turned_outwards(
    vertices: Float[np.ndarray, "W 3"],
    faces: Int[np.ndarray, "F 3"],
    component: Int[np.ndarray, "W"],
) -> Int[np.ndarray, "F 3"]:
    """Turn every part round whose signed volume, about its own centre, is negative."""
    part = component[faces[:, 0]]
    count = int(component.max()) + 1
    corners = vertices[faces]
    middle = corners.mean(axis=1)
    number = np.bincount(part, minlength=count).clip(1)
    centre = np.stack([np.bincount(part, middle[:, i], count) / number for i in range(3)], axis=1)
    a, b, c = (corners[:, i] - centre[part] for i in range(3))
    volume = np.bincount(part, (np.cross(a, b) * c).sum(axis=1), count)
    return np.where((volume < 0)[part][:, None], faces[:, ::-1], faces)
