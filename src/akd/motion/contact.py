"""Contact with the ground: the definition of touching, of skate and of implied travel.

Thresholds are fractions of the body's height. Points are metres, world; the ground is y = 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor

TOUCH = 0.015
"""A point touches the ground below this height. The soles of a person who walks swing past the
ground at 0.02."""
STANCE = 2 * TOUCH
"""A foot may stand below this height above its own floor. More than `TOUCH`, because that floor is
estimated from the motion: feet of clips may be sunk or lifted, and not alike."""
_STANDS = 0.3
"""Least share of the time that a foot of a gait stands."""
_IN_PLACE = 0.25
"""A clip is in place where its root goes less than this share of what its feet imply; it implies
travel where that is more than this share of the body's height."""
_AHEAD = 0.985
"""Cosine of 10 degrees: travel that is nearer to the way the body faces goes exactly that way. In
walks and runs of the training side, uneven feet turn it by up to 5 degrees; strafing is at 60."""


def touches(height: Float[Tensor, "..."], *, body_height: float) -> Bool[Tensor, "..."]:
    """Whether points at a height above the ground (m) touch it."""
    return height < TOUCH * body_height


def nearness(height: Float[Tensor, "..."], *, body_height: float) -> Float[Tensor, "..."]:
    """Contact as a weight: 1 on the ground or under it, falling to 0 at `TOUCH`."""
    if not body_height > 0:
        raise ValueError(f"body_height must be above zero, got {body_height}")
    return (1.0 - height / (TOUCH * body_height)).clamp(0.0, 1.0)


def skate_speed(points: Float[Tensor, "T N 3"], *, fps: float, body_height: float) -> float:
    """Mean horizontal speed (m/s) of points near the ground; 0 if none ever is.

    Points count by their `nearness`, so that lifting a foot is not skating. From one frame to the
    next the higher of the two heights decides.

    Args:
        points: Of the soles, metres, world.
        fps: Frames per second.
        body_height: Metres.
    """
    near = nearness(points[..., 1], body_height=body_height)
    weight = torch.minimum(near[1:], near[:-1])
    moved = (points[1:] - points[:-1])[..., [0, 2]].norm(dim=-1)
    return float((weight * moved).sum() / weight.sum().clamp_min(1e-9)) * fps


def floor_height(low: Float[Tensor, "T"]) -> Float[Tensor, ""]:
    """The height at which a foot stands: where its lowest point is most often.

    The lowest height of all will not do: toes of artists' clips dip into the ground as they swing.

    Args:
        low: Height of the foot's lowest point, metres.
    """
    heights = low.sort().values
    count = max(1, int(_STANDS * len(heights)))
    widths = heights[count:] - heights[: len(heights) - count]
    first = int(widths.argmin()) if len(widths) else 0
    return heights[first : first + count + 1].mean()


def implied_velocity(
    feet: Sequence[Float[Tensor, "T _ 3"]],
    root: Float[Tensor, "T 3"],
    *,
    forward: Float[Tensor, "3"],
    fps: float,
    body_height: float,
) -> Float[Tensor, "3"] | None:
    """The velocity (m/s, horizontal) at which the stance feet of an in-place clip stand still.

    Each foot has a floor of its own: the lowest point of such a clip may be of a foot that swings.
    The median over touching points is robust to heels that roll and toes that drag.

    Args:
        feet: Points of each foot's sole, metres.
        root: Path of the body, metres.
        forward: The way the body faces.
        fps: Frames per second.
        body_height: Metres.

    Returns:
        None where nothing touches, where what touches hardly moves, or where the body travels by
        itself.
    """
    above = [foot[..., 1] - floor_height(foot[..., 1].amin(1)) for foot in feet]
    level, low_way = root.new_tensor((1.0, 0.0, 1.0)), _low_direction(feet)
    for touch in (TOUCH, STANCE, 2 * STANCE):
        # What is far below its floor falls through it.
        low = [height.abs() < touch * body_height for height in above]
        steps = [
            (foot[1:] - foot[:-1])[near[1:] & near[:-1]]
            for foot, near in zip(feet, low, strict=True)
        ]
        moved = torch.cat(steps) * fps * level if steps else root[:0]
        # Feet that swing low go the other way: without them the rest says how fast. They may be
        # most of what touches, so two more cues vote on the way that the rest goes.
        votes = _most_go(moved) + low_way - forward.to(root) / forward.norm()
        backward = moved[moved @ votes > 0.0]
        if len(backward) >= 4:
            break
    else:
        return None
    velocity = -backward.median(0).values
    ahead = forward.to(root) / forward.norm()
    if abs(float(velocity @ ahead)) > _AHEAD * float(velocity.norm()):
        velocity = (velocity @ ahead) * ahead
    implied = float(velocity.norm()) * (len(root) - 1) / fps
    gone = float((root[-1] - root[0])[[0, 2]].norm())
    if implied < _IN_PLACE * body_height or gone > _IN_PLACE * implied:
        return None
    return velocity


def _most_go(moved: Float[Tensor, "N 3"]) -> Float[Tensor, "3"]:
    """The way that most of what touches goes, as long as the majority is large: 0 to 1."""
    if len(moved) == 0:
        return moved.new_zeros(3)
    middle = moved.median(0).values
    way = middle / middle.norm().clamp_min(1e-9)
    return way * (moved @ way).sign().mean().clamp_min(0.0)


def _low_direction(feet: Sequence[Float[Tensor, "T _ 3"]]) -> Float[Tensor, "3"]:
    """The horizontal way that feet go while they are low rather than high, as long as height and
    velocity are correlated: 0 to 1."""
    total, most = torch.zeros(3), 0.0
    for foot in feet:
        centre = foot.mean(1)
        height = 0.5 * (centre[1:, 1] + centre[:-1, 1])
        step = (centre[1:] - centre[:-1]) * centre.new_tensor((1.0, 0.0, 1.0))
        total = total.to(step) - (height - height.mean()) @ step
        most += float((height - height.mean()).norm() * step.norm())
    return total / max(most, 1e-9)
