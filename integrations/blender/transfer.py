# SPDX-License-Identifier: GPL-3.0-or-later
"""An armature to GLB, and clips of a GLB back to Actions on the same bones."""

import json
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
from mathutils import Matrix


@contextmanager
def _only_selected(objects: list[bpy.types.Object]) -> Iterator[None]:
    """Select these objects for a while."""
    layer = bpy.context.view_layer
    active, selected = layer.objects.active, [o for o in layer.objects if o.select_get()]
    if active is not None and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.select_all(action="DESELECT")
    for each in objects:
        each.select_set(True)
    layer.objects.active = objects[0]
    try:
        yield
    finally:
        bpy.ops.object.select_all(action="DESELECT")
        for each in selected:
            each.select_set(True)
        layer.objects.active = active


def export_armature(armature: bpy.types.Object, path: Path, *, with_action: bool) -> None:
    """Write an armature and the meshes that hang on it, with its Action or in its rest pose."""
    meshes = [
        each
        for each in bpy.context.view_layer.objects
        if each.type == "MESH" and (each.parent == armature or each.find_armature() == armature)
    ]
    with _only_selected([armature, *meshes]):
        bpy.ops.export_scene.gltf(
            filepath=str(path), export_format="GLB", use_selection=True, export_yup=True,
            export_animations=with_action, export_animation_mode="ACTIVE_ACTIONS",
            export_rest_position_armature=True, export_def_bones=False,
        )  # fmt: skip


def clip_names(path: Path) -> list[str]:
    """Names of the animations of a GLB."""
    return [each["name"] for each in _read_glb(path)[0].get("animations", ())]


def _read_glb(path: Path) -> tuple[dict[str, Any], bytes]:
    """The JSON of a GLB, and the chunks behind it."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length]), data[20 + length :]


def _write_one_clip(path: Path, name: str, target: Path) -> None:
    """Copy a GLB without its other clips: what a clip does not key stays as they left it."""
    content, rest = _read_glb(path)
    content["animations"] = [each for each in content["animations"] if each["name"] == name]
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A)
    target.write_bytes(head + text + rest)


def import_actions(
    armature: bpy.types.Object, path: Path, names: set[str]
) -> list[bpy.types.Action]:
    """Bring clips of a GLB to an armature as new Actions; the first becomes its current one.

    Bones are found by name. What the clip moves beside them, such as the armature as a whole, goes
    to the bones without a parent. Everything else that the file brings is removed again.
    """
    made: list[bpy.types.Action] = []
    one = path.with_name("one-clip.glb")
    for name in reversed(clip_names(path)):
        if name in names:
            _write_one_clip(path, name, one)
            made.append(_import_action(armature, one, name))
    return made


def _import_action(armature: bpy.types.Object, path: Path, name: str) -> bpy.types.Action:
    before = {kind: set(getattr(bpy.data, kind)) for kind in _KINDS}
    bpy.ops.import_scene.gltf(filepath=str(path), bone_heuristic="BLENDER")
    new = {kind: [e for e in getattr(bpy.data, kind) if e not in before[kind]] for kind in _KINDS}
    try:
        source = max(
            (each for each in new["objects"] if each.type == "ARMATURE"),
            key=lambda each: len(each.data.bones),
        )
        # Blender cuts a name to 63 characters, and numbers one that it has already.
        action = next(
            each for each in new["actions"] if re.sub(r"\.\d{3}$", "", each.name) == name[:63]
        )
        return _copy_action(source, action, armature)
    finally:
        for kind in _KINDS:
            for each in new[kind]:
                getattr(bpy.data, kind).remove(each)


_KINDS = ("objects", "armatures", "meshes", "materials", "images", "actions", "collections")


def _use(thing: bpy.types.Object, action: bpy.types.Action) -> None:
    data = thing.animation_data or thing.animation_data_create()
    for track in data.nla_tracks:
        track.mute = True
    data.action = action
    slots = getattr(data, "action_suitable_slots", ())
    if len(slots):
        data.action_slot = slots[0]


def _copy_action(
    source: bpy.types.Object, action: bpy.types.Action, armature: bpy.types.Object
) -> bpy.types.Action:
    """Pose the source frame by frame, and key the armature's bones in the same places."""
    scene = bpy.context.scene
    current = scene.frame_current
    _use(source, action)
    name = action.name
    action.name = f"{name} (imported)"
    made = bpy.data.actions.new(name)
    made.use_fake_user = True
    (armature.animation_data or armature.animation_data_create()).action = made
    shared = [bone for bone in _parents_first(armature) if bone.name in source.pose.bones]
    first, last = (round(frame) for frame in action.frame_range)
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        into = armature.matrix_world.inverted() @ source.matrix_world
        posed: dict[str, Matrix] = {}
        for bone in shared:
            given = source.pose.bones[bone.name]
            moved = given.matrix @ given.bone.matrix_local.inverted()
            posed[bone.name] = into @ moved @ bone.bone.matrix_local
            _set(bone, posed)
            _key(bone, frame)
    scene.frame_set(current)
    return made


def _parents_first(armature: bpy.types.Object) -> list[bpy.types.PoseBone]:
    return sorted(armature.pose.bones, key=lambda bone: len(bone.parent_recursive))


def _set(bone: bpy.types.PoseBone, posed: dict[str, Matrix]) -> None:
    """Give a bone its place in the armature's space, with its parent as in `posed`."""
    options = {}
    if bone.parent is not None:
        parent = bone.parent
        above = posed.setdefault(parent.name, parent.matrix.copy())
        options = {"parent_matrix": above, "parent_matrix_local": parent.bone.matrix_local}
    bone.matrix_basis = bone.bone.convert_local_to_pose(
        posed[bone.name], bone.bone.matrix_local, invert=True, **options
    )


def _key(bone: bpy.types.PoseBone, frame: int) -> None:
    turn = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
    for path in ("location", turn.get(bone.rotation_mode, "rotation_euler"), "scale"):
        bone.keyframe_insert(path, frame=frame, group=bone.name)
