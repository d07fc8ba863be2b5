"""`measure_seam`: how a cycle passes from its last frame to its first; `sideways`: its drift."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport
from akd.motion.motion import Motion
from akd.motion.seam import LEAST_STEP, joint_steps
from akd.rig.control import ControlRig


@dataclass(frozen=True)
class Seam:
    """The seam of a cycle against its inside; above 1 it is rougher."""

    jump: float
    """Step from the last frame to the first over the 90th percentile of a joint's own steps, worst
    joint; root height and tilt included. Zero where the last frame repeats the first."""
    step: float
    """The same, of the step into the first frame: a last frame that repeats it is left out."""
    inside: float
    """The same, of the median step inside the cycle. The worst of many joints is above its own 90th
    percentile at most frames, so this is what `step` compares with."""
    kink: float
    """Change of velocity over the seam over the 90th percentile of a joint's own changes from step
    to step, worst joint."""


def measure_seam(rig: ControlRig, motion: Motion, *, height: float) -> Seam:
    """Measure the seam of a cyclic clip of at least four frames."""
    if len(motion) < 4:
        raise ValueError(f"a cycle needs at least 4 frames, got {len(motion)}")
    pose = rig.from_pose(motion.pose)
    tilt = davenport.to_quaternion(
        rig.root_axes, pose.root_rotation * pose.root_rotation.new_tensor((0.0, 1.0, 1.0))
    )
    rotations = torch.cat((motion.pose.rotation[:, list(rig.joints)], tilt[:, None]), dim=1)
    rise = pose.translation[:, 1, None, None] / height * torch.eye(3)[1]
    steps = torch.cat((joint_steps(rotations), rise[1:] - rise[:-1]), dim=1)
    jump = torch.cat((joint_steps(rotations[[-1, 0]])[0], rise[0] - rise[-1]))
    step = jump
    if float(jump.norm(dim=-1).mean()) < 0.25 * float(steps.norm(dim=-1).mean()):
        step, steps = jump + steps[-1], steps[:-1]
    bends = steps[1:] - steps[:-1]
    kink = torch.stack((step - steps[-1], steps[0] - step))
    return Seam(
        jump=float(_worst(jump, steps)),
        step=float(_worst(step, steps)),
        inside=float(_worst(steps, steps).median()),
        kink=float(_worst(kink, bends).max()),
    )


def sideways(
    rig: ControlRig, motion: Motion, course: Float[Tensor, "3"], *, height: float
) -> float:
    """Horizontal displacement of the root over the clip across a direction, in body heights."""
    gone = rig.from_pose(motion.pose).translation
    gone = (gone[-1] - gone[0]).double() * gone.new_tensor((1.0, 0.0, 1.0))
    along = course.double() / course.double().norm().clamp_min(1e-9)
    return float((gone - (gone @ along) * along).norm()) / height


def _worst(seam: Float[Tensor, "*b N 3"], inside: Float[Tensor, "T N 3"]) -> Float[Tensor, "*b"]:
    """Largest over the joints, each over the 90th percentile of its own."""
    usual = inside.norm(dim=-1).quantile(0.9, dim=0).clamp_min(LEAST_STEP)
    return (seam.norm(dim=-1) / usual).amax(-1)
