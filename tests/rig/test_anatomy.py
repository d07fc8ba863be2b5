"""Feet, sides, forward and detached parts of real rigs, as a person would name them."""

import numpy as np
import pytest

from akd.rig.roles.role import LimbKind, Part
from tests.assets import character

# file: kinds of legs, name of a left foot's joint. All face +z; `test_rotations.py` turns bodies.
BODIES = {
    "khronos/Fox/glTF-Binary/Fox.glb": ("fore hind", "b_LeftFoot02_018"),
    "khronos/CesiumMan/glTF-Binary/CesiumMan.glb": ("leg", "leg_joint_L_3"),
    "khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb": ("leg", "leg_joint_L_3"),
    "quaternius/animals_pack/Fox.glb": ("fore hind", "IKFrontLeg.L"),
    "quaternius/animals_pack/Bull.glb": ("fore hind", "IKBackLeg.L"),
    "quaternius/dinosaurs_pack/Trex.glb": ("leg", "BackFoot.L"),
    "quaternius/dinosaurs_pack/Apatosaurus.glb": ("fore hind", "FrontFoot.L"),
    "quaternius/easy_enemies_pack/Frog.glb": ("fore hind", "BackFoot.L"),
    "quaternius/mech_pack/George.glb": ("leg", "FootBack.L"),
    "quaternius/modular_women/Witch.glb": ("leg", "Foot.L"),
    "quaternius/single_knight_pack/KnightCharacter.glb": ("leg", "Foot.L"),
    "mesh2motion/animations/fox-animations.glb": ("fore hind", "Back_Leg_Foot_L"),
    "mesh2motion/animations/kaiju-animations.glb": ("leg", "Back_Leg_Foot_1_L"),
    "mesh2motion/animations/bird-animations.glb": ("leg", "Foot_L"),
    "mesh2motion/animations/spider-animations.glb": ("fore mid mid hind", "leg_a_tip_l"),
    "mesh2motion/models-variation/human-sintel.glb": ("leg", "foot_l"),
    "kaykit/Rogue_Hooded.glb": ("leg", "foot.l"),
    "kenney/character.glb": ("leg", "leg-left"),
    "raylib/robot.glb": ("leg", "Foot.L"),
    "threejs/RobotExpressive/RobotExpressive.glb": ("leg", "Foot.L"),
    # Both call left what is on the left of the image; feet and eyes tell otherwise.
    "godot/player.glb": ("leg", "r-foot"),
    "godot/enemy.glb": ("fore hind", "r-frontleg001"),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", BODIES)
def test_feet_sides_and_forward(path, shared_assets):
    legs, left_foot = BODIES[path]
    body = character(path)
    anatomy = body.anatomy
    assert [limb.kind.value for limb in anatomy.legs if limb.side == "left"] == legs.split()
    lefts = {body.skeleton.names[limb.tip] for limb in anatomy.legs if limb.side == "left"}
    assert left_foot in lefts
    np.testing.assert_allclose(anatomy.forward, [0, 0, 1], atol=1e-6)
    rights = {limb.tip for limb in anatomy.legs if limb.side == "right"}
    assert len(rights) == len(lefts)
    for limb in anatomy.legs:
        assert anatomy.partners[limb.tip] in anatomy.feet


def test_paws_on_detached_roots_belong_to_their_legs(shared_assets):
    body = character("quaternius/animals_pack/Wolf.glb")
    names = body.skeleton.names
    attached = {names[j]: names[p] for j, p in body.anatomy.body.detached.items()}
    assert attached == {
        "IKBackLeg.L": "BackLowerLeg.L",
        "IKFrontLeg.L": "FrontLowerLeg.L",
        "IKBackLeg.R": "BackLowerLeg.R",
        "IKFrontLeg.R": "FrontLowerLeg.R",
    }


def test_roles_along_a_leg_and_a_tail_read_as_words(shared_assets):
    body = character("khronos/Fox/glTF-Binary/Fox.glb")
    roles = dict(zip(body.skeleton.names, map(str, body.anatomy.roles), strict=True))
    assert roles["b_Hip_01"] == "pelvis"
    assert roles["b_LeftUpperArm_09"] == "left fore upper"
    assert roles["b_RightForeArm_07"] == "right fore lower"
    assert roles["b_LeftHand_011"] == "left fore foot"
    assert roles["b_Tail02_013"] == "tail 2"
    assert roles["b_Head_05"] == "head"
    assert roles["_rootJoint"] == "helper"


def test_a_fish_has_a_tail_and_no_legs(shared_assets):
    anatomy = character("quaternius/cute_fish_pack/Koi.glb").anatomy
    assert anatomy.legs == ()
    assert len(anatomy.tail) == 5
    np.testing.assert_allclose(anatomy.forward, [0, 0, 1], atol=1e-6)


def test_a_tank_has_no_legs(shared_assets):
    assert character("quaternius/tank_pack/Tank.glb").anatomy.legs == ()


def test_wings_are_wings(shared_assets):
    limbs = character("mesh2motion/animations/bird-animations.glb").anatomy.limbs
    assert [x.kind for x in limbs if not x.kind.is_leg] == [LimbKind.WING, LimbKind.WING]


def test_a_file_without_joints_has_no_body(tmp_path):
    from akd.asset.asset import Asset
    from akd.rig.character import load_character

    empty = load_character(Asset(tmp_path / "empty.glb", "glb"))
    assert empty.anatomy.body.root == -1
    assert empty.height == 0.0
    assert all(r.part is Part.HELPER for r in empty.anatomy.roles)
