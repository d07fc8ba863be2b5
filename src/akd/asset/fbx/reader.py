"""`read_records`: an FBX file as nodes, meshes, skins, materials and clips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from akd.asset.asset import Asset, AssetError, Budget, Node
from akd.asset.fbx.clips import read_clips
from akd.asset.fbx.materials import MaterialReader
from akd.asset.fbx.meshes import MeshReader
from akd.asset.fbx.scene import FbxScene
from akd.asset.gltf.problems import ProblemLog

_NORMAL_INHERITANCE = 0


def read_records(path: Path, problems: ProblemLog, budget: Budget) -> Asset:
    """Read a file, in metres with Y up. Raises `AssetError` where it cannot be used."""
    fbx = FbxScene(path, budget)
    materials = MaterialReader(fbx, path, problems)
    meshes = MeshReader(fbx, materials, problems)
    # The first node is a root that every scene has and no file names.
    numbers = {int(node.element_id): i for i, node in enumerate(fbx.nodes[1:])}
    nodes = tuple(_read_node(fbx, given, numbers, meshes, problems) for given in fbx.nodes[1:])
    if not nodes:
        raise AssetError("must have at least one node, got none")
    return Asset(
        path=path,
        format="fbx",
        nodes=nodes,
        meshes=tuple(meshes.meshes),
        materials=tuple(materials.materials),
        images=tuple(materials.images),
        skins=tuple(meshes.skins),
        clips=read_clips(fbx, problems),
        scene_roots=tuple(i for i, node in enumerate(nodes) if node.parent < 0),
    )


def _read_node(
    fbx: FbxScene, given: Any, numbers: dict[int, int], meshes: MeshReader, problems: ProblemLog
) -> Node:
    parent = fbx.keep(given.parent)
    transform = given.local_transform
    scale = np.array(tuple(transform.scale))
    if given.inherit_mode != _NORMAL_INHERITANCE and parent is not None:
        inherited = np.array(tuple(parent.local_transform.scale))
        if np.abs(inherited - 1.0).max() > 1e-3:
            problems.warn(
                f"node {given.name!r}", "does not inherit its parent's scale", "it does in glTF"
            )
    mesh, skin = meshes.read(given, numbers)
    return Node(
        name=given.name or "node",
        parent=-1 if parent is None else numbers.get(int(parent.element_id), -1),
        translation=fbx.points_in(np.array(tuple(transform.translation))),
        rotation=fbx.rotations_in(np.array(tuple(transform.rotation))),
        scale=fbx.scales_in(scale),
        mesh=mesh,
        skin=skin,
    )
