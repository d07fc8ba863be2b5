"""Which vertices are a weapon, a hat or a cape: they follow the body, and are not part of it."""

from __future__ import annotations

from collections.abc import Set

import numpy as np
from jaxtyping import Bool, Float, Int

from akd.rig.mesh import SkinnedMesh
from akd.rig.roles import names
from akd.rig.roles.body import Body, Evidence
from akd.rig.roles.symmetry import find_sagittal
from akd.rig.skeleton import Skeleton

_SLOTS = {"slot", "handslot", "socket", "attach"}
_BONES = 5
"""Joints with skin that make a body beside which other things are scenery."""
_ASIDE = 0.05
"""A joint of a limb is as far from the plane of symmetry, as a fraction of the body's size."""
_LIKE = 0.2
"""Two pieces are of a kind where their extents differ by less than this fraction."""
_MOST = 0.6
"""What would leave less than the rest of the vertices for the body is the body."""


def find_props(
    skeleton: Skeleton,
    mesh: SkinnedMesh,
    is_joint: Bool[np.ndarray, "J"],
    carriers: Int[np.ndarray, "J"],
    animated: Set[int] = frozenset(),
) -> Bool[np.ndarray, "V"]:
    """Vertices of props.

    A joint is a prop's where its name says so. A rigid piece that hangs on a joint of a skin is one
    where its name says so, where it hangs in a slot, or where that joint has skin of its own. Next
    to a skin, a rigid piece that hangs on no joint and that no clip moves is scenery.

    Args:
        skeleton: All nodes of the file.
        mesh: Everything that they move.
        is_joint: Nodes that a skin names.
        carriers: The joint that moves each node.
        animated: Nodes that clips move.
    """
    owners = mesh.skin.owners.numpy()
    has_skin = np.zeros(len(skeleton), dtype=bool)
    has_skin[np.unique(owners)] = True

    holders = {a for j in np.flatnonzero(is_joint).tolist() for a in skeleton.ancestors(j)}
    has_bones = int((is_joint & has_skin).sum()) >= _BONES

    def is_scenery(node: int) -> bool:
        own = {node, *skeleton.ancestors(node)} - holders
        return has_bones and node not in holders and own.isdisjoint(animated)

    def is_prop(node: int) -> bool:
        joint = int(carriers[node])
        if joint == node and not is_joint[node] and is_scenery(node):
            return True
        if is_joint[node] or joint == node:
            return "prop" in names.parts_of(skeleton.names[node])
        between = [node]
        while between[-1] != joint:
            between.append(skeleton.parents[between[-1]])
        said = [skeleton.names[n] for n in between]
        in_slot = any(_SLOTS & set(names.words(n)) for n in said)
        return in_slot or bool(has_skin[joint]) or any("prop" in names.parts_of(n) for n in said)

    found = np.array([n for n in np.flatnonzero(has_skin).tolist() if is_prop(n)], dtype=np.int64)
    props = np.isin(owners, found)
    return props if props.mean() < _MOST else np.zeros_like(props)


def find_lone_pieces(evidence: Evidence) -> list[int]:
    """Joints of what a limb carries, by shape: the last of a chain whose skin is rigid and its own,
    on a joint aside of the plane of symmetry that has skin, with nothing like it elsewhere. A
    sword and a shield; not the hands of a block figure, which are two of a kind.
    """
    if evidence.weights is None:
        return []
    skeleton, mass = evidence.skeleton, evidence.mass
    moving = np.flatnonzero((mass > 0) & evidence.is_joint).tolist()
    leaves = [j for j in moving if not any(mass[k] > 0 for k in list(skeleton.subtree(j))[1:])]
    shared = evidence.shared[leaves]
    mixed = shared.sum(axis=1) - shared[np.arange(len(leaves)), leaves]
    rigid = [j for j, m in zip(leaves, mixed, strict=True) if m == 0.0 and len(evidence.skin_of[j])]
    if not rigid:
        return []
    plane = find_sagittal(evidence, Body(-1, dict.fromkeys(moving, -1), {}))
    sizes = {j: _extents(evidence.skin_of[j]) for j in rigid}

    def is_lone(joint: int) -> bool:
        parent = skeleton.parents[joint]
        if parent < 0 or mass[parent] == 0 or joint in plane.partners:
            return False
        if abs(plane.coordinate(evidence.positions[parent])) < _ASIDE * evidence.size:
            return False
        gaps = [np.abs(sizes[joint] - sizes[k]).max() for k in rigid if k != joint]
        return bool(min(gaps, default=np.inf) > _LIKE * sizes[joint].max())

    return [joint for joint in rigid if is_lone(joint)]


def _extents(points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "3"]:
    """Standard deviations along the main axes, which do not depend on the pose."""
    if len(points) < 2:
        return np.zeros(3)
    return np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(points.T)), 0.0))
