"""FBX by way of Blender, which reads the glTF and writes it. akd itself has no FBX writer."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from akd.asset.asset import Asset
from akd.asset.read import read_asset
from akd.base.blender import BlenderFailed, run_in_blender
from akd.base.files import replace_atomically
from akd.export.gltf.bake import bake_clips
from akd.export.gltf.write import write_glb

_SCRIPT = """
import math
import sys
import bpy
source, target, rate = sys.argv[-3:]
bpy.ops.wm.read_factory_settings(use_empty=True)
render = bpy.context.scene.render  # its rate decides which frame a time is
render.fps = math.ceil(float(rate))
render.fps_base = render.fps / float(rate)
bpy.ops.import_scene.gltf(filepath=source)
for body in [o for o in bpy.context.view_layer.objects if o.type == "ARMATURE"]:
    # The importer divides lengths of bones by this scale after it has placed what hangs on them.
    bpy.context.view_layer.objects.active = body
    bpy.ops.object.mode_set(mode="EDIT")
    for bone in body.data.edit_bones:
        bone.length *= max(body.scale)
    bpy.ops.object.mode_set(mode="OBJECT")
for thing in bpy.context.view_layer.objects:  # what Blender shows bones as is none of the file's
    helper = any(c.name.startswith("glTF_not_exported") for c in thing.users_collection)
    thing.select_set(not helper)
bpy.ops.export_scene.fbx(
    filepath=target, use_selection=True, object_types={"ARMATURE", "MESH"}, add_leaf_bones=False,
    bake_anim=True, bake_anim_use_nla_strips=False, bake_anim_use_all_actions=True,
    bake_anim_simplify_factor=0.0,
)
"""


def write_fbx(glb: Path, path: Path, *, fps: float) -> None:
    """Write all clips of a GLB file as FBX, with a key on every frame at `fps`.

    Weights that had to be repaired are written repaired. Raises `OSError` where Blender does not
    manage.
    """
    with replace_atomically(path) as temporary, tempfile.TemporaryDirectory() as folder:
        keyed = Path(folder) / "keyed.glb"
        write_glb(bake_clips(_with_sound_weights(read_asset(glb)), fps), keyed)
        try:
            run_in_blender(_SCRIPT, keyed, temporary, fps)
        except BlenderFailed as error:
            raise OSError(f"{path}: Blender could not write it: {error}") from None
        if not temporary.stat().st_size:
            raise OSError(f"{path}: Blender wrote nothing")


def _with_sound_weights(asset: Asset) -> Asset:
    """An asset whose weights Blender reads as akd does: it leaves out what is not a number."""
    if not any(problem.where.endswith("WEIGHTS_0") for problem in asset.problems):
        return asset
    from akd.export.reskin import replace_weights
    from akd.rig.character import load_character

    character = load_character(asset)
    if character.mesh is None:
        return asset
    return replace(asset, document=replace_weights(character, character.mesh.skin))
