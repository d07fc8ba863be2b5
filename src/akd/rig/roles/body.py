"""`Evidence`: what is known of a file's joints. `Body`: a tree over those that matter."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import csr_matrix

from akd.rig.roles import names
from akd.rig.skeleton import Skeleton

IDLE_MASS = 1e-3
"""A joint that moves less than this fraction of the surface moves nothing worth naming."""
_ON_PARENT = 1e-4
"""A joint nearer to its parent than this fraction of the body's size lies in the same place."""


@dataclass(frozen=True)
class Evidence:
    """What is known before anything is concluded: the bind pose in file units, Y up."""

    skeleton: Skeleton
    positions: Float[np.ndarray, "J 3"]
    is_joint: Bool[np.ndarray, "J"]
    """Nodes that a skin names, or that carry a rigid mesh."""
    vertices: Float[np.ndarray, "V 3"]
    weights: csr_matrix | None
    """[V, J], or None for a skeleton without a mesh."""

    @cached_property
    def points(self) -> Float[np.ndarray, "N 3"]:
        """Vertices; joints where there are none."""
        return self.vertices if len(self.vertices) else self.positions[self.is_joint]

    @cached_property
    def size(self) -> float:
        """Diagonal of the bind pose's bounding box."""
        return float(np.linalg.norm(np.ptp(self.points, axis=0))) if len(self.points) else 0.0

    @cached_property
    def ground(self) -> float:
        """Height of the lowest point of the bind pose."""
        return float(self.points[:, 1].min()) if len(self.points) else 0.0

    @cached_property
    def height(self) -> float:
        """Extent of the bind pose along Y."""
        return float(np.ptp(self.points[:, 1])) if len(self.points) else 0.0

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
        found = self.weights.tocoo()
        assert found.shape is not None
        owners = np.zeros(found.shape[0], dtype=np.int64)
        # The last of a row counts: its largest weight, of equal ones the first joint's. SciPy's own
        # `argmax` loops over rows in Python.
        order = np.lexsort((-found.col, found.data, found.row))
        order = order[found.data[order] > 0.0]
        owners[found.row[order]] = found.col[order]
        return owners

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

    def is_held(self, joint: int, evidence: Evidence) -> bool:
        """Whether a joint is a bone that follows a control of its own: it ends a chain, and lies
        where its parent does, which moves no skin."""
        parent = self.parents[joint]
        if self.children[joint] or parent < 0 or evidence.mass[parent] > 0:
            return False
        gap = evidence.positions[joint] - evidence.positions[parent]
        return bool(np.linalg.norm(gap) < _ON_PARENT * evidence.size)

    def with_held(self, joint: int, evidence: Evidence) -> list[int]:
        """A joint, and the bones that it holds if it is a control."""
        return [joint, *(c for c in self.children[joint] if self.is_held(c, evidence))]

    def path(self, top: int, bottom: int) -> list[int]:
        """Joints from `top` down to `bottom`, both included."""
        path = [bottom]
        while path[-1] != top:
            path.append(self.parents[path[-1]])
        return path[::-1]
