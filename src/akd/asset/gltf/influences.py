"""Skin weights as glTF wants them: sets of four, no joint twice, sums of exactly one."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Float32, Int

_STEPS = 2**24
"""Weights are multiples of 1/_STEPS: such sums are exact in 32 bits, in whatever order."""


def pack_influences(
    bones: Int[np.ndarray, "V K"], weights: Float[np.ndarray, "V K"]
) -> tuple[Int[np.ndarray, "V M"], Float32[np.ndarray, "V M"]]:
    """Bones and weights with the strongest first, M a multiple of four.

    A bone that is given twice counts once, with both weights. Where the weight is zero the bone is
    0. Raises `ValueError` for weights that are negative, not finite, or all zero.
    """
    weights = weights.astype(np.float64)
    if not (np.isfinite(weights).all() and (weights >= 0.0).all()):
        raise ValueError("weights must be finite and not negative")
    totals = weights.sum(axis=1, keepdims=True)
    if (totals <= 0.0).any():
        vertex = int((totals[:, 0] <= 0.0).argmax())
        raise ValueError(f"weights must not all be zero, got that at vertex {vertex}")
    bones, weights = merge_repeated(bones, weights / totals)
    order = np.argsort(-weights, axis=1, kind="stable")
    bones = np.take_along_axis(bones, order, axis=1)
    steps = np.rint(np.take_along_axis(weights, order, axis=1) * _STEPS).astype(np.int64)
    # Rounding leaves a few steps over or missing: the strongest, who will not notice, takes them.
    steps[:, 0] += _STEPS - steps.sum(axis=1)
    used = max(int((steps > 0).sum(axis=1).max(initial=0)), 1)
    width = -(-used // 4) * 4
    extra = max(width - steps.shape[1], 0)
    steps = np.pad(steps, ((0, 0), (0, extra)))[:, :width]
    bones = np.pad(bones, ((0, 0), (0, extra)))[:, :width]
    return np.where(steps > 0, bones, 0), (steps / _STEPS).astype(np.float32)


def merge_repeated(
    bones: Int[np.ndarray, "V K"], weights: Float[np.ndarray, "V K"]
) -> tuple[Int[np.ndarray, "V K"], Float[np.ndarray, "V K"]]:
    """Give the weights of a bone that a vertex names more than once to its first mention."""
    order = np.argsort(bones, axis=1, kind="stable")
    bones = np.take_along_axis(bones, order, axis=1)
    weights = np.take_along_axis(weights, order, axis=1)
    for k in range(bones.shape[1] - 1, 0, -1):
        same = bones[:, k] == bones[:, k - 1]
        weights[:, k - 1] += np.where(same, weights[:, k], 0.0)
        weights[:, k] = np.where(same, 0.0, weights[:, k])
    return bones, weights
