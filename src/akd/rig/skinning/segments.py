"""Bones as segments: from a joint to each of its children, and where a chain ends, a sensible end.

Joints are points, but heat flows from bones. A joint with several children moves several segments;
a joint without any gets one that runs on to where the body ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from akd.rig.skeleton import Skeleton

_SHORTEST = 1e-4
"""A segment shorter than this fraction of the body's size has no direction."""
_INTO_THE_TIP = 0.8
"""How much of the way from a last joint to the surface its bone runs."""
_AS_ITS_PARENT = 0.5
"""A last bone whose surface cannot be found is this long, in lengths of its parent."""


@dataclass(frozen=True)
class BoneSegments:
    """S segments in space that move with B joints; metres, the space of the mesh."""

    joints: Int[np.ndarray, "B"]
    """Index in the skeleton of each joint that moves something."""
    starts: Float[np.ndarray, "S 3"]
    ends: Float[np.ndarray, "S 3"]
    owner: Int[np.ndarray, "S"]
    """Which of `joints` each segment moves with."""

    def __post_init__(self) -> None:
        if not len(self.joints) or set(self.owner.tolist()) != set(range(len(self.joints))):
            raise ValueError(
                f"every one of the joints needs a segment: {len(self.joints)} joints, segments of "
                f"{len(set(self.owner.tolist()))}"
            )
        if not (np.isfinite(self.starts).all() and np.isfinite(self.ends).all()):
            raise ValueError("the places of bones must be finite")


def bone_segments(
    skeleton: Skeleton,
    positions: Float[np.ndarray, "J 3"],
    parents: Mapping[int, int],
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
) -> BoneSegments:
    """The segments that move with a tree of joints.

    `parents` gives the tree: the parent of every joint that moves something, -1 or a joint that is
    no key for a root. `positions` and `vertices` are in the world of the bind pose, metres. A joint
    that has no child in the tree ends at the end node that the file has below it; else where a ray
    along its parent's bone leaves the mesh; else half as far on as its parent is long.
    """
    size = float(np.linalg.norm(np.ptp(vertices, axis=0))) if len(vertices) else 1.0
    shortest = _SHORTEST * (size or 1.0)
    joints = sorted(parents)
    children: dict[int, list[int]] = {j: [] for j in joints}
    for joint in joints:
        if parents[joint] in children:
            children[parents[joint]].append(joint)
    starts, ends, owner = [], [], []
    for place, joint in enumerate(joints):
        here = positions[joint]
        reached = [positions[c] for c in children[joint]]
        if not reached:
            reached = [positions[c] for c in skeleton.children[joint] if c not in children]
        reached = [p for p in reached if np.linalg.norm(p - here) > shortest]
        if not reached:
            above = positions[parents[joint]] if parents[joint] >= 0 else here
            reached = [_run_on(here, above, vertices, faces, shortest)]
        for end in reached:
            starts.append(here)
            ends.append(end)
            owner.append(place)
    return BoneSegments(np.array(joints), np.array(starts), np.array(ends), np.array(owner))


def _run_on(
    here: Float[np.ndarray, "3"],
    above: Float[np.ndarray, "3"],
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    shortest: float,
) -> Float[np.ndarray, "3"]:
    """Where the bone of a last joint ends: on along its parent's, into the tip of the body."""
    along = here - above
    length = float(np.linalg.norm(along))
    if length <= shortest:
        return here
    direction = along / length
    exit_at = _leaves_at(here, direction, vertices[faces])
    return here + direction * (_AS_ITS_PARENT * length if exit_at is None else exit_at)


def _leaves_at(
    origin: Float[np.ndarray, "3"],
    direction: Float[np.ndarray, "3"],
    triangles: Float[np.ndarray, "F 3 3"],
) -> float | None:
    """Most of the way to where a ray that starts inside leaves; None where it starts outside."""
    # Moeller and Trumbore's test, one ray against every triangle.
    first, second = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    across = np.cross(direction, second)
    determinant = (first * across).sum(axis=1)
    safe = np.where(np.abs(determinant) > 1e-18, determinant, np.inf)
    offset = origin - triangles[:, 0]
    u = (offset * across).sum(axis=1) / safe
    turned = np.cross(offset, first)
    v = turned @ direction / safe
    distance = (second * turned).sum(axis=1) / safe
    hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (distance > 0) & np.isfinite(safe)
    if not hit.any():
        return None
    return _INTO_THE_TIP * float(distance[hit].min())
