"""Loops: motions that end where they began, up to the root's displacement."""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.control import ControlPose, ControlRig

_LOOP = 0.01
"""Largest gap of a loop, in body heights."""


def loop_gap(rig: ControlRig, motion: Motion, *, height: float) -> float:
    """Mean distance of the driven joints between the last frame and the first, once the bodies are
    laid over each other by the root's place and heading, as a fraction of the body's height."""
    world = motion.world()[[0, -1]]
    ends = world[:, [rig.root, *rig.joints], :3, 3]
    yaw = rig.from_world(world).root_rotation[:, 0]
    back = quaternion.about_axis(rig.root_axes[0].to(ends), yaw[0] - yaw[1])
    level = ends.new_tensor((1.0, 0.0, 1.0))
    last = quaternion.rotate(back, ends[1] - ends[1, 0] * level)
    return float((last - (ends[0] - ends[0, 0] * level)).norm(dim=-1).mean()) / height


def is_loop(rig: ControlRig, motion: Motion, *, height: float) -> bool:
    """Whether the last pose of a motion is its first, within 1 % of the body's height."""
    return len(motion) > 3 and loop_gap(rig, motion, height=height) < _LOOP


def close_loop(rig: ControlRig, motion: Motion) -> Motion:
    """Spread the gap between the last frame and the first evenly over the motion.

    Angles and the root's height come back to where they began; horizontal travel and heading stay.
    Joints that are not driven follow the ones that are.
    """
    pose = rig.from_pose(motion.pose)
    span = max(motion.duration, 1e-9)
    ramp = ((motion.times - motion.times[0]) / span).to(pose.angles)
    rise = (pose.translation[-1] - pose.translation[0]) * pose.translation.new_tensor((0, 1.0, 0))
    tilt = (pose.root_rotation[-1] - pose.root_rotation[0]) * pose.root_rotation.new_tensor(
        (0, 1.0, 1.0)
    )
    closed = ControlPose(
        pose.translation - ramp[:, None] * rise,
        pose.root_rotation - ramp[:, None] * tilt,
        pose.angles - ramp[:, None, None] * (pose.angles[-1] - pose.angles[0]),
        None
        if pose.joint_translation is None
        else pose.joint_translation
        - ramp[:, None, None] * (pose.joint_translation[-1] - pose.joint_translation[0]),
    )
    return replace(motion, pose=rig.to_pose(closed))


def repeat_over(rig: ControlRig, cycle: Motion, times: Float[Tensor, "F"]) -> Motion:
    """A cycle over and over, at the times of a longer clip that repeats it."""
    seconds = float(times[-1] - times[0])
    longer = repeat(rig, cycle, rounds_in(cycle, times))
    # Whole cycles both: the ends meet, whatever rounding the frame rates bring.
    at = longer.times[0] + (times - times[0]) * (longer.duration / max(seconds, 1e-9))
    return replace(longer.sample(at), times=times)


def rounds_in(cycle: Motion, times: Float[Tensor, "F"]) -> int:
    """How often a cycle fits into the times of a clip that repeats it; at least once."""
    return max(1, round(float(times[-1] - times[0]) / max(cycle.duration, 1e-9)))


def repeat(rig: ControlRig, motion: Motion, times: int) -> Motion:
    """The motion several times over, each round starting where the last one ended and heading the
    way it did."""
    if times < 1:
        raise ValueError(f"times must be at least 1, got {times}")
    if times == 1:
        return motion
    pose = rig.from_pose(motion.pose)
    keep = slice(0, len(motion) - 1)
    last = slice(0, len(motion))
    turn = pose.root_rotation[-1, 0] - pose.root_rotation[0, 0]
    up = rig.root_axes[0].to(pose.translation)
    level = pose.translation.new_tensor((1.0, 0.0, 1.0))
    start = pose.translation[0] * level
    step = pose.translation[-1] * level - start
    paths, rotations, gone = [], [], torch.zeros_like(step)
    for number in range(times):
        frames = last if number == times - 1 else keep
        heading = quaternion.about_axis(up, number * turn)
        paths.append(start + gone + quaternion.rotate(heading, pose.translation[frames] - start))
        yaw = torch.stack((number * turn, 0 * turn, 0 * turn))
        rotations.append(pose.root_rotation[frames] + yaw)
        gone = gone + quaternion.rotate(heading, step)

    def joined(values: torch.Tensor) -> torch.Tensor:
        return torch.cat([values[keep]] * (times - 1) + [values])

    shift = [torch.full_like(motion.times[keep], n * motion.duration) for n in range(times - 1)]
    clock = joined(motion.times) + torch.cat(
        (*shift, torch.full_like(motion.times, (times - 1) * motion.duration))
    )
    # Keys of a step lie as close together as numbers can be; later, numbers are coarser.
    for frame in (clock.diff() <= 0.0).nonzero().flatten().tolist():
        clock[frame + 1] = torch.nextafter(clock[frame], clock.new_tensor(torch.inf))
    joint_translation = None if pose.joint_translation is None else joined(pose.joint_translation)
    repeated = ControlPose(
        torch.cat(paths), torch.cat(rotations), joined(pose.angles), joint_translation
    )
    morphs = {node: joined(weights) for node, weights in motion.morphs.items()}
    return replace(motion, times=clock, pose=rig.to_pose(repeated), morphs=morphs)
