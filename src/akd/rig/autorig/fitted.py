"""A body with a plan embedded in it: what templates place their joints by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from akd.rig.autorig.embedding import Embedding
from akd.rig.autorig.landmarks import Landmarks
from akd.rig.autorig.legs import Leg

_NEAR = 0.15
"""A leg followed from the ground is that of a foot this near to its sole, in heights."""


@dataclass(frozen=True)
class Fitted:
    """Measurements of a body and the nodes found in it; it faces +z, metres."""

    marks: Landmarks
    embedding: Embedding | None
    """None for a body that no plan is fitted to."""

    def end(self, node: str) -> Float[np.ndarray, "3"] | None:
        """Where a node is; None where it was left out."""
        if self.embedding is None or node not in self.embedding.spheres:
            return None
        return self.marks.graph.centres[self.embedding.spheres[node]]

    def way(self, node: str) -> Float[np.ndarray, "N 3"]:
        """The way through the inside from a node's parent to it."""
        assert self.embedding is not None
        parents = {n.name: n.parent for n in self.embedding.plan.nodes}
        spheres = self.embedding.spheres
        graph = self.marks.graph
        return graph.centres[graph.way(spheres[parents[node]], spheres[node])]

    def leg(self, node: str) -> Leg:
        """The leg of a foot: followed from the ground up if that led to a leg, else the way from
        the foot to the trunk."""
        foot = self.end(node)
        assert foot is not None
        flat = np.array([1.0, 0.0, 1.0])
        near = [
            leg
            for leg in self.marks.legs
            if np.linalg.norm((leg.sole - foot) * flat) < _NEAR * self.marks.height
        ]
        if near:
            return min(near, key=lambda leg: float(np.linalg.norm((leg.sole - foot) * flat)))
        way = self.way(node)[::-1]
        rising = way[np.argsort(way[:, 1], kind="stable")]
        upper = rising[rising[:, 0] > 0.5 * foot[0]]
        line = upper if len(upper) > 1 else rising
        radius = float(self.marks.graph.radii[self.embedding.spheres[node]])  # pyright: ignore[reportOptionalMemberAccess]
        return Leg(line, foot * flat, (float(foot[2]) - radius, float(foot[2]) + radius))

    def _off_trunk(self, way: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "M 3"]:
        """A way without what lies in the sphere that it begins in."""
        graph = self.marks.graph
        radius = float(graph.radii[np.linalg.norm(graph.centres - way[0], axis=1).argmin()])
        return way[np.linalg.norm(way - way[0], axis=1) >= radius]

    def rails(self) -> dict[str, Float[np.ndarray, "N 3"]]:
        """The middle of each limb as a line: legs as they were followed, others by the spheres."""
        assert self.embedding is not None
        names = {
            "fore_foot": "left_fore", "hind_foot": "left_hind", "foot": "left_leg",
            "hand": "left_arm", "head": "neck", "tail": "tail",
        }  # fmt: skip
        rails: dict[str, np.ndarray] = {}
        for node in self.embedding.spheres:
            if node.endswith("foot"):
                rails[names[node]] = self.leg(node).line
            elif node in names:
                line = self._off_trunk(self.way(node))
                if node != "hand":
                    line = line * [0.0, 1.0, 1.0]
                if len(line) > 2:
                    line[1:-1] = 0.25 * line[:-2] + 0.5 * line[1:-1] + 0.25 * line[2:]
                if len(line) > 1:
                    rails[names[node]] = line
        trunk = self.way("chest") * [0.0, 1.0, 1.0]
        if len(trunk) > 1:
            rails["spine"] = trunk
        return rails
