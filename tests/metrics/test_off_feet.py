"""What flies, swims or slithers is not judged by feet; a statue that glides is."""

from functools import cache

import pytest

from akd.metrics.motion import measure
from akd.metrics.motion_metrics import demo_conditions
from akd.motion.motion import Motion
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip
from benchmarks.zoo_character import as_character

MOVES = [("snake", "slither"), ("shark", "swim"), ("eagle", "fly"), ("eagle", "glide")]


@cache
def true_clip(species: str, action: str):
    creature = build_creature(species, seed=1001, vertices=900)
    return as_character(creature), make_clip(creature, action)


def statue(species: str, action: str) -> tuple[object, Motion]:
    """The same way, in the neutral pose."""
    character, clip = true_clip(species, action)
    rig = character.control_rig
    pose = rig.from_pose(clip.pose)
    still = rig.zero(len(clip))
    way = pose.translation - pose.translation[:1] + still.translation
    held = rig.to_pose(type(still)(way, still.root_rotation, still.angles))
    return character, Motion(clip.skeleton, clip.times, held, "statue")


@pytest.mark.slow
@pytest.mark.parametrize(("species", "action"), MOVES)
def test_true_clips_meet_all_conditions(species, action):
    character, clip = true_clip(species, action)
    found = measure(character, character.control_rig, clip, asked=action)
    assert found.fails == []
    assert found.score > 0.9
    assert found.verdict.startswith("moves: it goes")


@pytest.mark.slow
@pytest.mark.parametrize(("species", "action"), MOVES[:3])
def test_a_statue_that_glides_fails(species, action):
    character, motion = statue(species, action)
    found = measure(character, character.control_rig, motion, asked=action)
    assert any("no part of it swings further than 0.00 leg lengths" in f for f in found.fails)
    assert found.score < 0.1
    assert found.verdict.startswith("gliding")


def test_a_snake_that_is_pushed_sideways_slips():
    character, clip = true_clip("snake", "slither")
    rig = character.control_rig
    pose = rig.from_pose(clip.pose)
    left = rig.root_axes[1]
    aside = (pose.translation @ rig.root_axes[2])[:, None] * left
    pushed = rig.to_pose(type(pose)(pose.translation + aside, pose.root_rotation, pose.angles))
    motion = Motion(clip.skeleton, clip.times, pushed, "pushed")
    found = measure(character, rig, motion, asked="slither")
    assert found.slip > 0.4
    assert any("it goes sideways at" in f for f in demo_conditions(found))


def test_a_snake_that_should_walk_lacks_feet():
    character, clip = true_clip("snake", "slither")
    found = measure(character, character.control_rig, clip, asked="walk")
    assert found.fails[0] == "no feet were found"
    assert found.score == 0.0
