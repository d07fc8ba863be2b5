"""From unknowns to a motion that can be exported."""

from __future__ import annotations

import math

import torch

from akd.motion.motion import Motion
from akd.motion.parameters import MotionParameters
from akd.rig.control import ControlPose
from akd.scene.stage import Stage

_SMOOTH_FPS = 24.0


def smooth_fps(fps: float) -> float:
    """The least multiple of a prior's frame rate that looks smooth: 24 for 12, 8 or 24."""
    return fps * max(1, math.ceil(_SMOOTH_FPS / fps - 1e-9))


def motion_of(
    stage: Stage, unknowns: MotionParameters, name: str, *, fps: float | None = None
) -> Motion:
    """The motion of the character's file, standing on the ground as it stood on the stage.

    At `fps` frames a second, by default the prior's own. It lasts as long as the prior's video; a
    cycle goes on until it is whole, so that the clip is a loop up to its travel.
    """
    fps = fps or unknowns.fps
    seconds = (unknowns.frames - 1) / unknowns.fps
    with torch.no_grad():
        if unknowns.period is not None:
            cycle = float(unknowns.cycle())
            seconds = cycle * max(1, math.ceil(seconds / cycle - 1e-3))
        count = round(seconds * fps) + 1
        # Frames are spread evenly over a whole number of cycles: the rate is nearly as asked.
        times = torch.linspace(0.0, seconds, count) if count > 1 else torch.zeros(1)
        controls = unknowns.controls(times)
    shift = controls.translation.new_tensor((0.0, stage.lift, 0.0))
    lifted = ControlPose(controls.translation + shift, controls.root_rotation, controls.angles)
    return Motion(stage.rig.skeleton, times, stage.rig.to_pose(lifted), name)
