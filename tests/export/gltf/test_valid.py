"""Every way in which akd writes glTF passes the Khronos validator."""

from pathlib import Path

import pytest
import torch
from PIL import Image

import akd
from akd.api.loading import load
from akd.export.character import write_motions
from akd.export.creature import write_creature
from akd.export.gltf.bake import bake_clips
from akd.export.gltf.write import write_glb, write_gltf
from akd.export.reskin import write_reskinned
from akd.motion.clip import motion_from_clip
from akd.motion.grid import on_grid
from akd.rig.skin import Skin
from akd.zoo import build_creature, make_clip
from tests.asset.fbx_text import write_fbx_text
from tests.export.khronos import ERROR, WARNING, codes, validate

BVH = """HIERARCHY
ROOT hips
{
  OFFSET 0 90 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT head
  {
    OFFSET 0 60 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 20 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
0 90 0 0 0 0 0 0 0
0 95 0 0 10 0 0 0 45
"""
OBJ = """mtllib a.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0
vt 1 1
vt 0 1
vn 0 0 2
usemtl m
f 1/1/1 2/2/1 3/3/1 4/4/1
"""
PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
element face 1
property list uchar int vertex_indices
end_header
0 0 0 255 0 0
1 0 0 0 255 0
0 1 0 0 0 255
3 0 1 2
"""
STL = """solid s
facet normal 0 0 0
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid s
"""


def write_sources(folder: Path) -> list[Path]:
    """A small file of each format that akd writes anew."""
    (folder / "a.mtl").write_text("newmtl m\nKd 0.5 0.6 0.7\nmap_Kd a.bmp\n", "utf-8")
    Image.new("RGB", (4, 4), (200, 40, 40)).save(folder / "a.bmp")  # glTF cannot hold it
    for name, text in (("a.obj", OBJ), ("a.ply", PLY), ("a.stl", STL), ("a.bvh", BVH)):
        (folder / name).write_text(text, "utf-8")
    (folder / "a.off").write_text("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "utf-8")
    return [folder / f"a.{suffix}" for suffix in ("obj", "ply", "stl", "bvh", "off")]


def check(paths: list[Path]) -> None:
    for path, issues in zip(paths, validate(paths), strict=True):
        assert codes(issues, ERROR) == {}, path.name
        assert codes(issues, WARNING) == {}, path.name


def test_other_formats_as_glb_and_gltf(tmp_path):
    made: list[Path] = []
    for source in write_sources(tmp_path):
        for suffix in ("glb", "gltf"):
            target = tmp_path / f"{source.suffix[1:]}.{suffix}"
            akd.convert(source, target)
            made.append(target)
    check(made)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["fbx", "usda"])
def test_files_of_isolated_readers(suffix, tmp_path):
    source = tmp_path / f"a.{suffix}"
    if suffix == "fbx":
        pytest.importorskip("ufbx")
        write_fbx_text(source)
    else:
        pytest.importorskip("pxr")
        fox = build_creature("fox", vertices=500)
        write_creature(fox, [make_clip(fox, "walk", frames=6)], tmp_path / "fox.glb")
        akd.convert(tmp_path / "fox.glb", source)
    akd.convert(source, tmp_path / "made.glb")
    check([tmp_path / "made.glb"])


@pytest.mark.slow
def test_clips_of_all_options_and_other_weights(tmp_path):
    fox = build_creature("fox", vertices=500)
    write_creature(fox, [make_clip(fox, "walk", frames=6)], tmp_path / "fox.glb")
    character = load(tmp_path / "fox.glb")
    asset = character.asset
    motion = on_grid(motion_from_clip(character, asset.clips[0]), 30.0)
    made = [tmp_path / "fox.glb"]
    for keys in ("every", "reduced"):
        for alone in (False, True):
            made.append(tmp_path / f"{keys}-{alone}.glb")
            extras = {"prompt": "a fox", "seed": 3}
            write_motions(
                character, [motion, motion], made[-1], keys=keys, alone=alone, extras=extras
            )
    write_glb(bake_clips(asset, 24.0), tmp_path / "baked.glb")
    write_gltf(bake_clips(asset, 24.0), tmp_path / "baked.gltf")
    assert character.mesh is not None
    skin = character.mesh.skin
    many = torch.rand(len(skin.bones), 7, generator=torch.Generator().manual_seed(0))
    bones = torch.arange(7).expand(len(many), -1)
    spread = Skin(skin.bone_joints, skin.inverse_bind, bones, many / many.sum(1, keepdim=True))
    write_reskinned(character, spread, tmp_path / "reskinned.glb")
    made += [tmp_path / name for name in ("baked.glb", "baked.gltf", "reskinned.glb")]
    check(made)
