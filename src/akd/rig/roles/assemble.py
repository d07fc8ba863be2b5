"""Which of a file's joints make up the body, and how they hang together.

An artist's skeleton has joints that move nothing (IK targets, poles, sockets, ends), and parts that
hang on the wrong place in the file: paws on detached IK roots, or every bone of a flattened tree.
`find_body` keeps the joints that matter and hangs the detached ones on the bone they belong to.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import KDTree

from akd.rig.roles import names
from akd.rig.roles.body import IDLE_MASS, Body, Evidence
from akd.rig.roles.symmetry import Sagittal, find_sagittal
from akd.rig.skeleton import Skeleton

_SAME_PLACE = 1e-3
"""A control lies where its bone does, up to this fraction of the body's size."""
_FAR, _BESIDE = 0.1, 0.03
"""What a goal hangs on is further from a hand, and the end of its forearm nearer, than these
fractions of the body's size."""
_BLENDS = 0.2
"""The skin of a hand blends into what it hangs on by less than this share of how it blends into its
forearm, if that is where it belongs."""
_STRAY_MASS = 0.02
"""Up to this fraction may be stray weight on a joint that only holds others."""
_SHARED_SKIN = 0.95
"""How much nearer, as a fraction, a loose part counts to the bone it shares most skin with."""
_OPPOSITE = 5.0
"""How many times further a part counts from a bone on the other side."""
_MIDDLE_ON_SIDE = 1e3
"""The same for a part on the plane of symmetry and a bone that has a mirror image: a spine does not
hang on one of two legs."""
_ASIDE = 0.2
"""How much a part of the body that stands aside counts for its root."""
_ON_PLANE = 0.02
"""A part nearer to the plane than this fraction of the body's size lies on it."""
_SAME_LIMB, _OTHER_LIMB, _FITS = 0.5, 3.0, 0.7
"""The same for names: parts of one limb, of two, and a limb where it belongs on the trunk."""
_GROUPS: dict[str, str] = {
    "leg": "leg", "foot": "leg", "toe": "leg", "arm": "arm", "hand": "arm", "finger": "arm",
    "wing": "wing", "fin": "fin", "tail": "tail", "head": "head", "face": "head", "ear": "head",
    "neck": "neck", "spine": "spine", "pelvis": "pelvis",
}  # fmt: skip
_BELONGS = {
    ("leg", "pelvis"), ("tail", "pelvis"), ("arm", "spine"), ("wing", "spine"), ("neck", "spine"),
    ("head", "neck"),
}  # fmt: skip
_LIMB_GROUPS = {"leg", "arm", "wing", "fin", "tail", "head"}


def find_body(evidence: Evidence) -> Body:
    """Keep the joints that move something, find the root, and attach what hangs elsewhere."""
    moved = _on_bones(evidence)
    moved = _on_goals(evidence, moved.keys()) | moved
    if not moved:
        return _find_body(evidence)
    skeleton = evidence.skeleton
    parents = tuple(moved.get(j, p) for j, p in enumerate(skeleton.parents))
    try:
        linked = replace(evidence, skeleton=replace(skeleton, parents=parents))
    except ValueError:  # two trees of controls that hold each other's bones
        return _find_body(evidence)
    body = _find_body(linked)
    detached = {j: body.parents[j] for j in moved if body.parents.get(j, -1) >= 0}
    return Body(body.root, body.parents, detached | body.detached)


def _on_bones(evidence: Evidence) -> dict[int, int]:
    """Joints that hang on a control of another bone, and that bone: as the limbs of Rigify hang on
    `ORG-spine`, which lies where `DEF-spine` does."""
    if evidence.weights is None:
        return {}
    skeleton, mass = evidence.skeleton, evidence.mass
    below = _mass_below(skeleton, mass)
    bones = np.flatnonzero(mass > IDLE_MASS)
    controls = np.flatnonzero((mass == 0.0) & (below > 0.0) & evidence.is_joint)
    if not len(bones) or not len(controls):
        return {}
    moved: dict[int, int] = {}
    tree = KDTree(evidence.positions[bones])
    near = tree.query_ball_point(evidence.positions[controls], _SAME_PLACE * evidence.size)
    for control, places in zip(controls.tolist(), near, strict=True):
        own = {*skeleton.subtree(control), *skeleton.ancestors(control)}
        others = [int(bones[k]) for k in places if int(bones[k]) not in own]
        if others:
            bone = max(others, key=lambda j: mass[j])
            moved |= {c: bone for c in skeleton.children[control] if below[c] > 0}
    return moved


def _on_goals(evidence: Evidence, known: Set[int]) -> dict[int, int]:
    """Hands and feet that hang on an IK goal or on a bone further up the body, and the forearm or
    shank that they belong to: it is the end of a limb, and its skin is beside theirs, while that of
    what they hang on is far away. If they hang on a bone that moves skin itself, their skin must
    also blend into the limb's, and hardly into what is above, and there must be two of them: one
    foot may stand beside the other, and a tail may touch a foot."""
    skeleton, mass, skin = evidence.skeleton, evidence.mass, evidence.skin_of
    below = _mass_below(skeleton, mass)
    moved: dict[int, int] = {}
    for goal in np.flatnonzero(below > 0.0).tolist():
        above = [goal, *skeleton.ancestors(goal)]
        above = [j for j in above if len(skin[j])]
        found: dict[int, int] = {}
        for joint in (c for c in skeleton.children[goal] if above and c not in known):
            part = list(skeleton.subtree(joint))
            points = np.concatenate([skin[j] for j in part])
            if not len(points):
                continue
            together = evidence.shared[part].sum(axis=0)
            together[part] = 0.0
            if mass[goal] > 0.0 and together[above].sum() >= _BLENDS * together.max():
                continue
            gaps = KDTree(points).query(np.concatenate([skin[j] for j in above]))[0]
            if gaps.min() < _FAR * evidence.size:
                continue
            ends = np.flatnonzero((below == mass) & (mass > IDLE_MASS)).tolist()
            ends = [j for j in ends if len(skin[j]) and j not in part]
            ends = [j for j in ends if mass[goal] == 0.0 or together[j] > 0.0]
            near = {j: float(KDTree(points).query(skin[j])[0].min()) for j in ends}
            bone = min(near, key=near.__getitem__, default=-1)
            if bone >= 0 and near[bone] < _BESIDE * evidence.size:
                found[joint] = bone
        if mass[goal] == 0.0 or len(set(found.values())) > 1:
            moved |= found
    return moved


def _find_body(evidence: Evidence) -> Body:
    skeleton = evidence.skeleton
    below = _mass_below(skeleton, evidence.mass)
    alive = (below > 0) & evidence.is_joint
    if not alive.any():
        return Body(-1, {}, {})
    # Found once, when it is first asked for: it does not depend on the parts.
    linker = cache(lambda: _Linker.of(evidence, np.flatnonzero(alive).tolist()))
    root, tops = _root_and_loose_tops(evidence, below, linker)
    parents: dict[int, int] = {}
    _adopt(evidence, root, -1, alive, parents)
    loose = [j for top in tops for j in _first_alive(skeleton, top, alive)]
    detached: dict[int, int] = {}
    if not loose:
        return Body(root, parents, detached)
    costs = linker().costs(loose)
    row = {joint: k for k, joint in enumerate(loose)}
    middle = {joint for joint in loose if linker().is_middle(joint)}
    best, link = np.full(len(loose), np.inf), np.full(len(loose), -1)
    new = list(parents)
    while row:
        # Prim's algorithm: the part with the cheapest link to the body so far is next.
        nearest = costs[:, new].argmin(axis=1)
        offered = costs[np.arange(len(loose)), np.asarray(new)[nearest]]
        better = offered < best
        best[better], link[better] = offered[better], np.asarray(new)[nearest[better]]
        # The middle first: limbs then find it complete, and hang on it rather than on each other.
        waiting = [k for j, k in row.items() if j in middle] or list(row.values())
        joint = loose[waiting[int(best[waiting].argmin())]]
        detached[joint] = int(link[row.pop(joint)])
        new = _adopt(evidence, joint, detached[joint], alive, parents)
        # Its mirror image hangs on the mirror image of what it hangs on.
        twin, on = linker().twin(joint), linker().twin(detached[joint])
        if twin in row and on in parents:
            row.pop(twin)
            detached[twin] = on
            new += _adopt(evidence, twin, on, alive, parents)
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
    evidence: Evidence, below: Float[np.ndarray, "J"], linker: Callable[[], _Linker]
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
        main = heavy[0] if len(heavy) == 1 else _central(evidence, heavy, below, linker)
        passed += [j for j in heavy if j != main]
        node, level = main, list(skeleton.children[main])
    return node, passed


def _central(
    evidence: Evidence,
    tops: list[int],
    below: Float[np.ndarray, "J"],
    linker: Callable[[], _Linker],
) -> int:
    """Of several parts the one that holds a pelvis or a spine by name; else the largest, where one
    that stands aside of the plane of symmetry, as a thigh does, counts for little."""
    words = {j: _centre_word(evidence, j) for j in tops}
    best = [j for j in tops if words[j] == max(words.values())]
    if len(best) == 1 or max(words.values()):
        return max(best, key=lambda j: below[j])
    return max(best, key=lambda j: below[j] * (1.0 if linker().is_middle(j) else _ASIDE))


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
    return mass < IDLE_MASS or (mass < _STRAY_MASS and (on_ground or is_named_root))


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
) -> list[int]:
    """Enter a subtree into the body; joints that are not alive are passed through. Returns what was
    entered."""
    skeleton = evidence.skeleton
    stack, entered = [(joint, parent)], []
    while stack:
        joint, parent = stack.pop()
        if alive[joint] or parent < 0:
            parents[joint] = parent
            parent = joint
            entered.append(joint)
        stack.extend((c, parent) for c in skeleton.children[joint])
    return entered


@dataclass(frozen=True)
class _Linker:
    """Judges where loose parts belong."""

    evidence: Evidence
    plane: Sagittal
    """Found without the tree, which is in doubt."""

    @staticmethod
    def of(evidence: Evidence, alive: list[int]) -> _Linker:
        return _Linker(evidence, find_sagittal(evidence, Body(-1, dict.fromkeys(alive, -1), {})))

    def twin(self, joint: int) -> int:
        """The joint's mirror image; itself on the plane."""
        return self.plane.partners.get(joint, joint)

    def _side(self, joint: int) -> float:
        """-1 or 1 for a joint that has a mirror image, else 0."""
        if joint not in self.plane.partners:
            return 0.0
        return float(np.sign(self.plane.coordinate(self.evidence.positions[joint])))

    def is_middle(self, joint: int) -> bool:
        """Whether a joint lies on the plane of symmetry and has no mirror image."""
        off = abs(self.plane.coordinate(self.evidence.positions[joint]))
        return joint not in self.plane.partners and off < _ON_PLANE * self.evidence.size

    def costs(self, loose: list[int]) -> Float[np.ndarray, "L J"]:
        """How badly each loose part fits on each joint: the distance to its bone or skin, in body
        sizes, less where they share skin, more across sides and where names do not fit."""
        evidence, skeleton = self.evidence, self.evidence.skeleton
        points = evidence.positions[loose]
        gaps = [_distances_to_bone(evidence, points, j) for j in range(len(skeleton))]
        costs = np.stack(gaps, axis=1) / max(evidence.size, 1e-12) + 1e-3
        for row, joint in enumerate(loose):
            part = [j for j in skeleton.subtree(joint) if evidence.mass[j] > 0]
            together = evidence.shared[part].sum(axis=0)
            together[part] = 0.0
            costs[row] *= 1.0 - _SHARED_SKIN * together / max(float(together.max()), 1e-12)
        sides = np.array([self._side(j) for j in range(len(skeleton))])
        apart = (sides != 0.0) & (sides != sides[loose][:, None])
        middle = np.array([self.is_middle(j) for j in loose])[:, None]
        factor = np.where(apart, np.where(middle, _MIDDLE_ON_SIDE, _OPPOSITE), 1.0)
        kinds = [_naming(name) for name in skeleton.names]
        known = {kind: k for k, kind in enumerate(dict.fromkeys(kinds))}
        table = np.array([[_affinity(one, two) for two in known] for one in known])
        index = np.array([known[kind] for kind in kinds])
        return costs * factor * table[index[loose][:, None], index]


_Naming = tuple[frozenset[str], str]
"""Groups that a name tells, and whether it says front or back."""


def _naming(name: str) -> _Naming:
    groups = frozenset(_GROUPS[p] for p in names.parts_of(name) if p in _GROUPS)
    return groups, names.end_of(name)


def _affinity(one: _Naming, two: _Naming) -> float:
    """Factor by which the names of two joints put them nearer or further."""
    (mine, end), (theirs, other_end) = one, two
    if mine & theirs:
        return _OTHER_LIMB if {end, other_end} == {"front", "back"} else _SAME_LIMB
    if any((m, t) in _BELONGS or (t, m) in _BELONGS for m in mine for t in theirs):
        return _FITS
    return _OTHER_LIMB if mine & _LIMB_GROUPS and theirs & _LIMB_GROUPS else 1.0


def _distances_to_bone(
    evidence: Evidence, points: Float[np.ndarray, "P 3"], bone: int
) -> Float[np.ndarray, "P"]:
    """From points to the segments between a joint and its children, and to the joint's skin."""
    start = evidence.positions[bone]
    ends = evidence.positions[list(evidence.skeleton.children[bone]) or [bone]]
    along = ends - start
    length = np.maximum((along**2).sum(axis=1), 1e-30)
    t = np.clip((points - start) @ along.T / length, 0.0, 1.0)
    gaps = np.linalg.norm(points[:, None] - start - t[..., None] * along, axis=2).min(axis=1)
    # A bone without an end in the file ends where its skin does.
    skin = evidence.skin_of[bone]
    return np.minimum(gaps, KDTree(skin).query(points)[0]) if len(skin) else gaps
