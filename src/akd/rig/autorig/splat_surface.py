"""A reference mesh for a cloud of Gaussians: the surface of its opacity field."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

from akd.asset.asset import SplatRecord

_FAINT = 0.1
"""Gaussians less opaque than this are haze."""
_OPAQUE = 0.3
"""Opacity from which a cell is solid."""
_MOST_OF_26 = 21
_MARGIN = 4
"""Empty cells around the field."""


def mesh_from_splats(
    splats: SplatRecord, *, resolution: int = 96
) -> tuple[Float[np.ndarray, "V 3"], Int[np.ndarray, "F 3"]]:
    """Vertices and faces around a Gaussian cloud, in the cloud's own units.

    The cloud's opacity is gathered on a grid of `resolution` cells along its longest side. Cells
    that reach `_OPAQUE` are solid, and so is what they enclose, but for a few holes: a cloud is a
    shell, and bones must lie inside something. Raises `ValueError` where nothing is opaque.
    """
    if not 8 <= resolution <= 512:
        raise ValueError(f"resolution must be from 8 to 512, got {resolution}")
    alpha = 1.0 / (1.0 + np.exp(-splats.opacity_logits.astype(np.float64)))
    finite = np.isfinite(splats.means).all(axis=1) & np.isfinite(splats.log_scales).all(axis=1)
    kept = (alpha >= _FAINT) & finite
    if not kept.any():
        raise ValueError(f"the cloud has no Gaussian with an opacity of {_FAINT} or more")
    means = splats.means[kept].astype(np.float64)
    low, high = means.min(axis=0), means.max(axis=0)
    cell = float((high - low).max()) / resolution or 1e-6
    origin = low - _MARGIN * cell
    shape = tuple(int(n) for n in np.ceil((high - low) / cell) + 1 + 2 * _MARGIN)
    field = _field(splats, kept, alpha[kept], origin, cell, shape)
    shell = np.asarray(ndimage.binary_closing(field > _OPAQUE))
    solid = _without_specks(np.asarray(ndimage.binary_fill_holes(shell | _enclosed(shell))))
    if not solid.any():
        raise ValueError(f"the cloud is nowhere as opaque as {_OPAQUE}")
    from skimage.measure import marching_cubes

    smooth = ndimage.gaussian_filter(solid.astype(np.float32), sigma=1.0)
    vertices, faces, _, _ = marching_cubes(smooth, 0.5)
    # Marching cubes looks from the low side to the high one; outwards is towards the low.
    return vertices.astype(np.float64) * cell + origin, faces[:, ::-1].astype(np.int64)


def _field(
    splats: SplatRecord,
    kept: Bool[np.ndarray, "N"],
    alpha: Float[np.ndarray, "M"],
    origin: Float[np.ndarray, "3"],
    cell: float,
    shape: tuple[int, ...],
) -> Float[np.ndarray, "X Y Z"]:
    """The largest opacity that any Gaussian has in each cell: each is sampled on a lattice of its
    own axes, fine enough that no cell within two deviations is missed."""
    scale = np.exp(splats.log_scales[kept].astype(np.float64).clip(-30.0, 30.0))
    scale = np.minimum(scale, 8.0 * cell)  # a Gaussian as large as the body says nothing of shape
    w, x, y, z = _units(splats.rotations[kept].astype(np.float64)).T
    axes = np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=1,
    )
    field = np.zeros(shape)
    means = splats.means[kept].astype(np.float64)
    # Odd, so that the middle is among the samples.
    fine = np.ceil(4.0 * scale / cell).astype(int).clip(1, 33) | 1
    for counts in np.unique(fine, axis=0):
        rows = np.flatnonzero((fine == counts).all(axis=1))
        ticks = [np.linspace(-2.0, 2.0, n) if n > 1 else np.zeros(1) for n in counts]
        lattice = np.stack(np.meshgrid(*ticks, indexing="ij"), axis=-1).reshape(-1, 3)
        fall = np.exp(-0.5 * (lattice**2).sum(axis=1))
        lattice, fall = lattice[fall > 0.1], fall[fall > 0.1]
        for offset, value in zip(lattice, fall, strict=True):
            points = means[rows] + np.einsum("nij,nj->ni", axes[rows], offset * scale[rows])
            place = np.rint((points - origin) / cell).astype(np.int64)
            place = place.clip(0, np.array(shape) - 1)
            np.maximum.at(field, tuple(place.T), value * alpha[rows])
    return field


def _enclosed(shell: Bool[np.ndarray, "X Y Z"]) -> Bool[np.ndarray, "X Y Z"]:
    """Cells from which the shell is seen in most of 26 directions: a shell with holes has an inside
    too, and between legs too little is seen."""
    seen = np.zeros(shell.shape, dtype=np.uint8)
    longest = max(shell.shape)
    for step in np.ndindex(3, 3, 3):
        direction = np.array(step) - 1
        if not direction.any():
            continue
        ahead, reach = shell, 1
        while reach < longest:  # each pass looks twice as far
            ahead = ahead | _moved(ahead, reach * direction)
            reach *= 2
        seen += ahead
    return seen >= _MOST_OF_26


def _moved(cells: Bool[np.ndarray, "X Y Z"], by: Int[np.ndarray, "3"]) -> Bool[np.ndarray, "X Y Z"]:
    """What each cell would see `by` cells further on; nothing beyond the edge."""
    result = np.zeros_like(cells)
    if (np.abs(by) >= cells.shape).any():
        return result
    to = tuple(slice(max(-b, 0), n - max(b, 0)) for b, n in zip(by, cells.shape, strict=True))
    of = tuple(slice(max(b, 0), n - max(-b, 0)) for b, n in zip(by, cells.shape, strict=True))
    result[to] = cells[of]
    return result


def _units(rotations: Float[np.ndarray, "N 4"]) -> Float[np.ndarray, "N 4"]:
    lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
    return np.where(lengths > 1e-12, rotations / lengths.clip(1e-12), (1.0, 0.0, 0.0, 0.0))


def _without_specks(solid: Bool[np.ndarray, "X Y Z"]) -> Bool[np.ndarray, "X Y Z"]:
    """Leave out pieces smaller than a hundredth of the largest: floaters."""
    labels = np.empty(solid.shape, dtype=np.int32)
    count = int(ndimage.label(solid, output=labels))  # pyright: ignore[reportArgumentType]
    if count < 2:
        return solid
    sizes = np.bincount(labels.ravel())
    sizes[0] = 0
    return (sizes >= 0.01 * sizes.max())[labels] & solid
