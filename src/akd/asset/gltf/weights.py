"""Repairs skin weights: finite, not negative, on joints that exist, each row with sum one."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Integer

from akd.asset.gltf.problems import ProblemLog

_EXACT = 2e-6
"""Rows whose sum is this close to one are left as they are."""
_WORTH_TELLING = 1e-2
"""Eight-bit weights are off by this much from rounding alone."""


def repair_weights(
    joints: Integer[np.ndarray, "V K"],
    weights: Float[np.ndarray, "V K"],
    positions: Float[np.ndarray, "V 3"],
    *,
    joint_count: int | None,
    where: str,
    problems: ProblemLog,
) -> tuple[Integer[np.ndarray, "V K"], Float[np.ndarray, "V K"]] | tuple[None, None]:
    """Return joints and weights that can be used as they are, and report what had to be done.

    `joint_count` is the number of joints of the smallest skin that the mesh is shown with, None
    where it is shown with none. A vertex without any usable weight takes the weights of the
    nearest vertex that has some. Where no vertex has any the result is (None, None), and the rig
    takes them from the rest of the surface. What needs no repair is returned as it came.
    """
    finite = np.isfinite(weights)
    if not finite.all():
        bad = int((~finite).any(axis=1).sum())
        problems.warn(where, f"{bad} vertices have weights that are not finite", "taken as zero")
        weights = np.where(finite, weights, np.float32(0.0))
    if (weights < 0.0).any():
        bad = int((weights < 0.0).any(axis=1).sum())
        problems.warn(where, f"{bad} vertices have negative weights", "taken as zero")
        weights = np.maximum(weights, np.float32(0.0))
    if joint_count is not None and int(joints.max(initial=0)) >= joint_count:
        outside = joints >= joint_count
        bad = int((outside & (weights > 0.0)).any(axis=1).sum())
        if bad:
            problems.warn(
                where,
                f"{bad} vertices hang on joint {int(joints[outside].max())} of {joint_count}",
                "those weights are dropped",
            )
            weights = np.where(outside, np.float32(0.0), weights)
        joints = np.where(outside, joints.dtype.type(0), joints)
    return _normalise(joints, weights, positions, where, problems)


def _normalise(
    joints: np.ndarray,
    weights: np.ndarray,
    positions: np.ndarray,
    where: str,
    problems: ProblemLog,
) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    # In float64, because the sum of two huge float32 weights may not be finite.
    sums = weights.sum(axis=1, dtype=np.float64)
    empty = sums <= 1e-12
    off = np.abs(sums - 1.0)
    off[empty] = 0.0
    if off.max(initial=0.0) > _EXACT:
        worst = float(sums[off.argmax()])
        bad = int((off > _WORTH_TELLING).sum())
        if bad:
            what = f"weights of {bad} vertices do not sum to one (the worst to {worst:.4g})"
            problems.warn(where, what, "each row is divided by its sum")
        weights = (weights / np.where(empty, 1.0, sums)[:, None]).astype(np.float32)
    if empty.any():
        what = f"{int(empty.sum())} of {len(empty)} vertices have no weight"
        problems.warn(where, what, "each takes those of the nearest vertex that has some")
        if empty.all():
            return None, None
        joints, weights = _fill_from_nearest(joints, weights, positions, empty)
    return joints, weights


def _fill_from_nearest(
    joints: np.ndarray, weights: np.ndarray, positions: np.ndarray, empty: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import KDTree

    joints, weights = joints.copy(), weights.copy()
    good = np.flatnonzero(~empty)
    _, nearest = KDTree(positions[good]).query(positions[empty])
    joints[empty], weights[empty] = joints[good[nearest]], weights[good[nearest]]
    return joints, weights
