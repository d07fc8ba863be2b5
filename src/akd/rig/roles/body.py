"""Which of a file's joints make up the body, and how they hang together.

An artist's skeleton has joints that move nothing (IK targets, poles, sockets, ends), and parts that
hang on the wrong place in the file (paws on detached IK roots). `find_body` keeps the joints that
matter and re-parents the detached ones to the bone they belong to.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_matrix
from scipy.spatial import KDTree

from akd.rig.roles import names
from akd.rig.skeleton import Skeleton

_IDLE_MASS = 1e-3
"""A joint that moves less than this fraction of the surface moves nothing worth naming."""
_STRAY_MASS = 0.02
"""Up to this fraction may be stray weight on a joint that only holds others."""
_SHARED_SKIN = 0.95
"""How much nearer, as a fraction, a loose part counts to the bone it shares most skin with."""
_OPPOSITE = 5.0
"""How many times further a loose part counts from a bone that is named for the other side."""


@dataclass(frozen=True)
class Evidence:
    """What is known of the joints before anything is concluded: bind pose, metres, Y up."""

    skeleton: Skeleton
    positions: Float[np.ndarray, "J 3"]
    is_joint: Bool[np.ndarray, "J"]
    """Nodes that a skin names, or that carry a rigid mesh."""
    vertices: Float[np.ndarray, "V 3"]
    weights: csr_matrix | None
    """[V, J], or None for a skeleton without a mesh."""

    @cached_property
    def size(self) -> float:
        """Diagonal of the bind pose's bounding box, metres."""
        points = self.vertices if len(self.vertices) else self.positions[self.is_joint]
        return float(np.linalg.norm(np.ptp(points, axis=0))) if len(points) else 0.0

    @cached_property
    def ground(self) -> float:
        """Height of the lowest point of the bind pose."""
        points = self.vertices if len(self.vertices) else self.positions[self.is_joint]
        return float(points[:, 1].min()) if len(points) else 0.0

    @cached_property
    def height(self) -> float:
        """Extent of the bind pose along Y, metres."""
        points = self.vertices if len(self.vertices) else self.positions[self.is_joint]
        return float(np.ptp(points[:, 1])) if len(points) else 0.0

    @cached_property
    def mass(self) -> Float[np.ndarray, "J"]:
        """Fraction of the vertices that each joint moves. Without a mesh, joints that are neither
        helpers nor ends share equally."""
        if self.weights is not None and self.weights.nnz:
            total = np.asarray(self.weights.sum(axis=0)).ravel()
            return total / max(total.sum(), 1e-12)
        useful = np.array(
            [
                bool(j) and not names.parts_of(n) & {"helper", "end"} and names.words(n) != ["root"]
                for n, j in zip(self.skeleton.names, self.is_joint, strict=True)
            ]
        )
        return useful / max(int(useful.sum()), 1)

    @cached_property
    def shared(self) -> Float[np.ndarray, "J J"]:
        """How much skin two joints move together."""
        if self.weights is None:
            return np.zeros((len(self.skeleton), len(self.skeleton)))
        return np.asarray((self.weights.T @ self.weights).todense())

    @cached_property
    def owners(self) -> Int[np.ndarray, "V"]:
        """The joint that moves each vertex most."""
        if self.weights is None or not self.weights.nnz:
            return np.zeros(0, dtype=np.int64)
        return np.asarray(self.weights.argmax(axis=1)).ravel().astype(np.int64)

    @cached_property
    def skin_of(self) -> list[Float[np.ndarray, "N 3"]]:
        """For each joint the vertices that it moves most."""
        owned = self.vertices[: len(self.owners)]
        order = np.argsort(self.owners, kind="stable")
        ends = np.searchsorted(self.owners[order], np.arange(len(self.skeleton) + 1))
        return [owned[order[a:b]] for a, b in itertools.pairwise(ends)]


@dataclass(frozen=True)
class Body:
    """A tree over the joints that matter."""

    root: int
    """The pelvis, or whatever the body hangs on; -1 where there is no body."""
    parents: dict[int, int]
    """Parent of every joint of the body, within the body; the root's is -1."""
    detached: dict[int, int]
    """Joints that hang elsewhere in the file, and the joint they are re-parented to."""

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """Children within the body, in the file's order."""
        result: dict[int, list[int]] = {j: [] for j in self.parents}
        for joint in sorted(self.parents):
            if self.parents[joint] >= 0:
                result[self.parents[joint]].append(joint)
        return result

    def subtree(self, joint: int) -> list[int]:
        """The joint and all below it, parents first."""
        found, stack = [], [joint]
        while stack:
            joint = stack.pop()
            found.append(joint)
            stack.extend(reversed(self.children[joint]))
        return found

    def depth(self, joint: int) -> int:
        """Steps from the root."""
        steps = 0
        while (joint := self.parents[joint]) >= 0:
            steps += 1
        return steps

    def path(self, top: int, bottom: int) -> list[int]:
        """Joints from `top` down to `bottom`, both included."""
        path = [bottom]
        while path[-1] != top:
            path.append(self.parents[path[-1]])
        return path[::-1]


def find_body(evidence: Evidence) -> Body:
    """Keep the joints that move something, find the root, and attach what hangs elsewhere."""
    skeleton = evidence.skeleton
    below = _mass_below(skeleton, evidence.mass)
    alive = (below > 0) & evidence.is_joint
    if not alive.any():
        return Body(-1, {}, {})
    root, tops = _root_and_loose_tops(evidence, below)
    parents: dict[int, int] = {}
    _adopt(evidence, root, -1, alive, parents)
    loose = [j for top in tops for j in _first_alive(skeleton, top, alive)]
    detached: dict[int, int] = {}
    links, new = _Links(evidence, loose), list(parents)
    for _ in loose:
        # Prim's algorithm: the part with the cheapest link to the body so far is next.
        links.offer(new)
        joint, bone = links.take()
        detached[joint] = bone
        before = set(parents)
        _adopt(evidence, joint, bone, alive, parents)
        new = [j for j in parents if j not in before]
    return Body(root, parents, detached)


def _mass_below(skeleton: Skeleton, mass: Float[np.ndarray, "J"]) -> Float[np.ndarray, "J"]:
    """Mass of each joint with everything under it."""
    below = mass.copy()
    order = [j for root in skeleton.roots for j in skeleton.subtree(root)]
    for joint in reversed(order):
        if skeleton.parents[joint] >= 0:
            below[skeleton.parents[joint]] += below[joint]
    return below


def _root_and_loose_tops(
    evidence: Evidence, below: Float[np.ndarray, "J"]
) -> tuple[int, list[int]]:
    """Walk from the top of the file to the root of the body, past joints that only hold things.

    Returns the root, and the tops of the parts that were passed by: loose paws on IK roots, or
    every other bone of a file whose tree was flattened.
    """
    skeleton = evidence.skeleton
    level: list[int] = list(skeleton.roots)
    passed: list[int] = []
    node = -1
    while heavy := [j for j in level if below[j] > 0]:
        if node >= 0 and not _is_holder(evidence, node, several=len(heavy) > 1):
            break
        main = max(heavy, key=lambda j: (_centre_word(evidence, j), below[j]))
        passed += [j for j in heavy if j != main]
        node, level = main, list(skeleton.children[main])
    return node, passed


def _centre_word(evidence: Evidence, joint: int) -> int:
    """2 where a part holds a pelvis by name, 1 where it holds a spine, else 0."""
    skeleton = evidence.skeleton
    said = [
        names.parts_of(skeleton.names[j])
        for j in skeleton.subtree(joint)
        if evidence.mass[j] > 0 and names.side_of(skeleton.names[j]) is names.Side.CENTRE
    ]
    return 2 * any("pelvis" in p for p in said) or int(any("spine" in p for p in said))


def _is_holder(evidence: Evidence, node: int, *, several: bool) -> bool:
    """Whether a node above the body only holds it, or parts of it."""
    mass, name = float(evidence.mass[node]), evidence.skeleton.names[node]
    on_ground = bool(evidence.positions[node, 1] - evidence.ground < 0.1 * evidence.height)
    if not evidence.is_joint[node]:
        return True
    if "pelvis" in names.parts_of(name):
        return False
    is_named_root = bool({"root", "master", "armature"} & set(names.words(name)))
    if several:
        return on_ground and mass < _STRAY_MASS
    if on_ground and is_named_root:
        return True
    return mass < _IDLE_MASS or (mass < _STRAY_MASS and (on_ground or is_named_root))


def _first_alive(skeleton: Skeleton, joint: int, alive: Bool[np.ndarray, "J"]) -> list[int]:
    """The topmost joints of a subtree that are alive."""
    found, stack = [], [joint]
    while stack:
        joint = stack.pop()
        if alive[joint]:
            found.append(joint)
        else:
            stack.extend(reversed(skeleton.children[joint]))
    return found


def _adopt(
    evidence: Evidence,
    joint: int,
    parent: int,
    alive: Bool[np.ndarray, "J"],
    parents: dict[int, int],
) -> None:
    """Enter a subtree into the body; joints that are not alive are passed through."""
    skeleton = evidence.skeleton
    stack = [(joint, parent)]
    while stack:
        joint, parent = stack.pop()
        if alive[joint] or parent < 0:
            parents[joint] = parent
            parent = joint
        stack.extend((c, parent) for c in skeleton.children[joint])


class _Links:
    """The cheapest link of each loose part to the body so far.

    A link costs the distance from the part's top to a bone of the body or its skin, in body sizes;
    less where they share skin, more where names put them on opposite sides.
    """

    def __init__(self, evidence: Evidence, loose: list[int]) -> None:
        self._evidence, self._loose = evidence, loose
        self._points = evidence.positions[loose]
        self._together = [_shared_skin(evidence, joint) for joint in loose]
        self._sides = [names.side_of(evidence.skeleton.names[joint]) for joint in loose]
        self._waiting = np.ones(len(loose), dtype=bool)
        self._cost = np.full(len(loose), np.inf)
        self._bone = np.full(len(loose), -1)

    def offer(self, bones: list[int]) -> None:
        """Consider bones that were added to the body."""
        for bone in bones:
            gap = _distance_to_bone(self._evidence, self._points, bone)
            shared = np.array([together[bone] for together in self._together])
            cost = (gap / max(self._evidence.size, 1e-12) + 1e-3) * (1.0 - _SHARED_SKIN * shared)
            side = names.side_of(self._evidence.skeleton.names[bone])
            if side is not names.Side.CENTRE:
                cost *= [_OPPOSITE if one is side.other else 1.0 for one in self._sides]
            nearer = (cost < self._cost) | (self._bone < 0)
            self._cost[nearer], self._bone[nearer] = cost[nearer], bone

    def take(self) -> tuple[int, int]:
        """The part with the cheapest link, and the bone that it is linked to."""
        first = int(np.argmin(np.where(self._waiting, self._cost, np.inf)))
        self._waiting[first] = False
        return self._loose[first], int(self._bone[first])


def _shared_skin(evidence: Evidence, joint: int) -> Float[np.ndarray, "J"]:
    """How much skin a loose part shares with each joint, at most one."""
    part = [j for j in evidence.skeleton.subtree(joint) if evidence.mass[j] > 0]
    together = evidence.shared[part].sum(axis=0)
    together[part] = 0.0
    return together / max(float(together.max()), 1e-12)


def _distance_to_bone(
    evidence: Evidence, points: Float[np.ndarray, "L 3"], bone: int
) -> Float[np.ndarray, "L"]:
    """From points to the segments between a joint and its children, and to its skin."""
    start = evidence.positions[bone]
    ends = [evidence.positions[c] for c in evidence.skeleton.children[bone]] or [start]
    gap = np.min([_distance_to_segment(points, start, end) for end in ends], axis=0)
    # A bone without an end in the file ends where its skin does.
    skin = evidence.skin_of[bone]
    return np.minimum(gap, KDTree(skin).query(points)[0]) if len(skin) else gap


def _distance_to_segment(
    points: Float[np.ndarray, "L 3"], start: Float[np.ndarray, "3"], end: Float[np.ndarray, "3"]
) -> Float[np.ndarray, "L"]:
    along, away = end - start, points - start
    length = float(along @ along)
    t = np.clip(away @ along / length, 0.0, 1.0) if length else np.zeros(len(points))
    return np.linalg.norm(away - t[:, None] * along, axis=1)
