"""From unknowns to a motion that can be exported."""

from __future__ import annotations

import torch

from akd.distill.stage import Stage
from akd.distill.unknowns import Unknowns
from akd.motion.motion import Motion
from akd.rig.control import ControlPose


def motion_of(stage: Stage, unknowns: Unknowns, name: str) -> Motion:
    """The motion of the character's file, standing on the ground as it stood on the stage."""
    with torch.no_grad():
        controls = unknowns.controls()
        shift = controls.translation.new_tensor((0.0, stage.lift, 0.0))
        lifted = ControlPose(controls.translation + shift, controls.heading, controls.angles)
        pose = stage.rig.to_pose(lifted)
    times = torch.arange(unknowns.frames) / unknowns.fps
    return Motion(stage.rig.skeleton, times, pose, name)
