import pickle

import pytest
import torch

from akd.asset.asset import AssetError
from akd.motion.library import LibraryClip, artist_clips, mocap_clips, perform, without_calibration
from akd.zoo import build_creature, make_clip
from benchmarks.zoo_character import as_character


def test_a_creature_is_a_character_joint_for_joint():
    creature = build_creature("fox", vertices=800)
    character = as_character(creature)
    assert character.skeleton.names == creature.skeleton.names
    assert len(character.anatomy.legs) == 4
    assert character.mesh is not None
    torch.testing.assert_close(character.mesh.vertices, creature.mesh.vertices)


@pytest.mark.slow
def test_gaits_of_the_zoo_go_from_body_to_body():
    fox = build_creature("fox", seed=1001, vertices=800)
    clip = LibraryClip(
        "fox:walk", "walk", True, lambda: (as_character(fox), make_clip(fox, "walk"))
    )
    wolf = as_character(build_creature("wolf", vertices=800))
    moved = perform(clip, wolf, seconds=0.5, plant=False)
    assert moved.duration == pytest.approx(0.5, abs=0.02)
    assert moved.skeleton.names == wolf.skeleton.names
    with pytest.raises(ValueError, match="start must be from 0"):
        perform(clip, wolf, start=100.0)


def test_a_folder_without_a_table_is_refused(tmp_path):
    with pytest.raises(AssetError, match=r"has no ACTIONS.tsv"):
        mocap_clips(tmp_path)


def test_motion_capture_by_action(shared_assets):
    folder = shared_assets.parent / "mocap"
    if not folder.is_dir():
        pytest.skip("no motion capture here")
    clips = mocap_clips(folder)
    assert len(clips) > 300
    assert len({clip.action for clip in clips}) > 30
    assert {clip.trains for clip in clips} == {True, False}
    pickle.dumps(clips[0])
    first = clips[0].load()[1]
    assert without_calibration(first) is first


def test_clips_of_artists_by_action(shared_assets):
    folder = shared_assets / "quaternius" / "dinosaurs_pack"
    found = list(artist_clips(folder))
    assert {"walk", "run"} <= {clip.action for clip in found}
    assert all(isinstance(clip, LibraryClip) for clip in found)
