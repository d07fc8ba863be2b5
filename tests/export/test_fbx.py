"""FBX by way of Blender: how it is called, and what is said where it does not manage."""

import os
from pathlib import Path

import pytest

from akd.asset.gltf.reader import asset_from_document
from akd.asset.read import read_asset
from akd.export import fbx
from akd.export.gltf.hold_rest import hold_rest
from tests.asset.gltf_builder import GltfBuilder


def stand_in(folder: Path, body: str) -> None:
    """A program called blender."""
    path = folder / "blender"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def write_glb_of_nothing(path: Path) -> None:
    path.write_bytes(GltfBuilder().glb())


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Programs are looked for in this folder first."""
    monkeypatch.delenv("AKD_BLENDER", raising=False)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    return tmp_path


def test_blender_gets_the_glb_and_its_file_appears_whole(only_here: Path) -> None:
    order = 'for last; do glb="$target"; target="$rate"; rate="$last"; done'
    stand_in(only_here, f'{order}\ncp "$glb" "$target"')
    write_glb_of_nothing(only_here / "motion.glb")
    fbx.write_fbx(only_here / "motion.glb", only_here / "motion.fbx", fps=30.0)
    assert (only_here / "motion.fbx").read_bytes()[:4] == b"glTF"
    assert {p.name for p in only_here.iterdir()} == {"blender", "motion.glb", "motion.fbx"}


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


def test_what_a_clip_leaves_at_rest_is_keyed(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.add("nodes", name="a", translation=[1, 2, 3])
    builder.add("nodes", name="b")
    keys = {"input": builder.accessor([0.5, 1.0]), "output": builder.accessor([[0, 0, 0]] * 2)}
    for node in range(2):
        channel = {"sampler": 0, "target": {"node": node, "path": "translation"}}
        builder.add("animations", samplers=[keys], channels=[channel])
    asset = read_asset(builder.write(tmp_path / "a.glb"))
    held = asset_from_document(hold_rest(asset), tmp_path / "a.glb")
    for node, clip in enumerate(held.clips):
        assert len(clip.tracks) == 6
        (track,) = (t for t in clip.tracks if (t.node, t.path) == (1 - node, "translation"))
        assert track.times.tolist() == [0.5]
        assert track.values[0].tolist() == ([0, 0, 0] if node == 0 else [1, 2, 3])
