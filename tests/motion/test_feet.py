"""Soles: points of the skin of feet, and where the bones carry them."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.feet import Sole, find_soles, leg_length, track_feet
from akd.motion.motion import Motion
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from akd.rig.roles.names import Side
from akd.rig.roles.role import Limb, LimbKind
from akd.zoo.creature import build_creature
from tests.asset import unusual

LEG = Limb(LimbKind.LEG, Side.LEFT, (0, 1), 1)


def test_a_sole_goes_where_its_bones_do():
    """One point on the first bone, one on the second, one half way between them."""
    sole = Sole(
        LEG,
        torch.tensor([[0.0, 0.0, 0.1], [0.0, 0.0, 0.1], [0.0, 0.0, 0.1]]),
        torch.tensor([[0, 1], [0, 1], [0, 1]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]),
    )
    bones = torch.eye(4).expand(2, 2, 4, 4).clone()
    bones[1, 0, :3, 3] = torch.tensor([1.0, 0.0, 0.0])
    bones[1, 1, :3, 3] = torch.tensor([0.0, 2.0, 0.0])
    expected = torch.tensor([[1.0, 0.0, 0.1], [0.0, 2.0, 0.1], [0.5, 1.0, 0.1]])
    found = sole.at(bones)
    torch.testing.assert_close(found[0], sole.points)
    torch.testing.assert_close(found[1], expected)


def test_a_sole_hands_the_gradient_on_to_the_bones():
    sole = Sole(LEG, torch.rand(4, 3), torch.zeros(4, 1, dtype=torch.long), torch.ones(4, 1))
    bones = torch.eye(4).expand(1, 1, 4, 4).clone().requires_grad_()
    sole.at(bones)[..., 1].sum().backward()
    assert bones.grad is not None
    assert float(bones.grad[0, 0, 1, 3]) == pytest.approx(4.0)


def test_a_sole_has_points_however_far_from_the_origin(tmp_path):
    """There, the thickness of a sole is less than the step of float32 numbers."""
    write_creature(build_creature("fox", vertices=800), [], tmp_path / "it.glb")
    file = unusual.open_glb(tmp_path / "it.glb")
    unusual.hold(file, translation=[0.0, 1e6, 0.0])
    character = load_character(read_asset(file.write(tmp_path / "far.glb")))
    soles = find_soles(character, character.control_rig)
    assert len(soles) == 4
    assert all(len(sole.points) for sole in soles)


@pytest.mark.parametrize(("species", "legs"), [("fox", 4), ("man", 2)])
def test_every_leg_has_a_sole_that_is_low_and_of_its_own_foot(tmp_path, species, legs):
    write_creature(build_creature(species, vertices=800), [], tmp_path / "it.glb")
    character = load_character(read_asset(tmp_path / "it.glb"))
    rig = build_control_rig(character)
    soles = find_soles(character, rig)
    assert [sole.leg for sole in soles] == list(character.anatomy.legs)
    assert len(soles) == legs
    assert character.mesh is not None
    neutral = character.mesh.skin.bone_transforms(rig.neutral_world)[None]
    still = Motion(rig.skeleton, torch.zeros(1), rig.neutral.expand(1), "neutral")
    for sole, track in zip(soles, track_feet(character, rig, still), strict=True):
        points = sole.at(neutral)
        torch.testing.assert_close(points, track.sole)
        assert float(points[..., 1].max() - points[..., 1].min()) <= 0.021 * character.height
        foot = rig.neutral_world[sole.leg.tip, :3, 3]
        away = (points.mean((0, 1)) - foot)[[0, 2]].norm()
        assert float(away) < 0.15 * character.height


def test_leg_length_is_from_the_hip_to_the_sole_or_half_the_height(tmp_path):
    write_creature(build_creature("man", vertices=800), [], tmp_path / "it.glb")
    character = load_character(read_asset(tmp_path / "it.glb"))
    rig = build_control_rig(character)
    hip = float(rig.neutral_world[character.anatomy.legs[0].joints[0], 1, 3])
    assert leg_length(character, rig) == pytest.approx(hip, rel=0.02)
    footless = replace(character, anatomy=replace(character.anatomy, limbs=()))
    assert leg_length(footless, rig) == 0.5 * character.height
