"""Foot skate: how fast what is on the ground slides over it. The one definition of it."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def skate_speed(points: Float[Tensor, "T N 3"], *, fps: float, touch: float) -> float:
    """Mean horizontal speed (m/s) of points near the ground, which is y = 0; 0 if none ever is.

    A point on the ground or under it counts in full, one at the height `touch` (m) no more, and one
    between in proportion: lifting a foot is not skating. From one frame to the next the higher of
    its two heights decides.

    Args:
        points: Of the soles, metres, world.
        fps: Frames a second.
        touch: Height up to which a point counts, metres.
    """
    if not touch > 0:
        raise ValueError(f"touch must be above zero, got {touch}")
    near = (1.0 - points[..., 1] / touch).clamp(0.0, 1.0)
    weight = torch.minimum(near[1:], near[:-1])
    moved = (points[1:] - points[:-1])[..., [0, 2]].norm(dim=-1)
    return float((weight * moved).sum() / weight.sum().clamp_min(1e-9)) * fps
