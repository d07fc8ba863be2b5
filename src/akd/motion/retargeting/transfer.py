"""Rotations of one control rig on another, compared in a common neutral pose.

World rotations since the neutral pose are copied in body axes (left, up, forward). Neutral poses
differ: one file rests in a fighting stance, another with its arms lowered. So arms, and legs and
backs where they are alike, are first aligned: a bone then has the direction that the source's bone
has. All else departs from its own neutral pose as the source does from its own, which keeps the
stance of a horse that moves like a dog, and soles flat on the ground.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import davenport, quaternion
from akd.motion.retargeting.roles import Source
from akd.rig.control import ControlPose, ControlRig
from akd.rig.roles.role import LimbKind, Part

_ALIKE = math.radians(40.0)
"""Legs and backs whose neutral directions differ by less than this are aligned. Beyond it they are
built differently: the leg of a bird is no leg of a person."""
_HELD = (LimbKind.ARM, LimbKind.WING)
"""Limbs whose neutral pose is arbitrary, because nothing stands on them."""


def to_body(rig: ControlRig) -> Float[Tensor, "3 3"]:
    """Rotation from the world to body axes: rows left, up, forward."""
    up, left, forward = rig.root_axes
    return torch.stack((left, up, forward))


def world_rotations(rig: ControlRig, pose: ControlPose) -> Float[Tensor, "T N 4"]:
    """Rotation since the neutral pose of the root and of each control, in body axes, wxyz."""
    turns = quaternion.from_matrix(rig.deltas(pose)[..., 2:, :3, :3])
    return torch.cat((turns[..., :1], turns[..., 1:] @ to_body(rig).to(turns).T), dim=-1)


def transfer_rotations(
    source: ControlRig, pose: ControlPose, target: ControlRig, matches: tuple[Source | None, ...]
) -> tuple[Float[Tensor, "T 3"], Float[Tensor, "T D 3"]]:
    """Root rotation and joint angles of the target, continuous over frames.

    Args:
        source: Rig of the body that has the motion.
        pose: The motion, one pose a frame.
        target: Rig of the body that gets it.
        matches: What `correspond` found.
    """
    given = world_rotations(source, pose)
    aligned = align_neutrals(source, target, matches)
    turned = [given[:, 0]]
    for control, match in enumerate(matches):
        if match is None:
            turned.append(turned[target.parents[control] + 1])
            continue
        share = given.new_tensor(match.share)
        between = quaternion.slerp(given[:, match.before], given[:, match.after], share)
        turned.append(quaternion.multiply(between, aligned[control].to(given)))
    return controls_of(target, torch.stack(turned, dim=1))


def controls_of(
    rig: ControlRig, turned: Float[Tensor, "T N 4"]
) -> tuple[Float[Tensor, "T 3"], Float[Tensor, "T D 3"]]:
    """Root rotation and joint angles, continuous over frames: the inverse of `world_rotations`."""
    world = torch.cat((turned[..., :1], turned[..., 1:] @ to_body(rig).to(turned)), dim=-1)
    above = torch.tensor([p + 1 for p in rig.parents], dtype=torch.long)
    local = quaternion.multiply(quaternion.conjugate(world[:, above]), world[:, 1:])
    angles = davenport.from_quaternion(rig.axes, local)
    root = davenport.from_quaternion(rig.root_axes, world[:, 0])
    return davenport.unwrap(rig.root_axes, root), davenport.unwrap(rig.axes, angles)


def align_neutrals(
    source: ControlRig, target: ControlRig, matches: tuple[Source | None, ...]
) -> Float[Tensor, "D 4"]:
    """For each control of the target the rotation, in body axes, that lays its neutral bone over
    that of the source; the identity for joints that are compared as they are."""
    aligned = quaternion.identity(len(target))
    lean = _lean(source, target)
    for control, match in enumerate(matches):
        role = target.roles[control]
        if match is None:
            continue
        if role.part in (Part.SPINE, Part.GIRDLE) and role.limb in (None, *_HELD):
            aligned[control] = lean
        elif role.limb in _HELD:
            arc = _arc(source, match.after - 1, target, control)
            parent = target.parents[control]
            aligned[control] = aligned[parent] if arc is None and parent >= 0 else _or_none(arc)
        elif role.limb is LimbKind.LEG and role.part in (Part.UPPER, Part.LOWER):
            arc = _arc(source, match.after - 1, target, control)
            aligned[control] = _or_none(arc, within=_ALIKE)
    return aligned


def _or_none(arc: Float[Tensor, "4"] | None, *, within: float = math.pi) -> Float[Tensor, "4"]:
    if arc is None or 2.0 * math.acos(min(1.0, abs(float(arc[0])))) > within:
        return quaternion.identity(1)[0]
    return arc


def _arc(
    source: ControlRig, control: int, target: ControlRig, other: int
) -> Float[Tensor, "4"] | None:
    """Shortest rotation from the target's neutral bone to the source's, in body axes."""
    bones = [_bone(rig, joint) for rig, joint in ((target, other), (source, control))]
    if bones[0] is None or bones[1] is None:
        return None
    return quaternion.between(bones[0], bones[1])


def _bone(rig: ControlRig, control: int) -> Float[Tensor, "3"] | None:
    """Direction of a limb's bone in the neutral pose, body axes; None for the last of a limb."""
    role = rig.roles[control]
    for child, parent in enumerate(rig.parents):
        below = rig.roles[child]
        if parent == control and (below.limb, below.side) == (role.limb, role.side):
            way = to_body(rig) @ (rig.pivots[child] - rig.pivots[control])
            if float(way.norm()) > 1e-6:
                return way / way.norm()
    return None


def _lean(source: ControlRig, target: ControlRig) -> Float[Tensor, "4"]:
    """The pitch, in body axes, that brings an upright trunk to the lean of the source's."""
    ways = []
    for rig in (target, source):
        ends = [c for c, role in enumerate(rig.roles) if role.part in (Part.NECK, Part.HEAD)]
        if not ends:
            return quaternion.identity(1)[0]
        way = to_body(rig) @ (rig.pivots[ends[0]] - rig.root_pivot)
        way = way * way.new_tensor((0.0, 1.0, 1.0))
        if float(way[1]) < abs(float(way[2])):
            return quaternion.identity(1)[0]
        ways.append(way / way.norm().clamp_min(1e-9))
    return _or_none(quaternion.between(*ways), within=_ALIKE)
