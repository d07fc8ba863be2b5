"""When feet stand, seen in a motion that may float, sink or slide a little."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.motion.contact import STANCE

_FLOOR = 0.1
"""A foot is lower than its own floor for this share of the time."""
_SLOWEST = 0.2
"""A foot stands that is slower than this, in body heights a second."""
_OF_BODY = 0.25
"""It may be as fast as this share of the body's own speed: heels roll and toes pivot."""
_SHORTEST = 0.07
"""Seconds that a foot must stand to count."""


def find_stance(
    feet: Sequence[Float[Tensor, "T _ 3"]],
    root: Float[Tensor, "T 3"],
    *,
    fps: float,
    body_height: float,
) -> Bool[Tensor, "T F"]:
    """When each foot stands: it is near its own floor, and slow.

    Args:
        feet: Points of each foot's sole, metres.
        root: Path of the body, metres.
        fps: Frames a second.
        body_height: Metres.
    """
    if not feet or len(root) < 3:
        return torch.zeros(len(root), len(feet), dtype=torch.bool)
    speed = _speed(root, fps).median()
    slow = max(_SLOWEST * body_height, _OF_BODY * float(speed))
    columns = []
    for foot in feet:
        low = foot[..., 1].amin(dim=1)
        above = low - low.quantile(_FLOOR)
        # One point that is low must be still: a heel may lift while the toes stand.
        near = foot[..., 1] - low[:, None] < 0.5 * STANCE * body_height
        moves = torch.stack([_speed(foot[:, k], fps) for k in range(foot.shape[1])], dim=1)
        moves = torch.where(near, moves, torch.inf).amin(1)
        columns.append((above < STANCE * body_height) & (moves < slow))
    stance = torch.stack(columns, dim=1)
    return _long_enough(stance, max(2, round(_SHORTEST * fps)))


def number_stands(stance: Bool[Tensor, "T F"]) -> Int[Tensor, "T F"]:
    """A number for each stand of each foot, from 1; 0 where it does not stand."""
    begins = stance.clone()
    begins[1:] &= ~stance[:-1]
    return begins.T.flatten().cumsum(0).view(stance.T.shape).T * stance


def _speed(points: Float[Tensor, "T 3"], fps: float) -> Float[Tensor, "T"]:
    return torch.gradient(points[:, [0, 2]], dim=0)[0].norm(dim=-1) * fps


def _long_enough(stance: Bool[Tensor, "T F"], frames: int) -> Bool[Tensor, "T F"]:
    """Gaps of one frame closed, stands of fewer frames left out."""
    closed = stance.clone()
    closed[1:-1] |= stance[:-2] & stance[2:]
    numbers = number_stands(closed)
    counts = torch.bincount(numbers.flatten(), minlength=int(numbers.max()) + 1)
    return closed & (counts[numbers] >= frames)
