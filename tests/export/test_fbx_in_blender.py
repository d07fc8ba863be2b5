"""FBX written by Blender itself and read back by it: the same bones, clips and places.

Needs Blender's Python module: in this environment, or in that of the interpreter that
`AKD_TEST_BPY` names. It comes from PyPI (`pip install bpy`), for one version of Python each.
"""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from akd.asset.read import read_asset
from akd.export import fbx
from akd.export.creature import write_creature
from akd.motion.grid import on_grid
from akd.zoo.gait.clips import make_clip
from tests.zoo.menagerie import creature

FPS = 30.0
"""Not Blender's own frame rate."""
READ = """
import json, sys
import bpy
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.fbx(filepath=sys.argv[-1])
armature, = (o for o in bpy.data.objects if o.type == "ARMATURE")
mesh, = (o for o in bpy.data.objects if o.type == "MESH")
scene, clips = bpy.context.scene, {}
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
print(json.dumps({"parents": parents, "vertices": len(mesh.data.vertices),
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
    monkeypatch.setattr(fbx, "find_blender", lambda: [blender_python, "-c", fbx._SCRIPT])
    fbx.write_fbx(glb, path, fps=FPS)
    assert {p.name for p in tmp_path.iterdir()} == {"fox.glb", "fox.fbx"}

    done = subprocess.run(
        [blender_python, "-c", READ, path], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.strip().splitlines()[-1])
    names, parents = animal.skeleton.names, animal.skeleton.parents
    assert found["parents"] == {
        name: names[p] if p >= 0 else None for name, p in zip(names, parents, strict=True)
    }
    assert found["vertices"] == read_asset(glb).vertex_count
    assert set(found["clips"]) == {motion.name for motion in motions}
    for motion in motions:
        clip = found["clips"][motion.name]
        assert found["fps"] == FPS
        assert clip["seconds"] == pytest.approx(float(motion.times[-1]), abs=1e-5)
        heads = np.array([[frame[name] for name in names] for frame in clip["heads"]])
        x, y, z = motion.world()[:, :, :3, 3].double().numpy().transpose(2, 0, 1)
        # Blender's Z is up and its characters face -Y.
        np.testing.assert_allclose(heads, np.stack((x, -z, y), axis=-1), atol=1e-3 * animal.height)
