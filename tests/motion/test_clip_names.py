"""Clips by what users call them."""

from dataclasses import replace

import pytest

from akd.asset.asset import ClipRecord
from akd.motion.clip_names import find_clip
from akd.rig.character import Character


def with_clips(character: Character, *names: str) -> Character:
    clips = tuple(ClipRecord(name, ()) for name in names)
    return replace(character, asset=replace(character.asset, clips=clips))


@pytest.mark.parametrize(
    ("names", "asked", "found"),
    [
        (("Armature|Walk", "Armature|Run"), "walk", "Armature|Walk"),
        (("Walk", "Walk_2"), "Walk", "Walk"),
        (("Walk", "WALK"), "Walk", "Walk"),
        (("Gallop_Jump", "Idle"), "jump", "Gallop_Jump"),
        (("Idle",), None, "Idle"),
    ],
)
def test_the_only_clip_that_a_name_can_mean(fox: Character, names, asked, found) -> None:
    clip = find_clip(with_clips(fox, *names), asked)
    assert isinstance(clip, ClipRecord)
    assert clip.name == found


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        (("Walk_1", "Walk_2"), "walk", "clip 'walk' may be 'Walk_1' or 'Walk_2'"),
        (("Walk", "Walk"), "walk", "clip 'walk' may be 'Walk#1' or 'Walk#2'"),
        (("Walk", "Run"), "fly", "there is no clip 'fly': it has 'Walk', 'Run'"),
        (("Arm|Walk", "Arm|Run"), "wlak", r"it has 'Arm|Walk', .*; did you mean 'Arm\|Walk'\?"),
        ((), "walk", "has no clip"),
    ],
)
def test_other_names_are_refused(fox: Character, names, asked, message) -> None:
    with pytest.raises(ValueError, match=message):
        find_clip(with_clips(fox, *names), asked)


def test_clips_of_one_name_are_numbered(fox: Character) -> None:
    body = with_clips(fox, "Walk", "", "Walk", "")
    for name, clip in zip(("walk#1", "#1", "Walk#2", "#2"), body.asset.clips, strict=True):
        assert find_clip(body, name) is clip
