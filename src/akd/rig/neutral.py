"""The neutral pose: the pose in which all controls are zero.

The first frame of an idle clip where the file has one, else the bind pose with the arms lowered.
Joint angles count from here, and whatever is pulled to rest is pulled to this pose.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import Asset, ClipRecord
from akd.math import quaternion, transform
from akd.rig.pose import Pose
from akd.rig.roles.anatomy import Anatomy
from akd.rig.roles.names import words
from akd.rig.roles.role import Limb, LimbKind, Part
from akd.rig.skeleton import Skeleton
from akd.rig.units import FileUnits

_NOT_STANDING = {
    "crouch", "fall", "falling", "fly", "hover", "jump", "lay", "levitate", "lie", "lying", "sit",
    "sitting", "swim", "to",
}  # fmt: skip
"""In the name of an idle clip whose first frame is no neutral pose; `to` is of a transition."""
_PLAIN = {
    "base", "breathing", "calm", "default", "idle", "loop", "neutral", "normal", "relaxed",
    "stand", "standing", "unarmed",
}  # fmt: skip
"""Words that say nothing against an idle clip."""
_READY = {
    "aim", "aiming", "attack", "attacking", "bow", "carry", "combat", "fight", "fighting", "gun",
    "hold", "holding", "melee", "pistol", "pointing", "rifle", "shield", "shoot", "shooting",
    "sword", "torch", "weapon",
}  # fmt: skip
"""Words of idle clips in which arms are raised or legs apart, ready for something."""
_HANGING = math.radians(12.0)
"""Angle from the vertical at which lowered arms hang."""
_RAISED = math.radians(35.0)
"""Arms further from the vertical than this are lowered."""


def find_neutral(
    asset: Asset, skeleton: Skeleton, bind: Pose, anatomy: Anatomy, units: FileUnits
) -> tuple[Pose, str]:
    """Local transforms of every joint in the neutral pose, and where they come from."""
    idle = find_idle(asset.clips)
    if idle is not None:
        pose = _first_frame(idle, skeleton, units)
        if _stands(skeleton, pose, bind, anatomy):
            return pose, f"the first frame of the clip {idle.name!r}"
    arms = [limb for limb in anatomy.limbs if limb.kind is LimbKind.ARM and len(limb.joints) > 1]
    is_biped = len(anatomy.legs) == 2
    lowered = _lower_arms(skeleton, bind, arms, anatomy) if is_biped else None
    if lowered is None:
        return bind, "the bind pose"
    return lowered, "the bind pose with the arms lowered"


def find_idle(clips: tuple[ClipRecord, ...]) -> ClipRecord | None:
    """The clip that is called idle; of several, a plain one rather than one that holds a weapon,
    and the one with the fewest words besides."""

    def rank(clip: ClipRecord) -> tuple[bool, int, int, str]:
        said = {w for w in words(clip.name.rpartition("|")[2]) if len(w) > 1} - _PLAIN
        return bool(said & _READY), len(said), len(clip.name), clip.name

    named = [
        c
        for c in clips
        if "idle" in c.name.lower() and c.tracks and not _NOT_STANDING & set(words(c.name))
    ]
    return min(named, key=rank, default=None)


def _stands(skeleton: Skeleton, pose: Pose, bind: Pose, anatomy: Anatomy) -> bool:
    """Whether the trunk is about where it was bound, not lying on the ground or in the air."""
    trunk = list(anatomy.trunk)
    if not trunk:
        return True
    now, then = skeleton.forward(pose)[trunk, :3, 3], skeleton.forward(bind)[trunk, :3, 3]
    height = float(then[:, 1].max()) or 1.0
    sunk = float((now[:, 1] - then[:, 1]).abs().max()) / abs(height)
    return sunk < 0.35


def _first_frame(clip: ClipRecord, skeleton: Skeleton, units: FileUnits) -> Pose:
    """The pose at a clip's first keys; what it does not key rests as the file has it."""
    pose = units.pose_out(skeleton.rest.to(dtype=torch.float64))
    values = {
        "translation": pose.translation.clone(),
        "rotation": pose.rotation.clone(),
        "scale": pose.scale.clone(),
    }
    for track in clip.tracks:
        if track.path != "weights" and len(track.values):
            keys = np.asarray(track.values, dtype=np.float64)
            first = keys[0, 1] if track.interpolation == "CUBICSPLINE" else keys[0]
            values[track.path][track.node] = torch.from_numpy(first)
    values["rotation"] = quaternion.normalize(values["rotation"])
    return units.pose_in(Pose(**values)).to(dtype=torch.float32)


def _lower_arms(skeleton: Skeleton, bind: Pose, arms: list[Limb], anatomy: Anatomy) -> Pose | None:
    """Turn each raised arm about the forward axis until it hangs. None where all hang already."""
    world = skeleton.forward(bind)
    forward = torch.from_numpy(anatomy.forward).to(world)
    changed = False
    for limb in arms:
        bending = [j for j in limb.joints if anatomy.roles[j].part is not Part.OTHER]
        joint = bending[1 if len(bending) > 3 else 0]  # past the collar bone
        reach = world[limb.tip, :3, 3] - world[joint, :3, 3]
        across = float(reach @ torch.from_numpy(anatomy.left).to(world))
        angle = math.atan2(abs(across), -float(reach[1]))
        if angle < _RAISED or float(reach.norm()) < 1e-9:
            continue
        # Turning about forward takes left to up: the left arm comes down by a negative angle.
        turn = (_HANGING - angle) * math.copysign(1.0, across)
        rotation = quaternion.about_axis(forward, torch.tensor(turn).to(world))
        world = _turn_subtree(skeleton, world, joint, rotation)
        changed = True
    return skeleton.localize(world) if changed else None


def _turn_subtree(
    skeleton: Skeleton, world: Float[Tensor, "J 4 4"], joint: int, rotation: Float[Tensor, "4"]
) -> Float[Tensor, "J 4 4"]:
    """Rotate a joint and all below it about the joint's origin."""
    pivot = world[joint, :3, 3]
    turn = transform.about_point(rotation, pivot)
    members = torch.tensor(list(skeleton.subtree(joint)))
    return world.index_copy(0, members, turn @ world[members])
