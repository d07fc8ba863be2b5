"""What is shown with a body and is not part of it: props and riders, which follow it, scenery,
which does not, and other bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence, Set

import numpy as np
from jaxtyping import Bool, Float, Int

from akd.rig.mesh import SkinnedMesh
from akd.rig.roles import names
from akd.rig.roles.body import Body, Evidence
from akd.rig.roles.symmetry import find_sagittal
from akd.rig.skeleton import Skeleton

_BODY = 0.2
"""Of several bodies each is at least this fraction of the largest in size."""
_SLOTS = {"slot", "handslot", "socket", "attach"}
_BONES = 5
"""Joints with skin that make a body beside which loose pieces are props."""
_ASIDE = 0.05
"""A joint of a limb is as far from the plane of symmetry, as a fraction of the body's size."""
_LIKE = 0.2
"""Two pieces are of a kind where their extents differ by less than this fraction."""
_MOST = 0.6
"""What would leave less than the rest of the vertices for the body is the body."""
_LIMB_WORDS = {"leg": {"leg", "foot"}, "arm": {"arm", "hand"}}
"""What the joints of a limb are called."""
_MIDDLE_WORDS = {"head", "neck", "tail"}
"""What the ends of a body's middle are called."""
_RIDER, _MOUNT = ("leg", "arm"), ("leg",)
"""Limbs that riders, and what they sit on, have by name."""
_IN_AIR = 0.1
"""A rider is this far above the ground, as a fraction of the height of all; a body that stands is
not."""
_BESIDE = 0.25
"""How far scenery reaches beyond the skin, at least, in diagonals of the skin's box: eyes and hats
that hang on no joint do not."""


def find_props(
    skeleton: Skeleton,
    mesh: SkinnedMesh,
    is_joint: Bool[np.ndarray, "J"],
    carriers: Int[np.ndarray, "J"],
    moved: Set[int] = frozenset(),
) -> Bool[np.ndarray, "V"]:
    """Vertices of props.

    A joint is a prop's where its name says so. A rigid piece that hangs on a joint of a skin is one
    where its name says so, where it hangs in a slot, or where that joint has skin of its own. Next
    to a skin, a rigid piece that hangs on no joint and that no clip moves is one, too, unless it
    lies within the skin's box, as eyes do.

    Args:
        skeleton: All nodes of the file.
        mesh: Everything that they move.
        is_joint: Nodes that a skin names.
        carriers: The joint that moves each node.
        moved: Nodes that clips move.
    """
    owners = mesh.skin.owners.numpy()
    has_skin = np.zeros(len(skeleton), dtype=bool)
    has_skin[np.unique(owners)] = True

    holders = {a for j in np.flatnonzero(is_joint).tolist() for a in skeleton.ancestors(j)}
    has_bones = int((is_joint & has_skin).sum()) >= _BONES
    points = mesh.vertices.numpy()
    skin = points[is_joint[owners]]

    def is_loose(node: int) -> bool:
        own = {node, *skeleton.ancestors(node)} - holders
        if not has_bones or node in holders or not own.isdisjoint(moved):
            return False
        piece = points[owners == node]
        return bool((piece < skin.min(axis=0)).any() or (piece > skin.max(axis=0)).any())

    def is_prop(node: int) -> bool:
        joint = int(carriers[node])
        if joint == node and not is_joint[node] and is_loose(node):
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


def find_riders(
    skeleton: Skeleton, mesh: SkinnedMesh, heights: Float[np.ndarray, "V"]
) -> dict[int, Bool[np.ndarray, "V"]]:
    """Bodies that sit on another one: the topmost joint of each, and its vertices.

    By names, the joints below it have skin of legs, arms and a head, the others have skin of legs
    and a head; it hangs on one of those, and does not reach the ground.

    Args:
        skeleton: All nodes of the file.
        mesh: Everything that they move.
        heights: Of its vertices along up, in any unit.
    """
    owners = mesh.skin.owners.numpy()
    moving = np.unique(owners).tolist()
    said = {j: _limbs_said(skeleton.names[j]) for j in moving}
    every = Counter(part for parts in said.values() for part in parts)
    if not _has_limbs(every, _RIDER) or every["head"] < 2:
        return {}
    floor = float(heights.min()) + _IN_AIR * float(np.ptp(heights))
    found: dict[int, Bool[np.ndarray, "V"]] = {}
    for node in (n for root in skeleton.roots for n in skeleton.subtree(root)):
        above = set(skeleton.ancestors(node))
        if found.keys() & above or said.keys().isdisjoint(above):
            continue
        below = Counter(part for j in skeleton.subtree(node) for part in said.get(j, ()))
        if not _has_limbs(below, _RIDER) or not _has_limbs(every - below, _MOUNT):
            continue
        own = np.isin(owners, list(skeleton.subtree(node)))
        if heights[own].min() > floor:
            found[node] = own
    return found


def _limbs_said(name: str) -> list[str]:
    """What of a body a name mentions, limbs with their side."""
    parts, side = names.parts_of(name), names.side_of(name)
    limbs = [limb for limb, words in _LIMB_WORDS.items() if parts & words]
    return [f"{side.value} {limb}" for limb in limbs] + ["head"] * ("head" in parts)


def _has_limbs(said: Counter[str], limbs: Sequence[str]) -> bool:
    sides = [f"{side} {limb}" for limb in limbs for side in ("left", "right")]
    return all(said[part] for part in (*sides, "head"))


def find_scenery(
    skeleton: Skeleton,
    mesh: SkinnedMesh,
    is_joint: Bool[np.ndarray, "J"],
    carriers: Int[np.ndarray, "J"],
    moved: Collection[int],
) -> tuple[int, ...]:
    """Nodes of scenery, such as a ground plane or a backdrop in an exported scene.

    It is rigid, hangs on no joint of a skin and holds none, no clip moves it, it is not called a
    prop, and it reaches far beyond the skin.

    Args:
        skeleton: All nodes of the file.
        mesh: Everything that they move.
        is_joint: Nodes that a skin names.
        carriers: The joint that moves each node.
        moved: Nodes that clips move.
    """
    owners, points = mesh.skin.owners.numpy(), mesh.vertices.numpy()
    skin = points[is_joint[owners]]
    if not len(skin):
        return ()
    low, high = skin.min(axis=0), skin.max(axis=0)
    far = _BESIDE * float(np.linalg.norm(high - low))

    def is_scenery(node: int) -> bool:
        hangs_on = {node, *skeleton.ancestors(node)}
        if carriers[node] != node or hangs_on & set(moved):
            return False
        if "prop" in names.parts_of(skeleton.names[node]):
            return False
        if is_joint[list(skeleton.subtree(node))].any():
            return False
        piece = points[owners == node]
        return bool(((low - piece).max() > far) or ((piece - high).max() > far))

    found = [node for node in np.unique(owners[~is_joint[owners]]).tolist() if is_scenery(node)]
    return tuple(found) if np.isin(owners, found).mean() < _MOST else ()


def find_other_bodies(
    skins: Sequence[Iterable[int]],
    skeleton: Skeleton,
    mesh: SkinnedMesh,
    points: Float[np.ndarray, "V 3"],
) -> list[set[int]]:
    """Bodies that stand beside the largest one on the same ground: skins that share no joint and
    hang on none of each other's, with room between them.

    Args:
        skins: The joints of each skin.
        skeleton: All nodes of the file.
        mesh: Everything that they move.
        points: Its vertices, Y up, in any unit.

    Returns:
        The nodes of each: its joints, and all below them.
    """
    groups: list[set[int]] = []
    for joints in map(set, skins):
        above = _path_up(joints, skeleton)
        apart = [g for g in groups if not (g & above or joints & _path_up(g, skeleton))]
        groups = [*apart, joints.union(*(g for g in groups if g not in apart))]
    if len(groups) < 2:
        return []
    groups = [{n for j in group for n in skeleton.subtree(j)} for group in groups]
    owners = mesh.skin.owners.numpy()
    floor = float(points[:, 1].min()) + _IN_AIR * float(np.ptp(points[:, 1]))
    parts = [points[np.isin(owners, list(group))] for group in groups]
    boxes = {k: (p.min(axis=0), p.max(axis=0)) for k, p in enumerate(parts) if len(p)}
    boxes = {k: box for k, box in boxes.items() if box[0][1] < floor}
    sizes = {k: float(np.linalg.norm(high - low)) for k, (low, high) in boxes.items()}
    largest = max(sizes, key=sizes.__getitem__, default=-1)
    boxes = {k: box for k, box in boxes.items() if sizes[k] > _BODY * sizes[largest]}

    def is_body(k: int) -> bool:
        """It has bones, and lies beside each of the others and not above or below."""
        low, high = (corner[[0, 2]] for corner in boxes[k])
        others = [(b[0][[0, 2]], b[1][[0, 2]]) for i, b in boxes.items() if i != k]
        has_bones = len(np.unique(owners[np.isin(owners, list(groups[k]))])) >= _BONES
        return has_bones and all(bool(((low > b) | (high < a)).any()) for a, b in others)

    bodies = [k for k in boxes if is_body(k)]
    return [groups[k] for k in bodies if k != largest] if largest in bodies else []


def _path_up(joints: Collection[int], skeleton: Skeleton) -> set[int]:
    """The joints, and all nodes above them."""
    passed: set[int] = set()
    for joint in joints:
        node = joint
        while node >= 0 and node not in passed:
            passed.add(node)
            node = skeleton.parents[node]
    return passed


def find_lone_pieces(evidence: Evidence) -> list[int]:
    """Joints of what a limb carries, by shape: the last of a chain whose skin is rigid and its own,
    on a joint aside of the plane of symmetry that has skin, with nothing like it elsewhere. A
    sword and a shield; not the hands of a block figure, which are two of a kind, nor what is called
    a head, which is aside of the plane where a body is bound in a twisted stance.
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
        if names.parts_of(skeleton.names[joint]) & _MIDDLE_WORDS:
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
