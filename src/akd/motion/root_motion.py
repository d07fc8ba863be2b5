"""Root motion: the way a body travels over the ground, and taking it out of a motion."""

from __future__ import annotations

from dataclasses import replace

from jaxtyping import Float
from torch import Tensor

from akd.math import transform
from akd.math.least_squares import least_squares
from akd.math.spline import cubic_basis
from akd.motion.motion import Motion
from akd.rig.control import STATIC, ControlRig

_SECONDS_A_SEGMENT = 1.0
"""The path bends no faster than this, so that sway from step to step is not taken for travel."""


def travel_path(rig: ControlRig, motion: Motion) -> Float[Tensor, "T 3"]:
    """Smooth horizontal path of the root over the ground, metres; the height is zero."""
    points = motion.world()[:, rig.root, :3, 3].double()
    if len(motion) < 4 or motion.duration <= 0:
        path = points
    else:
        phase = ((motion.times - motion.times[0]) / motion.duration).double()
        count = 4 + int(motion.duration / _SECONDS_A_SEGMENT)
        basis = cubic_basis(phase, min(count, len(motion)))
        path = basis @ least_squares(basis, points)
    return (path * path.new_tensor((1.0, 0.0, 1.0))).to(motion.pose.translation)


def in_place(rig: ControlRig, motion: Motion) -> Motion:
    """The same motion without its travel: the body sways but stays where it starts."""
    path = travel_path(rig, motion)
    return displaced(rig, motion, path[:1] - path)


def displaced(rig: ControlRig, motion: Motion, shift: Float[Tensor, "T 3"]) -> Motion:
    """The motion with everything that belongs to the body moved by `shift`, metres."""
    world = motion.world()
    moves = (rig.driver_index != STATIC)[:, None].to(world)
    position = world[..., :3, 3] + moves * shift[:, None, :]
    moved = transform.from_linear(world[..., :3, :3], position)
    local = rig.skeleton.localize(moved)
    # Only translations change, so rotation and scale stay exactly what they were.
    return replace(motion, pose=replace(motion.pose, translation=local.translation))
