"""Files of all formats are as large as the user's own, whatever height physics assumes."""

import numpy as np
import pytest

from akd.api.converting import convert
from akd.api.loading import load
from akd.asset.read import read_asset
from akd.export.clip_files import write_clip_files
from akd.export.creature import write_creature
from akd.export.settings import KeySettings
from akd.motion.clip import motion_from_clip
from akd.motion.grid import on_grid
from akd.zoo.gait.clips import make_clip
from tests.zoo.menagerie import creature

FPS = 30.0


@pytest.fixture
def huge(tmp_path):
    """A fox of half a metre in a file whose units are believed to be five times as long."""
    animal = creature("fox")
    write_creature(animal, [on_grid(make_clip(animal, "walk"), FPS)], tmp_path / "fox.glb")
    return load(tmp_path / "fox.glb", height=5 * animal.height)


def ways(path):
    """How far each joint goes over the clip, in the file's own units, by its name."""
    character = load(path)
    world = motion_from_clip(character, character.asset.clips[0]).world()[:, :, :3, 3]
    went = (world[-1] - world[0]).norm(dim=-1) * character.units.units_per_metre
    return dict(zip(character.skeleton.names, went.tolist(), strict=True))


@pytest.mark.parametrize("suffix", ["bvh", "usda"])
def test_a_clip_is_as_large_as_the_file(huge, suffix, tmp_path):
    if suffix == "usda":
        pytest.importorskip("pxr")
    true = ways(huge.asset.path)
    assert huge.units.metres_per_unit == pytest.approx(5.0)
    motion = motion_from_clip(huge, huge.asset.clips[0])
    keys = KeySettings(FPS, "every", "repeat")
    formats = ("bvh", "usd")
    write_clip_files(huge, {"walk": motion}, tmp_path, formats=formats, keys=keys)
    found = ways(tmp_path / f"walk.{suffix}")
    shared = sorted(true.keys() & found.keys())
    assert len(shared) > 20
    np.testing.assert_allclose([found[n] for n in shared], [true[n] for n in shared], rtol=1e-3)


def test_a_captured_clip_keeps_its_units(tmp_path):
    lines = ["HIERARCHY", "ROOT hips", "{", "OFFSET 0 0 0"]
    lines += ["CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"]
    lines += ["JOINT knee", "{", "OFFSET 0 -40 0", "CHANNELS 3 Zrotation Xrotation Yrotation"]
    lines += ["End Site", "{", "OFFSET 0 -40 0", "}", "}", "}", "MOTION", "Frames: 2"]
    lines += ["Frame Time: 0.033333333", "0 80 0 0 0 0 0 0 0", "0 80 50 0 0 0 0 0 0"]
    (tmp_path / "given.bvh").write_text("\n".join(lines))
    convert(tmp_path / "given.bvh", tmp_path / "made.bvh")
    heads = [
        read_asset(tmp_path / f"{name}.bvh").nodes[1].translation for name in ("given", "made")
    ]
    np.testing.assert_allclose(*heads, atol=1e-3)
