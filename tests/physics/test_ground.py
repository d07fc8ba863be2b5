"""From a character and a clip to a motion on the ground."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.physics.assess import assess
from akd.physics.bodies import CharacterBody, _points_by_control, build_body
from akd.physics.body import State, place
from akd.physics.cycle import close_cycle
from akd.physics.ground import check_feet, ground, take_travel_out
from akd.physics.planting import plant_result
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.target import TargetMotion, starts_apart
from akd.rig.character import Character, bound_character, load_character
from akd.rig.control import ControlPose, ControlRig
from akd.rig.control_build import build_control_rig
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.seam import measure_seam
from tests.physics.reference import momentum

pytestmark = pytest.mark.slow


def load(path: Path) -> tuple[Character, ControlRig, CharacterBody]:
    character = load_character(read_asset(path))
    rig = build_control_rig(character)
    return character, rig, build_body(rig, character.mesh)


@pytest.fixture(scope="module")
def fox(shared_assets: Path) -> tuple[Character, ControlRig, CharacterBody]:
    return load(shared_assets / "khronos" / "Fox" / "glTF-Binary" / "Fox.glb")


def test_cuboids_hold_the_fox(fox) -> None:
    character, rig, made = fox
    body = made.body
    assert body.height == pytest.approx(character.height, rel=0.1)
    # A fox is drawn 0.8 m high here; a real one of half that weighs 6 kg, so eight times that.
    assert 20 < body.mass < 100
    assert [body.names[i] for i in made.feet.nonzero().flatten()] == [
        "right fore foot", "left fore foot", "left hind foot", "right hind foot"
    ]  # fmt: skip
    lowest = body.corners[made.feet][..., 1].amin(-1)
    assert float((lowest - made.ground).abs().max()) < 0.01 * body.height
    # Nearly all of the skin is within its part's cuboid, or a fiftieth of the height from it.
    vertices = character.mesh.pose(rig.neutral_world).double()
    inside = torch.zeros(len(vertices), dtype=torch.bool)
    for i in range(len(body)):
        turn = torch.linalg.inv(
            (body.corners[i, [4, 2, 1]] - body.corners[i, 0]).T / 2 / body.half_extents[i]
        )
        local = (vertices - body.centres[i]) @ turn.T
        inside |= (local.abs() < body.half_extents[i] + 0.02 * body.height).all(-1)
    assert float(inside.double().mean()) > 0.97


@pytest.mark.parametrize("species", ["tiger", "man", "elephant"])
def test_a_foot_that_tips_stands_on_its_skin(species, tmp_path) -> None:
    path = tmp_path / "creature.glb"
    write_creature(build_creature(species, seed=1), [], path)
    character, rig, made = load(path)
    skin, owners = _points_by_control(rig, character.mesh)
    part = int(made.feet.nonzero()[0])
    foot = int(made.controls[part - 1]) + 1
    # Toes that are welded are skin of the foot.
    toes = [i + 1 for i, parent in enumerate(rig.parents) if parent + 1 == foot]
    below = [foot, *(i for i in toes if i - 1 not in made.controls)]
    skin = skin[torch.isin(owners, torch.tensor(below))]
    corners, height = made.body.corners[part], made.body.height
    up, left, _ = rig.root_axes.double()
    for angle in torch.linspace(-0.4, 0.4, 9, dtype=torch.float64):
        down = angle.cos() * up + angle.sin() * torch.linalg.cross(left, up)
        apart = float((corners @ down).min() - (skin @ down).min()) / height
        assert abs(apart) < 0.005, f"tipped by {float(angle):.1f}: {apart:.3f}"


def test_body_moves_as_the_control_rig_does(fox) -> None:
    _, rig, made = fox
    generator = torch.Generator().manual_seed(0)
    pose = ControlPose(
        torch.randn(4, 3, generator=generator), torch.randn(4, 3, generator=generator),
        0.5 * torch.randn(4, len(rig), 3, generator=generator),
    )  # fmt: skip
    deltas = rig.deltas(pose).double()[:, 2:]
    deltas = torch.cat((deltas[:, :1], deltas[:, 1 + made.controls]), dim=1)
    target = made.target_motion(pose, 30.0)
    placement = place(made.body, target)
    corners = made.body.corners
    expected = (deltas[:, :, None, :3, :3] @ corners[..., None]).squeeze(-1)
    expected = expected + deltas[:, :, None, :3, 3]
    torch.testing.assert_close(placement.points(made.body, corners), expected, rtol=0, atol=1e-5)


def test_fox_walk_is_grounded(fox, tmp_path: Path) -> None:
    character, rig, _ = fox
    clip = next(c for c in character.asset.clips if c.name == "Walk")
    motion = motion_from_clip(character, clip)
    result = ground(rig, character.mesh, motion, settings=TrackingSettings(iterations=60))
    assert result.travel is not None
    assert float(result.travel @ character.forward.double()) > 0.5
    assert result.tracking.error < 0.04
    assert result.after.skate < 0.2 * result.before.skate
    assert result.after.penetration < 0.005
    assert result.after.contact >= result.before.contact - 0.05
    # The clip is a cycle, on whole frames; its ends meet.
    assert result.cycle_gap is not None
    assert result.cycle_gap < 0.02
    torch.testing.assert_close(result.motion.times, torch.arange(len(result.motion)) / 30.0)
    seam = measure_seam(rig, result.motion, height=character.height)
    assert seam.jump < 0.05
    assert seam.step <= 1.2
    # The motion is the simulated one, closed, its feet pinned again: away from the seam its bones
    # are where the parts are.
    world = result.motion.world()
    joint = rig.joints[int(result.character.controls[-1])]
    made, stance = result.character, result.tracking.stance
    closed = close_cycle(result.tracking.states, result.clip)
    pinned = plant_result(made.body, made.feet, closed, stance)
    origins, simulated = (place(made.body, states).origins for states in (pinned, closed))
    assert float((origins - simulated).norm(dim=-1).mean()) < 0.01 * made.body.height
    bone, inside = world[:, joint, :3, 3].double(), slice(4, -5)
    torch.testing.assert_close(bone[inside], origins[inside, -1], rtol=0, atol=1e-4)
    in_place = take_travel_out(result)
    assert float((in_place.translation[-1] - in_place.translation[0])[[0, 2]].norm()) < 0.1

    result.save(tmp_path)
    arrays = np.load(tmp_path / "physics.npz")
    substeps = len(arrays["targets"])
    assert arrays["torques"].shape == (substeps, len(rig) - len(result.character.welded), 3)
    assert arrays["contact_forces"].shape == (substeps, len(result.character.body), 3)
    # Contact and gravity are all that changes the momentum, up to the error of the step: the
    # impulses add up to within a hundredth of what the ground gave.
    rollout, body = result.tracking.rollout, result.character.body
    gained = momentum(body, rollout[-1])[0] - momentum(body, rollout[0])[0]
    step = result.tracking.parameters.step
    given = torch.from_numpy(arrays["contact_forces"]).double().sum((0, 1)) * step
    given = given - torch.tensor((0.0, body.mass * 9.81 * step * substeps, 0.0))
    torch.testing.assert_close(
        given, gained, rtol=0, atol=0.01 * body.mass * 9.81 * step * substeps
    )
    summary = json.loads((tmp_path / "physics.json").read_text())
    assert summary["after"]["skate"] == result.after.skate
    assert summary["assist_share"] < 0.1


def test_a_bare_skeleton_has_a_body(shared_assets: Path) -> None:
    character, rig, made = load(shared_assets / "cmu_bvh" / "02_01.bvh")
    assert character.mesh is None
    feet = [made.body.names[i] for i in made.feet.nonzero().flatten()]
    assert any("foot" in name for name in feet)
    assert not any("lower" in name or "upper" in name for name in feet)
    assert 0.9 < made.body.height / character.height < 1.2
    assert len(made.body) + len(made.welded) == len(rig) + 1


def test_welded_joints_still_move(fox) -> None:
    _, rig, made = fox
    states_pose = rig.zero(3)
    moving = ControlPose(
        states_pose.translation, states_pose.root_rotation, states_pose.angles + 0.3, None
    )
    # Pretend that the last control is welded: it keeps the clip's angle.
    welded = CharacterBody(rig, made.body, made.controls[:-1], ("tail",), made.feet, made.ground)
    target = made.target_motion(states_pose, 30.0)
    zeros = torch.zeros_like(target.position)
    states = State(
        target.position, target.rotation, target.angles[:, :-1], zeros, zeros,
        target.angles[:, :-1],
    )  # fmt: skip
    pose = welded.control_pose(states, moving)
    assert float(pose.angles[0, int(made.controls[-1]), 0]) == pytest.approx(0.3)
    assert float(pose.angles[0, int(made.controls[0]), 0]) == 0.0


def test_the_pose_before_a_captured_motion_is_left_out(shared_assets: Path) -> None:
    character, rig, _ = load(shared_assets / "cmu_bvh" / "104_48.bvh")
    motion = motion_from_clip(character, character.asset.clips[0])
    motion = motion.sample(motion.times[0] + torch.arange(0.0, 0.5, 1 / 60))
    result = ground(rig, None, motion, settings=TrackingSettings(iterations=10))
    assert result.first_left_out
    assert len(result.motion) == len(motion.resample(30.0)) - 1
    assert float(result.motion.times[0]) == 0.0
    # The sprint begins as it goes on: with the T-pose in it the first frames were 20 % off.
    assert result.tracking.error < 0.05


def test_the_feet_of_a_captured_walk_stand_in_the_result(shared_assets: Path) -> None:
    """Whatever the body does in the simulation: in a motion that is no cycle, too."""
    path = shared_assets.parent / "mocap" / "07_01.bvh"
    if not path.exists():
        pytest.skip("needs the motion capture in ../shared/mocap")
    character, rig, _ = load(path)
    motion = motion_from_clip(character, character.asset.clips[0])
    result = ground(rig, None, motion, settings=TrackingSettings(iterations=20))
    assert result.cycle_gap is None
    s = result.tracking.states
    simulated = TargetMotion(s.position, s.rotation, s.angles, result.clip.fps)
    slides = assess(result.character.body, result.character.feet, simulated).skate
    assert result.after.skate < 0.5 * slides


@pytest.mark.parametrize("file", ["49_07", "87_03", "88_01", "88_08", "90_02"])
def test_the_pose_before_a_flip_or_a_cartwheel_is_seen(
    shared_assets: Path, tmp_path: Path, file: str
) -> None:
    path = shared_assets.parent / "mocap" / f"{file}.bvh"
    if not path.exists():
        pytest.skip("needs the motion capture in ../shared/mocap")
    skeleton, _, rest = path.read_text().partition("MOTION")
    _, rate, *frames = rest.strip().splitlines()
    for kept, seen in ((frames[:60], True), (frames[1:61], False)):
        short = tmp_path / path.name
        short.write_text("\n".join((f"{skeleton}MOTION", "Frames: 60", rate, *kept, "")))
        character, rig, made = load(short)
        motion = motion_from_clip(character, character.asset.clips[0]).resample(30.0)
        target = made.target_motion(rig.from_pose(motion.pose), 30.0)
        assert starts_apart(made.body, target) is seen


def test_a_body_that_lies_is_refused(shared_assets: Path) -> None:
    file = read_asset(shared_assets / "makehuman" / "bvh" / "walk1.bvh")
    character = load_character(file)
    motion = motion_from_clip(character, file.clips[0])
    with pytest.raises(ValueError, match="no leg stands on the ground in the neutral pose"):
        ground(build_control_rig(character), None, motion)
    standing = load_character(file, up="z")
    check_feet(build_body(build_control_rig(standing), None))


def test_a_flat_character_is_refused(fox) -> None:
    character, rig, _ = fox
    mesh = character.mesh
    flat = replace(mesh, skin=replace(mesh.skin, inverse_bind=mesh.skin.inverse_bind * 0))
    with pytest.raises(ValueError, match="a body needs points at different heights"):
        build_body(rig, flat)


def test_motion_type_is_checked(fox) -> None:
    character, rig, _ = fox
    clip = motion_from_clip(character, character.asset.clips[0])
    one = Motion(clip.skeleton, clip.times[:1], clip.pose[:1])
    with pytest.raises(ValueError, match="a motion to track needs at least 2 frames"):
        ground(rig, character.mesh, one)


@pytest.fixture(scope="module")
def kicking() -> tuple[Character, Motion]:
    """A man who kicks and ends as he began."""
    man = build_creature("man", seed=1000, vertices=800)
    return bound_character("man", man.skeleton, man.mesh), make_clip(man, "kick", cycles=1)


def test_what_has_an_end_is_no_cycle_though_it_ends_as_it_began(kicking) -> None:
    character, kick = kicking
    rig, few = character.control_rig, TrackingSettings(iterations=1)
    loops = {
        action: ground(rig, character.mesh, kick, action=action, settings=few).clip.cyclic
        for action in (None, "kick", "dance")
    }
    assert loops == {None: True, "kick": False, "dance": True}


def test_what_stays_in_its_place_is_steadied_and_its_feet_stand(kicking) -> None:
    character, kick = kicking
    rig, few = character.control_rig, TrackingSettings(iterations=10)
    given = rig.from_pose(kick.pose).root_rotation[:, 1:]
    leans = []
    for world in (SimulatorSettings(), None):
        made = ground(
            rig, character.mesh, kick, action="kick", settings=few, world=world, travel=True
        )
        assert made.travel is None
        s = made.tracking.states
        simulated = TargetMotion(s.position, s.rotation, s.angles, made.clip.fps)
        slides = assess(made.character.body, made.character.feet, simulated).skate
        assert made.after.skate < 0.5 * slides
        leans.append(float((made.controls.root_rotation[:, 1:] - given).abs().mean()))
    assert leans[1] < 0.7 * leans[0]
