"""`slow_seam`: a loop without fast joints where its last frame meets its first."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion
from akd.rig.control import ControlPose, ControlRig

LEAST_STEP = 0.003
"""Radians and body heights: smaller steps from frame to frame are not seen."""
_LIMIT = 1.15
"""Largest step over the seam, over the 90th percentile of a joint's other steps."""
_PASSES = 3
"""Slowing a joint changes its other steps too, and with them the limit: it is done again."""
_FRAMES = 4
"""Frames on either side that take up what the step over the seam loses."""


def slow_seam(rig: ControlRig, pose: ControlPose, *, height: float) -> ControlPose:
    """Limit how far each joint turns from the last frame of a loop to the first.

    Players show the frame that both ends share twice, or leave one out: what is fast there
    stutters, such as a foot that snaps at the moment of landing with which many clips begin. A
    joint above the limit turns a little earlier and later instead: half of the excess is taken up
    by the frames before the seam, half by those after it. Heading and horizontal travel stay.

    Args:
        rig: The control rig.
        pose: A closed loop [F, ...]: the last frame repeats the first up to travel and heading.
        height: Of the body, metres.

    Returns:
        The same loop with smaller steps over its seam, closed again.
    """
    for _ in range(_PASSES):
        pose = _slow_once(rig, pose, height=height)
    return pose


def _slow_once(rig: ControlRig, pose: ControlPose, *, height: float) -> ControlPose:
    tilt = pose.root_rotation * pose.root_rotation.new_tensor((0.0, 1.0, 1.0))
    upright = davenport.to_quaternion(rig.root_axes.to(tilt), tilt)
    rise = pose.translation[:, 1, None]
    level = pose.translation.new_tensor((1.0, 0.0, 1.0))
    slow_rise = _slowed(rise, _excess((rise[1:] - rise[:-1]).abs()[..., 0] / height))
    yaw = pose.root_rotation - tilt
    return ControlPose(
        pose.translation * level + slow_rise * (1 - level),
        yaw + _slowed(tilt, _excess(joint_steps(upright).norm(dim=-1))),
        _slowed(pose.angles, _joint_excess(rig, pose)),
        pose.joint_translation,
    )


def _joint_excess(rig: ControlRig, pose: ControlPose) -> Float[Tensor, "D"]:
    """Share by which the last step of each driven joint is too large.

    A paw on a root of its own turns in the file by what its limb turns: all joints of the limb are
    slowed where that is too much.
    """
    turns = davenport.to_quaternion(rig.axes.to(pose.angles), pose.angles)
    in_file = rig.to_pose(pose).rotation[:, list(rig.joints)]
    excess, shown = (_excess(joint_steps(r).norm(dim=-1)) for r in (turns, in_file))
    limbs = excess.clone()
    for joint in ((shown > 0) & (excess == 0)).nonzero().flatten().tolist():
        part = joint
        while part >= 0:
            limbs[part] = torch.maximum(limbs[part], shown[joint])
            part = rig.parents[part]
    return limbs


def joint_steps(rotations: Float[Tensor, "F *b 4"]) -> Float[Tensor, "G *b 3"]:
    """Rotation vectors from each frame to the next, radians: G = F - 1."""
    turns = quaternion.multiply(quaternion.conjugate(rotations[:-1]), rotations[1:])
    return quaternion.to_rotation_vector(turns)


def _excess(sizes: Float[Tensor, "G *b"]) -> Float[Tensor, "*b"]:
    """Share by which the last of the steps is above the limit."""
    usual = sizes[:-1].quantile(0.9, dim=0).clamp_min(LEAST_STEP)
    return (1.0 - _LIMIT * usual / sizes[-1].clamp_min(1e-12)).clamp_min(0.0)


def _slowed(
    curves: Float[Tensor, "F *b c"], excess: Float[Tensor, "*b"]
) -> Float[Tensor, "F *b c"]:
    """Closed curves whose last step is smaller by a share of it."""
    count = min(_FRAMES, (len(curves) - 1) // 2)
    fade = 0.5 + 0.5 * torch.cos(torch.pi * torch.arange(count).to(curves) / count)
    half = 0.5 * excess[..., None] * (curves[-1] - curves[-2])
    part = fade.view(-1, *[1] * half.ndim) * half
    slowed = curves.clone()
    slowed[:count] -= part
    slowed[-1] -= part[0]
    slowed[-1 - count : -1] += part.flip(0)
    return slowed
