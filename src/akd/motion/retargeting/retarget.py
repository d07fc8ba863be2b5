"""`retarget`: a motion of one character on another of the same body plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.motion.contact import floor_height, implied_velocity
from akd.motion.feet import leg_length, track_feet
from akd.motion.footing.floor import find_floor
from akd.motion.footing.planting import Footing, lift_out, plant_feet, upward
from akd.motion.footing.points import BodyPoints, body_points
from akd.motion.footing.stance import find_stance, smooth, swing_clearance
from akd.motion.grid import on_grid
from akd.motion.loop import close_loop, is_loop, repeat
from akd.motion.motion import Motion
from akd.motion.retargeting.roles import check_match, check_same_plan, correspond
from akd.motion.retargeting.transfer import to_body, transfer_rotations
from akd.rig.character import Character
from akd.rig.control import ControlPose, ControlRig
from akd.rig.limits import AngleLimits

_SHORT = 3.0
"""Seconds. A shorter loop is planted three times over, so that the seam is planted as well."""


def retarget(
    source: Character,
    motion: Motion,
    target: Character,
    *,
    mapping: Mapping[str, str] | None = None,
    fps: float = 30.0,
    plant: bool = True,
    travel: bool = False,
) -> Motion:
    """Put a motion on another character of the same body plan.

    Rotations go from joint to joint of the same role; the root's path is scaled by leg length.
    Feet that stand in the source are planted, nothing sinks into the ground (y = 0), and joints
    stay within their range of motion.

    Args:
        source: The character that has the motion.
        motion: A motion of its skeleton.
        target: The character that gets it.
        mapping: Names of driven joints of the target by names of the source's, where roles do not
            match them rightly.
        fps: Frames per second of the result.
        plant: Plant the feet and keep the limits; without it rotations are only copied.
        travel: Let a clip that runs on the spot travel as its stance feet imply.

    Returns:
        A motion of the target's skeleton that begins at time zero.

    Raises:
        ValueError: The bodies have different plans, or fewer than half of the joints that move
            have a counterpart.
    """
    check_same_plan(source, target)
    rig, other = source.control_rig, target.control_rig
    matches = correspond(rig, other, mapping)
    motion = on_grid(motion, fps)
    rounds = _rounds(source, motion)
    cycle = len(motion) - 1
    given = _Performance.of(source, repeat(rig, motion, rounds), fps)
    check_match(rig, matches, given.pose, target=target.asset.path.name)

    scale = leg_length(target, other) / max(leg_length(source, rig), 1e-9)
    root, angles = transfer_rotations(rig, given.pose, other, matches)
    points = body_points(target, other)
    shift = scale * given.path @ to_body(rig).T @ to_body(other)
    pose = ControlPose(shift, root, angles)
    pose = _grounded(other, points, pose, scale * given.low)
    if plant:
        limits = AngleLimits.range_of_motion(other)
        pose = replace(pose, angles=limits.clamped(pose.angles))
        clearance = torch.maximum(scale * given.clearance, target.height * given.lift)
        footing = Footing(given.stance, clearance)
        pose = plant_feet(other, points, pose, footing, limits, height=target.height)
        pose = replace(pose, angles=limits.clamped(pose.angles))
        pose = lift_out(other, points, pose, height=target.height)
    if given.added is not None and not travel:
        gone = scale * given.added @ to_body(rig).T @ to_body(other)
        pose = replace(pose, translation=pose.translation - gone)
    if rounds > 1:
        pose = pose[cycle : 2 * cycle + 1]
    return _motion(other, pose, fps, name=motion.name, closed=rounds > 1)


def _rounds(character: Character, motion: Motion) -> int:
    """How often the clip is played while it is planted."""
    if motion.duration > _SHORT:
        return 1
    return 3 if is_loop(character.control_rig, motion, height=character.height) else 1


@dataclass(frozen=True)
class _Performance:
    """The source's motion: its pose, where its body goes, and what its feet do."""

    pose: ControlPose
    path: Float[Tensor, "T 3"]
    """Translation of the root, counted from the neutral pose and from the floor: metres, world."""
    low: Float[Tensor, "T"]
    """Height of the lowest sole above the floor."""
    clearance: Float[Tensor, "T F"]
    """Height of each sole above its own floor."""
    stance: Bool[Tensor, "T F"]
    lift: Float[Tensor, "T F"]
    """Least height of swing feet, in body heights."""
    added: Float[Tensor, "T 3"] | None
    """The travel that was added to a clip on the spot."""

    @classmethod
    def of(cls, character: Character, motion: Motion, fps: float) -> _Performance:
        rig, height = character.control_rig, character.height
        pose, world = rig.from_pose(motion.pose), motion.world()
        root = world[:, rig.root, :3, 3]
        feet = [foot.sole for foot in track_feet(character, rig, motion)]
        if not feet:
            low = world[:, [rig.root, *rig.joints], 1, 3].amin(1)
            low = (low - floor_height(low)).clamp_min(0.0)
            none = low.new_zeros(len(low), 0)
            return cls(pose, pose.translation, low, none, none.bool(), none, None)
        floor = find_floor(feet, root, body_height=height)
        feet = [foot - upward(floor.under(foot)) for foot in feet]
        path = pose.translation - upward(floor.under(root) - floor.level)
        velocity = implied_velocity(
            feet, root, forward=character.forward, fps=fps, body_height=height
        )
        added = None
        if velocity is not None:
            added = torch.arange(len(motion))[:, None].to(root) / fps * velocity
            root, path = root + added, path + added
            feet = [foot + added[:, None] for foot in feet]
        stance = find_stance(feet, root, fps=fps, body_height=height)
        lows = torch.stack([foot[..., 1].amin(1) for foot in feet], dim=1)
        floors = torch.stack([floor_height(low) for low in lows.T])
        above = (lows - floors).clamp_min(0.0)
        low = lows.amin(1).clamp_min(0.0)
        return cls(pose, path, low, above * ~stance, stance, swing_clearance(stance, fps), added)


def _grounded(
    rig: ControlRig, points: BodyPoints, pose: ControlPose, low: Float[Tensor, "T"]
) -> ControlPose:
    """The motion raised or lowered, smoothly, so that its lowest sole is at the given height."""
    deltas = rig.deltas(pose)
    soles = points.soles or (points.skin,)
    now = torch.stack([sole.at(deltas)[..., 1].amin(1) for sole in soles]).amin(0)
    rise = smooth((low - now)[:, None], 3)[:, 0]
    return replace(pose, translation=pose.translation + upward(rise))


def _motion(rig: ControlRig, pose: ControlPose, fps: float, *, name: str, closed: bool) -> Motion:
    level = pose.translation.new_tensor((1.0, 0.0, 1.0))
    pose = replace(pose, translation=pose.translation - pose.translation[:1] * level)
    times = torch.arange(len(pose.angles)) / fps
    made = Motion(rig.skeleton, times, rig.to_pose(pose).continuous(), name)
    return close_loop(rig, made) if closed else made
