"""`lift_skin`: a simulated motion raised where its skin is under the ground."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import avg_pool1d, max_pool1d, pad

from akd.motion.contact import TOUCH
from akd.rig.control import ControlPose, ControlRig
from akd.rig.mesh import SkinnedMesh

DEPTH = 0.004
"""Skin may be this far under the ground, in body heights: contact is compliant."""
MOST = 0.8 * TOUCH
"""Greatest lift, in body heights: feet that stand still touch, and a tail or a hem that drags does
not carry the body up."""
_FRAMES = 1
"""The lift begins and ends over twice as many frames."""


def lift_skin(
    rig: ControlRig, mesh: SkinnedMesh, pose: ControlPose, *, height: float, cyclic: bool
) -> ControlPose:
    """Raise the root where the skin sinks.

    A cuboid is not its skin, and the frames at which a cycle is closed blend two simulated poses:
    neither stands exactly on the ground.

    Args:
        rig: The control rig.
        mesh: The skin of the body.
        pose: The motion, [F, ...].
        height: Of the body, metres.
        cyclic: The last frame repeats the first.

    Returns:
        The motion with another height of its root; all else is as it was.
    """
    world = rig.skeleton.forward(rig.to_pose(pose))
    low = torch.cat([mesh.pose(some)[..., 1].amin(-1) for some in world.split(16)])
    lift = (-low - DEPTH * height).clamp(0.0, MOST * height)
    if not bool((lift > 0).any()):
        return pose
    up = pose.translation.new_tensor((0.0, 1.0, 0.0))
    smooth = _envelope(lift, cyclic=cyclic).to(pose.translation)
    return replace(pose, translation=pose.translation + smooth[:, None] * up)


def _envelope(lift: Float[Tensor, "F"], *, cyclic: bool) -> Float[Tensor, "F"]:
    """A smooth curve that is nowhere below the given one."""
    curve = lift[:-1] if cyclic else lift
    size, margin = 2 * _FRAMES + 1, min(2 * _FRAMES, len(curve) - 1)
    wide = pad(curve[None, None], (margin, margin), mode="circular" if cyclic else "replicate")
    widest = max_pool1d(wide, size, stride=1, padding=_FRAMES)
    smooth = avg_pool1d(widest, size, stride=1, padding=_FRAMES, count_include_pad=False)
    smooth = smooth[0, 0, margin : margin + len(curve)]
    return torch.cat((smooth, smooth[:1])) if cyclic else smooth
