"""`Anatomy`: head, tail, limbs and sides of a skeleton, from names and geometry together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from akd.rig.roles import names
from akd.rig.roles.body import Body, Evidence, find_body
from akd.rig.roles.limbs import Branch, LimbFinder
from akd.rig.roles.names import Side
from akd.rig.roles.role import Limb, LimbKind, Part, Role
from akd.rig.roles.symmetry import Sagittal, find_sagittal

_MOST_LEGS = 6
"""Pairs. Whatever stands on more of them, such as a tank on its tracks, has no legs."""
_FEATURE_MASS = 0.03
"""A lone joint that moves less than this fraction of the skin is a feature such as an eyebrow."""
_BEND = 0.15
"""Least change along forward, between the unit directions of two segments, that is a bend."""
UP = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Anatomy:
    """What the joints of a skeleton are to the body they move."""

    body: Body
    forward: Float[np.ndarray, "3"]
    """Horizontal unit vector, the way the character faces."""
    left: Float[np.ndarray, "3"]
    """Horizontal unit vector towards the character's own left: up x forward."""
    forward_found_by: str
    roles: tuple[Role, ...]
    """Of every joint."""
    limbs: tuple[Limb, ...]
    partners: dict[int, int]
    """Left and right joints that mirror each other, both ways round."""
    trunk: tuple[int, ...]
    """From the pelvis to the head."""
    tail: tuple[int, ...]

    @property
    def legs(self) -> tuple[Limb, ...]:
        """The limbs that stand on the ground."""
        return tuple(limb for limb in self.limbs if limb.kind.is_leg)

    @property
    def feet(self) -> tuple[int, ...]:
        """The joint of each leg that stands on the ground."""
        return tuple(limb.tip for limb in self.legs)


def find_anatomy(evidence: Evidence) -> Anatomy:
    """Infer roles, sides and the forward axis."""
    body = find_body(evidence)
    count = len(evidence.skeleton)
    if body.root < 0:
        nothing = (Role(Part.HELPER),) * count
        forward = np.array([0.0, 0.0, 1.0])
        return Anatomy(
            body, forward, np.cross(UP, forward), "nothing to judge by", nothing, (), {}, (), ()
        )
    plane = find_sagittal(evidence, body)
    finder = LimbFinder(evidence, body, plane)
    pairs = finder.branches()
    trunk, tail = _middle(evidence, body, plane, pairs)
    forward, found_by = _forward(evidence, plane, trunk, tail, pairs)
    left = np.cross(UP, forward)
    limbs = _limbs(evidence, body, pairs, trunk, forward, left)
    roles = _roles(evidence, body, trunk, tail, limbs, plane, left)
    return Anatomy(
        body, forward, left, found_by, roles, limbs, plane.partners, tuple(trunk), tuple(tail)
    )


def _middle(
    evidence: Evidence, body: Body, plane: Sagittal, pairs: list[tuple[Branch, Branch]]
) -> tuple[list[int], list[int]]:
    """The chains from the root to the head and to the tip of the tail."""
    carriers = Counter(branch.attached_to for pair in pairs for branch in pair)
    for pair in pairs:
        if not pair[0].is_leg and not pair[0].is_fin:
            carriers[pair[0].attached_to] += 2  # arms, wings and ears sit towards the head

    def headward(joint: int) -> float:
        below = body.subtree(joint)
        parts = [names.parts_of(evidence.skeleton.names[j]) for j in below]
        named = 10.0 * any("head" in p for p in parts) + 5.0 * any("neck" in p for p in parts)
        named -= 20.0 * sum("tail" in p for p in parts) / len(parts)
        return named + sum(carriers[j] for j in below) + float(evidence.mass[below].sum())

    def chain(start: int, better: bool) -> list[int]:
        path = [start]
        while middle := [c for c in body.children[path[-1]] if c not in plane.partners]:
            path.append(max(middle, key=headward if better else lambda j: len(body.subtree(j))))
        return path

    starts = [c for c in body.children[body.root] if c not in plane.partners]
    if not starts:
        return [body.root], []
    ahead = max(starts, key=headward)
    if not pairs and len(starts) == 1 and _tapers(evidence, body, chain(ahead, True)):
        return [body.root], chain(ahead, True)
    trunk = [body.root, *_to_head(evidence, chain(ahead, True))]
    # A tail may hang on the root or on any joint of the trunk, as on a `Back` bone.
    hanging = [
        c for j in trunk for c in body.children[j] if c not in plane.partners and c not in trunk
    ]
    tails = [chain(c, False) for c in hanging]
    tails = [t for t in tails if _is_tail(evidence, t, trunk, bool(carriers[t[0]]))]
    return trunk, max(tails, key=len, default=[])


def _tapers(evidence: Evidence, body: Body, chain: list[int]) -> bool:
    """Whether a lone chain from the root runs out into a tail, as in a fish: nothing along it is
    called a head, and the skin around its last third is thinner than around its first."""
    said = set().union(*(names.parts_of(evidence.skeleton.names[j]) for j in chain))
    if "head" in said or "tail" in said or not len(evidence.owners):
        return "tail" in said and "head" not in said

    def thickness(joints: list[int]) -> float:
        skin = evidence.vertices[np.isin(evidence.owners, joints)]
        return float(np.sort(np.ptp(skin, axis=0))[:2].prod()) if len(skin) else 0.0

    third = max(1, len(chain) // 3)
    return thickness(chain[-third:]) < thickness([body.root, *chain[:third]])


def _to_head(evidence: Evidence, chain: list[int]) -> list[int]:
    """Cut a chain after the joint called head, else after the last that moves much skin."""
    for place, joint in enumerate(chain):
        if "head" in names.parts_of(evidence.skeleton.names[joint]):
            return chain[: place + 1]
    heavy = [i for i, j in enumerate(chain) if evidence.mass[j] > 0.01]
    return chain[: heavy[-1] + 1] if heavy else chain


def _is_tail(evidence: Evidence, chain: list[int], trunk: list[int], carries: bool) -> bool:
    """By name; else a chain of nothing else in particular that leads away from the head."""
    parts = [names.parts_of(evidence.skeleton.names[j]) for j in chain]
    if any("tail" in p for p in parts):
        return True
    if carries or any(p for p in parts):
        return False
    away = evidence.positions[chain[-1]] - evidence.positions[trunk[0]]
    ahead = evidence.positions[trunk[-1]] - evidence.positions[trunk[0]]
    return len(chain) > 1 and float(away[[0, 2]] @ ahead[[0, 2]]) < 0


def _forward(
    evidence: Evidence,
    plane: Sagittal,
    trunk: list[int],
    tail: list[int],
    pairs: list[tuple[Branch, Branch]],
) -> tuple[Float[np.ndarray, "3"], str]:
    """The way the character faces: across the lateral axis, its sign by votes."""
    axis = np.cross(plane.lateral, UP)
    size = max(evidence.size, 1e-9)
    # A root that moves nothing may lie anywhere.
    first = next((j for j in trunk if evidence.mass[j] > 0), trunk[0])
    back = evidence.positions[tail[-1] if tail else first]
    votes = {
        # Some artists call left what is on the left of the picture, so geometry can outvote names.
        "left and right in the joints' names": 1.0 if plane.is_signed else 0.0,
        "front and back in the joints' names": _named_ends(evidence, pairs, axis),
        "the head and the tail": 3.0 * float(axis @ (evidence.positions[trunk[-1]] - back)) / size,
        "the feet": float(
            np.clip(40.0 * (_toe_direction(evidence, pairs) @ axis) / size, -1.5, 1.5)
        ),
    }
    total = sum(votes.values())
    if abs(total) > 0.05:
        return axis * np.sign(total), max(votes, key=lambda by: votes[by] * np.sign(total))
    towards = 1.0 if axis[2] + 1e-3 * axis[0] >= 0 else -1.0
    return axis * towards, "nothing better than the format's +Z"


def _named_ends(
    evidence: Evidence, pairs: list[tuple[Branch, Branch]], axis: Float[np.ndarray, "3"]
) -> float:
    """2 where limbs called front or fore lie ahead of those called back or hind, along the axis."""
    places: dict[str, list[float]] = {"front": [], "back": []}
    for branch in (b for pair in pairs for b in pair):
        said = set(names.words(evidence.skeleton.names[branch.joints[0]]))
        for key, words in (("front", {"front", "fore"}), ("back", {"back", "hind", "rear"})):
            if said & words:
                places[key].append(float(evidence.positions[branch.joints[0]] @ axis))
    if not places["front"] or not places["back"]:
        return 0.0
    return 2.0 * float(np.sign(np.mean(places["front"]) - np.mean(places["back"])))


def _toe_direction(
    evidence: Evidence, pairs: list[tuple[Branch, Branch]]
) -> Float[np.ndarray, "3"]:
    """Mean offset of the surface of the feet from their joints."""
    offsets = [np.zeros(3)]
    for branch in (b for pair in pairs for b in pair if b.is_leg):
        joints = [branch.tip, *branch.joints[branch.joints.index(branch.tip) + 1 :]]
        owned = np.isin(evidence.owners, joints)
        if owned.any():
            sole = evidence.vertices[owned]
            offsets.append(
                0.5 * (sole.min(axis=0) + sole.max(axis=0)) - evidence.positions[branch.tip]
            )
    return np.mean(offsets, axis=0) if len(offsets) == 1 else np.mean(offsets[1:], axis=0)


def _limbs(
    evidence: Evidence,
    body: Body,
    pairs: list[tuple[Branch, Branch]],
    trunk: list[int],
    forward: Float[np.ndarray, "3"],
    left: Float[np.ndarray, "3"],
) -> tuple[Limb, ...]:
    """Name the pairs: legs from the front backwards, then arms, wings and fins."""
    legs = [p for p in pairs if p[0].is_leg and p[1].is_leg]
    if len(pairs) > 2 * _MOST_LEGS and len(legs) != 1:
        return ()
    if len(legs) > _MOST_LEGS:
        legs = []
    legs.sort(key=lambda p: -sum(float(evidence.positions[b.tip] @ forward) for b in p))
    limbs: list[Limb] = []
    for place, pair in enumerate(legs):
        if len(legs) == 1:
            kind = LimbKind.LEG
        elif place == 0:
            kind = LimbKind.FORE
        else:
            kind = LimbKind.HIND if place == len(legs) - 1 else LimbKind.MID
        number = place if kind is LimbKind.MID else 0
        limbs += _sided(evidence, pair, kind, left, number)
    head = body.subtree(trunk[-1]) if len(trunk) > 1 else []
    for pair in (p for p in pairs if not (p[0].is_leg and p[1].is_leg)):
        if (kind := _other_kind(evidence, pair[0], head, legs, forward)) is not None:
            limbs += _sided(evidence, pair, kind, left, 0)
    return tuple(limbs)


def _other_kind(
    evidence: Evidence,
    branch: Branch,
    head: list[int],
    legs: list[tuple[Branch, Branch]],
    forward: Float[np.ndarray, "3"],
) -> LimbKind | None:
    """What a limb is that does not stand: by its name, else by its place and shape. None for
    ears, eyes and fingers."""
    words = branch.words
    if words & {"ear", "face"} or (words and words <= {"finger"}):
        return None
    if words & {"arm", "hand", "wing", "fin", "leg"}:
        if "wing" in words:
            return LimbKind.WING
        return LimbKind.FIN if "fin" in words or branch.is_fin else LimbKind.ARM
    if branch.is_fin:
        return LimbKind.FIN
    if branch.attached_to in head:
        return None
    mass = float(evidence.mass[list(branch.joints)].sum())
    if mass < _FEATURE_MASS and len(branch.joints) == 1:
        return None
    is_blade = branch.is_blade and mass > _FEATURE_MASS
    if len(legs) > 1 and not is_blade:
        # Something that walks on four legs has no arms: these are its ears.
        return None
    if not legs and _lies(evidence, forward):
        return LimbKind.FIN
    return LimbKind.WING if is_blade else LimbKind.ARM


def _lies(evidence: Evidence, forward: Float[np.ndarray, "3"]) -> bool:
    """Whether the body is longer than tall, as what swims is."""
    points = evidence.vertices if len(evidence.vertices) else evidence.positions[evidence.is_joint]
    return float(np.ptp(points @ forward)) > 1.2 * evidence.height


def _sided(
    evidence: Evidence,
    pair: tuple[Branch, Branch],
    kind: LimbKind,
    left: Float[np.ndarray, "3"],
    number: int,
) -> list[Limb]:
    """The left limb, then the right one."""
    across = [float(evidence.positions[b.joints[-1]] @ left) for b in pair]
    ordered = pair if across[0] >= across[1] else pair[::-1]
    return [
        Limb(kind, side, branch.joints, branch.tip, number)
        for side, branch in zip((Side.LEFT, Side.RIGHT), ordered, strict=True)
    ]


def _roles(
    evidence: Evidence,
    body: Body,
    trunk: list[int],
    tail: list[int],
    limbs: tuple[Limb, ...],
    plane: Sagittal,
    left: Float[np.ndarray, "3"],
) -> tuple[Role, ...]:
    roles: dict[int, Role] = {j: Role(Part.HELPER) for j in range(len(evidence.skeleton))}
    for joint in body.parents:
        side = Side.CENTRE
        if joint in plane.partners:
            across = evidence.positions[joint] - evidence.positions[plane.partners[joint]]
            side = Side.LEFT if float(across @ left) >= 0 else Side.RIGHT
        parts = names.parts_of(evidence.skeleton.names[joint])
        roles[joint] = Role(Part.EAR if "ear" in parts else Part.OTHER, side)
    roles |= _trunk_roles(evidence, trunk, limbs, body)
    roles |= {j: Role(Part.TAIL, number=i + 1) for i, j in enumerate(tail)}
    for limb in limbs:
        roles |= _limb_roles(evidence, limb, np.cross(left, UP))
    return tuple(roles[j] for j in range(len(evidence.skeleton)))


def _trunk_roles(
    evidence: Evidence, trunk: list[int], limbs: tuple[Limb, ...], body: Body
) -> dict[int, Role]:
    """Pelvis, spine up to where arms or fore legs hang, neck from there, head."""
    if len(trunk) == 1:
        return {trunk[0]: Role(Part.PELVIS)}
    front = [x for x in limbs if x.kind in (LimbKind.FORE, LimbKind.ARM, LimbKind.WING)]
    carried = [trunk.index(p) for x in front if (p := body.parents[x.joints[0]]) in trunk]
    shoulders = max(carried, default=max(1, round(0.6 * (len(trunk) - 1))))
    named = [i for i, j in enumerate(trunk) if "neck" in names.parts_of(evidence.skeleton.names[j])]
    first_neck = named[0] if named else min(shoulders + 1, len(trunk) - 1)
    roles = {trunk[0]: Role(Part.PELVIS), trunk[-1]: Role(Part.HEAD)}
    for place, joint in enumerate(trunk[1:-1], start=1):
        part = Part.SPINE if place < first_neck else Part.NECK
        number = place if part is Part.SPINE else place - first_neck + 1
        roles[joint] = Role(part, number=number)
    return roles


def _starts_with_girdle(
    limb: Limb, segments: Float[np.ndarray, "S 3"], forward: Float[np.ndarray, "3"]
) -> bool:
    """Whether a limb's first segment is a shoulder blade, collar bone or hip bone.

    The first bend of a leg tells: forwards it is the knee of a hind leg, or the point of the
    shoulder between a fore leg's shoulder blade and upper arm; backwards it is an elbow.
    """
    lengths = np.maximum(np.linalg.norm(segments, axis=1), 1e-12)
    along = (segments @ forward) / lengths
    bends_forward = bool(along[0] - along[1] > _BEND)
    is_short = bool(lengths[0] < 0.8 * lengths[1:].max())
    if limb.kind is LimbKind.FORE:
        return is_short or bends_forward
    return is_short and not (limb.kind.is_leg and bends_forward)


def _limb_roles(evidence: Evidence, limb: Limb, forward: Float[np.ndarray, "3"]) -> dict[int, Role]:
    """Girdle, upper, lower, cannon, foot or hand, toes along a limb."""
    end = limb.joints.index(limb.tip)
    points = evidence.positions[list(limb.joints)]
    has_girdle = end >= 3 and _starts_with_girdle(limb, np.diff(points[: end + 1], axis=0), forward)
    parts: list[Part] = [Part.GIRDLE] if has_girdle else []
    middle = [Part.UPPER, Part.LOWER] + [Part.CANNON] * len(limb.joints)
    parts += middle[: end - len(parts)]
    is_long_enough = end - int(has_girdle) >= 2 or (limb.kind.is_leg and end >= 1)
    last = Part.FOOT if limb.kind.is_leg else Part.HAND
    parts.append(last if is_long_enough else middle[end - int(has_girdle)])
    parts += [Part.TOES] * (len(limb.joints) - end - 1)
    template = Role(Part.OTHER, limb.side, limb.kind)
    counts = Counter(parts)
    seen: Counter[Part] = Counter()
    roles: dict[int, Role] = {}
    for joint, part in zip(limb.joints, parts, strict=True):
        seen[part] += 1
        number = seen[part] if counts[part] > 1 else 0
        if limb.number:
            number = limb.number
        roles[joint] = replace(template, part=part, number=number)
    return roles
