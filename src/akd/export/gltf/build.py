"""`build_document`: a new glTF document of a character, in metres, Y up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Integer

from akd.asset.asset import GltfDocument, Image, Material
from akd.asset.gltf.buffer import VERTICES, BufferBuilder
from akd.asset.gltf.encode_materials import encode_materials
from akd.asset.gltf.influences import pack_influences
from akd.base.version import __version__
from akd.export.gltf.clips import add_clips
from akd.math.triangles import vertex_normals
from akd.motion.clip_data import ClipData
from akd.rig.mesh import SkinnedMesh, SurfacePart
from akd.rig.skeleton import Skeleton


def build_document(
    mesh: SkinnedMesh,
    skeleton: Skeleton,
    clips: Sequence[ClipData] = (),
    *,
    name: str = "character",
    materials: Sequence[Material] = (),
    images: Sequence[Image] = (),
    extras: Mapping[str, Any] | None = None,
) -> GltfDocument:
    """Make a glTF document of a skinned mesh, its skeleton and clips on it.

    Node j is joint j of the skeleton, so clips name joints. `extras` go to the document's `asset`.
    Normals are the mesh's smooth ones. Where `materials` are given, which the mesh's parts refer
    to, they are kept with their base colours and textures; otherwise colours are per vertex.
    """
    data = BufferBuilder()
    nodes, roots = _joint_nodes(skeleton, name)
    joints = _bone_nodes(mesh, nodes)
    primitives = _primitives(mesh, data, materials, np.uint8 if len(joints) <= 256 else np.uint16)
    inverse_bind = mesh.skin.inverse_bind.numpy(force=True).astype(np.float32)
    inverse_bind[:, 3] = (0.0, 0.0, 0.0, 1.0)
    matrices = data.add(inverse_bind.transpose(0, 2, 1).reshape(-1, 16))
    nodes.append({"name": name, "mesh": 0, "skin": 0})
    asset: dict[str, Any] = {"version": "2.0", "generator": f"akd {__version__}"}
    if extras:
        asset["extras"] = dict(extras)
    # Colours of the vertices are multiplied by the material's.
    white = [replace(m, base_colour=(1.0, 1.0, 1.0, m.base_colour[3])) for m in materials]
    looks = encode_materials(white or [Material(name)], images, data)
    document = GltfDocument(
        json={
            "asset": asset,
            "scene": 0,
            "scenes": [{"nodes": [*roots, len(nodes) - 1]}],
            "nodes": nodes,
            "meshes": [{"name": name, "primitives": primitives}],
            **{key: entries for key, entries in looks.items() if entries},
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


def _primitives(
    mesh: SkinnedMesh, data: BufferBuilder, materials: Sequence[Material], joint_type: type
) -> list[dict[str, Any]]:
    """The whole mesh with colours per vertex, or its parts, each with a material."""
    positions = mesh.vertices.numpy(force=True).astype(np.float32)
    faces = mesh.faces.numpy(force=True)
    normals = _normals(positions, faces)
    bones, weights = pack_influences(
        mesh.skin.bones.numpy(force=True), mesh.skin.weights.numpy(force=True)
    )
    whole = SurfacePart(
        slice(0, len(positions)), slice(0, len(faces)), 0, None, mesh.colours.clip(0.0, 1.0)
    )
    made: list[dict[str, Any]] = []
    for part in mesh.parts if materials else (whole,):
        rows = part.vertices
        attributes = {
            "POSITION": data.add(positions[rows], VERTICES, bounds=True),
            "NORMAL": data.add(normals[rows], VERTICES),
        }
        if part.uv is not None:
            attributes["TEXCOORD_0"] = data.add(part.uv.numpy(force=True), VERTICES)
        colours = part.base_colours.numpy(force=True).astype(np.float32)
        if not materials or (colours != 1.0).any():
            attributes["COLOR_0"] = data.add(colours, VERTICES)
        attributes |= data.add_influences(bones[rows], weights[rows], joint_type)
        indices = data.add_faces(faces[part.faces] - rows.start, rows.stop - rows.start)
        made.append({"attributes": attributes, "indices": indices})
        # A texture needs coordinates: without them a part has the colours of its vertices alone.
        if part.material is not None and not (
            materials and part.uv is None and materials[part.material].image is not None
        ):
            made[-1]["material"] = part.material
    return made


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
