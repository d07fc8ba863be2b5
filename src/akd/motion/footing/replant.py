"""Plants the feet of a motion on y = 0 again, after it was edited."""

from __future__ import annotations

from dataclasses import replace

import torch

from akd.math import quaternion
from akd.motion.feet import track_feet
from akd.motion.footing.planting import Footing, lift_out, plant_feet
from akd.motion.footing.points import body_points
from akd.motion.footing.stance import find_stance, swing_clearance
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.limits import AngleLimits
from akd.rig.pose import Pose

_ALOFT = 0.25
"""Feet at this share of the body's height or above stand on nothing: the body flies."""


def find_footing(character: Character, motion: Motion, *, fps: float) -> Footing:
    """When the feet of a motion stand, and how high they swing."""
    rig = character.control_rig
    feet = [track.sole for track in track_feet(character, rig, motion)]
    root = motion.world()[:, rig.root, :3, 3]
    stance = find_stance(feet, root, fps=fps, body_height=character.height)
    if not feet:
        return Footing(stance, torch.zeros(len(motion), 0))
    low = torch.stack([foot[..., 1].amin(1) for foot in feet], dim=1).clamp_min(0.0)
    stance = stance & (low < _ALOFT * character.height)
    least = character.height * swing_clearance(stance, fps)
    return Footing(stance, torch.maximum(low, least) * ~stance)


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
    pose = replace(rig.from_pose(motion.pose), joint_translation=None)
    limits = AngleLimits.range_of_motion(rig)
    pose = plant_feet(rig, points, pose, footing, limits, height=height)
    pose = lift_out(rig, points, pose, height=height)
    local = rig.to_pose(pose)
    local = Pose(local.translation, quaternion.make_continuous(local.rotation), local.scale)
    return replace(motion, pose=local)
