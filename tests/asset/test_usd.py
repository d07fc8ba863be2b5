"""USD in: skeleton, skin and clip as they were written, layers of the own folder alone."""

import os
from pathlib import Path

import pytest

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.export.usd import write_usd
from akd.motion.clip import motion_from_clip
from akd.motion.grid import on_grid
from akd.rig.character import load_character
from akd.zoo.gait.clips import make_clip
from benchmarks.fbx_round_trip import compare
from tests.asset.test_robustness import check_sound
from tests.asset.usd_text import USD_TEXT
from tests.zoo.menagerie import creature

pytest.importorskip("pxr")


@pytest.fixture
def fox(tmp_path: Path) -> Path:
    """A fox as GLB, and the same as USD beside it."""
    animal, path = creature("fox"), tmp_path / "fox.glb"
    write_creature(animal, [on_grid(make_clip(animal, "walk"), 30.0)], path)
    character = load_character(read_asset(path))
    motion = on_grid(motion_from_clip(character, character.asset.clips[0]), 30.0)
    write_usd(character, motion, path.with_suffix(".usda"), fps=30.0)
    return path


@pytest.mark.slow
def test_what_was_written_is_read(fox):
    asset = read_asset(fox.with_suffix(".usda"))
    check_sound(asset)
    assert asset.format == "usd"
    assert asset.document is not None
    found = compare(fox, fox.with_suffix(".usda"), fps=30.0)
    assert found.clips == 1
    assert max(found.joints, found.vertices, found.weights) < 1e-4


@pytest.mark.parametrize("text", ["#usda 1.0\n(\n", "#usda 1.0\n", '#usda 1.0\ndef Mesh "m" {}\n'])
def test_a_broken_file_is_one_line(tmp_path, text):
    path = tmp_path / "a.usda"
    path.write_text(text, "utf-8")
    with pytest.raises(AssetError) as caught:
        read_asset(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_skeleton_without_a_mesh_is_read_with_its_clip(tmp_path):
    """As files of motion alone have it."""
    path = tmp_path / "a.usda"
    path.write_text(USD_TEXT.replace('def Mesh "strip"', 'def Scope "strip"'))
    asset = read_asset(path)
    check_sound(asset)
    assert [node.name for node in asset.nodes] == ["bones", "hips", "spine"]
    assert not asset.meshes
    (clip,) = asset.clips
    assert clip.end == 1.0
    assert len(load_character(asset).control_rig) == 1


def test_text_in_another_encoding_is_one_line(tmp_path):
    path = tmp_path / "a.usda"
    path.write_bytes(USD_TEXT.encode().replace(b"upAxis", b"up\xe0xis"))
    with pytest.raises(AssetError, match="cannot be read as USD: its text must be UTF-8"):
        read_asset(path)


@pytest.mark.slow
def test_values_of_another_type(tmp_path):
    path = tmp_path / "a.usda"
    colour = "color3f inputs:diffuseColor = (0.2, 0.4, 0.6)"
    path.write_text(USD_TEXT.replace(colour, "colour3f inputs:diffuseColor = (1, 0, 0)"))
    assert read_asset(path).materials[0].base_colour[:3] == (1.0, 1.0, 1.0)
    path.write_text(USD_TEXT.replace("point3f[] points", "point2f[] points"))
    with pytest.raises(AssetError, match=r"a\.usda: "):
        read_asset(path)
    path.write_text(USD_TEXT.replace("elementSize = 1", "elementSize = 5"))
    check_sound(read_asset(path))


def test_a_layer_elsewhere_is_refused(fox, tmp_path):
    path = tmp_path / "inner" / "a.usda"
    path.parent.mkdir()
    path.write_text("#usda 1.0\n(\n    subLayers = [@../fox.usda@]\n)\n", "utf-8")
    with pytest.raises(AssetError, match="no layer outside its own folder"):
        read_asset(path)


def test_a_layer_that_never_comes_is_one_line(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.usda")
    path = tmp_path / "a.usda"
    path.write_text("#usda 1.0\n(\n    subLayers = [@pipe.usda@]\n)\n", "utf-8")
    monkeypatch.setattr("akd.asset.isolated._WAITING_SECONDS", 3)
    with pytest.raises(AssetError) as caught:
        read_asset(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_instances_of_instances_are_counted_before_they_are_used(tmp_path):
    text = '#usda 1.0\ndef Xform "L0"\n{\n    def Mesh "m"\n    {\n    }\n}\n'
    for depth in range(1, 6):
        about = f"(\ninstanceable = true\nprepend references = </L{depth - 1}>\n)"
        inside = "".join(f'    def Xform "i{k}" {about}\n    {{\n    }}\n' for k in range(10))
        text += f'def Xform "L{depth}"\n{{\n{inside}}}\n'
    path = tmp_path / "a.usda"
    path.write_text(text, "utf-8")
    with pytest.raises(AssetError, match="must have at most 50000 prims, got more"):
        read_asset(path)


def test_a_small_file_as_text(tmp_path):
    path = tmp_path / "strip.usda"
    path.write_text(USD_TEXT, "utf-8")
    asset = read_asset(path)
    check_sound(asset)
    assert [node.name for node in asset.nodes] == ["bones", "hips", "spine", "strip"]
    assert len(asset.meshes[0].parts[0].faces) == 4
    assert [clip.name for clip in asset.clips] == ["bend"]
    assert asset.clips[0].end == pytest.approx(1.0)
