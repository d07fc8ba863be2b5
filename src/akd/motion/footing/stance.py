"""When feet stand, seen in a motion that may float, sink or slide a little."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.motion.contact import STANCE, TOUCH, floor_height

_SWINGS = 0.3
"""Body heights a second. A foot that moves ahead of the body faster than this swings, however low
it is; so does one that is faster than half the body's speed, where that is slower."""
_TRAVELS = 0.1
"""Body heights a second. A slower body does not travel: there any foot that is quick swings."""
_COURSE = 0.5
"""Seconds on either side over which the way the body goes is taken: sway is no change of course."""
_SHORTEST = 0.07
"""Seconds that a foot must stand to count."""
_CLEAR = 0.025
"""Body heights by which swing feet clear the ground."""
_RISE = 0.1
"""Seconds after and before a stand in which they rise and come down."""


def find_stance(
    feet: Sequence[Float[Tensor, "T _ 3"]],
    root: Float[Tensor, "T 3"],
    *,
    fps: float,
    body_height: float,
    ground: float | None = None,
) -> Bool[Tensor, "T F"]:
    """When each foot stands: near its own floor, and not swinging ahead of the body.

    Args:
        feet: Points of each foot's sole, metres.
        root: Path of the body, metres.
        fps: Frames per second.
        body_height: Metres.
        ground: Height below which a foot stands too, metres, where the ground is known: the floor
            of a foot that sinks deep in mid-stance is too low for the rest of its stand.
    """
    if not feet or len(root) < 3:
        return torch.zeros(len(root), len(feet), dtype=torch.bool)
    body = smooth(_velocity(root, fps), max(1, round(_COURSE * fps)))
    speed = body.norm(dim=-1)
    along = body / speed[:, None].clamp_min(1e-9)
    travels = speed > _TRAVELS * body_height
    columns = []
    for foot in feet:
        low = foot[..., 1].amin(1)
        # Of the points that are low the stillest counts: a heel may lift while the toes stand.
        near = foot[..., 1] - low[:, None] < 0.5 * STANCE * body_height
        moves = _velocity(foot, fps)
        ahead = ((moves - body[:, None]) * along[:, None]).sum(-1)
        quick = torch.where(travels[:, None], ahead, moves.norm(dim=-1))
        quick = torch.where(near, quick, torch.inf).amin(1)
        limit = torch.where(travels, 0.5 * speed, torch.inf).clamp_max(_SWINGS * body_height)
        above = low - floor_height(low)
        is_near = above.abs() < STANCE * body_height
        if ground is not None:
            is_near |= low < ground + TOUCH * body_height
        columns.append(is_near & (quick < limit))
    stance = torch.stack(columns, dim=1)
    return long_enough(stance, max(2, round(_SHORTEST * fps)))


def swing_clearance(stance: Bool[Tensor, "T F"], fps: float) -> Float[Tensor, "T F"]:
    """Least heights of swing feet, body heights: they rise after a stand and come down before the
    next. A foot that never stands need not rise."""
    return _CLEAR * (frames_from_stand(stance) / (_RISE * fps)).clamp_max(1.0)


def frames_from_stand(stance: Bool[Tensor, "T F"]) -> Float[Tensor, "T F"]:
    """Frames to the nearest one in which the foot stands; 0 for a foot that never does."""
    away = torch.zeros(stance.shape)
    frames = torch.arange(len(stance)).float()
    for foot in range(stance.shape[1]):
        stands = frames[stance[:, foot]]
        if len(stands):
            away[:, foot] = (frames[:, None] - stands).abs().amin(1)
    return away


def slide_error(
    places: Float[Tensor, "R S 2"], weights: Float[Tensor, "R S"], stands: Int[Tensor, "R"]
) -> Float[Tensor, ""]:
    """Weighted squared distance of every point of a sole from its mean place in its stand, summed.

    A row is one foot in one frame; `stands` are the numbers of `number_stands`.
    """
    weight = weights[..., None]
    zeros = places.new_zeros(int(stands.max()) + 1, *places.shape[1:])
    total = zeros[..., :1].index_add(0, stands, weight)
    mean = zeros.index_add(0, stands, weight * places) / total.clamp_min(1e-9)
    return (weight * (places - mean[stands]).square()).sum()


def number_stands(stance: Bool[Tensor, "T F"]) -> Int[Tensor, "T F"]:
    """A number for each stand of each foot, from 1; 0 where it does not stand."""
    begins = stance.clone()
    begins[1:] &= ~stance[:-1]
    return begins.T.flatten().cumsum(0).view(stance.T.shape).T * stance


def smooth(values: Float[Tensor, "T *c"], reach: int) -> Float[Tensor, "T *c"]:
    """Mean over up to `reach` frames on either side."""
    frames = torch.arange(len(values))
    near = ((frames[:, None] - frames).abs() <= reach).to(values)
    return (near @ values.flatten(1) / near.sum(1, keepdim=True)).view_as(values)


def _velocity(points: Float[Tensor, "T *c 3"], fps: float) -> Float[Tensor, "T *c 2"]:
    return torch.gradient(points[..., [0, 2]], dim=0)[0] * fps


def long_enough(stance: Bool[Tensor, "T F"], frames: int) -> Bool[Tensor, "T F"]:
    """Gaps of one frame closed, stands of fewer than `frames` left out."""
    closed = stance.clone()
    closed[1:-1] |= stance[:-2] & stance[2:]
    numbers = number_stands(closed)
    counts = torch.bincount(numbers.flatten(), minlength=int(numbers.max()) + 1)
    return closed & (counts[numbers] >= frames)
