"""`write_reskinned`: the user's own file with other weights on its meshes, nothing else changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Int

from akd.asset.asset import AssetError, GltfDocument, MeshPart, Problem
from akd.asset.gltf.buffer import BufferBuilder
from akd.asset.gltf.fields import as_integer
from akd.asset.gltf.influences import pack_influences
from akd.export.gltf.references import listed, make_room
from akd.export.gltf.write import write_glb
from akd.rig.character import Character
from akd.rig.skin import Skin
from akd.rig.skinning.automatic import skin_starts

_TRIANGLES = 4
_DRACO = "KHR_draco_mesh_compression"


def write_reskinned(character: Character, skin: Skin, path: Path) -> tuple[Problem, ...]:
    """Write the file that the character came from, as GLB, with the weights of `skin`.

    `skin` binds the vertices of `character.mesh` to the bones of its own skin. Only JOINTS and
    WEIGHTS of meshes that are shown with a skin change. Returns what could not be packed.
    """
    return write_glb(replace_weights(character, skin), path)


def replace_weights(character: Character, skin: Skin) -> GltfDocument:
    """The character's document with other weights. The one it has is not modified."""
    document = character.asset.document
    if document is None:
        raise AssetError(
            f"{character.asset.path.name}: weights can only be replaced in a glTF file, "
            f"and this is {character.asset.format}"
        )
    packed = _pack(character, skin)
    root = make_room(document.json, "buffers", 1)
    root = make_room(root, "bufferViews", 2 * sum(b.shape[1] // 4 for b, _ in packed.values()))
    root = make_room(root, "accessors", 2 * sum(b.shape[1] // 4 for b, _ in packed.values()))
    data = BufferBuilder(
        buffer=len(document.buffers),
        accessors=listed(root, "accessors"),
        views=listed(root, "bufferViews"),
    )
    meshes = listed(root, "meshes")
    for (mesh, primitive), (bones, weights) in packed.items():
        kind = np.uint8 if bones.max(initial=0) < 256 else np.uint16
        entry = dict(meshes[mesh])
        primitives = list(entry["primitives"])
        primitives[primitive] = _with_attributes(
            primitives[primitive], data.add_influences(bones, weights, kind)
        )
        meshes[mesh] = {**entry, "primitives": primitives}
    changes = {
        "accessors": data.accessors,
        "bufferViews": data.views,
        "buffers": [*listed(root, "buffers"), {"byteLength": data.length}],
        "meshes": meshes,
    }
    return replace(document, json={**root, **changes}, buffers=(*document.buffers, data.joined()))


def _with_attributes(primitive: dict[str, Any], changed: dict[str, int]) -> dict[str, Any]:
    """The primitive with other joints and weights, also where Draco had packed the old ones."""

    def is_old(name: str) -> bool:
        return name.startswith(("JOINTS_", "WEIGHTS_"))

    kept = {k: v for k, v in primitive["attributes"].items() if not is_old(k)}
    result = {**primitive, "attributes": {**kept, **changed}}
    draco = primitive.get("extensions", {}).get(_DRACO)
    if isinstance(draco, dict):
        inner = {k: v for k, v in draco.get("attributes", {}).items() if not is_old(k)}
        result["extensions"] = {**primitive["extensions"], _DRACO: {**draco, "attributes": inner}}
    return result


def _pack(
    character: Character, skin: Skin
) -> dict[tuple[int, int], tuple[Int[np.ndarray, "V M"], Float32[np.ndarray, "V M"]]]:
    """For each skinned primitive, by mesh and place: joints of its skin, and weights."""
    starts = skin_starts(character)
    packed: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    first = 0
    for mesh, place, part, skin_index in _parts(character):
        rows = slice(first, first + len(part.positions))
        first = rows.stop
        # A mesh that is shown twice can only have one set of weights: those of its first showing.
        if skin_index is None or (mesh, place) in packed:
            continue
        bones = skin.bones[rows].numpy(force=True) - starts[skin_index]
        weights = skin.weights[rows].double().numpy(force=True)
        packed[mesh, place] = pack_influences(np.where(weights > 0, bones, 0), weights)
    assert first == len(skin.bones)
    return packed


def _parts(character: Character) -> Iterator[tuple[int, int, MeshPart, int | None]]:
    """Mesh, primitive, part and skin (None for a rigid one) in the order of the vertices of the
    character's mesh."""
    asset, skeleton = character.asset, character.skeleton
    roots = asset.scene_roots or skeleton.roots
    reached = {j for root in roots for j in skeleton.subtree(root)}
    world = skeleton.forward(character.bind).double()
    for index, node in enumerate(asset.nodes):
        if node.mesh is None or index not in reached or index in character.scenery:
            continue
        for place, part in _places(character, node.mesh):
            if not len(part.positions):
                continue
            if node.skin is not None and part.joints is not None and part.weights is not None:
                yield node.mesh, place, part, node.skin
            elif float(torch.linalg.det(world[index, :3, :3]).abs()) >= 1e-18:
                yield node.mesh, place, part, None


def _places(character: Character, mesh: int) -> Iterator[tuple[int, MeshPart]]:
    """The parts of a mesh with the places of their primitives in the file: points, lines and parts
    without triangles were left out on reading."""
    document = character.asset.document
    assert document is not None
    primitives = document.json["meshes"][mesh]["primitives"]
    waiting = list(character.asset.meshes[mesh].parts)
    for place, primitive in enumerate(primitives):
        position = as_integer(primitive.get("attributes", {}).get("POSITION"))
        if not waiting or position is None or int(primitive.get("mode", _TRIANGLES)) < _TRIANGLES:
            continue
        if document.json["accessors"][position]["count"] == len(waiting[0].positions):
            yield place, waiting.pop(0)
