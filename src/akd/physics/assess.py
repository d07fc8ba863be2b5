"""How a motion stands on the ground: skate, contact, penetration and float of its cuboids."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.motion.contact import implied_velocity, skate_speed, touches
from akd.physics.body import Body, place
from akd.physics.target import TargetMotion


@dataclass(frozen=True)
class GroundContact:
    """Lengths are shares of body height."""

    skate: float
    """Mean horizontal speed of the corners near the ground, body heights a second."""
    contact: float
    """Share of the frames in which a foot touches."""
    penetration: float
    """Mean depth of the lowest corner below the ground."""
    deepest: float
    """Greatest depth below the ground."""
    float_: float
    """Mean height of the lowest corner above the ground."""


def assess(body: Body, feet: Bool[Tensor, "B"], motion: TargetMotion) -> GroundContact:
    """Measure a motion of a body. Feet are the parts whose contact and skate count."""
    placement = place(body, motion)
    corners = placement.corners(body)
    lowest = corners[..., 1].flatten(1).amin(1) / body.height
    soles = corners[:, feet if bool(feet.any()) else slice(None)].flatten(1, 2)
    touching = touches(soles[..., 1], body_height=body.height)
    skate = skate_speed(soles, fps=motion.fps, body_height=body.height) / body.height
    return GroundContact(
        skate=skate,
        contact=float(touching.any(1).double().mean()),
        penetration=float((-lowest).clamp_min(0.0).mean()),
        deepest=float((-lowest).clamp_min(0.0).max()),
        float_=float(lowest.clamp_min(0.0).mean()),
    )


def implied_travel(
    body: Body, feet: Bool[Tensor, "B"], motion: TargetMotion
) -> Float[Tensor, "3"] | None:
    """The velocity (m/s, horizontal) that the stance feet of an in-place clip imply, else None."""
    placement = place(body, motion)
    chosen = feet if bool(feet.any()) else torch.ones_like(feet)
    corners = placement.corners(body)[:, chosen]
    return implied_velocity(
        corners.unbind(1), motion.position, forward=body.axes[0, 2], fps=motion.fps,
        body_height=body.height,
    )  # fmt: skip


def add_travel(motion: TargetMotion, velocity: Float[Tensor, "3"]) -> TargetMotion:
    """The motion carried along at a constant velocity (m/s)."""
    times = torch.arange(len(motion.position), dtype=torch.float64) / motion.fps
    return replace(motion, position=motion.position + times[:, None] * velocity.to(motion.position))
