"""A node's transform as translation, rotation and scale, whichever way the file gives it."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from akd.asset.gltf.fields import Fields, GltfError
from akd.asset.gltf.problems import ProblemLog

_UNIT_TOLERANCE = 1e-3
_SHEAR_TOLERANCE = 1e-4
_AFFINE_ROW = (0.0, 0.0, 0.0, 1.0)

Trs = tuple[Float[np.ndarray, "3"], Float[np.ndarray, "4"], Float[np.ndarray, "3"]]
"""Translation, rotation (unit, wxyz) and scale, in float64."""


def read_transform(entry: Fields, problems: ProblemLog) -> Trs:
    """Return the transform of a node relative to its parent."""
    if entry.has("matrix"):
        if any(entry.has(key) for key in ("translation", "rotation", "scale")):
            problems.warn(entry.where, "has a matrix and other transforms", "the matrix counts")
        # Stored column by column.
        matrix = np.array(entry.numbers("matrix", 16), np.float64).reshape(4, 4).T
        return decompose(matrix, entry.place("matrix"), problems)
    translation = np.array(entry.numbers("translation", 3, (0.0, 0.0, 0.0)), np.float64)
    x, y, z, w = entry.numbers("rotation", 4, (0.0, 0.0, 0.0, 1.0))
    scale = np.array(entry.numbers("scale", 3, (1.0, 1.0, 1.0)), np.float64)
    return translation, _unit((w, x, y, z), entry.place("rotation"), problems), scale


def _unit(
    wxyz: tuple[float, float, float, float], where: str, problems: ProblemLog
) -> Float[np.ndarray, "4"]:
    length = math.hypot(*wxyz)
    if length < 1e-6:
        problems.warn(where, f"is a quaternion of length {length:.3g}", "no rotation is taken")
        return np.array((1.0, 0.0, 0.0, 0.0))
    if abs(length - 1.0) > _UNIT_TOLERANCE:
        problems.warn(where, f"is a quaternion of length {length:.6g}", "it is normalised")
    return np.array(wxyz, np.float64) / length


def decompose(matrix: Float[np.ndarray, "4 4"], where: str, problems: ProblemLog) -> Trs:
    """One matrix by `decompose_all`; what it drops, shear and perspective, is reported."""
    if np.abs(matrix[3] - _AFFINE_ROW).max() > 1e-6:
        problems.warn(where, "its last row is not 0 0 0 1", "that row is ignored")
    scale, columns = _unit_columns(matrix[None], where)
    sizes = np.diag((scale[0] > 0.0).astype(float))
    shear = float(np.abs(columns[0].T @ columns[0] - sizes).max())
    if shear > _SHEAR_TOLERANCE:
        what = f"is sheared: its columns are up to {shear:.3g} from square"
        problems.warn(where, what, "the shear is dropped")
    translation, rotation, scale = decompose_all(matrix[None], where)
    return translation[0], rotation[0], scale[0]


def decompose_all(
    matrices: Float[np.ndarray, "N 4 4"], where: str
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 4"], Float[np.ndarray, "N 3"]]:
    """Translations, rotations (unit, wxyz) and scales of matrices.

    A rotation is the nearest to the matrix with its columns' lengths, the scale, taken out. A
    mirror image comes out as a negative x scale. Shear and perspective are dropped.
    """
    scale, columns = _unit_columns(matrices, where)
    mirrored = np.linalg.det(columns) < 0.0
    scale[mirrored, 0] *= -1.0
    columns[mirrored, :, 0] *= -1.0
    left, _, right = np.linalg.svd(columns)
    # Only where a scale is zero: the direction that the matrix says nothing about.
    left[np.linalg.det(left @ right) < 0.0, :, 2] *= -1.0
    return matrices[:, :3, 3].copy(), _quaternions(left @ right), scale


def continuous(wxyz: Float[np.ndarray, "T 4"]) -> Float[np.ndarray, "T 4"]:
    """The same rotations, by quaternions that do not flip their sign from key to key."""
    flips = np.where((wxyz[1:] * wxyz[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return wxyz * np.concatenate(((1.0,), np.cumprod(flips)))[:, None]


def _unit_columns(
    matrices: Float[np.ndarray, "N 4 4"], where: str
) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3 3"]]:
    """Lengths of the columns, and the columns without them."""
    linear = matrices[:, :3, :3]
    scale = np.sqrt((linear * linear).sum(axis=1))
    if scale.max() > 3.4e38:
        raise GltfError(where, f"must have a 32-bit scale, got {scale.max():.3g}")
    return scale, linear / np.where(scale > 0.0, scale, 1.0)[:, None, :]


def _quaternions(rotations: Float[np.ndarray, "N 3 3"]) -> Float[np.ndarray, "N 4"]:
    """Unit quaternions, wxyz with w not negative, of rotation matrices.

    Each row of the table is the quaternion times four times one of its entries. The row of the
    largest entry loses no digits.
    """
    a, b, c, d, e, f, g, h, i = np.moveaxis(rotations.reshape(-1, 9), 1, 0)
    table = np.array(
        (
            (1 + a + e + i, h - f, c - g, d - b),
            (h - f, 1 + a - e - i, b + d, c + g),
            (c - g, b + d, 1 - a + e - i, f + h),
            (d - b, c + g, f + h, 1 - a - e + i),
        )
    )
    largest = np.einsum("kkn->nk", table).argmax(axis=1)
    rows = table[largest, :, np.arange(len(rotations))]
    return rows / np.copysign(np.linalg.norm(rows, axis=1), rows[:, 0])[:, None]
