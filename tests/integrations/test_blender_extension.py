"""The Blender extension, the whole way: export, akd as a process, an Action on the same bones.

Needs Blender's Python module: `AKD_TEST_BPY` names an interpreter that has it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from akd.api.loading import load
from akd.motion.clip import motion_from_clip
from tests.assets import SHARED_ASSETS
from tests.commands.animating import QUICK
from tests.commands.small_prior import write_weights

SOURCE = Path(__file__).resolve().parents[2] / "integrations" / "blender"
ENTER = """
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
armature, = (o for o in bpy.data.objects if o.type == "ARMATURE")
bpy.context.view_layer.objects.active = armature
things = len(bpy.data.objects)

def heads():
    action = armature.animation_data.action
    first, last = (round(f) for f in action.frame_range)
    found = []
    for frame in range(first, last + 1):
        bpy.context.scene.frame_set(frame)
        found.append({b.name: tuple(armature.matrix_world @ b.head) for b in armature.pose.bones})
    return found

def finish(**found):
    assert len(bpy.data.objects) == things
    print("RESULT " + json.dumps(found))
    akd_animate.unregister()
"""
ANIMATE = """
for action in list(bpy.data.actions):
    bpy.data.actions.remove(action)
try:
    bpy.ops.akd.animate()
    raise SystemExit("an empty prompt must be refused")
except RuntimeError as error:
    assert "type a prompt first" in str(error), error
bpy.context.scene.akd.prompt = "walking"
assert bpy.ops.akd.animate() == {"FINISHED"}
finish(heads=heads())
"""
GROUND = """
from akd_animate.transfer import _use
before = set(bpy.data.actions)
_use(armature, next(a for a in bpy.data.actions if "Walk" in a.name))
assert bpy.ops.akd.ground() == {"FINISHED"}
made, = set(bpy.data.actions) - before
assert armature.animation_data.action == made
finish(heads=heads())
"""
REACH = """
bone = armature.data.bones[options]
armature.data.bones.active = bone
place = armature.matrix_world @ bone.head_local
goal = place.copy()
goal.z += 0.1 * max(armature.dimensions)
bpy.context.scene.cursor.location = goal
assert bpy.ops.akd.reach() == {"FINISHED"}
bpy.context.scene.frame_set(round(armature.animation_data.action.frame_range[0]))
found = armature.matrix_world @ armature.pose.bones[bone.name].head
finish(goal=tuple(goal), found=tuple(found), rest=tuple(place))
"""
CANCEL = """
import time
from akd_animate import operators
bpy.context.scene.akd.prompt = "walking"
class Operator(operators._Run):
    words = operators.AKD_OT_animate.words
    def report(self, kind, text):
        raise SystemExit(text)
assert Operator().begin(bpy.context)
job = operators.running_job()
assert not bpy.ops.akd.animate.poll()
ends = time.monotonic() + 60
while "started" not in job.status and time.monotonic() < ends:
    time.sleep(0.05)
assert job.exit_code is None, job.status
process = job._process
assert bpy.ops.akd.cancel() == {"FINISHED"}
assert operators.running_job() is None
assert bpy.ops.akd.animate.poll() and not bpy.ops.akd.cancel.poll()
finish(code=process.poll(), folder_is_left=job.folder.exists(), status=job.status)
"""

IMPORT = """
from pathlib import Path
from akd_animate.transfer import clip_names, import_actions
for action in list(bpy.data.actions):
    bpy.data.actions.remove(action)
import shutil
copy = Path(shutil.copy(source, folder))
first, second = clip_names(copy)[1:3]
made = import_actions(armature, copy, {first, second})
current = armature.animation_data.action
finish(wanted=first, current=current.name, made=sorted(a.name for a in made), of=[first, second])
"""
MISSING = """
from akd_animate import operators
addon.preferences.program = "no-such-akd"
assert operators.find_program(bpy.context) is None
bpy.context.scene.akd.prompt = "walking"
try:
    bpy.ops.akd.animate()
    raise SystemExit("a missing program must be reported")
except RuntimeError as error:
    finish(said=str(error))
"""


@pytest.fixture
def python() -> str:
    if "AKD_TEST_BPY" not in os.environ:
        pytest.skip("needs Blender's Python module, AKD_TEST_BPY")
    return os.environ["AKD_TEST_BPY"]


def run(
    python: str, script: str, folder: Path, *, source: Path, program: str, options: str = "",
    **process: Any,
):  # fmt: skip
    """What a script in Blender found, with the extension and a stand-in for the akd program."""
    if not source.exists():
        pytest.skip("needs the shared assets")
    shutil.copytree(SOURCE, folder / "akd_animate")
    (folder / "akd").write_text(f"#!/bin/sh\n{program}\n")
    (folder / "akd").chmod(0o755)
    done = subprocess.run(
        [python, "-c", ENTER + script, str(source), str(folder), str(folder / "akd"), options],
        capture_output=True, text=True, check=False, timeout=300, **process,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(lines[0].removeprefix("RESULT "))


AKD = f"PYTHONPATH={SOURCE.parents[1] / 'src'} {sys.executable} -m akd"
HUSKY = SHARED_ASSETS / "quaternius/animals_pack/Husky.glb"
CESIUM_MAN = SHARED_ASSETS / "khronos/CesiumMan/glTF-Binary/CesiumMan.glb"


def same_places(heads, path: Path) -> None:
    """Bones in Blender, frame by frame, are where the file's last clip has them."""
    character = load(path)
    motion = motion_from_clip(character, character.asset.clips[-1])
    assert len(heads) == len(motion)
    places = motion.world()[..., :3, 3].numpy() / character.units.metres_per_unit
    height = character.height / character.units.metres_per_unit
    for frame, found in enumerate(heads):
        for bone, (x, y, z) in found.items():
            there = places[frame, character.skeleton.names.index(bone)]
            assert np.abs(there - (x, z, -y)).max() < 1e-3 * height, (bone, frame)


@pytest.mark.slow
@pytest.mark.parametrize("source", [HUSKY, CESIUM_MAN], ids=lambda path: path.stem)
def test_the_clip_comes_back_on_the_same_bones(source, python, tmp_path):
    kept = tmp_path / "motion.glb"
    program = f'{AKD} "$@"\ncode=$?\ncp "$5/preview.glb" {kept}\nexit $code'
    weights = write_weights(tmp_path / "weights")
    options = " ".join(["--weights", str(weights), "--quick", "--device", "cpu", *QUICK])
    found = run(python, ANIMATE, tmp_path, source=source, program=program, options=options)
    same_places(found["heads"], kept)


@pytest.mark.slow
def test_an_action_is_grounded(python, tmp_path):
    kept = tmp_path / "motion.glb"
    program = f'{AKD} "$@" --iterations 2\ncode=$?\ncp "$4/motion.glb" {kept}\nexit $code'
    found = run(python, GROUND, tmp_path, source=HUSKY, program=program)
    same_places(found["heads"], kept)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "bone"), [(HUSKY, "Head"), (CESIUM_MAN, "Skeleton_arm_joint_L__2_")],
    ids=["Husky", "CesiumMan"],
)  # fmt: skip
def test_a_bone_reaches_the_cursor(source, bone, python, tmp_path):
    found = run(python, REACH, tmp_path, source=source, program=f'{AKD} "$@"', options=bone)
    goal, reached, rest = (np.array(found[name]) for name in ("goal", "found", "rest"))
    assert np.linalg.norm(reached - goal) < 0.2 * np.linalg.norm(rest - goal)


@pytest.mark.slow
def test_the_first_of_the_clips_becomes_the_current_action(python, tmp_path):
    """akd writes the clip to use first."""
    found = run(python, IMPORT, tmp_path, source=HUSKY, program="exit 1")
    assert found["current"] == found["wanted"]
    assert found["made"] == sorted(found["of"])


def test_a_job_is_cancelled_also_where_blender_runs_in_the_background(python, tmp_path):
    def in_the_background() -> None:  # a shell lets its background jobs ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    program = "trap 'echo interrupted; exit 130' TERM\necho started\nwhile :; do sleep 0.1; done"
    found = run(
        python, CANCEL, tmp_path, source=HUSKY, program=program, preexec_fn=in_the_background
    )
    assert (found["code"], found["folder_is_left"]) == (130, False)


def test_a_missing_program_is_explained(python, tmp_path):
    said = run(python, MISSING, tmp_path, source=HUSKY, program="exit 0")["said"]
    assert "there is no program 'no-such-akd'" in said
    assert "preferences of this extension" in said


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
