"""The control rig and the neutral pose of zoo bodies: parents, mirror images, lowered arms."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.math import quaternion
from akd.rig.character import Character, load_character
from akd.rig.control import ROOT, TRAVEL, ControlPose, ControlRig
from akd.rig.control_build import build_control_rig
from akd.rig.roles.role import LimbKind
from akd.zoo.gait.clips import make_clip
from tests.zoo.menagerie import creature

SPECIES = ("fox", "horse", "man", "trex", "ostrich")
HANGING = math.cos(math.radians(13.0))


def turned(rig: ControlRig, angles: dict[int, torch.Tensor]) -> torch.Tensor:
    """world_from_joint with some controls turned."""
    pose = rig.zero()
    all_angles = pose.angles.clone()
    for control, value in angles.items():
        all_angles[control] = value
    return rig.world(replace(pose, angles=all_angles))


@pytest.mark.parametrize("species", SPECIES)
def test_a_control_hangs_on_the_joint_above_it(zoo_character, zoo_rig, species):
    body, rig = zoo_character(species), zoo_rig(species)
    names, parents = body.skeleton.names, body.skeleton.parents
    assert (names[rig.root], names[rig.travel_joint]) == ("pelvis", "root")
    for joint, parent in zip(rig.joints, rig.parents, strict=True):
        assert parents[joint] == (rig.root if parent < 0 else rig.joints[parent]), names[joint]
    # Everything in the body is driven but ears, the jaw, and what moves nothing.
    still = {n for n in names if "ear" in n or n in ("jaw", "root", "pelvis", species)}
    helpers = {n for n, r in zip(names, body.anatomy.roles, strict=True) if str(r) == "helper"}
    assert {names[j] for j in rig.joints} == set(names) - still - helpers


@pytest.mark.parametrize("species", SPECIES)
def test_what_is_not_driven_follows_what_is_above_it(zoo_character, zoo_rig, species):
    body, rig = zoo_character(species), zoo_rig(species)
    names, drivers = body.skeleton.names, rig.driver_index.tolist()
    assert drivers[names.index("root")] == TRAVEL
    assert drivers[names.index("pelvis")] == ROOT
    for control, joint in enumerate(rig.joints):
        assert drivers[joint] == 3 + control
    for name in (n for n in names if "ear" in n or n == "jaw"):
        assert drivers[names.index(name)] == drivers[names.index("head")]


@pytest.mark.parametrize("species", SPECIES)
def test_zero_is_the_bind_pose_of_a_body_that_stands(zoo_character, zoo_rig, species):
    body, rig = zoo_character(species), zoo_rig(species)
    assert rig.neutral_from == "the bind pose"
    bind = body.skeleton.forward(body.bind)
    torch.testing.assert_close(rig.world(rig.zero()), bind, atol=1e-5, rtol=0)


@pytest.mark.parametrize("species", SPECIES)
def test_equal_angles_on_both_sides_are_mirror_images(zoo_character, zoo_rig, species):
    body, rig = zoo_character(species), zoo_rig(species)
    index = {j: i for i, j in enumerate(rig.joints)}
    pairs = [(a, b) for a, b in body.anatomy.partners.items() if a in index]
    g = torch.Generator().manual_seed(3)
    given = {frozenset(pair): 0.3 * torch.randn(3, generator=g) for pair in pairs}
    world = turned(rig, {index[a]: given[frozenset((a, b))] for a, b in pairs})[:, :3, 3]
    mirror = torch.tensor([-1.0, 1.0, 1.0])
    moved = (world - rig.neutral_world[:, :3, 3]).norm(dim=-1)
    assert float(moved.max()) > 0.05 * body.height
    for a, b in pairs:
        torch.testing.assert_close(world[a] * mirror, world[b], atol=1e-4 * body.height, rtol=0)


@pytest.mark.parametrize("species", SPECIES)
def test_flexion_swings_a_leg_fore_and_aft(zoo_character, zoo_rig, species):
    body, rig = zoo_character(species), zoo_rig(species)
    for limb in body.anatomy.legs:
        top = rig.joints.index(limb.joints[0])
        foot = turned(rig, {top: torch.tensor([0.3, 0.0, 0.0])})[limb.tip, :3, 3]
        shift = foot - rig.neutral_world[limb.tip, :3, 3]
        assert abs(float(shift[0])) < 0.02 * body.height
        assert abs(float(shift[2])) > 0.05 * body.height


def write_raised(body: Character, rig: ControlRig, degrees: float, path: Path) -> None:
    """Write the body bound with its arms at an angle from the vertical: 90 is a T-pose."""
    world = rig.neutral_world
    for limb in (x for x in body.anatomy.limbs if x.kind is LimbKind.ARM):
        upper = limb.joints[1]
        reach = world[limb.tip, :3, 3] - world[upper, :3, 3]
        now = math.atan2(abs(float(reach[0])), -float(reach[1]))
        turn = (math.radians(degrees) - now) * math.copysign(1.0, float(reach[0]))
        rotation = quaternion.to_matrix(
            quaternion.about_axis(torch.tensor([0.0, 0.0, 1.0]), torch.tensor(turn))
        )
        below = list(body.skeleton.subtree(upper))
        pivot = world[upper, :3, 3].clone()
        world = world.clone()
        world[below, :3, :3] = rotation @ world[below, :3, :3]
        world[below, :3, 3] = (world[below, :3, 3] - pivot) @ rotation.T + pivot
    assert body.mesh is not None
    skin = body.mesh.skin
    mesh = replace(
        body.mesh,
        vertices=body.mesh.pose(world),
        skin=replace(skin, inverse_bind=torch.linalg.inv(world[skin.bone_joints])),
    )
    skeleton = replace(body.skeleton, rest=body.skeleton.localize(world))
    write_glb(build_document(mesh, skeleton, [], name="raised", extras={}), path)


@pytest.mark.parametrize("degrees", [90.0, 45.0])
def test_raised_arms_are_lowered_and_nothing_else_moves(zoo_character, zoo_rig, tmp_path, degrees):
    path = tmp_path / "raised.glb"
    write_raised(zoo_character("man"), zoo_rig("man"), degrees, path)
    body = load_character(read_asset(path))
    rig = build_control_rig(body)
    assert rig.neutral_from == "the bind pose with the arms lowered"
    bind, neutral = body.skeleton.forward(body.bind), rig.neutral_world
    arms = [limb for limb in body.anatomy.limbs if limb.kind is LimbKind.ARM]
    assert [limb.side for limb in arms] == ["left", "right"]
    for limb in arms:
        upper = limb.joints[1]
        for world, hangs in ((bind, False), (neutral, True)):
            reach = world[limb.tip, :3, 3] - world[upper, :3, 3]
            assert (float(-reach[1] / reach.norm()) > HANGING) == hangs
            # On its own side of the shoulder, not across the body.
            assert float(reach[0]) * (1 if limb.side == "left" else -1) > 0
    below = {j for limb in arms for j in body.skeleton.subtree(limb.joints[1])}
    rest = [j for j in range(len(body.skeleton)) if j not in below]
    torch.testing.assert_close(neutral[rest], bind[rest], atol=1e-5, rtol=0)


def test_the_first_frame_of_an_idle_clip_is_the_neutral_pose(tmp_path):
    man = creature("man")
    walk = make_clip(man, "walk", frames=8)
    path = tmp_path / "man.glb"
    write_creature(man, [replace(walk, name="idle")], path)
    body = load_character(read_asset(path))
    rig = build_control_rig(body)
    assert rig.neutral_from == "the first frame of the clip 'idle'"
    torch.testing.assert_close(
        rig.neutral_world[: len(man.skeleton)], walk.world()[0], atol=1e-4, rtol=0
    )
    moved = ControlPose(torch.zeros(3), torch.zeros(3), torch.zeros(len(rig), 3))
    torch.testing.assert_close(rig.world(moved), rig.neutral_world, atol=1e-5, rtol=0)
