"""A rig as a worse exporter would have written it: without names, without helpers, without a tree.

Only what roles are inferred from is kept consistent: nodes, skins and meshes. Clips are dropped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from akd.asset.asset import Asset, Mesh, Node
from akd.math import transform
from akd.rig.bind import skeleton_of


def without_names(asset: Asset) -> Asset:
    """A copy whose joints are called `bone_17`."""
    nodes = tuple(replace(n, name=f"bone_{i}") for i, n in enumerate(asset.nodes))
    return replace(asset, nodes=nodes, clips=())


def flattened(asset: Asset) -> Asset:
    """A copy with all nodes under one new root, the last node, resting where they did."""
    world = skeleton_of(asset).forward(skeleton_of(asset).rest)
    root = len(asset.nodes)
    nodes = [_placed(n, root, world[i]) for i, n in enumerate(asset.nodes)]
    origin = Node("root", -1, np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.ones(3))
    shown = asset.scene_roots or tuple(i for i, n in enumerate(asset.nodes) if n.parent < 0)
    return replace(asset, nodes=(*nodes, origin), clips=(), scene_roots=(root,) if shown else ())


def without_helpers(asset: Asset) -> Asset:
    """A copy without every second joint that moves nothing: its children move to its parent, and
    its index is taken by a node of no name outside the scene, so that all others keep theirs.
    A skeleton without a surface is returned as it is: nothing tells its bones from helpers."""
    moving = _moving(asset)
    if not moving:
        return asset
    has_child = {n.parent for n in asset.nodes}
    idle = [i for i, n in enumerate(asset.nodes) if i not in moving and n.mesh is None]
    idle = [i for i in idle if asset.nodes[i].parent >= 0 or i not in has_child]
    removed = set(idle[::2])
    skeleton = skeleton_of(asset)
    world = skeleton.forward(skeleton.rest)
    nodes = []
    for index, node in enumerate(asset.nodes):
        if index in removed:
            nodes.append(replace(_placed(node, -1, torch.eye(4)), name=""))
            continue
        parent = node.parent
        while parent in removed:
            parent = asset.nodes[parent].parent
        local = world[index] if parent < 0 else transform.inverse(world[parent]) @ world[index]
        nodes.append(node if parent == node.parent else _placed(node, parent, local))
    return _without_joints(replace(asset, nodes=tuple(nodes), clips=()), removed)


def _placed(node: Node, parent: int, local: torch.Tensor) -> Node:
    translation, rotation, scale = (x.double().numpy() for x in transform.decompose(local))
    return replace(node, parent=parent, translation=translation, rotation=rotation, scale=scale)


def _moving(asset: Asset) -> set[int]:
    """Nodes that carry weight of any skin, or a rigid mesh."""
    moving: set[int] = set()
    for index, node in enumerate(asset.nodes):
        if node.mesh is not None and node.skin is None:
            moving |= {index, node.parent}
        if node.mesh is None or node.skin is None:
            continue
        joints = np.asarray(asset.skins[node.skin].joints)
        for part in asset.meshes[node.mesh].parts:
            if part.joints is not None and part.weights is not None:
                moving |= set(joints[np.unique(part.joints[part.weights > 0])].tolist())
    return moving


def _without_joints(asset: Asset, removed: set[int]) -> Asset:
    """Take joints that carry no weight out of every skin."""
    keeps = [np.array([int(j) not in removed for j in s.joints], dtype=bool) for s in asset.skins]
    skins = tuple(
        replace(s, joints=s.joints[keep], inverse_bind=s.inverse_bind[keep])
        for s, keep in zip(asset.skins, keeps, strict=True)
    )
    skin_of = {n.mesh: n.skin for n in asset.nodes if n.mesh is not None and n.skin is not None}

    def renumbered(index: int, mesh: Mesh) -> Mesh:
        if index not in skin_of:
            return mesh
        number = np.maximum(np.cumsum(keeps[skin_of[index]]) - 1, 0)
        parts = tuple(
            p if p.joints is None else replace(p, joints=number[p.joints]) for p in mesh.parts
        )
        return replace(mesh, parts=parts)

    meshes = tuple(renumbered(i, m) for i, m in enumerate(asset.meshes))
    return replace(asset, skins=skins, meshes=meshes)
