"""Lean clips: no channel for what rests, few keys for what is constant or straight."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from akd.asset.read import read_asset
from akd.export.character import write_motions
from akd.export.reduce import reduce_keys
from akd.export.settings import KEY_TOLERANCE
from akd.motion.clip import clip_from_motion, motion_from_clip
from akd.motion.grid import on_grid
from akd.rig.character import load_character
from akd.rig.control_build import build_control_rig
from tests.asset.gltf_builder import sample


def artists_walk(shared_assets):
    body = load_character(read_asset(shared_assets / "quaternius/animals_pack/Wolf.glb"))
    clip = next(c for c in body.asset.clips if c.name.endswith("Walk"))
    rig = build_control_rig(body)
    motion = on_grid(motion_from_clip(body, clip), 30.0)
    # Through the control rig, as the motions that akd makes.
    return body, replace(motion, pose=rig.to_pose(rig.from_pose(motion.pose)))


def channels(body, motion):
    data = clip_from_motion(body, motion)
    return data, {(n, p): k for n, tracks in data.tracks.items() for p, k in tracks.items()}


def test_float_noise_of_the_scale_gets_no_channel(shared_assets):
    body, motion = artists_walk(shared_assets)
    _, found = channels(body, motion)
    assert {path for _, path in found} == {"translation", "rotation"}
    moving = [k for k in found.values() if len(k.values) == len(motion)]
    assert all(np.ptp(k.values, axis=0).max() > 0 for k in moving)


def test_constant_properties_have_keys_at_the_ends_alone(shared_assets):
    body, motion = artists_walk(shared_assets)
    pose = motion.pose
    scale = pose.scale.clone()
    scale[:, 5] *= 1.5
    _, found = channels(body, replace(motion, pose=replace(pose, scale=scale)))
    keys = found[5, "scale"]
    assert keys.times is not None
    assert keys.times.tolist() == [0.0, float(motion.times[-1])]


@pytest.mark.slow
def test_reduced_keys_stay_within_the_tolerance_and_on_frames(shared_assets, tmp_path):
    body, motion = artists_walk(shared_assets)
    data, every = channels(body, motion)
    reduced = reduce_keys(data, motion, height=body.height)
    few = sum(len(k.values) for t in reduced.tracks.values() for _, k in t.items())
    assert few < 0.95 * sum(len(k.values) for k in every.values())
    path = tmp_path / "wolf.glb"
    write_motions(body, [motion], path, keys="reduced", alone=True)
    again = load_character(read_asset(path))
    (clip,) = again.asset.clips
    for track in clip.tracks:
        frames = np.asarray(track.times) * 30.0
        np.testing.assert_allclose(frames, frames.round(), atol=1e-4)
    back = motion_from_clip(again, clip).sample(motion.times)
    gap = (back.world() - motion.world())[..., :3, 3].norm(dim=-1).max()
    assert 0 < float(gap) <= 1.01 * KEY_TOLERANCE * body.height


def test_a_motion_of_one_frame_is_left_alone(shared_assets):
    body, motion = artists_walk(shared_assets)
    still = motion.sample(torch.zeros(1))
    data, _ = channels(body, still)
    assert reduce_keys(data, still, height=body.height).tracks.keys() == data.tracks.keys()


def test_bodies_without_a_size_keep_their_keys(tmp_path):
    """A node without a mesh has no height, and a joint of scale zero hides what hangs on it."""
    file = sample()
    file.json["nodes"][1]["scale"] = [0.0, 0.0, 0.0]
    body = load_character(read_asset(file.write(tmp_path / "a.glb")))
    motion = motion_from_clip(body, body.asset.clips[0])
    moved = replace(motion.pose, translation=motion.pose.translation.clone())
    moved.translation[1, 2, 0] = 1.0  # below the joint of scale zero
    motion = replace(motion, pose=moved)
    data, every = channels(body, motion)
    assert (2, "translation") in every
    assert reduce_keys(data, motion, height=0.0) is data
    reduced = reduce_keys(data, motion, height=body.height)
    assert reduced.tracks.keys() == data.tracks.keys()
