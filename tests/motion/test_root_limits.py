"""How far the root may go, by what was asked for; true actions of the zoo stay within it."""

import math

import pytest
import torch

import akd
from akd.export.creature import write_creature
from akd.motion.actions import ACTIONS
from akd.motion.clip import motion_from_clip
from akd.motion.feet import leg_length
from akd.motion.root_limits import ACTION, DOWN, GAIT, root_limits
from akd.rig.character import bound_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip, perform


@pytest.mark.parametrize(
    ("prompt", "limits"),
    [
        ("a man walking", GAIT),
        ("a fox turning left", GAIT),
        ("a fox being a fox", GAIT),
        ("a man punching", ACTION),
        ("a man jumps", ACTION),
        ("a man sits down", DOWN),
        ("a man gets up", DOWN),
        ("a man picks up a stone", DOWN),
    ],
)
def test_what_is_asked_for_decides(prompt, limits):
    assert root_limits(prompt) == limits


def test_a_body_on_stiff_legs_may_roll_over_its_feet():
    yaw, pitch, roll = root_limits("a man walking", waddles=True).lean
    assert (yaw, pitch) == GAIT.lean[:2]
    assert GAIT.lean[2] < roll < math.radians(20.0)


def test_walks_on_four_legs_do_not_bounce():
    bounce = root_limits("a horse walking", legs=4).bounce
    assert bounce is not None
    assert bounce < 0.1 * GAIT.sway[1]
    for prompt in ("a horse trotting", "a horse galloping", "a horse ambling quickly"):
        assert root_limits(prompt, legs=4) == GAIT, prompt
    for legs in (2, 8):
        assert root_limits("a horse walking", legs=legs) == GAIT
    # A leg of one joint cannot shorten: the body goes up and down over it.
    assert root_limits("a horse walking", legs=4, waddles=True).bounce is None


@pytest.mark.slow
@pytest.mark.parametrize("species", ["horse", "fox", "elephant", "cat", "pig"])
def test_true_walks_on_four_legs_stay_within_the_bounce(species):
    creature = build_creature(species, seed=1001, vertices=800)
    character = bound_character(species, creature.skeleton, creature.mesh)
    rig = character.control_rig
    for action in ("walk", "amble", "limp", "sneak"):
        if action not in creature.actions:
            continue
        motion = make_clip(creature, action, cycles=2)
        up = rig.from_pose(motion.pose).translation[:, 1] / leg_length(character, rig)
        limit = root_limits(f"a {species} {ACTIONS[action].participle}", legs=4).bounce
        assert limit is not None
        assert float((up - up.mean()).abs().max()) < limit, action


@pytest.mark.slow
def test_true_actions_of_people_stay_within_the_limits(tmp_path):
    man = build_creature("man", seed=1001, vertices=500)
    names = ("jump", "punch", "kick", "throw", "dance", "twist", "pick_up", "sit_down", "lie_down")
    path = tmp_path / "man.glb"
    write_creature(man, [perform(man, name, fps=15.0, frames=46).motion for name in names], path)
    character = akd.load(path)
    rig = character.control_rig
    _, left, forward = rig.root_axes
    for name, clip in zip(names, character.asset.clips, strict=True):
        pose = rig.from_world(motion_from_clip(character, clip).world())
        limits, place = root_limits(f"a man {ACTIONS[name].participle}"), pose.translation
        sway = torch.stack((place @ left, place[:, 1], place @ forward), dim=1)
        sway = sway / leg_length(character, rig)
        if ACTIONS[name].froude > 0.0:
            sway[:, 2] = 0.0  # a jump has a path besides
        assert bool((sway.abs().amax(0) < torch.tensor(limits.sway)).all()), name
        assert bool((pose.root_rotation.abs().amax(0) < torch.tensor(limits.lean)).all()), name
