"""Plants the feet of a motion on y = 0 again, after it was edited."""

from __future__ import annotations

from dataclasses import replace

import torch

from akd.math import quaternion
from akd.motion.feet import track_feet
from akd.motion.footing.planting import Footing, lift_out, plant_feet
from akd.motion.footing.points import body_points
from akd.motion.footing.stance import find_stance, swing_clearance
from akd.motion.loop import close_loop, repeat, repeat_over
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.limits import AngleLimits

_ALOFT = 0.25
"""Feet at this share of the body's height or above stand on nothing: the body flies."""


def find_footing(
    character: Character, motion: Motion, *, fps: float, sunk: bool = False
) -> Footing:
    """When the feet of a motion stand, and how high they swing; with `sunk` what is under y = 0
    may stand, too."""
    rig = character.control_rig
    feet = [track.sole for track in track_feet(character, rig, motion)]
    root = motion.world()[:, rig.root, :3, 3]
    stance = find_stance(
        feet, root, fps=fps, body_height=character.height, ground=0.0 if sunk else None
    )
    if not feet:
        return Footing(stance, torch.zeros(len(motion), 0))
    low = torch.stack([foot[..., 1].amin(1) for foot in feet], dim=1).clamp_min(0.0)
    stance = stance & (low < _ALOFT * character.height)
    least = character.height * swing_clearance(stance, fps)
    return Footing(stance, torch.maximum(low, least) * ~stance)


def stand_up(character: Character, motion: Motion, cycle: Motion | None, *, fps: float) -> Motion:
    """A motion with its feet planted and nothing under the ground, where physics did not bring that
    about. A loop stays one.

    Args:
        character: Who moves.
        motion: Of its skeleton, on whole frames.
        cycle: What it repeats, if it does.
        fps: Of `motion`; a cycle has its own.
    """
    if cycle is None:
        return replant(character, motion, find_footing(character, motion, fps=fps, sunk=True))
    rig, count = character.control_rig, len(cycle) - 1
    # Another repetition at either end, so that feet stand over the seams.
    longer = repeat(rig, cycle, 3)
    footing = find_footing(character, longer, fps=count / cycle.duration, sunk=True)
    planted = rig.from_pose(replant(character, longer, footing).pose[count : 2 * count + 1])
    # The second round, back where the first was.
    before = rig.from_pose(cycle.pose[:1]), rig.from_pose(longer.pose[count : count + 1])
    turn = before[1].root_rotation[0, 0] - before[0].root_rotation[0, 0]
    back = quaternion.about_axis(rig.root_axes[0].to(planted.translation), -turn)
    offsets = planted.translation - before[1].translation
    once = replace(
        planted,
        translation=before[0].translation + quaternion.rotate(back, offsets),
        root_rotation=planted.root_rotation - turn * turn.new_tensor((1.0, 0.0, 0.0)),
    )
    closed = close_loop(rig, replace(cycle, pose=rig.to_pose(once)))
    return repeat_over(rig, closed, motion.times)


def replant(character: Character, motion: Motion, footing: Footing) -> Motion:
    """The motion with its feet planted, and nothing below y = 0.

    Args:
        character: Who moves.
        motion: Of its skeleton, on whole frames.
        footing: What its feet should do, such as `find_footing` found before it was changed.
    """
    if not footing.stance.shape[1]:
        return motion
    rig, height = character.control_rig, character.height
    points = body_points(character, rig)
    pose = rig.from_pose(motion.pose).rigid()
    limits = AngleLimits.range_of_motion(rig)
    pose = plant_feet(rig, points, pose, footing, limits, height=height)
    pose = lift_out(rig, points, pose, height=height)
    return replace(motion, pose=rig.to_pose(pose).continuous())
