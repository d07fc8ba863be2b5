"""Clips sampled from `ControlCurves`, at any frame rate."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.key_poses import Bend, KeyPoses
from akd.motion.motion import Motion
from akd.rig.control import ControlPose

if TYPE_CHECKING:
    from akd.motion.parameters import ControlCurves


def curves_to_motion(
    curves: ControlCurves, name: str, *, lift: float, fps: float | None = None
) -> Motion:
    """The motion of the character's file, raised by `lift` metres to stand on the ground.

    At `fps` frames per second, by default the prior's. It lasts as long as the prior's video; a
    cycle is completed, so that the clip is a loop up to its root motion, and retimed to a whole
    number of frames. Key poses belong to single frames of the video and are not part of the cycle.
    """
    fps = fps or curves.fps
    seconds = (curves.frames - 1) / curves.fps
    with torch.no_grad():
        if curves.period is not None:
            seconds = _rounds(curves) * float(curves.cycle())
    return _sampled(curves, name, seconds, round(seconds * fps), fps=fps, lift=lift)


@torch.no_grad()
def first_cycle(curves: ControlCurves, name: str, *, lift: float, fps: float) -> Motion | None:
    """The first cycle of the clip of `curves_to_motion`; None where there is no cycle.

    It is sampled on whole frames of its own, at `fps` or slightly more frames per second.
    """
    if curves.period is None:
        return None
    seconds, rounds = float(curves.cycle()), _rounds(curves)
    clip = max(1, round(rounds * seconds * fps))
    frames = math.ceil(clip / rounds)
    return _sampled(curves, name, seconds, frames, fps=fps * frames * rounds / clip, lift=lift)


def _rounds(curves: ControlCurves) -> int:
    """How many whole cycles last as long as the prior's video."""
    seconds = (curves.frames - 1) / curves.fps
    return max(1, math.ceil(seconds / float(curves.cycle()) - 1e-3))


@torch.no_grad()
def _sampled(
    curves: ControlCurves, name: str, seconds: float, count: int, *, fps: float, lift: float
) -> Motion:
    """The curves from 0 to `seconds`, sampled at `count` + 1 frames."""
    phase = torch.linspace(0.0, seconds, count + 1) if count else torch.zeros(1)
    controls = curves.controls(phase)
    if curves.keys is not None and curves.period is None:
        controls = _meeting(curves, curves.keys, phase)
    if curves.period is not None and float(curves.turn) == 0.0:
        controls = _straightened(curves, controls)
    controls = controls.to("cpu")
    shift = controls.translation.new_tensor((0.0, lift, 0.0))
    lifted = replace(controls, translation=controls.translation + shift)
    times = torch.arange(count + 1) / fps
    return Motion(curves.rig.skeleton, times, curves.rig.to_pose(lifted), name)


def _meeting(curves: ControlCurves, keys: KeyPoses, seconds: Float[Tensor, "S"]) -> ControlPose:
    """The curves at these times, bent to meet the key poses, whose times may lie between them."""
    with_keys = torch.cat((seconds, torch.tensor(keys.seconds, dtype=seconds.dtype)))
    bent = Bend.of(keys, with_keys, curves.angles)(curves.controls(with_keys))
    return bent[: len(seconds)]


def _straightened(curves: ControlCurves, controls: ControlPose) -> ControlPose:
    """Rotate the whole cycle so that it travels where the character faces, or to its side: in an
    asymmetric gait, a mean yaw comes from the camera of the sampled video."""
    up, left, forward = curves.rig.root_axes.to(controls.translation)
    gone = controls.translation - controls.translation[:1]
    ahead, aside = gone @ forward, gone @ left
    angle = torch.atan2(aside[-1], ahead[-1]) - curves.way
    if angle.cos() <= 0.0:
        return controls
    cos, sin = angle.cos(), angle.sin()
    translation = (
        controls.translation[:1]
        + (gone @ up)[:, None] * up
        + (cos * ahead + sin * aside)[:, None] * forward
        + (cos * aside - sin * ahead)[:, None] * left
    )
    yaw = controls.root_rotation[:, :1] - angle
    rotation = torch.cat((yaw, controls.root_rotation[:, 1:]), dim=1)
    return ControlPose(translation, rotation, controls.angles)
