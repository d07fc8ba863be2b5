"""The Blender extension, the whole way: export, akd as a process, an Action on the same bones.

Needs Blender's Python module: `AKD_TEST_BPY` names an interpreter that has it.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from akd.api.loading import load
from akd.motion.clip import motion_from_clip
from tests.assets import SHARED_ASSETS
from tests.commands.animating import QUICK
from tests.commands.small_prior import write_weights

SOURCE = Path(__file__).resolve().parents[2] / "integrations" / "blender"
DRIVE = """
import json, sys
import bpy
source, folder, program, options = sys.argv[1:5]
sys.path.insert(0, folder)
bpy.ops.wm.read_factory_settings(use_empty=True)
import akd_animate
addon = bpy.context.preferences.addons.new()
addon.module = "akd_animate"
akd_animate.register()
addon.preferences.program, addon.preferences.options = program, options
bpy.context.scene.render.fps = 30
bpy.ops.import_scene.gltf(filepath=source)
for action in list(bpy.data.actions):
    bpy.data.actions.remove(action)
armature, = (o for o in bpy.data.objects if o.type == "ARMATURE")
bpy.context.view_layer.objects.active = armature
things = len(bpy.data.objects)
try:
    bpy.ops.akd.animate()
    raise SystemExit("an empty prompt must be refused")
except RuntimeError as error:
    assert "type a prompt first" in str(error), error
bpy.context.scene.akd.prompt = "walking"
assert bpy.ops.akd.animate() == {"FINISHED"}
assert len(bpy.data.objects) == things
action = armature.animation_data.action
first, last = (round(f) for f in action.frame_range)
heads = []
for frame in range(first, last + 1):
    bpy.context.scene.frame_set(frame)
    heads.append({b.name: tuple(armature.matrix_world @ b.head) for b in armature.pose.bones})
print("RESULT " + json.dumps({"name": action.name, "heads": heads}))
akd_animate.unregister()
"""


@pytest.fixture
def python() -> str:
    if "AKD_TEST_BPY" not in os.environ:
        pytest.skip("needs Blender's Python module, AKD_TEST_BPY")
    return os.environ["AKD_TEST_BPY"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["quaternius/animals_pack/Husky.glb", "khronos/CesiumMan/glTF-Binary/CesiumMan.glb"]
)
def test_the_clip_comes_back_on_the_same_bones(name, python, tmp_path):
    if not (SHARED_ASSETS / name).exists():
        pytest.skip("needs the shared assets")
    shutil.copytree(SOURCE, tmp_path / "akd_animate")
    kept = tmp_path / "motion.glb"
    program = tmp_path / "akd"
    src = Path(__file__).resolve().parents[2] / "src"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={src} {sys.executable} -m akd "$@"\ncode=$?\n'
        f'cp "$5/preview.glb" {kept}\nexit $code\n'
    )
    program.chmod(0o755)
    weights = write_weights(tmp_path / "weights")
    options = ["--weights", str(weights), "--quick", "--device", "cpu", *QUICK]
    done = subprocess.run(
        [python, "-c", DRIVE, str(SHARED_ASSETS / name), str(tmp_path), str(program),
         " ".join(options)],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-2000:]
    found = json.loads(lines[0].removeprefix("RESULT "))
    character = load(kept)
    motion = motion_from_clip(character, character.asset.clips[-1])
    assert len(found["heads"]) == len(motion)
    places = motion.world()[..., :3, 3].numpy() / character.units.metres_per_unit
    height = character.height / character.units.metres_per_unit
    for frame, heads in enumerate(found["heads"]):
        for bone, (x, y, z) in heads.items():
            there = places[frame, character.skeleton.names.index(bone)]
            assert np.abs(there - (x, z, -y)).max() < 1e-3 * height, (bone, frame)


def test_the_manifest_passes_blenders_own_check(python):
    script = (
        "import pathlib, subprocess, sys, bpy\n"
        "scripts = pathlib.Path(bpy.utils.system_resource('SCRIPTS'))\n"
        "cli = scripts / 'addons_core' / 'bl_pkg' / 'cli' / 'blender_ext.py'\n"
        "raise SystemExit(subprocess.call([sys.executable, str(cli), 'validate', sys.argv[1]]))"
    )
    done = subprocess.run(
        [python, "-c", script, str(SOURCE)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_extension_has_its_own_licence_and_no_network():
    assert "GNU GENERAL PUBLIC LICENSE" in (SOURCE / "LICENSE").read_text("utf-8")
    for path in SOURCE.glob("*.py"):
        text = path.read_text("utf-8")
        assert text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later")
        assert not any(word in text for word in ("urllib", "requests", "socket", "http"))
    assert "network" not in (SOURCE / "blender_manifest.toml").read_text("utf-8")
