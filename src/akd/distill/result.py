"""From unknowns to a motion that can be exported."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float
from scipy.interpolate import CubicSpline
from torch import Tensor

from akd.distill.stage import Stage
from akd.distill.unknowns import Unknowns
from akd.motion.motion import Motion
from akd.rig.control import ControlPose

_SMOOTH_FPS = 24.0


def smooth_fps(fps: float) -> float:
    """The least multiple of a prior's frame rate that looks smooth: 24 for 12, 8 or 24."""
    return fps * max(1, int(np.ceil(_SMOOTH_FPS / fps - 1e-9)))


def motion_of(stage: Stage, unknowns: Unknowns, name: str, *, fps: float | None = None) -> Motion:
    """The motion of the character's file, standing on the ground as it stood on the stage.

    At `fps` frames a second (by default the prior's own) between the first and the last of the
    prior's frames; what is in between is interpolated smoothly in the control rig's coordinates.
    """
    with torch.no_grad():
        controls = unknowns.controls()
    shift = controls.translation.new_tensor((0.0, stage.lift, 0.0))
    old = torch.arange(unknowns.frames) / unknowns.fps
    times = old
    if fps is not None and fps != unknowns.fps and len(old) > 1:
        count = int(float(old[-1]) * fps + 1e-6) + 1
        times = torch.arange(count) / fps
        controls = ControlPose(
            _between(controls.translation, old, times),
            _between(controls.heading, old, times),
            _between(controls.angles, old, times),
        )
    lifted = ControlPose(controls.translation + shift, controls.heading, controls.angles)
    return Motion(stage.rig.skeleton, times, stage.rig.to_pose(lifted), name)


def _between(
    values: Float[Tensor, "T *c"], old: Float[Tensor, "T"], new: Float[Tensor, "S"]
) -> Float[Tensor, "S *c"]:
    """A smooth curve through values at old times, at new ones."""
    curve = CubicSpline(old.double().numpy(), values.double().numpy(force=True), axis=0)
    return torch.from_numpy(curve(new.double().numpy())).to(values)
