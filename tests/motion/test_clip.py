"""Clips to motions and back: every interpolation. `tests.export.test_real_files`: real ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from akd.asset.asset import Asset, AssetError, ClipRecord, Node, Track
from akd.motion.clip import clip_from_motion, motion_from_clip, sample_track
from akd.motion.clip_data import ClipData
from akd.rig.character import load_character
from tests.assets import character


def one_node() -> Asset:
    node = Node("n", -1, np.zeros(3), np.array([1.0, 0, 0, 0]), np.ones(3))
    return Asset(Path("one.glb"), "glb", nodes=(node,))


def track(path, interpolation, times, values) -> Track:
    return Track(0, path, interpolation, np.array(times, np.float32), np.array(values, float))


def played(tracks: list[Track], at: np.ndarray) -> torch.Tensor:
    motion = motion_from_clip(load_character(one_node()), ClipRecord("c", tuple(tracks)))
    return motion.sample(torch.from_numpy(at.astype(np.float32))).world()[:, 0]


def test_linear_tracks_with_different_keys_are_kept_exactly():
    a = track("translation", "LINEAR", [0, 1, 2], [[0, 0, 0], [1, 0, 0], [1, 2, 0]])
    half = np.sqrt(0.5)
    b = track("rotation", "LINEAR", [0.3, 1.7], [[1, 0, 0, 0], [half, half, 0, 0]])
    at = np.linspace(0, 2, 41)
    world = played([a, b], at).numpy()
    np.testing.assert_allclose(world[:, :3, 3], sample_track(a, at), atol=1e-6)
    angle = np.clip((at - 0.3) / 1.4, 0, 1) * np.pi / 2
    np.testing.assert_allclose(world[:, 2, 1], np.sin(angle), atol=1e-6)


def test_steps_stay_steps():
    a = track("translation", "STEP", [0, 1, 2], [[0, 0, 0], [5, 0, 0], [7, 0, 0]])
    x = played([a], np.array([0.0, 0.999, 1.0, 1.999, 2.0])).numpy()[:, 0, 3]
    np.testing.assert_allclose(x, [0, 0, 5, 5, 7], atol=1e-4)


def test_cubic_curves_are_followed_closely():
    values = [[[0, 0, 0], [0, 0, 0], [4, 0, 0]], [[-3, 1, 0], [1, 1, 0], [0, 0, 0]]]
    a = track("translation", "CUBICSPLINE", [0, 1], values)
    at = np.linspace(0, 1, 777)
    world = played([a], at).numpy()
    np.testing.assert_allclose(world[:, :3, 3], sample_track(a, at), atol=1e-5)


def test_one_key_and_no_tracks_hold_still():
    a = track("translation", "LINEAR", [0.5], [[1, 2, 3]])
    np.testing.assert_allclose(played([a], np.array([0.0]))[0, :3, 3], [1, 2, 3])
    np.testing.assert_allclose(played([], np.array([0.0]))[0], np.eye(4))


def test_more_keys_than_can_be_held_is_an_error():
    a = track("translation", "LINEAR", np.arange(5_000_000), np.zeros((5_000_000, 3)))
    with pytest.raises(AssetError, match=r"one.glb: clip 'c' has 5000000 key times on 1 nodes"):
        played([a], np.zeros(1))


def properties(data: ClipData) -> set[tuple[int, str]]:
    return {(node, path) for node, tracks in data.tracks.items() for path, _ in tracks.items()}


def test_only_what_leaves_its_rest_gets_keys(shared_assets):
    body = character("khronos/Fox/glTF-Binary/Fox.glb")
    walk = next(c for c in body.asset.clips if c.name == "Walk")
    motion = motion_from_clip(body, walk)
    data = clip_from_motion(body, motion)
    keyed = {(t.node, t.path) for t in walk.tracks}
    assert properties(data) <= keyed
    assert data.times[-1] == pytest.approx(walk.end)
    # Rounding moves nothing; a hundredth of a millimetre for a metre does.
    for noise, more in ((2e-7, False), (1e-5, True)):
        draw = torch.Generator().manual_seed(0)
        shape = motion.pose.translation.shape
        away = noise * body.height * (2 * torch.rand(shape, generator=draw) - 1)
        pose = motion.pose.to(dtype=torch.float64)
        pose = replace(pose, translation=pose.translation + away)
        shaken = clip_from_motion(body, replace(motion, pose=pose))
        assert (properties(shaken) > properties(data)) == more


@pytest.mark.parametrize(
    "file",
    ["godot/player.glb", "threejs/RobotExpressive/RobotExpressive.glb",
     "quaternius/rpg_characters/monk.glb", "mesh2motion/animations/fox-animations.glb"],
)  # fmt: skip
def test_a_body_that_travels_gets_no_keys_from_rounding(shared_assets, file):
    """Far from the origin, under parents of any scale: joints that only turn have no more."""
    body = character(file)
    rig, walk = body.control_rig, next(c for c in body.asset.clips if "walk" in c.name.lower())
    motion = motion_from_clip(body, walk)
    pose = rig.from_pose(motion.pose)
    way = 3.0 * body.height * torch.linspace(0.0, 1.0, len(motion))[:, None]
    travelled = replace(
        pose, translation=pose.translation + way * torch.tensor([0.1, 0.0, 1.0]),
        joint_translation=torch.zeros_like(pose.joint_translation),
    )  # fmt: skip
    data = clip_from_motion(body, replace(motion, pose=rig.to_pose(travelled), morphs={}))
    moved = {node for node, tracks in data.tracks.items() if tracks.translation is not None}
    shifts = {
        node: np.ptp(data.tracks[node].translation.values, axis=0).max()
        * float(motion.parent_scale()[node]) * body.units.metres_per_unit / body.height
        for node in moved if len(data.tracks[node].translation.values) > 2
    }  # fmt: skip
    assert len(shifts) >= 2  # root motion and the pelvis
    assert min(shifts.values()) > 1e-3
