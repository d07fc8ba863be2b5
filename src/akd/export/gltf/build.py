"""`build_document`: a new glTF document of a character, in metres, Y up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Integer

from akd.asset.asset import GltfDocument
from akd.asset.gltf.buffer import VERTICES, BufferBuilder
from akd.asset.gltf.influences import pack_influences
from akd.base.version import __version__
from akd.export.gltf.clips import add_clips
from akd.math.triangles import vertex_normals
from akd.motion.clip_data import ClipData
from akd.rig.mesh import SkinnedMesh
from akd.rig.skeleton import Skeleton


def build_document(
    mesh: SkinnedMesh,
    skeleton: Skeleton,
    clips: Sequence[ClipData] = (),
    *,
    name: str = "character",
    extras: Mapping[str, Any] | None = None,
) -> GltfDocument:
    """Make a glTF document of a skinned mesh, its skeleton and clips on it.

    Node j is joint j of the skeleton, so clips name joints. `extras` go to the document's `asset`.
    Normals are the mesh's smooth ones.
    """
    data = BufferBuilder()
    nodes, roots = _joint_nodes(skeleton, name)
    joints = _bone_nodes(mesh, nodes)
    positions = mesh.vertices.numpy(force=True).astype(np.float32)
    faces = mesh.faces.numpy(force=True)
    bones, weights = pack_influences(
        mesh.skin.bones.numpy(force=True), mesh.skin.weights.numpy(force=True)
    )
    attributes = {
        "POSITION": data.add(positions, VERTICES, bounds=True),
        "NORMAL": data.add(_normals(positions, faces), VERTICES),
        "COLOR_0": data.add(_colours(mesh), VERTICES),
    }
    joint_type = np.uint8 if len(joints) <= 256 else np.uint16
    for index in range(bones.shape[1] // 4):
        four = slice(4 * index, 4 * index + 4)
        attributes[f"JOINTS_{index}"] = data.add(bones[:, four].astype(joint_type), VERTICES)
        attributes[f"WEIGHTS_{index}"] = data.add(weights[:, four], VERTICES)
    indices = data.add_faces(faces, len(positions))
    inverse_bind = mesh.skin.inverse_bind.numpy(force=True).astype(np.float32)
    inverse_bind[:, 3] = (0.0, 0.0, 0.0, 1.0)
    matrices = data.add(inverse_bind.transpose(0, 2, 1).reshape(-1, 16))
    nodes.append({"name": name, "mesh": 0, "skin": 0})
    asset: dict[str, Any] = {"version": "2.0", "generator": f"akd {__version__}"}
    if extras:
        asset["extras"] = dict(extras)
    primitive = {"attributes": attributes, "indices": indices, "material": 0}
    document = GltfDocument(
        json={
            "asset": asset,
            "scene": 0,
            "scenes": [{"nodes": [*roots, len(nodes) - 1]}],
            "nodes": nodes,
            "meshes": [{"name": name, "primitives": [primitive]}],
            "materials": [
                {
                    "name": name,
                    "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.9},
                }
            ],
            "skins": [{"name": name, "joints": joints, "inverseBindMatrices": matrices}],
            "accessors": data.accessors,
            "bufferViews": data.views,
            "buffers": [{"byteLength": data.length}],
        },
        buffers=(data.joined(),),
        folder=Path(),
        is_binary=True,
    )
    return add_clips(document, clips)


def _joint_nodes(skeleton: Skeleton, name: str) -> tuple[list[dict[str, Any]], list[int]]:
    """A node for each joint, and the roots of the scene."""
    rest = skeleton.rest
    nodes: list[dict[str, Any]] = []
    for joint in range(len(skeleton)):
        translation = rest.translation[joint].double().numpy(force=True)
        w, x, y, z = _unit(rest.rotation[joint].double().numpy(force=True))
        node: dict[str, Any] = {
            "name": skeleton.names[joint],
            "translation": translation.tolist(),
            "rotation": [x, y, z, w],
            "scale": rest.scale[joint].double().numpy(force=True).tolist(),
        }
        if skeleton.children[joint]:
            node["children"] = list(skeleton.children[joint])
        nodes.append(node)
    roots = list(skeleton.roots)
    if len(roots) > 1:
        # The joints of a skin must hang together.
        nodes.append({"name": f"{name} skeleton", "children": roots})
        roots = [len(nodes) - 1]
    return nodes, roots


def _unit(wxyz: Float[np.ndarray, "4"]) -> list[float]:
    return (wxyz / np.linalg.norm(wxyz)).tolist()


def _bone_nodes(mesh: SkinnedMesh, nodes: list[dict[str, Any]]) -> list[int]:
    """The node of each bone. A joint that serves as several bones gets a child for each further
    one, because a skin may not name a node twice."""
    joints: list[int] = []
    for joint in mesh.skin.bone_joints.tolist():
        node = joint
        if node in joints:
            node = len(nodes)
            nodes.append({"name": f"{nodes[joint]['name']} {node}"})
            nodes[joint] = {
                **nodes[joint],
                "children": [*nodes[joint].get("children", ()), node],
            }
        joints.append(node)
    return joints


def _normals(
    positions: Float32[np.ndarray, "V 3"], faces: Integer[np.ndarray, "F 3"]
) -> Float32[np.ndarray, "V 3"]:
    """Unit normals of the vertices. A vertex that has none must point somewhere: up."""
    normals = vertex_normals(positions.astype(np.float64), faces)
    return np.where(normals.any(axis=1, keepdims=True), normals, (0.0, 1.0, 0.0)).astype(np.float32)


def _colours(mesh: SkinnedMesh) -> Float32[np.ndarray, "V 3"]:
    return mesh.colours.numpy(force=True).astype(np.float32).clip(0.0, 1.0)
