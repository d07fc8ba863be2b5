"""Triangles from lists, strips and fans of indices."""

from __future__ import annotations

import numpy as np
from jaxtyping import Integer

TRIANGLES, STRIP, FAN = 4, 5, 6


def triangles(order: Integer[np.ndarray, "n"], mode: int) -> Integer[np.ndarray, "F 3"]:
    """Return the triangles that a primitive's indices describe; a view where they are a list.

    Every second triangle of a strip is turned round, so that all face the same way.
    """
    match mode:
        case 4:
            return order[: len(order) // 3 * 3].reshape(-1, 3)
        case 5:
            faces = np.stack((order[:-2], order[1:-1], order[2:]), axis=1)
            faces[1::2, 1:] = faces[1::2, :0:-1].copy()
        case 6:
            hub = np.broadcast_to(order[:1], (max(len(order) - 2, 0),))
            faces = np.stack((hub, order[1:-1], order[2:]), axis=1)
        case _:
            raise ValueError(f"mode must be 4, 5 or 6, got {mode}")
    return faces


def without_degenerate(faces: Integer[np.ndarray, "F 3"]) -> Integer[np.ndarray, "G 3"]:
    """Leave out the triangles that name a vertex twice; the same array where there are none."""
    a, b, c = faces.T
    good = (a != b) & (b != c) & (c != a)
    return faces if good.all() else faces[good]
