"""Files of all formats opened in Blender: the same joints, on whole frames of the asked rate.

Needs Blender's Python module: in this environment, or in that of the interpreter that
`AKD_TEST_BPY` names. It comes from PyPI (`pip install bpy`), for one version of Python each.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from akd.asset.read import read_asset
from akd.export import fbx
from akd.export.bvh import write_bvh
from akd.export.creature import write_creature
from akd.export.usd import write_usd
from akd.motion.clip import motion_from_clip
from akd.motion.grid import on_grid
from akd.motion.motion import Motion
from akd.rig.character import load_character
from akd.zoo.gait.clips import make_clip
from tests.zoo.menagerie import creature

FPS = 30.0
"""Not Blender's own frame rate."""
READ = """
import json, sys
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
path, scene, clips = sys.argv[-1], bpy.context.scene, {}
if path.endswith(".fbx"):
    bpy.ops.import_scene.fbx(filepath=path)
elif path.endswith(".bvh"):
    bpy.ops.import_anim.bvh(filepath=path, update_scene_fps=True, update_scene_duration=True)
else:
    # Blender keeps the scene's own rate for these two, so it is set first, as an artist would.
    scene.render.fps = int(sys.argv[-2])
    if path.endswith(".usda"):
        bpy.ops.wm.usd_import(filepath=path)
    else:
        bpy.ops.import_scene.gltf(filepath=path)
armature, = (o for o in bpy.data.objects if o.type == "ARMATURE")
mesh = next((o.data for o in bpy.data.objects if o.type == "MESH"), None)
for action in bpy.data.actions:
    armature.animation_data.action = action
    if hasattr(action, "slots"):
        armature.animation_data.action_slot = action.slots[0]
    first, last = action.frame_range
    assert max(abs(first - round(first)), abs(last - round(last))) < 1e-4, (first, last)
    first, last = round(first), round(last)
    heads = []
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        world = armature.matrix_world
        heads.append({b.name: tuple(world @ b.head) for b in armature.pose.bones})
    clips[action.name.rpartition("|")[2]] = {"seconds": (last - first) / scene.render.fps,
                                             "heads": heads}
parents = {b.name: b.parent.name if b.parent else None for b in armature.data.bones}
print(json.dumps({"parents": parents, "vertices": len(mesh.vertices) if mesh else 0,
                  "fps": scene.render.fps, "clips": clips}))
"""


@pytest.fixture
def blender_python() -> str:
    if given := os.environ.get("AKD_TEST_BPY"):
        return given
    if importlib.util.find_spec("bpy") is None:
        pytest.skip("needs Blender's Python module, bpy, here or in the Python of AKD_TEST_BPY")
    return sys.executable


@pytest.mark.slow
def test_blender_writes_bones_and_clips_as_they_were(blender_python, monkeypatch, tmp_path):
    animal = creature("fox")
    motions = [on_grid(make_clip(animal, action), FPS) for action in ("walk", "gallop")]
    glb, path = tmp_path / "fox.glb", tmp_path / "fox.fbx"
    write_creature(animal, motions, glb)
    monkeypatch.setenv("AKD_BLENDER", blender_python)
    fbx.write_fbx(glb, path, fps=FPS)
    assert {p.name for p in tmp_path.iterdir()} == {"fox.glb", "fox.fbx"}

    found = opened(blender_python, path)
    names, parents = animal.skeleton.names, animal.skeleton.parents
    assert found["parents"] == {
        name: names[p] if p >= 0 else None for name, p in zip(names, parents, strict=True)
    }
    assert found["vertices"] == read_asset(glb).vertex_count
    assert found["fps"] == FPS
    assert set(found["clips"]) == {motion.name for motion in motions}
    for motion in motions:
        assert_same(found["clips"][motion.name], motion, height=animal.height)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["glb", "usda", "bvh"])
def test_blender_finds_joints_on_whole_frames(blender_python, suffix, tmp_path):
    animal = creature("fox")
    walk = on_grid(make_clip(animal, "walk"), FPS)
    glb, path = tmp_path / "fox.glb", tmp_path / f"fox.{suffix}"
    write_creature(animal, [walk], glb)
    character = load_character(read_asset(glb))
    motion = motion_from_clip(character, character.asset.clips[0])
    if suffix == "usda":
        pytest.importorskip("pxr")
        write_usd(character, motion, path, fps=FPS)
    elif suffix == "bvh":
        write_bvh(motion, path, fps=FPS)
    found = opened(blender_python, path)
    assert found["fps"] == FPS
    (clip,) = found["clips"].values()
    assert_same(clip, motion, height=animal.height)


def opened(blender_python: str, path: Path) -> dict[str, Any]:
    """What Blender makes of a file."""
    done = subprocess.run(
        [blender_python, "-c", READ, str(int(FPS)), path], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return json.loads(done.stdout.strip().splitlines()[-1])


def assert_same(clip: dict[str, Any], motion: Motion, *, height: float) -> None:
    """As long as the motion, and every bone where its joint is, to 1e-3 of height."""
    assert clip["seconds"] == pytest.approx(float(motion.times[-1]), abs=1e-5)
    names = motion.skeleton.names
    bones = [name for name in names if name in clip["heads"][0]]
    assert len(bones) > 0.8 * len(names)
    heads = np.array([[frame[name] for name in bones] for frame in clip["heads"]])
    joints = [names.index(name) for name in bones]
    x, y, z = motion.world()[:, joints, :3, 3].double().numpy().transpose(2, 0, 1)
    # Blender's Z is up and its characters face -Y.
    np.testing.assert_allclose(heads, np.stack((x, -z, y), axis=-1), atol=1e-3 * height)
