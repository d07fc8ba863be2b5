"""FBX by way of Blender: how it is called, and what is said where it does not manage."""

import os
from pathlib import Path

import pytest

from akd.export import fbx


def stand_in(folder: Path, body: str) -> None:
    """A program called blender."""
    path = folder / "blender"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def only_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Programs are looked for in this folder first."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin{os.pathsep}/usr/bin")
    return tmp_path


def test_blender_gets_the_glb_and_its_file_appears_whole(only_here: Path) -> None:
    order = 'for last; do glb="$target"; target="$rate"; rate="$last"; done'
    stand_in(only_here, f'{order}\ncp "$glb" "$target"')
    (only_here / "motion.glb").write_bytes(b"clips")
    fbx.write_fbx(only_here / "motion.glb", only_here / "motion.fbx", fps=30.0)
    assert (only_here / "motion.fbx").read_bytes() == b"clips"
    assert {p.name for p in only_here.iterdir()} == {"blender", "motion.glb", "motion.fbx"}


def test_what_blender_says_last_is_said(only_here: Path) -> None:
    stand_in(only_here, 'echo "a long story" >&2\necho "no importer" >&2\nexit 1')
    with pytest.raises(OSError, match=r"motion.fbx: Blender could not write it: no importer$"):
        fbx.write_fbx(only_here / "motion.glb", only_here / "motion.fbx", fps=30.0)
    assert not (only_here / "motion.fbx").exists()


def test_without_blender_there_is_no_fbx(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(fbx, "find_blender", lambda: None)
    with pytest.raises(OSError, match="needs Blender"):
        fbx.write_fbx(tmp_path / "motion.glb", tmp_path / "motion.fbx", fps=30.0)
