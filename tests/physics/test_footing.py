"""When feet stand, and motions in which those that stand keep their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.clip import motion_from_clip
from akd.motion.contact import TOUCH
from akd.physics.assess import add_travel, assess, implied_travel
from akd.physics.bodies import build_body
from akd.physics.body import Body, place
from akd.physics.footing import find_stance, plant_feet
from akd.physics.planting import LIFTED
from akd.physics.settings import SimulatorSettings, TrackingSettings
from akd.physics.simulator import WarpSimulator
from akd.physics.target import TargetMotion, stand_on_ground, starts_apart
from akd.physics.tracking import _Problem, track
from akd.physics.units import BodyUnits
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import perform
from tests.physics.bodies_for_tests import quadruped
from tests.physics.gaits import FEET, walk_in_place

pytestmark = pytest.mark.slow

SPEED = 0.42 * 0.4 / 0.6
"""Of the walk that `walk_in_place` makes on the spot, m/s."""


def walk(share: float = 1.0) -> TargetMotion:
    """A walk along x with a share of the travel that its steps ask for."""
    velocity = torch.tensor((share * SPEED, 0.0, 0.0), dtype=torch.float64)
    return add_travel(walk_in_place(quadruped()), velocity)


def in_body_units(motion: TargetMotion) -> tuple[Body, TargetMotion]:
    body = quadruped()
    units = BodyUnits(body.height, body.mass)
    unit = body.scaled(length=1 / units.length, mass=1 / units.mass)
    return unit, stand_on_ground(unit, units.motion_in(motion))[0]


def true_stance() -> torch.Tensor:
    """A leg of `walk_in_place` stands for the first 0.6 of its second."""
    phase = torch.arange(48, dtype=torch.float64) / 24.0
    return torch.stack([(phase + s) % 1.0 < 0.6 for s in (0.0, 0.5, 0.5, 0.0)], dim=1)


@pytest.mark.parametrize("share", [1.0, 0.6, 0.0])
@pytest.mark.parametrize("lift", [0.0, 0.05, -0.05])
def test_stance_is_found_however_the_clip_is_spoiled(share: float, lift: float) -> None:
    motion = walk(share)
    up = torch.tensor((0.0, lift * quadruped().height, 0.0), dtype=torch.float64)
    body, motion = in_body_units(replace(motion, position=motion.position + up))
    stance = find_stance(body, FEET, motion)
    assert not bool(stance[:, ~FEET].any())
    agree = (stance[:, FEET] == true_stance()).double().mean()
    # A foot that has just come down or is about to leave may be taken either way.
    assert float(agree) > 0.85


def test_standing_still_is_standing() -> None:
    motion = walk(0.0)
    body, motion = in_body_units(
        replace(motion, angles=0 * motion.angles, position=motion.position[:1].expand(48, 3))
    )
    assert bool(find_stance(body, FEET, motion)[:, FEET].all())


def test_a_short_touch_is_no_stand_and_a_short_gap_no_step() -> None:
    motion = walk(0.0)
    still = replace(motion, angles=0 * motion.angles, position=motion.position[:1].expand(48, 3))
    angles = still.angles.clone()
    # The first leg is bent but for two frames; the second is bent for one frame.
    bent = torch.tensor((0.6, -1.2, 0.6), dtype=torch.float64)
    angles[4:20, 0:3, 0] = bent
    angles[[10, 11], 0:3, 0] = 0.0
    angles[30, 3:6, 0] = bent
    body, motion = in_body_units(replace(still, angles=angles))
    stance = find_stance(body, FEET, motion)[:, FEET]
    assert not bool(stance[5:19, 0].any())
    assert bool(stance[:, 1].all())


@pytest.mark.parametrize("share", [1.0, 0.6])
def test_planted_feet_keep_their_place_and_the_body_its_way(share: float) -> None:
    body, motion = in_body_units(walk(share))
    stance = find_stance(body, FEET, motion)
    planted = plant_feet(body, FEET, motion, stance)
    before = assess(body, FEET, motion)
    after = assess(body, FEET, planted)
    assert after.skate < max(0.2 * before.skate, 0.02)
    assert after.penetration < 0.002
    assert after.contact == 1.0
    made = place(body, planted)
    given = place(body, motion)
    moved = (made.origins - given.origins).norm(dim=-1)
    assert float(moved.mean()) < 0.03
    # It still goes where it went.
    assert float((planted.position - motion.position)[[0, -1]].norm(dim=-1).max()) < 0.05
    # Swinging feet clear the ground half way between two stands.
    low = made.points(body, body.corners)[:, FEET][..., 1].amin(-1)
    middle = int(24 * 0.8)
    assert not bool(stance[middle, FEET][0])
    assert float(low[middle, 0]) > 0.02


def test_what_stands_already_is_left_alone() -> None:
    motion = walk(0.0)
    body, motion = in_body_units(
        replace(motion, angles=0 * motion.angles, position=motion.position[:1].expand(48, 3))
    )
    stance = find_stance(body, FEET, motion)
    planted = plant_feet(body, FEET, motion, stance)
    torch.testing.assert_close(planted.angles, motion.angles, rtol=0, atol=1e-6)
    torch.testing.assert_close(planted.position, motion.position, rtol=0, atol=1e-6)


def test_without_feet_nothing_is_planted() -> None:
    body, motion = in_body_units(walk(0.6))
    stance = find_stance(body, torch.zeros(13, dtype=torch.bool), motion)
    assert not bool(stance.any())
    assert plant_feet(body, torch.zeros(13, dtype=torch.bool), motion, stance) is motion


def test_a_body_that_glides_does_not_stand() -> None:
    motion = walk(0.0)
    along = torch.linspace(0, 3, 48, dtype=torch.float64)[:, None]
    glide = motion.position[:1] + along * torch.tensor((1.0, 0.0, 0.0), dtype=torch.float64)
    body, motion = in_body_units(replace(motion, angles=0 * motion.angles, position=glide))
    assert not bool(find_stance(body, FEET, motion).any())


def raised(seconds: float, *, ballistic: bool) -> tuple[Body, TargetMotion, torch.Tensor]:
    """A body that stands, is 5 % up half way, and stands again; and its height, in body heights."""
    motion = walk(0.0)
    body = quadruped()
    frames = round(60 * seconds) + 21
    along = ((torch.arange(frames) - 10) / (frames - 21)).clamp(0, 1).double()
    # Thrown up and falling, or rising and sinking gently.
    height = 4 * along * (1 - along) if ballistic else (torch.pi * along).sin() ** 2
    height = 0.05 * body.height * height
    position = motion.position[:1].expand(frames, 3).clone()
    position[:, 1] += height
    angles = torch.zeros(frames, *motion.angles.shape[1:], dtype=torch.float64)
    turn = motion.rotation[:1].expand(frames, 4)
    unit, moved = in_body_units(TargetMotion(position, turn, angles, 60.0))
    return unit, moved, height / body.height


@pytest.mark.parametrize("species", ["man", "ostrich"])
def test_feet_of_a_runner_stand_for_as_long_as_they_do(species: str, tmp_path: Path) -> None:
    creature = build_creature(species, seed=1004)
    made = perform(creature, "run", fps=30.0, cycles=3)
    write_creature(creature, [made.motion], tmp_path / "runner.glb")
    character = load_character(read_asset(tmp_path / "runner.glb"))
    rig = build_control_rig(character)
    motion = motion_from_clip(character, character.asset.clips[0])
    parts = build_body(rig, character.mesh)
    units = BodyUnits(parts.body.height, parts.body.mass)
    body = parts.body.scaled(length=1 / units.length, mass=1 / units.mass)
    target = units.motion_in(parts.target_motion(rig.from_pose(motion.pose), 30.0))
    stance = find_stance(body, parts.feet, target)[:, parts.feet]
    # A foot that goes back slowly, before it lands and after it left the ground, does not stand.
    assert float(stance.float().mean()) == pytest.approx(
        float(made.contacts.float().mean()), abs=0.04
    )


def test_a_fast_walk_is_no_run(tmp_path: Path) -> None:
    """With two and a half times its travel, a walk is as fast as a run, and its feet slide; they
    stand for as long as before."""
    creature = build_creature("man", seed=1004)
    made = perform(creature, "walk", fps=60.0, cycles=3)
    write_creature(creature, [made.motion], tmp_path / "walker.glb")
    character = load_character(read_asset(tmp_path / "walker.glb"))
    rig = build_control_rig(character)
    motion = motion_from_clip(character, character.asset.clips[0])
    parts = build_body(rig, character.mesh)
    units = BodyUnits(parts.body.height, parts.body.mass)
    body = parts.body.scaled(length=1 / units.length, mass=1 / units.mass)
    true_walk = units.motion_in(parts.target_motion(rig.from_pose(motion.pose), 60.0))
    level = true_walk.position.new_tensor((1.5, 0.0, 1.5))
    fast = replace(true_walk, position=true_walk.position * (1.0 + level))
    true = float(made.contacts.float().mean())
    as_run, as_walk = (
        float(find_stance(body, parts.feet, fast, walks=walks)[:, parts.feet].float().mean())
        for walks in (False, True)
    )
    assert as_walk == pytest.approx(true, abs=0.06)
    assert as_run < true - 0.1


def test_a_foot_that_lands_fast_does_not_touch_before_it_stands() -> None:
    """At 10 frames a second feet swing far from frame to frame."""
    body, motion = in_body_units(walk(0.6))
    slower = replace(motion[::3], fps=motion.fps / 3)
    stance = find_stance(body, FEET, slower)
    planted = plant_feet(body, FEET, slower, stance, beside=LIFTED)
    low = place(body, planted).corners(body)[:, FEET][..., 1].amin(-1)
    beside = ~stance[:, FEET]
    beside[1:-1] &= stance[:-2, FEET] | stance[2:, FEET]
    assert bool(beside.any())
    assert float(low[beside].min()) > TOUCH


def test_a_body_that_does_not_fall_is_carried() -> None:
    body, motion, height = raised(1.0, ballistic=False)
    assert bool((height > 0.045).any())
    assert bool(find_stance(body, FEET, motion)[:, FEET].any(1).all())
    # A hop of 5 % of the height takes 2 sqrt(2 0.05 h / g).
    flight = 2 * (0.1 * quadruped().height / 9.81) ** 0.5
    body, motion, height = raised(flight, ballistic=True)
    assert bool((height > 0.045).any())
    assert not bool(find_stance(body, FEET, motion)[height > 0.04].any())


def test_travel_is_that_of_the_feet_that_stand() -> None:
    body = quadruped()
    velocity = implied_travel(body, FEET, walk_in_place(body))
    assert velocity is not None
    assert float(velocity[0]) == pytest.approx(SPEED, rel=0.15)


@pytest.mark.parametrize("name", ["Apatosaurus", "Triceratops", "Trex"])
def test_whose_feet_are_sunk_unevenly_walks_ahead(shared_assets: Path, name: str) -> None:
    """What is lowest of all in these clips is at times a foot that swings."""
    file = read_asset(shared_assets / "quaternius" / "dinosaurs_pack" / f"{name}.glb")
    character = load_character(file)
    rig = build_control_rig(character)
    made = build_body(rig, character.mesh)
    walk_ = next(c for c in file.clips if c.name.endswith("Walk"))
    frames = motion_from_clip(character, walk_).resample(30.0)
    motion = made.target_motion(rig.from_pose(frames.pose), 30.0)
    velocity = implied_travel(made.body, made.feet, motion)
    assert velocity is not None
    assert float(velocity @ character.forward.double()) > 0.05 * made.body.height


def test_sliding_counts_as_a_speed_whatever_the_frame_rate() -> None:
    body, motion = in_body_units(walk(0.6))
    stance = find_stance(body, FEET, motion)

    def between(values: torch.Tensor) -> torch.Tensor:
        both = torch.stack((values[:-1], (values[:-1] + values[1:]) / 2), dim=1)
        return torch.cat((both.flatten(0, 1), values[-1:]))

    finer = TargetMotion(
        between(motion.position), between(motion.rotation), between(motion.angles), 2 * motion.fps
    )
    costs = []
    for clip in (motion, finer):
        stands = stance if clip is motion else stance.repeat_interleave(2, 0)[:-1]
        problem = _Problem(
            body, clip, stands, 20, TrackingSettings(clearance=0.0), SimulatorSettings(),
            WarpSimulator,
        )  # fmt: skip
        made = place(body, clip)
        costs.append(float(problem.footing(made).mean()))
    assert costs[1] == pytest.approx(costs[0], rel=0.1)


def test_planting_never_makes_another_motion_of_it() -> None:
    body, motion = in_body_units(walk())
    # All feet are said to stand while the body goes its way.
    stance = FEET.expand(48, -1)
    far = motion.position * torch.tensor((6.0, 1.0, 1.0))
    assert plant_feet(body, FEET, replace(motion, position=far), stance).position is far


def test_tracking_a_slowed_walk_skates_a_fifth_at_most() -> None:
    body, motion = quadruped(), walk(0.6)
    result = track(body, motion, feet=FEET, settings=TrackingSettings(iterations=60))
    states = result.states
    made = TargetMotion(states.position, states.rotation, states.angles, motion.fps)
    before, after = assess(body, FEET, motion), assess(body, FEET, made)
    assert after.skate < 0.2 * before.skate
    assert after.contact >= before.contact
    assert after.penetration < 0.005
    assert result.error < 0.04
    # The error is that from the motion given, not from the planted one that was followed.
    wanted, found = (place(body, m).centres(body) for m in (result.given, made))
    apart = float((wanted - found).norm(dim=-1).mean()) / body.height
    assert result.error == pytest.approx(apart, rel=1e-6)


def test_a_pose_before_the_motion_is_known_by_its_jump() -> None:
    body, motion = quadruped(), walk()
    assert not starts_apart(body, motion)
    angles = motion.angles.clone()
    angles[0, :, 1] = 1.2
    assert starts_apart(body, replace(motion, angles=angles))
    angles[5, :, 1] = 1.2
    assert not starts_apart(body, replace(motion, angles=angles))
