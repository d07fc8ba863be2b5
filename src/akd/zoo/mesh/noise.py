"""Smooth random fields in space, for coats: the same seed gives the same field everywhere."""

from __future__ import annotations

import numpy as np

from akd.zoo.mesh.shapes import Array, smoothstep

_SIZE = 32


def value_noise(points: Array, *, scale: float, seed: int) -> Array:
    """Smooth noise in 0..1 at points [N, 3], with lumps about `scale` metres across."""
    table = np.random.default_rng(seed).random((_SIZE, _SIZE, _SIZE))
    place = points / scale
    cell = np.floor(place).astype(int)
    t = smoothstep(place - cell)
    total = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        index = (cell + corner) % _SIZE
        weight = np.prod(np.where(corner, t, 1.0 - t), axis=1)
        total += weight * table[index[:, 0], index[:, 1], index[:, 2]]
    return total


def dot_distances(points: Array, *, scale: float, seed: int) -> tuple[Array, Array]:
    """Distances to the nearest and second nearest of many scattered dots, in units of `scale`."""
    rng = np.random.default_rng(seed)
    jitter = rng.random((_SIZE, _SIZE, _SIZE, 3))
    place = points / scale
    cell = np.floor(place).astype(int)
    first, second = np.full(len(points), np.inf), np.full(len(points), np.inf)
    for step in np.ndindex(3, 3, 3):
        index = cell + np.asarray(step) - 1
        wrapped = index % _SIZE
        dot = index + 0.15 + 0.7 * jitter[wrapped[:, 0], wrapped[:, 1], wrapped[:, 2]]
        distance = ((place - dot) ** 2).sum(axis=1)
        second = np.minimum(second, np.maximum(first, distance))
        first = np.minimum(first, distance)
    return np.sqrt(first), np.sqrt(second)
