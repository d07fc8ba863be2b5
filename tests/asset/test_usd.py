"""USD in: skeleton, skin and clip as they were written, layers of the own folder alone."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

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


def textured(tmp_path, interpolation="vertex", file="skin.png"):
    """The strip with a texture, and its texture coordinates given by corner."""
    text = USD_TEXT.replace(
        "color3f inputs:diffuseColor = (0.2, 0.4, 0.6)",
        "color3f inputs:diffuseColor.connect = </root/paint/skin.outputs:rgb>",
    ).replace(
        'def Shader "surface"',
        f"""def Shader "skin"
        {{
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @{file}@
            float3 outputs:rgb
        }}
        def Shader "surface\"""",
    )
    if interpolation == "faceVarying":
        corners = "(0, 0), (1, 0), (1, 0.5), (0, 0.5), (0, 0), (1, 0), (1, 0.5), (0, 0.5)"
        at = text.index("texCoord2f[] primvars:st")
        head, tail = text[:at], text[at:].partition("\n        )\n")[2]
        text = f"""{head}texCoord2f[] primvars:st = [{corners}] (
            interpolation = "faceVarying"
        )
{tail}"""
    path = tmp_path / "a.usda"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("interpolation", "vertices"), [("vertex", 6), ("faceVarying", 8)])
def test_textures_and_their_coordinates(tmp_path, interpolation, vertices):
    path = textured(tmp_path, interpolation)
    Image.new("RGB", (4, 2), (255, 0, 0)).save(tmp_path / "skin.png")
    asset = read_asset(path)
    check_sound(asset)
    assert not asset.problems
    (part,) = asset.meshes[0].parts
    assert len(part.positions) == vertices  # corners with coordinates of their own are vertices
    assert part.weights is not None
    (material,) = asset.materials
    assert material.image is not None
    assert material.base_colour == (1.0, 1.0, 1.0, 1.0)
    assert asset.images[material.image].data == (tmp_path / "skin.png").read_bytes()


def test_a_texture_that_is_missing_paints_none(tmp_path):
    asset = read_asset(textured(tmp_path, file="../skin.png"))
    assert asset.materials[0].image is None
    assert ["there is no readable image" in p.what for p in asset.problems] == [True]


def test_joints_of_a_mesh_in_another_order(tmp_path):
    path = tmp_path / "a.usda"
    plain = read_asset(write(path, USD_TEXT))
    skin = "rel skel:skeleton = </root/bones>"
    order = 'uniform token[] skel:joints = ["hips/spine", "hips"]'
    text = USD_TEXT.replace(skin, f"{skin}\n        {order}")
    swapped = read_asset(write(path, text.replace("[0, 0, 0, 1, 1, 1]", "[1, 1, 1, 0, 0, 0]")))
    for first, second in zip(plain.meshes[0].parts, swapped.meshes[0].parts, strict=True):
        assert first.joints is not None
        assert second.joints is not None
        np.testing.assert_array_equal(first.joints, second.joints)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[0, 1, 3, 2, 2, 3, 5, 4]", "[0, 1, 3, 2, 2, 3, 5, 9]", "must name one of the 6 vertices"),
        ("faceVertexCounts = [4, 4]", "faceVertexCounts = [4, 5]", "must sum to 8"),
        (
            'joints = ["hips", "hips/spine"]\n        uniform matrix4d[] bind',
            'joints = ["hips"]\n        uniform matrix4d[] bind',
            "must have rest and bind transforms",
        ),
        (
            '["hips", "hips/spine"]',
            '["hips/spine", "hips"]',
            "cannot be read as USD",
        ),
    ],
)
def test_records_that_do_not_fit_are_one_line(tmp_path, old, new, said):
    assert old in USD_TEXT
    with pytest.raises(AssetError, match=said):
        read_asset(write(tmp_path / "a.usda", USD_TEXT.replace(old, new)))


def test_a_left_handed_mesh_is_turned(tmp_path):
    path = tmp_path / "a.usda"
    right = read_asset(write(path, USD_TEXT)).meshes[0].parts[0].faces
    counts = "int[] faceVertexCounts"
    turned = USD_TEXT.replace(counts, f'uniform token orientation = "leftHanded"\n        {counts}')
    left = read_asset(write(path, turned)).meshes[0].parts[0].faces
    np.testing.assert_array_equal(left[:, ::-1], right)


def test_a_clip_that_mirrors_and_scales_keeps_its_keys(tmp_path):
    path = tmp_path / "a.usda"
    text = USD_TEXT.replace(
        "half3[] scales = [(1, 1, 1), (1, 1, 1)]",
        "half3[] scales.timeSamples = {0: [(1, 1, 1), (2, 3, 0.5)], 10: [(1, 1, 1), (-1, 1, 1)]}",
    )
    tracks = {(t.node, t.path): t.values for t in read_asset(write(path, text)).clips[0].tracks}
    np.testing.assert_allclose(tracks[2, "scale"], [(2, 3, 0.5), (-1, 1, 1)], rtol=1e-3)
    np.testing.assert_allclose(tracks[2, "rotation"], [(1, 0, 0, 0), (0.8, 0, 0, 0.6)], atol=1e-6)


def write(path, text):
    path.write_text(text, "utf-8")
    return path
