"""Undulating bodies: how far they bend, where they may go, and how little they slip."""

import math
from functools import cache

import pytest
import torch

from akd.motion.feet import leg_length
from akd.motion.flight import flight_altitude
from akd.motion.gait import starting_period, starting_speed
from akd.motion.root_limits import root_limits
from akd.motion.undulation import Midline, slip
from akd.rig.control import ControlPose
from akd.rig.limits import AngleLimits, BodyPlan
from akd.rig.roles.role import LimbKind
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.zoo_character import as_character

MOVES = [("snake", "slither"), ("trout", "swim"), ("spider", "scuttle"), ("crow", "fly")]


@cache
def true_motion(species: str, action: str):
    """A creature of the training side, its controls over one cycle, and the cycle's duration."""
    creature = build_creature(species, seed=1000, vertices=900)
    character = as_character(creature)
    clip = make_clip(creature, action, cycles=1)
    return character, character.control_rig.from_pose(clip.pose), clip.duration


@pytest.mark.slow
@pytest.mark.parametrize(("species", "action"), MOVES)
def test_the_limits_of_a_gait_leave_room_for_the_true_one(species, action):
    character, controls, _ = true_motion(species, action)
    rig = character.control_rig
    parts = AngleLimits.of(rig).parts(controls.angles).abs().amax(0)
    if action == "fly":  # legs are tucked up, toes and all: only wings beat
        parts = parts[[i for i, role in enumerate(rig.roles) if role.limb is LimbKind.WING]]
    # A bounded angle never reaches its limit, so that some room must be left.
    assert float(parts.max()) < 0.95


@pytest.mark.parametrize(
    ("species", "action"),
    [
        *MOVES[:3],
        *(
            pytest.param(*move, marks=pytest.mark.slow)
            for move in (*MOVES[3:], ("cobra", "slither"), ("shark", "swim"))
        ),
    ],
)
def test_words_give_a_speed_and_a_cycle_near_the_true_ones(species, action):
    character, controls, duration = true_motion(species, action)
    leg = leg_length(character, character.control_rig)
    speed = float((controls.translation[-1] - controls.translation[0]).norm()) / duration
    assert 0.6 < starting_speed(f"it can {action}", leg) / speed < 1.7
    # `find_period` looks at 0.7 to 1.45 of the expected one.
    period = starting_period(f"it can {action}", leg)
    assert period is not None
    assert 0.7 < duration / period < 1.45


def test_a_true_snake_goes_along_itself():
    character, controls, _ = true_motion("snake", "slither")
    rig = character.control_rig

    def sideways(pose: ControlPose) -> float:
        moved, across = slip(rig, pose)
        gone = float((pose.translation[-1] - pose.translation[0]).norm())
        return float((moved * across).sum(-1).abs().mean(1).sum()) / gone

    assert sideways(controls) < 0.15
    held = ControlPose(controls.translation, controls.root_rotation, 0.0 * controls.angles)
    assert sideways(held) > 0.3


def test_the_midline_of_a_snake_bends_sideways_and_that_of_a_person_does_not():
    rig = true_motion("snake", "slither")[0].control_rig
    midline = Midline.of(rig)
    assert midline is not None
    assert len(midline.joints) == len(rig)
    # Equal bends to the left make an arc: the head ends on the left, the tail's end too.
    pose = rig.zero(1)
    pose.angles[:, midline.joints, 1] = 0.1 * midline.signs
    world = rig.world(pose)[0, :, :3, 3]
    left = rig.root_axes[1]
    ends = [rig.joints[i] for i, role in enumerate(rig.roles) if str(role) in ("head", "tail 6")]
    shift = (world[ends] - rig.neutral_world[ends, :3, 3]) @ left
    assert float(shift[0] * shift[1]) < 0.0  # to the left ahead is to the right behind
    person = as_character(build_creature("man", seed=1000, vertices=900)).control_rig
    assert not BodyPlan.of(person.roles).undulates
    assert Midline.of(person) is None


def test_a_bird_flies_clear_of_the_ground_and_lies_level():
    character, controls, _ = true_motion("crow", "fly")
    altitude = flight_altitude(character, character.control_rig)
    true = float(controls.translation[:, 1].mean())
    assert 0.7 < altitude / true < 1.4
    pitch = float(controls.root_rotation[:, 1].abs().max())
    assert pitch < root_limits("a bird flying").lean[1]
    yaw = float(true_motion("snake", "slither")[1].root_rotation[:, 0].abs().max())
    assert yaw < root_limits("a snake slithering", undulates=True).lean[0]
    assert yaw > math.radians(30.0)  # more than any body on legs sways
    assert torch.isfinite(torch.tensor(altitude))
