"""The plane that divides a body into left and right, and which joints mirror each other."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from akd.rig.roles import names
from akd.rig.roles.body import IDLE_MASS, Body, Evidence

_OFF_PLANE = 0.01
"""A joint nearer to the plane than this fraction of the body's size lies on it."""
_UNLIKE = 10.0
"""Joints without a partner, as a share of all, that one body size between the surface and its
mirror image counts as: a spider's legs also match front to back, its body does not."""
_SAMPLES = 400
"""Points of the surface that are mirrored."""
_PARTNER = 0.05
"""Mirror images lie within this fraction of the body's size of each other."""
_MIDDLE = frozenset({"head", "neck", "face", "tail"})
"""Parts that are no mirror images of other parts."""
_LIKE = 0.05
"""Bones of a pair differ in length by less than this fraction."""
_BONES = 3
"""Branches of fewer bones may be of equal lengths by chance."""


@dataclass(frozen=True)
class Sagittal:
    """The plane of symmetry: points x with lateral . x = offset."""

    lateral: Float[np.ndarray, "3"]
    """Horizontal unit vector across the body. Towards the left where `is_signed`."""
    offset: float
    partners: dict[int, int]
    """Joints that mirror each other, both ways round."""
    is_signed: bool
    """Names told left from right."""

    def coordinate(self, point: Float[np.ndarray, "3"]) -> float:
        """Signed distance from the plane."""
        return float(self.lateral @ point) - self.offset

    def reflect(self, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N 3"]:
        """Mirror images of points."""
        return points - 2.0 * (points @ self.lateral - self.offset)[:, None] * self.lateral


def find_sagittal(evidence: Evidence, body: Body) -> Sagittal:
    """The plane by left/right names where they agree, else by the best match of mirrored joints."""
    # The root is in the middle, whatever it is called.
    limbs = sorted(body.parents.keys() - {body.root})
    named = names.mirror_pairs(evidence.skeleton.names, limbs)
    if named:
        across = np.array([evidence.positions[a] - evidence.positions[b] for a, b in named])
        across[:, 1] = 0.0
        lengths = np.linalg.norm(across, axis=1)
        apart = lengths > 0.01 * evidence.size
        # One vote a pair: artists do name a thumb or two the wrong way round.
        total = (across[apart] / lengths[apart, None]).sum(axis=0)
        if np.linalg.norm(total) > 0.4 * max(int(apart.sum()), 1):
            lateral = _snap(total / np.linalg.norm(total))
            middle = [0.5 * (evidence.positions[a] + evidence.positions[b]) for a, b in named]
            offset = float(np.median(np.array(middle) @ lateral))
            plane = Sagittal(lateral, offset, {}, True)
            partners = _pair(evidence, body, plane, named, _Below.of(evidence, body))
            plane = replace(plane, partners=partners)
            return replace(plane, partners=_with_likeness(evidence, body, plane))
    return _best_plane(evidence, body)


def _snap(direction: Float[np.ndarray, "3"]) -> Float[np.ndarray, "3"]:
    """A direction within ten degrees of an axis is meant to be that axis."""
    axis = int(np.abs(direction).argmax())
    if abs(direction[axis]) < math.cos(math.radians(10.0)):
        return direction
    snapped = np.zeros(3)
    snapped[axis] = np.sign(direction[axis])
    return snapped


@dataclass(frozen=True)
class _Below:
    """What pairing asks of the tree: the same for every plane."""

    depth: dict[int, int]
    """Steps from the root over joints that move skin: one side may have a helper that the other has
    not."""
    centre: dict[int, Float[np.ndarray, "3"]]
    """Mean position of each joint and all below it."""

    @staticmethod
    def of(evidence: Evidence, body: Body) -> _Below:
        places = evidence.positions
        return _Below(
            {j: _depth(evidence, body, j) for j in body.parents},
            {j: places[body.subtree(j)].mean(axis=0) for j in body.parents},
        )


def _depth(evidence: Evidence, body: Body, joint: int) -> int:
    steps = 0
    while (joint := body.parents[joint]) >= 0:
        steps += int(evidence.mass[joint] > IDLE_MASS)
    return steps


@dataclass(frozen=True)
class _Surface:
    """Points of the skin, to be compared with their mirror images."""

    points: Float[np.ndarray, "P 3"]
    tree: KDTree | None
    size: float

    @staticmethod
    def of(evidence: Evidence) -> _Surface:
        vertices = evidence.vertices
        some = vertices[:: max(1, len(vertices) // _SAMPLES)]
        return _Surface(some, KDTree(vertices) if len(vertices) else None, max(evidence.size, 1e-9))

    def unlike(self, plane: Sagittal) -> float:
        """Mean distance from mirror images to the nearest point, in body sizes."""
        if self.tree is None:
            return 0.0
        return float(self.tree.query(plane.reflect(self.points))[0].mean()) / self.size


def _pair(
    evidence: Evidence,
    body: Body,
    plane: Sagittal,
    named: list[tuple[int, int]],
    below: _Below,
) -> dict[int, int]:
    """Mutual nearest mirror images; named pairs first where they lie on opposite sides."""
    partners: dict[int, int] = {}
    for a, b in named:
        if _are_apart(evidence, plane, a, b):
            partners[a], partners[b] = b, a
    free = np.array([j for j in sorted(body.parents) if j not in partners], dtype=int)
    if len(free) < 2:
        return partners
    points = evidence.positions[free]
    coordinate = points @ plane.lateral - plane.offset
    mirrored_gaps = _mirrored_gaps(plane, points)
    # Legs may start at one place: what hangs below a joint tells which is which.
    gaps = mirrored_gaps + _mirrored_gaps(plane, np.array([below.centre[int(j)] for j in free]))
    gaps[coordinate[:, None] * coordinate[None] >= 0] = np.inf
    off_plane = np.abs(coordinate) > _OFF_PLANE * evidence.size
    gaps[~off_plane] = np.inf
    depth = np.array([below.depth[int(j)] for j in free])
    gaps[depth[:, None] != depth[None]] = np.inf
    gaps[_named_apart([evidence.skeleton.names[int(j)] for j in free])] = np.inf
    nearest = gaps.argmin(axis=1)
    for i, k in enumerate(nearest):
        is_near = np.isfinite(gaps[i, k]) and mirrored_gaps[i, k] < _PARTNER * evidence.size
        if is_near and nearest[k] == i:
            partners[int(free[i])] = int(free[k])
    return _with_parents(body, partners)


def _are_apart(evidence: Evidence, plane: Sagittal, one: int, other: int) -> bool:
    """Whether two joints lie on opposite sides of the plane, or close to it."""
    sides = [plane.coordinate(evidence.positions[j]) for j in (one, other)]
    return sides[0] * sides[1] < (2 * _OFF_PLANE * evidence.size) ** 2


def _named_apart(joints: list[str]) -> Bool[np.ndarray, "N N"]:
    """Which joints are no mirror images by name: one is called a part of the middle, such as the
    head, and the other something else, such as the tail."""
    said = [names.parts_of(name) for name in joints]
    middle = [
        parts & _MIDDLE if names.side_of(name) is names.Side.CENTRE else frozenset()
        for name, parts in zip(joints, said, strict=True)
    ]
    apart = np.zeros((len(joints), len(joints)), dtype=bool)
    for i, parts in enumerate(middle):
        if parts:
            apart[i] = [bool(other) and not parts & other for other in said]
    return apart | apart.T


def _mirrored_gaps(plane: Sagittal, points: Float[np.ndarray, "N 3"]) -> Float[np.ndarray, "N N"]:
    """Distances from the mirror image of each point to every point."""
    return cdist(plane.reflect(points), points)


def _with_parents(body: Body, partners: dict[int, int]) -> dict[int, int]:
    """Pair the parents of pairs too: collar bones start on the plane and still are a pair."""
    found = dict(partners)
    queue = list(partners)
    while queue:
        joint = queue.pop()
        a, b = body.parents[joint], body.parents[found[joint]]
        is_free = a != b and min(a, b) >= 0 and a not in found and b not in found
        if is_free and body.depth(a) == body.depth(b):
            found[a], found[b] = b, a
            queue.append(a)
    return found


def _with_likeness(evidence: Evidence, body: Body, plane: Sagittal) -> dict[int, int]:
    """Pairs by the lengths of bones, which no pose changes: what hangs on pairs, and two branches
    of a joint of the middle that begin on opposite sides of the plane, as the arms of a body that
    is bound with a weapon in one hand. The limbs of another body beside this one do not."""
    found = _with_children(evidence, body, plane.partners)
    for joint in sorted(body.parents):
        if joint in found:
            continue
        lengths = {c: _lengths(evidence, body, c) for c in body.children[joint] if c not in found}
        like = {
            c: [
                d
                for d in lengths
                if d != c
                and _are_like(lengths[c], lengths[d])
                and _are_apart(evidence, plane, c, d)
            ]
            for c in lengths
        }
        for one, others in like.items():
            if len(others) == 1 and like[others[0]] == [one] and one not in found:
                found[one], found[others[0]] = others[0], one
    return _with_children(evidence, body, found)


def _lengths(evidence: Evidence, body: Body, joint: int) -> Float[np.ndarray, "B"]:
    """Of all bones of a branch, ascending."""
    below = body.subtree(joint)
    above = [body.parents[j] for j in below]
    return np.sort(np.linalg.norm(evidence.positions[below] - evidence.positions[above], axis=1))


def _are_like(one: Float[np.ndarray, "B"], other: Float[np.ndarray, "C"]) -> bool:
    if len(one) != len(other) or len(one) < _BONES:
        return False
    return bool((np.abs(one - other) <= _LIKE * np.maximum(one, other)).all())


def _with_children(evidence: Evidence, body: Body, partners: dict[int, int]) -> dict[int, int]:
    """Pair what hangs on pairs where bones are of equal length: a body bound in mid-stride is still
    left and right. Without a plane, only children that are the best match of each other count."""
    found = dict(partners)
    queue = list(partners)
    while queue:
        joint = queue.pop()
        sides = [[c for c in body.children[j] if c not in found] for j in (joint, found[joint])]
        if not sides[0] or not sides[1]:
            continue
        lengths = [
            np.linalg.norm(evidence.positions[side] - evidence.positions[j], axis=1)
            for side, j in zip(sides, (joint, found[joint]), strict=True)
        ]
        gaps = np.abs(lengths[0][:, None] - lengths[1])
        sizes = [np.array([len(body.subtree(c)) for c in side]) for side in sides]
        gaps[sizes[0][:, None] != sizes[1]] = np.inf
        for i, k in enumerate(gaps.argmin(axis=1).tolist()):
            is_like = gaps[i, k] < _LIKE * max(lengths[0][i], lengths[1][k])
            if is_like and int(gaps[:, k].argmin()) == i:
                a, b = sides[0][i], sides[1][k]
                found[a], found[b] = b, a
                queue.append(a)
    return found


def _best_plane(evidence: Evidence, body: Body) -> Sagittal:
    """Try planes through the middle of the body at every fifteen degrees, axes first."""
    joints = np.array(sorted(body.parents))
    points = evidence.positions[joints]
    below = _Below.of(evidence, body)
    surface = _Surface.of(evidence)
    best: tuple[float, Sagittal] | None = None
    for degrees in (0, 90, *(a for a in range(15, 180, 15) if a != 90)):
        angle = math.radians(degrees)
        lateral = np.array([math.cos(angle), 0.0, math.sin(angle)])
        lateral[np.abs(lateral) < 1e-9] = 0.0
        across = points @ lateral
        for offset in {float(np.median(across)), 0.5 * float(across.min() + across.max())}:
            plane = Sagittal(lateral, offset, {}, False)
            partners = _pair(evidence, body, plane, [], below)
            off = np.abs(across - offset) > 2 * _OFF_PLANE * evidence.size
            paired = sum(1 for j in joints[off] if int(j) in partners)
            score = paired - 0.5 * (int(off.sum()) - paired) - 1e-3 * float(np.ptp(across))
            score -= _UNLIKE * len(joints) * surface.unlike(plane)
            if best is None or score > best[0] + 1e-9:
                best = (score, Sagittal(lateral, offset, partners, False))
    assert best is not None
    if not best[1].partners and len(evidence.vertices):
        # Nothing comes in pairs, as in a fish: the thin way through the body is across it.
        spread = np.ptp(evidence.vertices, axis=0)
        lateral = np.array([1.0, 0.0, 0.0]) if spread[0] <= spread[2] else np.array([0.0, 0.0, 1.0])
        offset = float(np.median(evidence.vertices @ lateral))
        return Sagittal(lateral, offset, {}, False)
    # Not while planes are compared: lengths fit any plane.
    return replace(best[1], partners=_with_likeness(evidence, body, best[1]))
