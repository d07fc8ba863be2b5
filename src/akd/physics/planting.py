"""`plant_result`: the stance feet of a simulated motion, pinned again."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool

from akd.physics.body import Body
from akd.physics.cycle import OVERLAP, close_cycle, repeat_cycle
from akd.physics.footing import plant_feet
from akd.physics.target import TargetMotion
from akd.physics.units import BodyUnits

LIFTED = 0.02
"""Least height of a swing foot next to a stand, in body heights: above `TOUCH`, so that a foot that
lands fast does not touch while it still moves."""


def plant_result(
    body: Body, feet: Bool[Tensor, "B"], made: TargetMotion, stance: Bool[Tensor, "F B"]
) -> TargetMotion:
    """A simulated motion with its stance feet pinned: where a body struggles to stand in its place,
    and where repetitions of a cycle were blended, they slide.

    Args:
        body: The simulated body.
        feet: Its parts that stand.
        made: What the simulation made; a cycle is closed.
        stance: When each part stands, for the frames of the motion at least.
    """
    units = BodyUnits(body.height, body.mass)
    unit_body = body.scaled(length=1 / units.length, mass=1 / units.mass)
    if not made.cyclic:
        given = units.motion_in(made)
        return units.motion_out(plant_feet(unit_body, feet, given, stance, beside=LIFTED))
    frames = len(made.position) - 1
    # Another repetition at either end, so that stances continue over the seams.
    longer = repeat_cycle(units.motion_in(made), before=1, after=2)
    stands = torch.cat((stance[:frames].repeat(4, 1), stance[:1]))
    planted = plant_feet(unit_body, feet, longer, stands, beside=LIFTED)
    kept = slice(frames, 2 * frames + math.ceil(OVERLAP * frames) + 1)
    return close_cycle(units.motion_out(planted[kept]), made)
