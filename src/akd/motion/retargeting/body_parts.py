"""Rotations of a fixed list of body parts, for networks that know no skeleton.

A skeleton has any number of joints; a network has a fixed number of outputs. `BODY_PARTS` lists
the segments that bodies of all plans are made of. Each is the end, or the middle, of the chain of
controls that share a role, such as the spine or the left upper arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.math import quaternion
from akd.motion.retargeting.roles import chain_of
from akd.motion.retargeting.transfer import controls_of
from akd.rig.control import ROOT, ControlRig
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part

MISSING = -2
"""Stands for the control of a part that a body does not have."""
_ROOT = -1
_LEG = (Part.GIRDLE, Part.UPPER, Part.LOWER, Part.CANNON, Part.FOOT)
_SEGMENTS: dict[LimbKind, tuple[Part, ...]] = {
    LimbKind.LEG: _LEG,
    LimbKind.FORE: _LEG,
    LimbKind.HIND: _LEG,
    LimbKind.MID: (Part.UPPER, Part.LOWER, Part.FOOT),
    LimbKind.ARM: (Part.GIRDLE, Part.UPPER, Part.LOWER, Part.HAND),
    LimbKind.WING: (Part.UPPER, Part.LOWER, Part.HAND),
    LimbKind.FIN: (Part.UPPER,),
}
_MIDDLE_LEGS = 2
_TRUNK = (Part.SPINE, Part.NECK, Part.TAIL)


@dataclass(frozen=True)
class BodyPart:
    """A place on a chain of controls that share a role."""

    part: Part
    side: Side = Side.CENTRE
    limb: LimbKind | None = None
    number: int = 0
    """Which of several middle legs."""
    share: float = 1.0
    """How far along the chain: 1 is its end."""

    @property
    def chain(self) -> tuple[object, ...]:
        """The attributes that the controls of its chain share."""
        limb = None if self.limb is None else (self.limb, self.side, self.number)
        return limb, self.side, self.part


def _every_part() -> tuple[BodyPart, ...]:
    parts = [BodyPart(Part.PELVIS), BodyPart(Part.HEAD)]
    parts += [BodyPart(part, share=share) for part in _TRUNK for share in (0.5, 1.0)]
    for kind, segments in _SEGMENTS.items():
        numbers = range(1, _MIDDLE_LEGS + 1) if kind is LimbKind.MID else (0,)
        parts += [
            BodyPart(part, side, kind, number)
            for number in numbers
            for side in (Side.LEFT, Side.RIGHT)
            for part in segments
        ]
    return tuple(parts)


BODY_PARTS = _every_part()
"""The first is the root."""


def part_controls(rig: ControlRig) -> list[int]:
    """The control that each body part is: -1 for the root, `MISSING` where there is none."""
    chains = _chains(rig)
    found = []
    for part in BODY_PARTS:
        chain = [_ROOT] if part.part is Part.PELVIS else chains.get(part.chain, [])
        place = math.ceil(len(chain) * part.share)
        has_it = chain and (part.share == 1.0 or len(chain) > 1)
        found.append(chain[place - 1] if has_it else MISSING)
    return found


def deciding_parts(rig: ControlRig) -> list[int]:
    """For the root and each control, the place in `BODY_PARTS` of the part that says how it turns:
    the next one along its chain, or that of its parent where it is no part."""
    chains, controls = _chains(rig), part_controls(rig)
    found = [0]
    for control, role in enumerate(rig.roles):
        chain = chains[chain_of(role)]
        onward = chain[chain.index(control) :]
        own = next((controls.index(c) for c in onward if c in controls), None)
        found.append(found[rig.parents[control] + 1] if own is None else own)
    return found


def from_part_rotations(
    rig: ControlRig, rotations: Float[Tensor, "T P 4"]
) -> tuple[Float[Tensor, "T 3"], Float[Tensor, "T D 3"]]:
    """Root rotation and joint angles of a rig whose body parts are turned as given.

    Between two parts of a chain the rotation is interpolated; anything else moves with its
    parent.

    Args:
        rig: The body.
        rotations: Of `BODY_PARTS` since the neutral pose, in body axes (left, up, forward), wxyz.
            Those of parts that the body does not have are not used.
    """
    members = _chains(rig)
    anchors: dict[tuple[object, ...], list[tuple[int, Tensor]]] = {}
    for place, (part, control) in enumerate(zip(BODY_PARTS, part_controls(rig), strict=True)):
        if control >= 0:
            ends = members[part.chain].index(control) + 1
            anchors.setdefault(part.chain, []).append((ends, rotations[:, place]))
    turned = [rotations[:, 0]]
    for control, role in enumerate(rig.roles):
        chain = members[chain_of(role)]
        if chain_of(role) not in anchors:
            turned.append(turned[rig.parents[control] + 1])
            continue
        known = [(0, turned[rig.parents[chain[0]] + 1]), *anchors[chain_of(role)]]
        here = chain.index(control) + 1
        after = next(k for k, (place, _) in enumerate(known) if place >= here)
        (start, first), (end, last) = known[after - 1], known[after]
        turned.append(
            quaternion.slerp(first, last, rotations.new_tensor((here - start) / (end - start)))
        )
    return controls_of(rig, torch.stack(turned, dim=1))


def part_bones(rig: ControlRig, bone_joints: Int[Tensor, "B"]) -> Int[Tensor, "P"]:
    """The bone of a skin that shows how each body part is turned; -1 where there is none.

    Args:
        rig: The body.
        bone_joints: The skeleton's joint of each bone.
    """
    joints, drivers = bone_joints.tolist(), rig.driver_index[bone_joints].tolist()
    found = []
    for control in part_controls(rig):
        own = -1
        if control != MISSING:
            joint = rig.root if control == _ROOT else rig.joints[control]
            driver = ROOT if control == _ROOT else ROOT + 1 + control
            if joint in joints:
                own = joints.index(joint)
            elif driver in drivers:
                own = drivers.index(driver)
        found.append(own)
    return torch.tensor(found)


def _chains(rig: ControlRig) -> dict[tuple[object, ...], list[int]]:
    """The controls of each chain, from the body outwards."""
    found: dict[tuple[object, ...], list[int]] = {}
    for control, role in enumerate(rig.roles):
        found.setdefault(chain_of(role), []).append(control)
    return found
