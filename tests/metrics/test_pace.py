"""The size of body that a walk is timed for."""

from dataclasses import replace

import pytest
import torch

from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.metrics.pace import sized_for_walk, walking_froude
from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.rig.character import Character, load_character
from akd.zoo.creature import build_creature
from akd.zoo.gait.clips import make_clip


@pytest.fixture(scope="module")
def walking(tmp_path_factory) -> tuple[Character, Motion]:
    creature = build_creature("fox", vertices=600)
    path = tmp_path_factory.mktemp("pace") / "fox.glb"
    write_creature(creature, [make_clip(creature, "walk")], path)
    character = load_character(read_asset(path))
    return character, motion_from_clip(character, character.asset.clips[0])


def faster(motion: Motion, factor: float) -> Motion:
    return replace(motion, times=motion.times / factor)


def test_a_walk_that_a_body_can_do_keeps_its_size(walking) -> None:
    character, walk = walking
    assert 0.05 < walking_froude(character, walk) < 0.5
    assert sized_for_walk(character, walk)[0] is character


def test_a_walk_that_is_too_fast_is_timed_for_a_smaller_body(walking) -> None:
    character, walk = walking
    quick = faster(walk, 4.0)
    smaller, moved = sized_for_walk(character, quick)
    # Froude = v^2 / (g L): four times the speed, and the size follows in proportion.
    froude = 16.0 * walking_froude(character, walk)
    assert smaller.height == pytest.approx(character.height * 0.5 / froude, rel=1e-4)
    assert walking_froude(smaller, moved) == pytest.approx(0.5, rel=1e-3)
    assert "timing and physics for" in smaller.units.found_by
    # The same in the file's units.
    skins = [
        c.units.points_out(c.mesh.pose(m.world()))
        for c, m in ((smaller, moved), (character, quick))
    ]
    torch.testing.assert_close(skins[0], skins[1], rtol=1e-4, atol=1e-5)


def test_other_actions_and_given_heights_are_left_alone(walking) -> None:
    character, walk = walking
    quick = faster(walk, 4.0)
    run = replace(quick, name="run")
    assert sized_for_walk(character, run)[0] is character
    given = replace(character, units=replace(character.units, is_given=True))
    assert sized_for_walk(given, quick)[0] is given


def test_a_root_that_leaps_is_no_walk_of_a_speck(walking) -> None:
    character, motion = walking
    shift = torch.zeros_like(motion.pose.translation)
    shift[len(motion) // 2 :, character.control_rig.travel_joint, 2] = 1e4
    leaping = replace(
        motion, pose=replace(motion.pose, translation=motion.pose.translation + shift)
    )
    assert walking_froude(character, leaping) > 1e6
    assert sized_for_walk(character, leaping) == (character, leaping)
