"""Crabs scuttle to a side: starting values, curves, limbs, metrics and direction."""

import math

import pytest
import torch

from akd.api.request import make_request
from akd.api.search import starting_point
from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.fit.phase_search import limb_controls
from akd.metrics.motion import measure
from akd.motion.direction import Direction, direct
from akd.motion.gait import starting_way
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.prior.protocol import VideoPrior
from akd.rig.character import load_character
from akd.rig.control import ControlPose
from akd.rig.roles.role import LimbKind
from akd.zoo import build_creature, make_clip
from benchmarks.zoo_character import as_character

QUARTER = 0.5 * math.pi


@pytest.fixture(scope="module")
def crab():
    """A crab, and its true scuttle."""
    creature = build_creature("crab", seed=1010, vertices=800)
    return as_character(creature), make_clip(creature, "scuttle", cycles=3)


def way_of(character, motion) -> float:
    """Radians to the left of the way the body faces at first in which a motion goes."""
    rig = character.control_rig
    path = rig.from_pose(motion.pose).translation
    _, left, forward = rig.root_axes @ (path[-1] - path[0])
    return math.atan2(left, forward)


def test_words_and_pincers_say_which_way():
    assert starting_way("a crab scuttling", has_pincers=True) == pytest.approx(QUARTER)
    assert starting_way("a crab scuttles to the right", has_pincers=True) == -QUARTER
    assert starting_way("a crab walking", has_pincers=True) == 0.0
    assert starting_way("a spider scuttling", has_pincers=False) == 0.0


@pytest.mark.parametrize(("species", "way"), [("crab", QUARTER), ("spider", 0.0)])
def test_a_search_starts_to_the_side_of_a_crab_alone(species, way, tmp_path):
    path = tmp_path / f"{species}.glb"
    write_creature(build_creature(species, seed=1010, vertices=800), [], path)
    character = load_character(read_asset(path))
    request = make_request(character, f"a {species} scuttling", device="cpu")
    prior = request.load_prior()
    assert isinstance(prior, VideoPrior)
    start = starting_point(request, prior)
    assert start.way == pytest.approx(way)
    # Legs of one side pull while the others push: they are no mirror images.
    assert start.symmetrical == (not way)
    curves = ControlCurves.start(start, harmonics=2)
    made = curves.motion("scuttle", lift=0.0, fps=30.0)
    assert way_of(character, made) == pytest.approx(way, abs=1e-3)


@pytest.mark.parametrize("way", [0.0, QUARTER, -QUARTER])
def test_curves_go_that_way_and_a_yaw_bends_it(crab, way):
    character, _ = crab
    rig = character.control_rig
    curves = ControlCurves.start(
        MotionStart(rig, frames=12, fps=10.0, leg_length=0.1, speed=0.4, way=way), periodic=True
    )
    controls = curves.controls()
    ahead = controls.translation[-1] @ (
        math.cos(way) * rig.root_axes[2] + math.sin(way) * rig.root_axes[1]
    )
    assert float(ahead.detach()) == pytest.approx(0.4 * 1.1, rel=1e-4)
    # Positions that lie on the path leave nothing for the sway.
    curves.set_translation(controls.translation.detach())
    torch.testing.assert_close(curves.root[:, :3], torch.zeros_like(curves.root[:, :3]), atol=1e-5,
                               rtol=0.0)  # fmt: skip
    yaw = torch.zeros(12, 3)
    yaw[:, 0] = 0.15
    curves.set_root_rotation(yaw)
    turned = curves.controls().translation[-1].detach()
    left, forward = (float(turned @ axis) for axis in rig.root_axes[1:])
    assert math.atan2(left, forward) - way == pytest.approx(0.15, abs=0.01)


def test_a_cycle_is_straightened_to_its_side(crab):
    character, _ = crab
    rig = character.control_rig
    curves = ControlCurves.start(
        MotionStart(rig, frames=12, fps=10.0, leg_length=0.1, speed=0.4, way=QUARTER, period=0.5),
        harmonics=2,
    )
    with torch.no_grad():
        curves.root[0, 3] = 0.1  # a mean yaw, as a camera askew makes it
    assert way_of(character, curves.motion("askew", lift=0.0, fps=30.0)) == pytest.approx(
        QUARTER, abs=1e-3
    )


def test_legs_are_searched_swinging_that_way(crab):
    rig = crab[0].control_rig
    left = rig.root_axes[1]

    def swung(way: float) -> list[float]:
        """How far the tip of each leg goes to the left in its swing, over how far it goes."""
        found = []
        for limb in limb_controls(rig, way):
            if limb.role.limb is LimbKind.ARM:
                continue
            angles = torch.zeros(2, len(rig), 3)
            angles[1, limb.upper] = 0.05 * limb.swing
            pose = rig.to_pose(ControlPose(torch.zeros(2, 3), torch.zeros(2, 3), angles))
            tip = max(
                (i for i, role in enumerate(rig.roles) if role.limb_id == limb.role.limb_id),
                key=lambda i: float((rig.pivots[i] - rig.pivots[limb.upper]).norm()),
            )
            places = rig.skeleton.forward(pose)[:, rig.joints[tip], :3, 3]
            moved = places[1] - places[0]
            found.append(float(moved @ left) / float(moved.norm()))
        return found

    ahead, aside = swung(0.0), swung(QUARTER)
    assert len(aside) == 8
    assert min(aside) > 0.4
    assert all(to_side > abs(to_front) for to_front, to_side in zip(ahead, aside, strict=True))
    assert swung(-QUARTER) == pytest.approx([-value for value in aside], abs=0.06)


def test_a_true_scuttle_passes_all_checks(crab):
    character, scuttle = crab
    found = measure(character, character.control_rig, scuttle, asked="scuttle")
    assert found.foot_travel > 0.5
    assert max(found.alternation) < -0.5
    assert not found.fails
    # Of a walk, steps to a side are none.
    assert measure(character, character.control_rig, scuttle, asked="walk").foot_travel < 0.1


@pytest.mark.slow
def test_a_scuttle_is_turned_without_facing_its_way(crab):
    character, scuttle = crab
    rig = character.control_rig
    made = direct(character, scuttle, Direction(turn=60.0, duration=2.0), fps=30.0)
    yaw = rig.from_pose(made.pose).root_rotation[:, 0]
    assert math.degrees(float(yaw[-1] - yaw[0])) == pytest.approx(60.0, abs=3.0)
    # An arc of 60 degrees to the left, which begins to its left, ends 30 degrees further left.
    assert math.degrees(way_of(character, made)) == pytest.approx(120.0, abs=4.0)
    assert not measure(character, rig, made, asked="scuttle").fails
