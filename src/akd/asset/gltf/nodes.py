"""The node forest: parents, transforms, and the roots of the scene that is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from akd.asset.asset import Mesh, Node
from akd.asset.gltf.fields import Fields, GltfError
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.transform import read_transform


def read_nodes(root: Fields, problems: ProblemLog) -> tuple[Node, ...]:
    """Return every node in the file's order, whether a scene shows it or not."""
    entries = root.objects("nodes", "node")
    parents = _find_parents(entries, problems)
    meshes, skins = len(root.items("meshes")), len(root.items("skins"))
    nodes: list[Node] = []
    for entry, parent in zip(entries, parents, strict=True):
        translation, rotation, scale = read_transform(entry, problems)
        mesh = entry.index("mesh", meshes, "meshes")
        skin = entry.index("skin", skins, "skins")
        if skin is not None and mesh is None:
            problems.note(entry.where, "has a skin but no mesh", "its skin is not used")
        nodes.append(
            Node(
                name=entry.name(),
                parent=parent,
                translation=translation,
                rotation=rotation,
                scale=scale,
                mesh=mesh,
                skin=skin,
                is_matrix=entry.has("matrix"),
                morph_weights=_read_morph_weights(entry, problems),
            )
        )
    return tuple(nodes)


def with_fitting_morph_weights(
    nodes: tuple[Node, ...], meshes: Sequence[Mesh], problems: ProblemLog
) -> tuple[Node, ...]:
    """Return the nodes without those morph weights that do not fit their mesh."""
    result: list[Node] = []
    for i, node in enumerate(nodes):
        weights, targets = node.morph_weights, 0
        if node.mesh is not None and meshes[node.mesh].morph_weights is not None:
            targets = len(meshes[node.mesh].morph_weights)  # pyright: ignore[reportArgumentType]
        if weights is not None and len(weights) != targets:
            what = f"has {len(weights)} weights for {targets} morph targets"
            problems.warn(f"node {i}", what, "those of the mesh are taken")
            node = replace(node, morph_weights=None)  # noqa: PLW2901
        result.append(node)
    return tuple(result)


def read_scene_roots(root: Fields, nodes: Sequence[Node], problems: ProblemLog) -> tuple[int, ...]:
    """Return the root nodes of the scene that is shown."""
    scenes = root.objects("scenes", "scene")
    if not scenes:
        if nodes:
            problems.note("file", "has no scene", "all of its nodes are shown")
        return tuple(i for i, node in enumerate(nodes) if node.parent < 0)
    try:
        scene = scenes[root.index("scene", len(scenes), "scenes") or 0]
    except GltfError as error:
        problems.left_out(error, "the first scene is shown")
        scene = scenes[0]
    listed = scene.indices("nodes", len(nodes), "nodes")
    inner = [i for i in listed if nodes[i].parent >= 0]
    if inner:
        what = f"lists node {inner[0]}, which is the child of node {nodes[inner[0]].parent}"
        problems.warn(scene.where, what, "the root above it is shown")
    tops = _find_tops(nodes) if inner else list(range(len(nodes)))
    return tuple(dict.fromkeys(tops[i] for i in listed))


def _find_tops(nodes: Sequence[Node]) -> list[int]:
    """The root above every node."""
    tops = [-1] * len(nodes)
    for start in range(len(nodes)):
        path, node = [], start
        while tops[node] < 0 and nodes[node].parent >= 0:
            path.append(node)
            node = nodes[node].parent
        top = node if tops[node] < 0 else tops[node]
        tops[node] = top
        for passed in path:
            tops[passed] = top
    return tops


def _find_parents(entries: list[Fields], problems: ProblemLog) -> list[int]:
    """Return each node's parent, having made sure that the nodes are a forest."""
    parents = [-1] * len(entries)
    for i, entry in enumerate(entries):
        children = entry.indices("children", len(entries), "nodes")
        if len(set(children)) < len(children):
            problems.warn(entry.where, "lists a child twice", "it is taken once")
        for child in dict.fromkeys(children):
            if child == i:
                raise GltfError(entry.where, "must be in a forest, but is its own child")
            if parents[child] >= 0:
                both = f"node {parents[child]} and node {i}"
                raise GltfError(f"node {child}", f"must have one parent, got {both}")
            parents[child] = i
    # 0: not seen yet, 1: on the way up from the current node, 2: known to reach a root.
    state = bytearray(len(entries))
    for start in range(len(entries)):
        path, node = [], start
        while node >= 0 and state[node] == 0:
            state[node] = 1
            path.append(node)
            node = parents[node]
        if node >= 0 and state[node] == 1:
            raise GltfError(f"node {node}", "must be in a forest, but is its own ancestor")
        for passed in path:
            state[passed] = 2
    return parents


def _read_morph_weights(entry: Fields, problems: ProblemLog) -> np.ndarray | None:
    if not entry.has("weights"):
        return None
    try:
        return np.array(entry.numbers("weights", None), np.float64)
    except GltfError as error:
        problems.left_out(error, "those of the mesh are taken")
        return None
