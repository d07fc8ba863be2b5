"""How a motion stands on the ground: skate, contact, penetration and float of its cuboids."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.metrics.skate import skate_speed
from akd.physics.body import Body, place
from akd.physics.target import Reference

TOUCH = 0.015
"""A corner nearer to the ground than this share of body height touches it."""

FLOOR = 0.05
"""A foot is lower than its own floor for this share of the time."""


@dataclass(frozen=True)
class GroundContact:
    """Lengths are shares of body height."""

    skate: float
    """Mean horizontal speed of the corners near the ground, body heights a second. A corner on it
    counts in full, one at the height `TOUCH` no more, so that lifting a foot is not skating."""
    contact: float
    """Share of the frames in which a foot touches."""
    penetration: float
    """Mean depth of the lowest corner below the ground."""
    deepest: float
    """Greatest depth below the ground."""
    float_: float
    """Mean height of the lowest corner above the ground."""


def assess(body: Body, feet: Bool[Tensor, "B"], motion: Reference) -> GroundContact:
    """Measure a motion of a body. Feet are the parts whose contact and skate count."""
    placement = place(body, motion.position, motion.rotation, motion.angles)
    corners = placement.points(body, body.corners)
    lowest = corners[..., 1].flatten(1).amin(1) / body.height
    soles = corners[:, feet if bool(feet.any()) else slice(None)].flatten(1, 2)
    touching = soles[..., 1] < TOUCH * body.height
    skate = skate_speed(soles, fps=motion.fps, touch=TOUCH * body.height) / body.height
    return GroundContact(
        skate=skate,
        contact=float(touching.any(1).double().mean()),
        penetration=float((-lowest).clamp_min(0.0).mean()),
        deepest=float((-lowest).clamp_min(0.0).max()),
        float_=float(lowest.clamp_min(0.0).mean()),
    )


def implied_travel(
    body: Body, feet: Bool[Tensor, "B"], motion: Reference
) -> Float[Tensor, "3"] | None:
    """The velocity (m/s, horizontal) that the stance feet of an in-place clip imply, else None.

    A clip is in place where its root comes back to where it was while the soles that touch move
    steadily. Each foot has a floor of its own, as feet may be sunk, and not alike: what is lowest
    of all in such a clip may be a foot that swings. The median over touching corners is robust to
    heels that roll and toes that drag.
    """
    placement = place(body, motion.position, motion.rotation, motion.angles)
    chosen = feet if bool(feet.any()) else torch.ones_like(feet)
    soles = placement.points(body, body.corners)[:, chosen]
    floor = soles[..., 1].amin(-1).quantile(FLOOR, dim=0)
    stance = torch.zeros(0, dtype=torch.bool)
    for touch in (TOUCH, 2 * TOUCH):
        low = soles[..., 1] - floor[:, None] < touch * body.height
        stance = low[1:] & low[:-1]
        if int(stance.sum()) >= 4:
            break
    else:
        return None
    steps = (soles[1:] - soles[:-1])[stance] * motion.fps
    velocity = -steps.median(0).values
    velocity = velocity * velocity.new_tensor((1.0, 0.0, 1.0))
    duration = (len(motion.position) - 1) / motion.fps
    wanted = float(velocity.norm()) * duration
    gone = float((motion.position[-1] - motion.position[0])[[0, 2]].norm())
    if wanted < 0.25 * body.height or gone > 0.25 * wanted:
        return None
    return velocity


def add_travel(motion: Reference, velocity: Float[Tensor, "3"]) -> Reference:
    """The motion carried along at a constant velocity (m/s)."""
    times = torch.arange(len(motion.position), dtype=torch.float64) / motion.fps
    position = motion.position + times[:, None] * velocity.to(motion.position)
    return Reference(position, motion.rotation, motion.angles, motion.fps)
