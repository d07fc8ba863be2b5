"""`coarsen`: a mesh with fewer triangles, by vertex clustering."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from akd.rig.mesh import SkinnedMesh

_TRIES = 12


def coarsen(
    mesh: SkinnedMesh, triangles: int
) -> tuple[SkinnedMesh, Int[np.ndarray, "F 3"], Int[Tensor, "F"]]:
    """Reduce a mesh to at most `triangles`.

    Vertices in one cell of a grid that follow the same bone most become one of them: the one
    nearest to their mean. The cell is the smallest that a bisection finds.

    Returns:
        The vertices that are left with their skin, the triangles between them, and of which
        triangle of `mesh` each is what remains.
    """
    points, faces = mesh.vertices.numpy(force=True), mesh.faces.numpy(force=True)
    strongest = mesh.skin.weights.argmax(1, keepdim=True)
    bone = mesh.skin.bones.gather(1, strongest).numpy(force=True)
    small, large = 0.0, max(float(np.ptp(points, axis=0).max()), 1e-9)
    found = _cluster(points, bone, faces, large)
    for _ in range(_TRIES):
        middle = 0.5 * (small + large)
        tried = _cluster(points, bone, faces, middle)
        if len(tried[0]) > triangles:
            small = middle
        else:
            large, found = middle, tried
            if len(tried[0]) > 0.9 * triangles:
                break
    left, owner = found
    used, renumbered = np.unique(left, return_inverse=True)
    keep = torch.zeros(len(points), dtype=torch.bool)
    keep[torch.from_numpy(used)] = True
    return (
        mesh.only(keep.to(mesh.vertices.device)),
        renumbered.reshape(-1, 3),
        torch.from_numpy(owner),
    )


def _cluster(
    points: np.ndarray, bone: np.ndarray, faces: np.ndarray, size: float
) -> tuple[Int[np.ndarray, "f 3"], Int[np.ndarray, "f"]]:
    """Triangles between the vertices that stand for their cells, and which they were."""
    cells = np.concatenate((np.floor((points - points.min(axis=0)) / size), bone), axis=1)
    _, cell = np.unique(cells.astype(np.int64), axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    count = np.bincount(cell)[:, None]
    means = np.stack([np.bincount(cell, column) for column in points.T], axis=1) / count
    away = np.linalg.norm(points - means[cell], axis=1)
    # Sorted by cell, then by distance: the first of each cell stands for it.
    order = np.lexsort((away, cell))
    stands = order[np.searchsorted(cell[order], np.arange(len(count)))]
    new = stands[cell[faces]]
    kept = (new != np.roll(new, 1, axis=1)).all(axis=1).nonzero()[0]
    _, first = np.unique(np.sort(new[kept], axis=1), axis=0, return_index=True)
    owner = kept[np.sort(first)]
    return new[owner], owner
