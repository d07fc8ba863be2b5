"""FBX by way of Blender: how it is called, and what is said where it does not manage."""

import os
from pathlib import Path

import numpy as np
import pytest

from akd.asset.asset import AssetError
from akd.asset.gltf.reader import asset_from_document
from akd.asset.read import read_asset
from akd.export import fbx
from akd.export.gltf.bake import bake_clips
from tests.asset.gltf_builder import GltfBuilder, sample


def stand_in(folder: Path, body: str) -> None:
    """A program called blender."""
    path = folder / "blender"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def write_glb_of_nothing(path: Path) -> None:
    path.write_bytes(GltfBuilder().glb())


COPY = 'for last; do glb="$target"; target="$rate"; rate="$last"; done\ncp "$glb" "$target"'
"""A Blender that hands on the GLB it was given."""


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Programs are looked for in this folder first."""
    monkeypatch.delenv("AKD_BLENDER", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    return tmp_path


def test_blender_gets_the_glb_and_its_file_appears_whole(only_here: Path) -> None:
    stand_in(only_here, COPY)
    write_glb_of_nothing(only_here / "motion.glb")
    fbx.write_fbx(only_here / "motion.glb", only_here / "motion.fbx", fps=30.0)
    assert (only_here / "motion.fbx").read_bytes()[:4] == b"glTF"
    assert {p.name for p in only_here.iterdir()} == {"blender", "motion.glb", "motion.fbx"}


def test_blender_gets_weights_that_are_numbers(only_here: Path) -> None:
    stand_in(only_here, COPY)
    builder = sample()
    (primitive,) = builder.json["meshes"][0]["primitives"]
    weights = np.tile([1.0, 0.0, 0.0, 0.0], (12, 1))
    weights[5] = np.nan
    primitive["attributes"]["WEIGHTS_0"] = builder.accessor(weights)
    before = read_asset(builder.write(only_here / "motion.glb"))
    assert any("not finite" in problem.what for problem in before.problems)
    fbx.write_fbx(only_here / "motion.glb", only_here / "motion.fbx", fps=30.0)
    (only_here / "motion.fbx").rename(only_here / "given.glb")
    after = read_asset(only_here / "given.glb")
    assert not any("weight" in problem.what for problem in after.problems)
    (given,), (found,) = before.meshes[0].parts, after.meshes[0].parts
    np.testing.assert_array_equal(found.weights, given.weights)
    np.testing.assert_array_equal(found.joints, given.joints)


def test_what_blender_says_last_is_said(only_here: Path) -> None:
    stand_in(only_here, 'echo "a long story" >&2\necho "no importer" >&2\nexit 1')
    write_glb_of_nothing(only_here / "motion.glb")
    with pytest.raises(OSError, match=r"motion.fbx: Blender could not write it: no importer$"):
        fbx.write_fbx(only_here / "motion.glb", only_here / "motion.fbx", fps=30.0)
    assert not (only_here / "motion.fbx").exists()


def test_without_blender_there_is_no_fbx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    write_glb_of_nothing(tmp_path / "motion.glb")
    with pytest.raises(OSError, match="needs Blender"):
        fbx.write_fbx(tmp_path / "motion.glb", tmp_path / "motion.fbx", fps=30.0)


def test_every_frame_of_every_joint_is_keyed(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.add("nodes", name="a", translation=[1, 2, 3])
    builder.add("nodes", name="b")
    half = np.sqrt(0.5)
    ends = builder.accessor([[0, 0, 0, 1], [0, 0, half, half]])
    keys = {"input": builder.accessor([0.5, 2.6]), "output": ends}
    for node in range(2):
        channel = {"sampler": 0, "target": {"node": node, "path": "rotation"}}
        builder.add("animations", name=f"{node}", samplers=[keys], channels=[channel])
    asset = read_asset(builder.write(tmp_path / "a.glb"))
    baked = asset_from_document(bake_clips(asset, 10.0), tmp_path / "a.glb")
    assert [clip.name for clip in baked.clips] == ["0", "1"]
    for node, clip in enumerate(baked.clips):
        tracks = {(track.node, track.path): track for track in clip.tracks}
        assert len(tracks) == 6
        turned = tracks[node, "rotation"]
        np.testing.assert_allclose(turned.times, np.arange(22) / 10, atol=2e-5)
        assert turned.times[-1] > np.float32(2.1)
        angles = 2 * np.arctan2(turned.values[:, 3], turned.values[:, 0])
        np.testing.assert_allclose(angles, np.arange(22) * (np.pi / 2 / 21), atol=1e-6)
        assert tracks[0, "translation"].values.tolist() == [[1, 2, 3]]
        assert tracks[1 - node, "rotation"].values.tolist() == [[1, 0, 0, 0]]


@pytest.mark.parametrize(("seconds", "frames"), [(1.0677, 33), (1.08, 34), (1.0, 31)])
def test_a_clip_that_ends_beside_a_frame_gets_no_frame_for_the_rest(tmp_path, seconds, frames):
    builder = GltfBuilder()
    builder.add("nodes", name="a")
    ends = builder.accessor([[0, 0, 0], [0, 0, 1]])
    keys = {"input": builder.accessor([0.0, seconds]), "output": ends}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    builder.add("animations", name="a", samplers=[keys], channels=[channel])
    asset = read_asset(builder.write(tmp_path / "a.glb"))
    baked = asset_from_document(bake_clips(asset, 30.0), tmp_path / "a.glb")
    (track,) = (t for t in baked.clips[0].tracks if t.path == "translation")
    assert len(track.times) == frames
    assert track.values[-1, 2] == pytest.approx(1.0, abs=2e-3)


def test_a_clip_that_is_too_long_is_refused(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.add("nodes", name="a")
    keys = {"input": builder.accessor([0.0, 1e9]), "output": builder.accessor([[0, 0, 0]] * 2)}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    builder.add("animations", name="long", samplers=[keys], channels=[channel])
    asset = read_asset(builder.write(tmp_path / "a.glb"))
    with pytest.raises(AssetError, match="clip 'long' is too long to be sampled"):
        bake_clips(asset, 30.0)
