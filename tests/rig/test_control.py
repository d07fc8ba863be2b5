"""The control rig: back and forth on every clip, paws on legs, continuity, gradients."""

import math

import pytest
import torch

from akd.asset.read import read_asset
from akd.math import quaternion
from akd.motion.clip import motion_from_clip
from akd.rig.character import load_character
from akd.rig.control import ControlPose
from akd.rig.control_build import MOST_DRIVEN
from tests.asset.gltf_builder import GltfBuilder
from tests.assets import (
    SHARED_ASSETS,
    character,
    control_rig,
    gltf_files,
    gltf_json,
    one_of_each_rig,
)
from tests.commands.animating import chain
from tests.rig.block_figure import block_figure

QUADRUPEDS = ("Alpaca", "Bull", "Cow", "Deer", "Donkey", "Fox", "Husky", "ShibaInu", "Wolf")


def driven_files() -> list[str]:
    said = {p: gltf_json(p) for p in gltf_files()}
    files = [p for p, json in said.items() if json.get("animations") and json.get("skins")]
    files = one_of_each_rig(files)
    if not SHARED_ASSETS.is_dir():
        return files
    bvh = sorted(p.relative_to(SHARED_ASSETS).as_posix() for p in SHARED_ASSETS.glob("*/*.bvh"))
    return files + bvh


@pytest.mark.slow
@pytest.mark.parametrize("path", driven_files())
def test_every_clip_survives_the_control_coordinates(path):
    body, rig = character(path), control_rig(path)
    assert len(rig) <= MOST_DRIVEN
    driven = [rig.root, *rig.joints]
    for clip in body.asset.clips:
        motion = motion_from_clip(body, clip)
        world = motion.world()[:, driven]
        pose = rig.from_pose(motion.pose)
        back = rig.world(pose)[:, driven]
        gap = (back[..., :3, 3] - world[..., :3, 3]).norm(dim=-1).max()
        assert gap < 0.02 * body.height, clip.name
        # From key to key an angle moves no further than the joint turns, give or take the gimbal.
        if len(motion) > 1 and len(rig):
            steps = (pose.angles[1:] - pose.angles[:-1]).abs().amax()
            assert steps < math.pi, clip.name


@pytest.mark.slow
@pytest.mark.parametrize("path", driven_files()[:12])
def test_zero_is_the_neutral_pose(path):
    rig = control_rig(path)
    torch.testing.assert_close(rig.world(rig.zero()), rig.neutral_world, atol=1e-5, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("animal", QUADRUPEDS)
def test_paws_stay_on_legs_when_a_made_up_clip_travels(animal, shared_assets):
    """New rotations on every control and a root that travels three body heights."""
    path = f"quaternius/animals_pack/{animal}.glb"
    body, rig = character(path), control_rig(path)
    t = torch.linspace(0, 1, 9)
    g = torch.Generator().manual_seed(7)
    swing = 0.4 * torch.randn(len(rig), 3, generator=g)
    travel = 3.0 * body.height * t[:, None] * body.forward
    angles = torch.sin(2 * math.pi * t)[:, None, None] * swing
    heading = 0.2 * torch.sin(2 * math.pi * t)[:, None] * torch.ones(3)
    pose = rig.to_pose(ControlPose(travel, heading, angles))
    world = body.skeleton.forward(pose)
    names = body.skeleton.names
    for paw, leg in body.anatomy.body.detached.items():
        before = rig.neutral_world[paw, :3, 3] - rig.neutral_world[leg, :3, 3]
        after = world[:, paw, :3, 3] - world[:, leg, :3, 3]
        stretch = (after.norm(dim=-1) - before.norm()).abs().max()
        assert stretch < 1e-3 * body.height, names[paw]
    moved = world[-1, rig.root, :3, 3] - world[0, rig.root, :3, 3]
    torch.testing.assert_close(moved, 3 * body.height * body.forward, atol=1e-3, rtol=1e-3)
    # The mesh shows the same: no triangle is torn to more than the pose can account for.
    assert body.mesh is not None
    edges = torch.cat([body.mesh.faces[:, [0, 1]], body.mesh.faces[:, [1, 2]]])
    still = _lengths(body.mesh.pose(rig.neutral_world), edges)
    posed = _lengths(body.mesh.pose(world), edges)
    assert (posed - still).max() < 0.5 * body.height


def _lengths(points: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    return (points[..., edges[:, 0], :] - points[..., edges[:, 1], :]).norm(dim=-1)


def test_equal_angles_on_both_sides_are_mirror_images(shared_assets):
    path = "khronos/Fox/glTF-Binary/Fox.glb"
    body, rig = character(path), control_rig(path)
    index = {j: i for i, j in enumerate(rig.joints)}
    pairs = [(a, b) for a, b in body.anatomy.partners.items() if a in index and b in index]
    pose = rig.zero()
    angles = pose.angles.clone()
    for a, b in pairs:
        value = 0.3 * torch.randn(3, generator=torch.Generator().manual_seed(min(a, b)))
        angles[index[a]] = value
    world = rig.world(ControlPose(pose.translation, pose.root_rotation, angles))[:, :3, 3]
    start = rig.neutral_world[:, :3, 3]
    mirror = torch.tensor([-1.0, 1.0, 1.0])
    worst = max(
        float(((world[a] - start[a]) * mirror - (world[b] - start[b])).norm()) for a, b in pairs
    )
    assert worst < 0.02 * body.height


def test_flexion_swings_a_leg_fore_and_aft(shared_assets):
    path = "khronos/Fox/glTF-Binary/Fox.glb"
    body, rig = character(path), control_rig(path)
    upper = [str(r) for r in rig.roles].index("left hind upper")
    foot = next(x.tip for x in body.anatomy.legs if str(x.kind) == "hind" and x.side == "left")
    pose = rig.zero()
    angles = pose.angles.clone()
    angles[upper, 0] = 0.3
    moved = rig.world(ControlPose(pose.translation, pose.root_rotation, angles))[foot, :3, 3]
    shift = moved - rig.neutral_world[foot, :3, 3]
    assert abs(float(shift[0])) < 0.02 * body.height
    assert abs(float(shift @ body.forward)) > 0.1 * body.height


def test_deltas_are_rigid(shared_assets):
    rig = control_rig("quaternius/animals_pack/Fox.glb")
    pose = ControlPose(torch.randn(4, 3), torch.randn(4, 3), torch.randn(4, len(rig), 3))
    linear = rig.deltas(pose)[..., :3, :3]
    eye = torch.eye(3).expand_as(linear)
    torch.testing.assert_close(linear @ linear.transpose(-1, -2), eye, atol=1e-4, rtol=0)


def test_gradcheck(shared_assets):
    rig = control_rig("khronos/RiggedSimple/glTF-Binary/RiggedSimple.glb")
    from dataclasses import replace

    exact = replace(
        rig,
        neutral=rig.neutral.to(dtype=torch.float64),
        pivots=rig.pivots.double(),
        axes=rig.axes.double(),
        root_pivot=rig.root_pivot.double(),
        root_axes=rig.root_axes.double(),
    )
    inputs = tuple(
        torch.randn(2, *shape, dtype=torch.float64, requires_grad=True)
        for shape in ((3,), (3,), (len(rig), 3))
    )
    assert torch.autograd.gradcheck(lambda *x: exact.world(ControlPose(*x)), inputs)


def test_travel_is_written_to_one_joint_and_sway_to_another(shared_assets):
    path = "mesh2motion/animations/fox-animations.glb"
    body, rig = character(path), control_rig(path)
    assert body.skeleton.names[rig.travel_joint] == "root"
    shift = torch.tensor([[0.5, 0.1, 2.0]])
    pose = rig.to_pose(ControlPose(shift, torch.zeros(1, 3), torch.zeros(1, len(rig), 3)))
    moved = body.skeleton.forward(pose)[0, :, :3, 3] - rig.neutral_world[:, :3, 3]
    torch.testing.assert_close(moved[rig.travel_joint], torch.tensor([0.5, 0.0, 2.0]))
    torch.testing.assert_close(moved[rig.root], shift[0], atol=1e-5, rtol=1e-5)


def test_arms_hang_in_the_neutral_pose_of_a_t_posed_body(shared_assets):
    path = "mesh2motion/models-variation/human-male.glb"
    body, rig = character(path), control_rig(path)
    assert rig.neutral_from == "the bind pose with the arms lowered"
    for limb in (x for x in body.anatomy.limbs if not x.kind.is_leg):
        arm = rig.neutral_world[limb.tip, :3, 3] - rig.neutral_world[limb.joints[1], :3, 3]
        assert float(-arm[1] / arm.norm()) > 0.9


def test_an_idle_clip_gives_the_neutral_pose(shared_assets):
    rig = control_rig("quaternius/animals_pack/Fox.glb")
    assert rig.neutral_from == "the first frame of the clip 'AnimalArmature|Idle'"


def test_angles_follow_quaternions_exactly(shared_assets):
    path = "khronos/Fox/glTF-Binary/Fox.glb"
    body, rig = character(path), control_rig(path)
    motion = motion_from_clip(body, body.asset.clips[1])
    back = rig.to_pose(rig.from_pose(motion.pose))
    for joint in rig.joints:
        gap = quaternion.geodesic(back.rotation[:, joint], motion.pose.rotation[:, joint])
        assert gap.max() < 2e-3


def test_a_long_chain_drives_as_many_joints_as_there_may_be(tmp_path):
    rig = load_character(read_asset(chain(tmp_path / "snake.glb", 60))).control_rig
    assert len(rig) == MOST_DRIVEN
    assert all(parent < i for i, parent in enumerate(rig.parents))


def test_a_file_without_a_body_has_nothing_to_drive(tmp_path):
    empty = GltfBuilder()
    empty.add("nodes", name="nothing")
    found = load_character(read_asset(empty.write(tmp_path / "empty.glb")))
    assert len(found.control_rig) == 0


def test_legs_of_one_joint_swing_forwards():
    """No other joint tells where such a leg points: its skin does."""
    rig = block_figure().control_rig
    roles = [str(role) for role in rig.roles]
    assert {"left leg upper", "right leg upper", "left arm upper"} <= set(roles)
    for name in ("left leg upper", "right leg upper"):
        flexion, _, twist = rig.axes[roles.index(name)]
        assert abs(float(flexion[0])) > 0.99
        assert abs(float(twist[1])) > 0.99
    # Flexion alone: the foot goes back.
    pose = rig.zero()
    pose.angles[..., roles.index("left leg upper"), 0] = 0.5
    moved = rig.world(pose) @ torch.tensor((0.0, -0.7, 0.0, 1.0))
    leg = rig.skeleton.names.index("leg.L")
    torch.testing.assert_close(
        moved[..., leg, :3].flatten()[:2], torch.tensor((0.15, 0.0857)), atol=0.02, rtol=0
    )
    assert float(moved[..., leg, 2]) < -0.3
