"""BVH out, and back in through our reader: joints must be where they were."""

from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation

from akd.asset import bvh as reader
from akd.asset.asset import Asset
from akd.export.bvh import write_bvh
from akd.math import quaternion
from akd.motion.motion import Motion
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton


def positions(asset: Asset) -> np.ndarray:
    """Where every node is at every key, [T, N, 3]: forward kinematics on its own."""
    frames = len(asset.clips[0].tracks[0].times)
    tracks = {(t.node, t.path): t.values.astype(float) for t in asset.clips[0].tracks}
    worlds: list[np.ndarray] = []
    for index, node in enumerate(asset.nodes):
        local = np.tile(np.eye(4), (frames, 1, 1))
        local[:, :3, 3] = tracks.get((index, "translation"), node.translation)
        if (index, "rotation") in tracks:
            wxyz = tracks[index, "rotation"]
            local[:, :3, :3] = Rotation.from_quat(wxyz[:, [1, 2, 3, 0]]).as_matrix()
        worlds.append(local if node.parent < 0 else worlds[node.parent] @ local)
    return np.stack([w[:, :3, 3] for w in worlds], axis=1)


def walker(seed: int, *, frames: int = 40, scaled: bool = False, stretchy: bool = False) -> Motion:
    """A random tree of joints with rest rotations, moving about smoothly."""
    generator = torch.Generator().manual_seed(seed)

    def smooth(*shape: int) -> torch.Tensor:
        keys = torch.randn(8, *shape, generator=generator, dtype=torch.float64)
        up = torch.nn.functional.interpolate(
            keys.flatten(1).T[None], frames, mode="linear", align_corners=True
        )
        return up[0].T.unflatten(1, shape) if shape else up[0, 0]

    parents = (-1, 0, 1, 2, 1, 4, 0, 6)
    count = len(parents)
    rest = Pose(
        torch.randn(count, 3, generator=generator, dtype=torch.float64) * 0.3,
        quaternion.normalize(torch.randn(count, 4, generator=generator, dtype=torch.float64)),
        torch.ones(count, 3, dtype=torch.float64),
    )
    if scaled:
        rest.scale[0] = 0.01
        rest.scale[3] = 2.5
        rest.translation[1:] *= 100
    skeleton = Skeleton(("hips", *(f"joint {i}" for i in range(1, count))), parents, rest)
    turns = quaternion.from_rotation_vector(smooth(count, 3) * 0.8)
    translation = rest.translation.expand(frames, -1, -1).clone()
    translation[:, 0] += smooth(3)
    if stretchy:
        translation[:, 3] += 0.2 * smooth(3)
    pose = Pose(
        translation, quaternion.multiply(rest.rotation, turns), rest.scale.expand(frames, -1, -1)
    )
    return Motion(skeleton, torch.arange(frames, dtype=torch.float64) / 24, pose, name="walk")


def check_same(motion: Motion, path: Path, joints: list[int]) -> Asset:
    asset = reader.read(path)
    names = [n.name for n in asset.nodes]
    found = positions(asset)
    expected = motion.world()[..., :3, 3].numpy()
    height = np.ptp(expected[0], axis=0).max()
    for joint in joints:
        at = names.index(motion.skeleton.names[joint].replace(" ", "_"))
        np.testing.assert_allclose(found[:, at], expected[:, joint], atol=1e-4 * height)
    return asset


@pytest.mark.parametrize("kind", ["plain", "scaled", "stretchy"])
def test_joints_are_where_they_were(tmp_path: Path, kind: str) -> None:
    motion = walker(3, scaled=kind == "scaled", stretchy=kind == "stretchy")
    write_bvh(motion, tmp_path / "walk.bvh")
    asset = check_same(motion, tmp_path / "walk.bvh", list(range(8)))
    assert asset.problems == ()
    assert asset.clips[0].end == pytest.approx(39 / 24, abs=1e-6)
    moving = {t.node for t in asset.clips[0].tracks if t.path == "translation"}
    stretched = {n.name for i, n in enumerate(asset.nodes) if i in moving} - {"hips"}
    assert stretched == ({"joint_3"} if kind == "stretchy" else set())


def test_zero_pose_of_the_file_is_the_rest_pose(tmp_path: Path) -> None:
    motion = walker(1)
    write_bvh(motion, tmp_path / "walk.bvh")
    asset = reader.read(tmp_path / "walk.bvh")
    rest = motion.skeleton.forward(motion.skeleton.rest)[:, :3, 3].numpy()
    bind = {
        asset.nodes[j].name: -m[:3, 3]
        for j, m in zip(asset.skins[0].joints, asset.skins[0].inverse_bind, strict=True)
    }
    for name, expected in zip(motion.skeleton.names, rest, strict=True):
        np.testing.assert_allclose(bind[name.replace(" ", "_")], expected, atol=1e-5)


def test_a_subset_folds_what_lies_between(tmp_path: Path) -> None:
    motion = walker(5, scaled=True)
    chosen = [0, 2, 3, 5]
    write_bvh(motion, tmp_path / "walk.bvh", joints=chosen)
    asset = check_same(motion, tmp_path / "walk.bvh", chosen)
    joints = [asset.nodes[i].name for i in asset.skins[0].joints]
    assert joints == ["hips", "joint_2", "joint_3", "joint_5"]


def test_several_roots(tmp_path: Path) -> None:
    motion = walker(5)
    chosen = [1, 2, 6, 7]
    write_bvh(motion, tmp_path / "walk.bvh", joints=chosen)
    assert len(check_same(motion, tmp_path / "walk.bvh", chosen).scene_roots) == 2


def test_uneven_times_are_resampled(tmp_path: Path) -> None:
    motion = walker(2)
    uneven = motion.sample(torch.tensor([0.0, 0.1, 0.15, 0.4, 0.8, 1.2], dtype=torch.float64))
    write_bvh(uneven, tmp_path / "walk.bvh", fps=20.0)
    even = uneven.resample(20.0)
    asset = check_same(even, tmp_path / "walk.bvh", list(range(8)))
    np.testing.assert_allclose(asset.clips[0].tracks[0].times, np.arange(25) / 20, atol=1e-6)


def test_one_frame(tmp_path: Path) -> None:
    motion = walker(2).sample(torch.tensor([0.5], dtype=torch.float64))
    write_bvh(motion, tmp_path / "pose.bvh")
    check_same(motion, tmp_path / "pose.bvh", list(range(8)))


def test_names_are_cleaned_and_numbered(tmp_path: Path) -> None:
    motion = walker(2)
    names = ("a b", "a\tb", "{x}", "", "", "u", "v", "v")
    skeleton = Skeleton(names, motion.skeleton.parents, motion.skeleton.rest)
    write_bvh(Motion(skeleton, motion.times, motion.pose), tmp_path / "walk.bvh")
    asset = reader.read(tmp_path / "walk.bvh")
    assert {asset.nodes[i].name for i in asset.skins[0].joints} == {
        "a_b", "a_b_2", "_x_", "joint", "joint_2", "u", "v", "v_2",
    }  # fmt: skip


def test_ends_stay_ends(tmp_path: Path) -> None:
    motion = walker(2)
    write_bvh(motion, tmp_path / "first.bvh")
    first = reader.read(tmp_path / "first.bvh")
    ends = [n.name for n in first.nodes if n.name.endswith("_end")]
    assert ends == ["joint_3_end", "joint_5_end", "joint_7_end"]
    assert all(np.abs(n.translation).max() > 0 for n in first.nodes if n.name in ends)
    again = _motion_of(first)
    write_bvh(again, tmp_path / "second.bvh")
    second = reader.read(tmp_path / "second.bvh")
    assert [n.name for n in second.nodes] == [n.name for n in first.nodes]
    np.testing.assert_allclose(positions(second), positions(first), atol=1e-4)


def _motion_of(asset: Asset) -> Motion:
    count, frames = len(asset.nodes), len(asset.clips[0].tracks[0].times)
    rest = Pose(
        torch.tensor(np.stack([n.translation for n in asset.nodes])),
        torch.tensor(np.stack([n.rotation for n in asset.nodes])),
        torch.ones(count, 3, dtype=torch.float64),
    )
    moving = {
        "translation": rest.translation.repeat(frames, 1, 1),
        "rotation": rest.rotation.repeat(frames, 1, 1),
    }
    for track in asset.clips[0].tracks:
        moving[track.path][:, track.node] = torch.from_numpy(track.values.astype(np.float64))
    skeleton = Skeleton(
        tuple(n.name for n in asset.nodes), tuple(n.parent for n in asset.nodes), rest
    )
    times = torch.from_numpy(asset.clips[0].tracks[0].times.astype(np.float64))
    return Motion(skeleton, times, Pose(*moving.values(), rest.scale.repeat(frames, 1, 1)))


@pytest.mark.slow
def test_real_motion_capture_survives(tmp_path: Path, shared_assets: Path) -> None:
    paths = [*sorted((shared_assets / "cmu_bvh").glob("*.bvh"))[::3],
             *sorted((shared_assets / "makehuman" / "bvh").glob("*.bvh"))]  # fmt: skip
    for path in paths:
        original = reader.read(path)
        write_bvh(_motion_of(original), tmp_path / "again.bvh")
        again = reader.read(tmp_path / "again.bvh")
        names = [n.name for n in again.nodes]
        order = [names.index(n.name) for n in original.nodes]
        expected = positions(original)
        height = np.ptp(expected[0], axis=0).max()
        np.testing.assert_allclose(positions(again)[:, order], expected, atol=1e-4 * height)


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh"
    path.write_text("mine")
    with pytest.raises(ValueError, match="fps must be above zero, got -1"):
        write_bvh(walker(0), path, fps=-1.0)
    with pytest.raises(ValueError, match="joints must be below 8, got 9"):
        write_bvh(walker(0), path, joints=[0, 9])
    with pytest.raises(ValueError, match="joints must name at least one joint"):
        write_bvh(walker(0), path, joints=[])
    assert [p.name for p in tmp_path.iterdir()] == ["walk.bvh"]
    assert path.read_text() == "mine"
