import pytest
import torch

from akd.math import quaternion
from akd.motion.retargeting.body_parts import (
    BODY_PARTS,
    MISSING,
    from_part_rotations,
    part_bones,
    part_controls,
)
from akd.motion.retargeting.transfer import world_rotations
from akd.rig.character import bound_character
from akd.rig.roles.role import LimbKind, Part
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip


def body(species: str):
    creature = build_creature(species, seed=1000, vertices=500)
    return creature, bound_character(species, creature.skeleton, creature.mesh)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("species", "action"), [("man", "run"), ("fox", "gallop"), ("trex", "walk")]
)
def test_a_motion_comes_back_from_the_rotations_of_its_parts(species: str, action: str):
    creature, character = body(species)
    rig = character.control_rig
    pose = rig.from_pose(make_clip(creature, action, fps=12.0, frames=12).pose)
    world = world_rotations(rig, pose)
    controls = part_controls(rig)
    rotations = quaternion.identity(12, len(BODY_PARTS))
    for place, control in enumerate(controls):
        if control != MISSING:
            rotations[:, place] = world[:, control + 1]
    root, angles = from_part_rotations(rig, rotations)
    torch.testing.assert_close(root, pose.root_rotation, atol=1e-4, rtol=0)
    # What is a part is turned exactly; joints between two parts of a chain lie between them.
    exact = [c for c in controls if c >= 0 and rig.parents[c] in (-1, *controls)]
    assert len(exact) > 8
    back = world_rotations(rig, type(pose)(pose.translation, root, angles))
    for control in exact:
        away = quaternion.geodesic(back[:, control + 1], world[:, control + 1])
        assert float(away.max()) < 1e-3
    known = [0, *(k for k, role in enumerate(rig.roles, start=1) if role.part is not Part.TOES)]
    assert float(quaternion.geodesic(back, world)[:, known].max()) < 0.3


def test_parts_that_a_body_lacks_are_missing():
    _, character = body("fox")
    has = [
        part.limb for part, c in zip(BODY_PARTS, part_controls(character.control_rig), strict=True)
        if c != MISSING
    ]  # fmt: skip
    assert {LimbKind.FORE, LimbKind.HIND} <= set(has)
    assert LimbKind.ARM not in has
    assert LimbKind.WING not in has


def test_every_part_of_a_body_is_shown_by_a_bone():
    creature, character = body("man")
    rig, skin = character.control_rig, creature.mesh.skin
    bones = part_bones(rig, skin.bone_joints)
    controls = part_controls(rig)
    for bone, control in zip(bones.tolist(), controls, strict=True):
        assert (bone >= 0) == (control != MISSING)
        if control >= 0:
            assert int(skin.bone_joints[bone]) == rig.joints[control]
    assert BODY_PARTS[0].part is Part.PELVIS
