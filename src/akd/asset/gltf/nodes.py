"""The node forest: parents, transforms, and the roots of the scene that is shown."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from akd.asset.asset import AssetError, Node
from akd.asset.gltf.fields import Fields
from akd.asset.gltf.problems import ProblemLog

_UNIT_TOLERANCE = 1e-3
_SHEAR_TOLERANCE = 1e-4


def read_nodes(root: Fields, problems: ProblemLog) -> tuple[Node, ...]:
    """Return every node in the file's order, whether a scene shows it or not."""
    entries = root.objects("nodes", "node")
    parents = _find_parents(entries, problems)
    meshes, skins = len(root.items("meshes")), len(root.items("skins"))
    nodes: list[Node] = []
    for entry, parent in zip(entries, parents, strict=True):
        translation, rotation, scale = _read_transform(entry, problems)
        morph_weights = None
        if entry.has("weights"):
            morph_weights = np.array(entry.numbers("weights", None), np.float64)
        nodes.append(
            Node(
                name=entry.name(),
                parent=parent,
                translation=translation,
                rotation=rotation,
                scale=scale,
                mesh=entry.index("mesh", meshes, "meshes"),
                skin=entry.index("skin", skins, "skins"),
                is_matrix=entry.has("matrix"),
                morph_weights=morph_weights,
            )
        )
    return tuple(nodes)


def read_scene_roots(
    root: Fields, nodes: tuple[Node, ...], problems: ProblemLog
) -> tuple[int, ...]:
    """Return the root nodes of the scene that is shown."""
    scenes = root.objects("scenes", "scene")
    all_roots = tuple(i for i, node in enumerate(nodes) if node.parent < 0)
    if not scenes:
        if nodes:
            problems.note("file", "has no scene", "all of its nodes are shown")
        return all_roots
    try:
        shown = root.index("scene", len(scenes), "scenes") or 0
    except AssetError as error:
        problems.warn("scene", str(error), "the first scene is shown")
        shown = 0
    scene = scenes[shown]
    listed = scene.indices("nodes", len(nodes), "nodes")
    roots = dict.fromkeys(i for i in listed if nodes[i].parent < 0)
    if len(roots) < len(set(listed)):
        inner = next(i for i in listed if nodes[i].parent >= 0)
        problems.warn(
            scene.where,
            f"lists node {inner}, which is the child of node {nodes[inner].parent}",
            "the root above it is shown",
        )
        for i in listed:
            top = i
            while nodes[top].parent >= 0:
                top = nodes[top].parent
            roots[top] = None
    return tuple(roots)


def _find_parents(entries: list[Fields], problems: ProblemLog) -> list[int]:
    """Return each node's parent, having made sure that the nodes are a forest."""
    parents = [-1] * len(entries)
    for i, entry in enumerate(entries):
        children = entry.indices("children", len(entries), "nodes")
        if len(set(children)) < len(children):
            problems.warn(entry.where, "lists a child twice", "it is taken once")
        for child in dict.fromkeys(children):
            if child == i:
                raise GltfError(entry.where, f"nodes must be a forest, it is its own child")
            if parents[child] >= 0:
                raise AssetError(
                    f"node {child}: nodes must be a forest, it is a child of both "
                    f"node {parents[child]} and node {i}"
                )
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
            raise AssetError(f"node {node}: nodes must be a forest, it is its own ancestor")
        for passed in path:
            state[passed] = 2
    return parents


def _read_transform(
    entry: Fields, problems: ProblemLog
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "4"], Float[np.ndarray, "3"]]:
    if entry.has("matrix"):
        if any(entry.has(key) for key in ("translation", "rotation", "scale")):
            problems.warn(entry.where, "has a matrix and more", "the matrix counts")
        matrix = np.array(entry.numbers("matrix", 16), np.float64).reshape(4, 4).T
        return _decompose(matrix, entry.where, problems)
    translation = np.array(entry.numbers("translation", 3, (0.0, 0.0, 0.0)), np.float64)
    x, y, z, w = entry.numbers("rotation", 4, (0.0, 0.0, 0.0, 1.0))
    scale = np.array(entry.numbers("scale", 3, (1.0, 1.0, 1.0)), np.float64)
    return translation, _unit((w, x, y, z), entry.place("rotation"), problems), scale


def _unit(
    wxyz: tuple[float, float, float, float], where: str, problems: ProblemLog
) -> Float[np.ndarray, "4"]:
    length = math.hypot(*wxyz)
    if length < 1e-6 or not math.isfinite(length):
        problems.warn(where, f"is a quaternion of length {length:.3g}", "no rotation is taken")
        return np.array((1.0, 0.0, 0.0, 0.0))
    if abs(length - 1.0) > _UNIT_TOLERANCE:
        problems.warn(where, f"is a quaternion of length {length:.6g}", "it is normalised")
    return np.array(wxyz, np.float64) / length


def _decompose(
    matrix: Float[np.ndarray, "4 4"], where: str, problems: ProblemLog
) -> tuple[Float[np.ndarray, "3"], Float[np.ndarray, "4"], Float[np.ndarray, "3"]]:
    """Translation, rotation and scale of a matrix; shear and perspective are dropped."""
    if not np.allclose(matrix[3], (0.0, 0.0, 0.0, 1.0), atol=1e-6):
        problems.warn(f"{where}, matrix", "its last row is not 0 0 0 1", "that row is ignored")
    linear = matrix[:3, :3]
    # The rotation nearest to the matrix with its columns' lengths taken out.
    scale = np.sqrt((linear**2).sum(axis=0))
    if not np.isfinite(scale).all():
        raise AssetError(f"{where}, matrix: must have columns of finite length")
    columns = linear / np.where(scale > 0.0, scale, 1.0)
    shear = float(np.abs(columns.T @ columns - np.diag((scale > 0.0).astype(float))).max())
    if shear > _SHEAR_TOLERANCE:
        problems.warn(
            f"{where}, matrix", f"is sheared (columns {shear:.3g} off square)", "shear is dropped"
        )
    if np.linalg.det(columns) < 0.0:
        scale[0], columns[:, 0] = -scale[0], -columns[:, 0]
    left, _, right = np.linalg.svd(columns)
    if np.linalg.det(left @ right) < 0.0:
        left[:, 2] = -left[:, 2]
    return matrix[:3, 3].copy(), _quaternion(left @ right), scale


def _quaternion(rotation: Float[np.ndarray, "3 3"]) -> Float[np.ndarray, "4"]:
    """Unit quaternion, wxyz, of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(rotation).as_quat(canonical=True)
    return np.array((w, x, y, z))
