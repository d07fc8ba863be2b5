"""A humanoid's motion in the arrays of AMASS: rotations of the 52 joints of SMPL-H.

SMPL's rest pose is a T-pose with all joint frames along the world's axes. The rotation of a joint
takes its bone from the T-pose to where the character has it, so that bones point the same way in
both, whatever pose the character was bound in. Twist is counted from the bind pose.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.files import write_arrays
from akd.export.mjcf import ZUP_FROM_YUP, zup_from_yup
from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind, Part

_JOINTS = 52
PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
"""Of SMPL's body joints; hands follow and stay at rest."""
_LIMBS = {
    (LimbKind.LEG, Part.UPPER): (1, 2),
    (LimbKind.LEG, Part.LOWER): (4, 5),
    (LimbKind.LEG, Part.FOOT): (7, 8),
    (LimbKind.LEG, Part.TOES): (10, 11),
    (LimbKind.ARM, Part.GIRDLE): (13, 14),
    (LimbKind.ARM, Part.UPPER): (16, 17),
    (LimbKind.ARM, Part.LOWER): (18, 19),
    (LimbKind.ARM, Part.HAND): (20, 21),
}
_NEEDED = (0, 1, 2, 4, 5, 7, 8, 16, 17, 18, 19)
_CHILDREN = {1: 4, 2: 5, 4: 7, 5: 8, 16: 18, 17: 19, 18: 20, 19: 21}
"""The joint at the other end of the bones that a T-pose decides."""
_DOWN, _LEFT = (0.0, -1.0, 0.0), (1.0, 0.0, 0.0)


def write_amass(character: Character, motion: Motion, path: Path, *, fps: float) -> Path:
    """Write `poses` [T, 156] (axis-angle, rad), `trans` [T, 3] (metres), `betas`, `gender` and
    `mocap_framerate`. The world is Z up, as in AMASS.

    Raises:
        ValueError: The character is no humanoid: legs, arms and a pelvis are needed.
    """
    joints = smpl_joints(character)
    if missing := [j for j in _NEEDED if j not in joints]:
        raise ValueError(
            f"{character.asset.path.name}: must have the pelvis, legs and arms of a humanoid; "
            f"{len(missing)} of {len(_NEEDED)} joints are missing"
        )
    frames = motion.resample(fps)
    world, bind = frames.world().double(), character.skeleton.forward(character.bind).double()
    facing = _facing(character)
    globals_ = _global_rotations(joints, world, bind, facing)
    local = torch.zeros(len(frames), _JOINTS, 3, dtype=torch.float64)
    up = local.new_tensor(ZUP_FROM_YUP)
    for joint, parent in enumerate(PARENTS):
        into_parent = up if parent < 0 else quaternion.conjugate(globals_[:, parent])
        turn = quaternion.multiply(into_parent, globals_[:, joint])
        local[:, joint] = quaternion.to_rotation_vector(turn)
    places = quaternion.rotate(facing, world[:, joints[0], :3, 3])
    write_arrays(
        path,
        {
            "poses": local.flatten(1).numpy(),
            "trans": zup_from_yup(places).numpy(),
            "betas": np.zeros(16),
            "dmpls": np.zeros((len(frames), 8)),
            "gender": np.array("neutral"),
            "mocap_framerate": np.array(float(fps)),
        },
    )
    return path


def smpl_joints(character: Character) -> dict[int, int]:
    """The character's joint for each of SMPL's that its roles say."""
    found: dict[int, int] = {}
    spine: list[int] = []
    for joint, role in enumerate(character.anatomy.roles):
        sides = _LIMBS.get((role.limb, role.part)) if role.limb is not None else None
        if sides is not None and role.side is not Side.CENTRE:
            found.setdefault(sides[0 if role.side is Side.LEFT else 1], joint)
        elif role.part is Part.PELVIS:
            found.setdefault(0, joint)
        elif role.part is Part.SPINE:
            spine.append(joint)
        elif role.part is Part.NECK:
            found.setdefault(12, joint)
        elif role.part is Part.HEAD:
            found.setdefault(15, joint)
    spine.sort(key=lambda joint: character.anatomy.roles[joint].number)
    # SMPL has three; a longer spine gives its first, middle and last, a shorter one the first ones.
    if len(spine) > 3:
        spine = [spine[0], spine[len(spine) // 2], spine[-1]]
    return found | dict(zip((3, 6, 9), spine, strict=False))


def _facing(character: Character) -> Float[Tensor, "4"]:
    """The turn about up that makes the character face +Z, as SMPL does."""
    forward = character.forward.double()
    return quaternion.between(forward, forward.new_tensor((0.0, 0.0, 1.0)))


def _global_rotations(
    joints: dict[int, int],
    world: Float[Tensor, "T J 4 4"],
    bind: Float[Tensor, "J 4 4"],
    facing: Float[Tensor, "4"],
) -> Float[Tensor, "T 22 4"]:
    """Rotation of each of SMPL's body joints from the T-pose, in the world, Y up."""
    turns: list[Float[Tensor, "T 4"]] = []
    back = quaternion.conjugate(facing)
    for joint, parent in enumerate(PARENTS):
        if joint not in joints:
            turns.append(turns[parent])
            continue
        own = joints[joint]
        moved = quaternion.multiply(
            _rotation(world[:, own]), quaternion.conjugate(_rotation(bind[own]))
        )
        # The same in a world that the character faces +Z in.
        moved = quaternion.multiply(quaternion.multiply(facing, moved), back)
        if (child := joints.get(_CHILDREN.get(joint, -1))) is not None:
            bone = quaternion.rotate(facing, bind[child, :3, 3] - bind[own, :3, 3])
            rest = bone.new_tensor(_DOWN if joint < 12 else _LEFT)
            if joint in (17, 19):
                rest = -rest
            moved = quaternion.multiply(moved, quaternion.between(rest, bone / bone.norm()))
        turns.append(moved)
    return torch.stack(turns, dim=1)


def _rotation(matrix: Float[Tensor, "*b 4 4"]) -> Float[Tensor, "*b 4"]:
    linear = matrix[..., :3, :3]
    left, _, right = torch.linalg.svd(linear)
    turn = left @ right
    # A mirrored joint has no rotation nearest to it: the sign of one axis is changed.
    left = torch.cat((left[..., :2], left[..., 2:] * torch.linalg.det(turn)[..., None, None]), -1)
    return quaternion.from_matrix(left @ right)
