"""Rotations as angles about three axes that jump from frame to frame as little as they can."""

from __future__ import annotations

import warnings

import numpy as np
from jaxtyping import Float, Integer


def euler_angles(rotations: Float[np.ndarray, "T J 3 3"], order: str) -> Float[np.ndarray, "T J 3"]:
    """Degrees about the axes of `order`, the outermost first."""
    from scipy.spatial.transform import Rotation

    with warnings.catch_warnings():
        # At the pole one of the three is free, and scipy sets it to zero.
        warnings.simplefilter("ignore")
        flat = Rotation.from_matrix(rotations.reshape(-1, 3, 3)).as_euler(order, degrees=True)
    return flat.reshape(*rotations.shape[:2], 3)


def make_continuous(angles: Float[np.ndarray, "T J 3"]) -> None:
    """Replace rotations, in degrees about three different axes, by the same ones whose angles are
    nearest to those of the frame before.

    A rotation has two sets of angles, and each angle repeats after a whole turn.
    """
    for joint in range(angles.shape[1]):
        first = angles[:, joint]
        a, b, c = first.T
        both = np.stack((first, np.stack((a + 180.0, 180.0 - b, c + 180.0), axis=1)))
        nearest = both[_nearest_sets(both), np.arange(len(first))]
        turns = np.rint(np.diff(nearest, axis=0) / 360.0)
        angles[:, joint] = nearest
        angles[1:, joint] -= 360.0 * np.cumsum(turns, axis=0)


def _nearest_sets(both: Float[np.ndarray, "2 T 3"]) -> Integer[np.ndarray, "T"]:
    """Which of the two sets each frame takes, from the first set of the first frame on."""

    def distance(now: int, then: int) -> Float[np.ndarray, "S"]:
        step = both[then, 1:] - both[now, :-1]
        return np.abs(step - 360.0 * np.rint(step / 360.0)).sum(axis=-1)

    # What follows the first set and what follows the second. Where both lead to the same, what was
    # before does not matter; else the choice is kept, or it changes.
    after_first = distance(0, 1) < distance(0, 0)
    after_second = distance(1, 1) < distance(1, 0)
    is_settled = after_first == after_second
    settled = np.maximum.accumulate(np.where(is_settled, np.arange(len(is_settled)), -1))
    changes = np.cumsum(after_first & ~is_settled)
    start = np.where(settled >= 0, after_first[settled], False)
    changed = changes - np.where(settled >= 0, changes[settled], 0)
    return np.concatenate(([0], (start + changed) % 2))
