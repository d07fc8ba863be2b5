""".blend files: what Blender saved is read as it is shown, or one line."""

import os
import subprocess

import numpy as np
import pytest

from akd.asset.asset import AssetError
from akd.asset.read import read_asset
from akd.export.creature import write_creature
from akd.motion.clip import motion_from_clip
from akd.rig.character import load_character
from akd.zoo import build_creature, make_clip

SAVE = """
import sys
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.context.scene.render.fps = 30
bpy.ops.import_scene.gltf(filepath=sys.argv[-2])
bpy.ops.wm.save_as_mainfile(filepath=sys.argv[-1])
"""


def test_without_blender_it_is_one_line(tmp_path, monkeypatch):
    monkeypatch.delenv("AKD_BLENDER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    (tmp_path / "fox.blend").write_bytes(b"BLENDER-v500")
    with pytest.raises(AssetError, match=r"fox\.blend: \.blend files are read by Blender"):
        read_asset(tmp_path / "fox.blend")


@pytest.mark.slow
def test_what_blender_saved_is_read(tmp_path, monkeypatch):
    if "AKD_TEST_BPY" not in os.environ:
        pytest.skip("needs Blender's Python, AKD_TEST_BPY")
    monkeypatch.setenv("AKD_BLENDER", os.environ["AKD_TEST_BPY"])
    fox = build_creature("fox", vertices=600)
    glb, blend = tmp_path / "fox.glb", tmp_path / "fox.blend"
    write_creature(fox, [make_clip(fox, action, cycles=1) for action in ("walk", "trot")], glb)
    subprocess.run(
        [os.environ["AKD_TEST_BPY"], "-c", SAVE, glb, blend], check=True, capture_output=True
    )
    before, after = load_character(read_asset(glb)), load_character(read_asset(blend))
    assert after.asset.format == "blend"
    assert set(before.skeleton.names) <= set(after.skeleton.names)
    assert {clip.name for clip in after.asset.clips} == {"walk", "trot"}
    assert after.height == pytest.approx(before.height, rel=1e-3)
    order = [after.skeleton.names.index(name) for name in before.skeleton.names]
    for clip in before.asset.clips:
        same = next(found for found in after.asset.clips if found.name == clip.name)
        ours, theirs = motion_from_clip(before, clip), motion_from_clip(after, same)
        assert theirs.duration == pytest.approx(ours.duration, abs=1.5 / 30)
        # On Blender's frames; between them it interpolates otherwise.
        times = ours.times[:1] + (ours.times.new_tensor(range(int(30 * ours.duration))) / 30)
        apart = theirs.sample(times).world()[:, order] - ours.sample(times).world()
        assert np.abs(apart[..., :3, 3].numpy()).max() < 1e-2 * before.height


def test_a_file_that_only_has_the_suffix_is_one_line(tmp_path):
    path = tmp_path / "wolf.blend"
    path.write_bytes(bytes(5000))
    with pytest.raises(AssetError, match=r"wolf\.blend: is not a Blender file"):
        read_asset(path)
