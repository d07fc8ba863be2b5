"""One closed, evenly triangulated skin around a blended body.

The body is symmetric, so only its left half (x >= 0) is surfaced; the mirror image is joined to it
along x = 0. Both halves are therefore equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from akd.math.triangles import connected_pieces, double_areas
from akd.zoo.mesh.remesh import edges_of, split_bridges, thin
from akd.zoo.mesh.shapes import Array, Part, body_distance, sample_grid

_FINENESS = 6.0
"""Vertices before thinning over vertices after."""


@dataclass(frozen=True)
class HalfSurface:
    """The left half of a skin, open along x = 0."""

    vertices: Array
    """[V, 3], metres; x is exactly zero on the border."""
    faces: NDArray[np.integer]
    border: NDArray[np.bool_]
    """Which vertices lie on x = 0."""


def surface_half(parts: Sequence[Part], *, vertices: int, thinnest: float = np.inf) -> HalfSurface:
    """Skin the left half of a body so that both halves together have about `vertices` vertices.

    `thinnest` is the radius, metres, of the thinnest limb that the grid must not lose.
    """
    solid = [part for part in parts if part.action != "paint"]
    low, high = _bounds(solid)
    size = float(np.max(high - low))
    area = 0.5 * float(double_areas(*_march(solid, low, high, cell=size / 64.0)).sum())
    # Marching cubes gives about 1.4 vertices for every square of the grid that the skin crosses.
    cell = float(np.sqrt(1.4 * 2.0 * area / (_FINENESS * vertices)))
    cell = min(cell, 1.3 * thinnest)
    points, faces = _march(solid, low, high, cell=cell)
    points, faces = split_bridges(*_largest_piece(points, faces))
    lengths = _wanted_lengths(parts, points)
    points, faces, lengths = thin(points, faces, lengths, target=vertices)
    edges, shared = edges_of(faces, len(points))
    border = np.zeros(len(points), bool)
    border[edges[shared == 1].ravel()] = True
    points = _settle(solid, points, edges, border, rounding=0.5 * cell)
    return HalfSurface(points, faces, border)


def mirror(half: HalfSurface) -> tuple[Array, NDArray[np.integer], NDArray[np.integer]]:
    """Both halves as one closed mesh: vertices, faces, and the half's vertex of each vertex."""
    count = len(half.vertices)
    inner = np.flatnonzero(~half.border)
    twin = np.arange(count)
    twin[inner] = count + np.arange(len(inner))
    points = np.concatenate((half.vertices, half.vertices[inner] * (-1.0, 1.0, 1.0)))
    faces = np.concatenate((half.faces, twin[half.faces][:, ::-1]))
    return points, faces, np.concatenate((np.arange(count), inner))


def _bounds(parts: Sequence[Part]) -> tuple[Array, Array]:
    boxes = [part.shape.bounds() for part in parts if part.action == "add"]
    low = np.min([box[0] for box in boxes], axis=0)
    high = np.max([box[1] for box in boxes], axis=0)
    return np.array((0.0, 0.0, low[2])), high


def _march(
    parts: Sequence[Part], low: Array, high: Array, *, cell: float
) -> tuple[Array, NDArray[np.integer]]:
    """Marching cubes over the left half, on cubes of side `cell`."""
    from skimage.measure import marching_cubes

    margin = 2.5 * cell
    # The floor lies between two layers of the grid, so that no corner is exactly on it.
    start = np.array((0.0, -1.5 * cell, low[2] - margin))
    counts = np.ceil((high + margin - start) / cell).astype(int) + 1
    axes = (
        start[0] + cell * np.arange(counts[0]),
        start[1] + cell * np.arange(counts[1]),
        start[2] + cell * np.arange(counts[2]),
    )
    field = sample_grid(parts, axes, floor=0.0, rounding=0.5 * cell)
    points, faces, _, _ = marching_cubes(field, 0.0, allow_degenerate=False)
    return points.astype(np.float64) * cell + start, faces.astype(np.int64)


def _largest_piece(points: Array, faces: NDArray[np.integer]) -> tuple[Array, NDArray[np.integer]]:
    label = connected_pieces(faces, len(points))
    keep = label == np.argmax(np.bincount(label))
    number = np.cumsum(keep) - 1
    return points[keep], number[faces[keep[faces[:, 0]]]]


def _wanted_lengths(parts: Sequence[Part], points: Array) -> Array:
    """Wanted length of triangles at points: that of the part whose surface is nearest, blended."""
    lengths = np.ones(len(points))
    least = np.full(len(points), np.inf)
    sharp = 0.01 * float(np.ptp(points[:, 1]))
    total, weights = np.zeros(len(points)), np.zeros(len(points))
    fields = []
    for part in parts:
        low, high = part.shape.bounds()
        near = np.flatnonzero(((points > low - 3 * sharp) & (points < high + 3 * sharp)).all(1))
        distance = np.abs(part.shape.distance(points[near])) if len(near) else np.empty(0)
        least[near] = np.minimum(least[near], distance)
        fields.append((near, distance, part.detail))
    for near, distance, detail in fields:
        weight = np.exp(-(distance - least[near]) / sharp) / detail**2
        total[near] += weight * detail
        weights[near] += weight
    known = weights > 0
    lengths[known] = total[known] / weights[known]
    return lengths


def _settle(
    parts: Sequence[Part],
    points: Array,
    edges: NDArray[np.integer],
    border: NDArray[np.bool_],
    *,
    rounding: float,
) -> Array:
    """Even out the triangles and put every vertex back on the true surface."""
    u, v = edges[:, 0], edges[:, 1]
    degree = np.bincount(edges.ravel(), minlength=len(points))[:, None]
    step = 1e-3 * float(np.ptp(points[:, 1]))
    for smoothing in (0.5, 0.4, 0.0):
        normal, distance = _gradient(parts, points, step, rounding)
        mean = np.zeros_like(points)
        np.add.at(mean, u, points[v])
        np.add.at(mean, v, points[u])
        shift = mean / degree - points
        shift -= (shift * normal).sum(1, keepdims=True) * normal
        limit = 2.0 * np.abs(distance).clip(step)[:, None]
        points = points + smoothing * shift - normal * distance[:, None].clip(-limit, limit)
        points[border, 0] = 0.0
        points[:, 0] = points[:, 0].clip(0.0)
    points[:, 1] = points[:, 1].clip(0.0)
    return points


def _gradient(
    parts: Sequence[Part], points: Array, step: float, rounding: float
) -> tuple[Array, Array]:
    """Unit normals of the field and its first-order distances at points."""
    offsets = step * np.array(((1, -1, -1), (-1, -1, 1), (-1, 1, -1), (1, 1, 1)), float)
    probes = (points[None] + offsets[:, None]).reshape(-1, 3)
    probes[:, 0] = np.abs(probes[:, 0])
    values = body_distance(parts, probes, floor=0.0, rounding=rounding).reshape(4, -1)
    slope = np.einsum("kn,ki->ni", values, offsets) / (4.0 * step * step)
    size = np.linalg.norm(slope, axis=1).clip(1e-6)
    return slope / size[:, None], values.mean(axis=0) / size
