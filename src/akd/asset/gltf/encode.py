"""`encode`: a new glTF document of the records of an asset, for formats that akd cannot add to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Asset, ClipRecord, GltfDocument, Mesh, MeshPart, Node
from akd.asset.gltf.buffer import VERTICES, BufferBuilder
from akd.asset.gltf.encode_materials import encode_materials
from akd.asset.gltf.influences import pack_influences
from akd.base.version import __version__


def encode(asset: Asset) -> GltfDocument:
    """Make a glTF document of an asset that has none: nodes, meshes, materials, skins, clips.

    Positions are taken to be in metres, Y up. Images of other kinds than PNG and JPEG are left
    out, and Gaussians have no place in it.
    """
    data = BufferBuilder()
    looks = encode_materials(asset.materials, asset.images, data)
    json: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": f"akd {__version__}"},
        "scene": 0,
        "scenes": [{"nodes": list(asset.scene_roots)}],
        "nodes": _nodes(asset),
        "meshes": [_mesh(mesh, data) for mesh in asset.meshes],
        **looks,
        "skins": [
            {
                "name": skin.name,
                "joints": skin.joints.tolist(),
                "inverseBindMatrices": _matrices(skin.inverse_bind, data),
            }
            for skin in asset.skins
        ],
        "animations": [made for clip in asset.clips if (made := _animation(clip, data))],
        "accessors": data.accessors,
        "bufferViews": data.views,
        "buffers": [{"byteLength": data.length}] if data.length else [],
    }
    return GltfDocument(
        json={key: value for key, value in json.items() if value != []},
        buffers=(data.joined(),) if data.length else (),
        folder=asset.path.parent if asset.path else Path(),
        is_binary=True,
    )


def _nodes(asset: Asset) -> list[dict[str, Any]]:
    made = [_node(node, asset) for node in asset.nodes]
    for index, node in enumerate(asset.nodes):
        if node.parent >= 0:
            made[node.parent].setdefault("children", []).append(index)
    return made


def _node(node: Node, asset: Asset) -> dict[str, Any]:
    w, x, y, z = (node.rotation / np.linalg.norm(node.rotation)).tolist()
    made: dict[str, Any] = {
        "name": node.name,
        "translation": np.asarray(node.translation, np.float64).tolist(),
        "rotation": [x, y, z, w],
        "scale": np.asarray(node.scale, np.float64).tolist(),
    }
    if node.mesh is not None:
        made["mesh"] = node.mesh
        if node.skin is not None and asset.meshes[node.mesh].parts[0].joints is not None:
            made["skin"] = node.skin
    return made


def _mesh(mesh: Mesh, data: BufferBuilder) -> dict[str, Any]:
    made: dict[str, Any] = {
        "name": mesh.name,
        "primitives": [_primitive(part, data) for part in mesh.parts],
    }
    if mesh.morph_weights is not None:
        made["weights"] = mesh.morph_weights.tolist()
    if mesh.morph_names:
        made["extras"] = {"targetNames": list(mesh.morph_names)}
    return made


def _primitive(part: MeshPart, data: BufferBuilder) -> dict[str, Any]:
    attributes = {"POSITION": data.add(_floats(part.positions), VERTICES, bounds=True)}
    if part.normals is not None and (unit := _unit_normals(part.normals)) is not None:
        attributes["NORMAL"] = data.add(unit, VERTICES)
    if part.uv is not None:
        attributes["TEXCOORD_0"] = data.add(_floats(part.uv), VERTICES)
    if part.colours is not None:
        attributes["COLOR_0"] = data.add(_floats(part.colours), VERTICES)
    if part.joints is not None and part.weights is not None:
        joints, weights = pack_influences(part.joints.astype(np.int64), part.weights)
        attributes |= data.add_influences(joints, weights, np.uint16)
    made: dict[str, Any] = {
        "attributes": attributes,
        "indices": data.add_faces(part.faces, len(part.positions)),
    }
    if part.material is not None:
        made["material"] = part.material
    if part.morphs is not None:
        made["targets"] = [
            {"POSITION": data.add(_floats(offsets), VERTICES, bounds=True)}
            for offsets in part.morphs
        ]
    return made


def _floats(values: np.ndarray) -> Float[np.ndarray, "..."]:
    return values.astype(np.float32, copy=False)


def _unit_normals(normals: Float[np.ndarray, "V 3"]) -> Float[np.ndarray, "V 3"] | None:
    """Unit normals, or None where one has no direction: players then compute them."""
    lengths = np.linalg.norm(normals.astype(np.float64), axis=1, keepdims=True)
    return _floats(normals / lengths) if (lengths > 1e-9).all() else None


def _matrices(matrices: Float[np.ndarray, "J 4 4"], data: BufferBuilder) -> int:
    """Stored column by column."""
    return data.add(_floats(matrices.transpose(0, 2, 1)).reshape(-1, 16))


def _animation(clip: ClipRecord, data: BufferBuilder) -> dict[str, Any] | None:
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    inputs: dict[bytes, int] = {}
    for track in clip.tracks:
        times = _floats(track.times)
        if (key := times.tobytes()) not in inputs:
            inputs[key] = data.add(times.reshape(-1, 1), bounds=True)
        values = track.values[..., (1, 2, 3, 0)] if track.path == "rotation" else track.values
        width = 1 if track.path == "weights" else values.shape[-1]
        samplers.append(
            {
                "input": inputs[key],
                "output": data.add(_floats(values).reshape(-1, width)),
                "interpolation": track.interpolation,
            }
        )
        target = {"node": track.node, "path": track.path}
        channels.append({"sampler": len(channels), "target": target})
    if not channels:
        return None
    return {"name": clip.name, "samplers": samplers, "channels": channels}
