"""`Anatomy`: head, tail, limbs and sides of a skeleton, from names and geometry together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from akd.rig.roles import names
from akd.rig.roles.assemble import find_body
from akd.rig.roles.body import Body, Evidence
from akd.rig.roles.facing import UP, find_facing
from akd.rig.roles.limb_roles import limb_roles
from akd.rig.roles.limbs import Branch, LimbFinder
from akd.rig.roles.names import Side
from akd.rig.roles.role import Limb, LimbKind, Part, Role
from akd.rig.roles.symmetry import Sagittal, find_sagittal

_MOST_LEGS = 6
"""Pairs. Whatever stands on more of them, such as a tank on its tracks, has no legs."""
_COMES_BACK = 0.05
"""A chain from the pelvis that comes nearer to it again by this fraction of the body's size has
gone past the head."""
_ABOVE_LEGS, _AROUND_LEGS = 0.05, 0.15
"""Arms begin this fraction of the body's height above its legs, or that of its size away from them,
at least."""
_GIRDLE = 0.5
"""A collar bone is shorter than this fraction of its limb."""
_FEATURE = 0.25
"""What moves less of the surface than this share of the head is a feature of it."""
_AHEAD = 8.0
"""How much the way to the head counts that leads ahead and up by the size of the body, against one
for each limb that it carries."""


@dataclass(frozen=True)
class Anatomy:
    """What the joints of a skeleton are to the body they move."""

    body: Body
    forward: Float[np.ndarray, "3"]
    """Horizontal unit vector in the direction that the character faces."""
    left: Float[np.ndarray, "3"]
    """Horizontal unit vector towards the character's own left: up x forward."""
    forward_found_by: str
    forward_confidence: float
    """Probability that it faces this way and not the opposite, by shape and names together."""
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
            body,
            forward,
            np.cross(UP, forward),
            "nothing to judge by",
            0.5,
            nothing,
            (),
            {},
            (),
            (),
        )
    plane = find_sagittal(evidence, body)
    finder = LimbFinder(evidence, body, plane)
    pairs = finder.branches()
    facing = find_facing(evidence, body, plane, pairs)
    forward, left = facing.forward, np.cross(UP, facing.forward)
    trunk, tail = _middle(evidence, body, plane, pairs, forward)
    limbs = _limbs(evidence, body, pairs, trunk, forward, left)
    if not any(limb.kind is LimbKind.ARM for limb in limbs):
        limbs += _lone(evidence, finder.lone_arms(trunk), trunk, left)
    roles = _roles(evidence, body, trunk, tail, limbs, plane, left)
    return Anatomy(
        body,
        forward,
        left,
        facing.found_by,
        facing.confidence,
        roles,
        limbs,
        plane.partners,
        tuple(trunk),
        tuple(tail),
    )


def _middle(
    evidence: Evidence,
    body: Body,
    plane: Sagittal,
    pairs: list[tuple[Branch, Branch]],
    forward: Float[np.ndarray, "3"],
) -> tuple[list[int], list[int]]:
    """The chains from the root to the head and to the tip of the tail."""
    carriers = Counter(branch.attached_to for pair in pairs for branch in pair)
    for pair in pairs:
        if pair[0].verdict.kind in (LimbKind.ARM, LimbKind.WING, None):
            carriers[pair[0].attached_to] += 2  # arms, wings and ears sit towards the head

    def headward(joint: int) -> float:
        below = body.subtree(joint)
        parts = [names.parts_of(evidence.skeleton.names[j]) for j in below]
        named = 10.0 * any("head" in p for p in parts) + 5.0 * any("neck" in p for p in parts)
        named -= 20.0 * sum("tail" in p for p in parts) / len(parts)
        skin = np.concatenate([evidence.positions[below], *(evidence.skin_of[j] for j in below)])
        step = (skin.mean(axis=0) - evidence.positions[body.root]) / max(evidence.size, 1e-9)
        named += _AHEAD * float(step @ (forward + UP))
        return named + sum(carriers[j] for j in below) + float(evidence.mass[below].sum())

    def chain(start: int, better: bool) -> list[int]:
        path = [start]
        while middle := [c for c in body.children[path[-1]] if c not in plane.partners]:
            key = headward if better else lambda j: len(body.subtree(j))
            # A key looks at all that hangs on a joint: not worth it where there is no choice.
            path.append(middle[0] if len(middle) == 1 else max(middle, key=key))
        return path[:-1] if len(path) > 1 and body.is_held(path[-1], evidence) else path

    starts = [c for c in body.children[body.root] if c not in plane.partners]
    if not starts:
        return [body.root], []
    ahead = max(starts, key=headward)
    if not pairs and len(starts) == 1 and _is_only_tail(evidence, chain(ahead, True), forward):
        return [body.root], chain(ahead, True)
    trunk = [body.root, *_to_head(evidence, body, chain(ahead, True), pairs)]
    # A tail may hang on the root or on any joint of the trunk, as on a `Back` bone. What hangs on
    # the head and begins there is hair, a trunk or a tentacle.
    places = evidence.positions

    def is_hair(joint: int) -> bool:
        root, head = np.linalg.norm(places[joint] - places[[trunk[0], trunk[-1]]], axis=1)
        return body.parents[joint] == trunk[-1] != trunk[0] and bool(head < root)

    hanging = [
        c for j in trunk for c in body.children[j] if c not in plane.partners and c not in trunk
    ]
    hanging = [c for c in hanging if not is_hair(c)]
    tails = [_behind_legs(evidence, chain(c, False), pairs) for c in hanging]
    tails = [t for t in tails if t and _is_tail(evidence, t, forward, bool(carriers[t[0]]))]
    return trunk, max(tails, key=len, default=[])


def _behind_legs(
    evidence: Evidence, chain: list[int], pairs: list[tuple[Branch, Branch]]
) -> list[int]:
    """The part of a chain behind the legs that it carries, and behind what is called a pelvis or a
    spine: where the root is the chest, the back leads to the tail."""
    carriers = {pair[0].attached_to for pair in pairs if pair[0].is_leg}
    said = [names.parts_of(evidence.skeleton.names[j]) for j in chain]
    trunk = [
        place
        for place, joint in enumerate(chain)
        if joint in carriers or (said[place] & {"pelvis", "spine"} and "tail" not in said[place])
    ]
    return chain[max(trunk, default=-1) + 1 :]


def _to_head(
    evidence: Evidence, body: Body, chain: list[int], pairs: list[tuple[Branch, Branch]]
) -> list[int]:
    """Cut a chain after the joint called head, else after the last that moves much skin."""
    for place, joint in enumerate(chain):
        if "head" in names.parts_of(evidence.skeleton.names[joint]):
            return chain[: place + 1]
    chain = chain[: _farthest(evidence, chain) + 1]
    # A control moves what its bone does.
    held = {j: body.with_held(j, evidence) for j in chain}
    mass = [float(evidence.mass[held[j]].sum()) for j in chain]
    # Wings may leave little of the surface to a bird's head.
    heavy = [i for i, m in enumerate(mass) if m > min(0.01, 0.1 * max(mass))]
    end = heavy[-1] if heavy else len(chain) - 1
    # What hangs on a head beside other things, and is far lighter, is hair or a jaw. What carries
    # arms with more skin than its own is no head, but the chest of a body that was cut at the neck.
    arms = {joint: _mass_of_arms(evidence, body, joint, pairs) for joint in chain}
    while end > 0 and len(body.children[chain[end - 1]]) > len(held[chain[end - 1]]):
        if mass[end] > _FEATURE * mass[end - 1] or arms[chain[end - 1]] > mass[end - 1]:
            break
        end -= 1
    return chain[: end + 1]


def _mass_of_arms(
    evidence: Evidence, body: Body, joint: int, pairs: list[tuple[Branch, Branch]]
) -> float:
    """Share of the surface that the arms and wings of a joint move."""
    arms = [b for p in pairs for b in p if b.attached_to == joint]
    arms = [b for b in arms if b.verdict.kind in (LimbKind.ARM, LimbKind.WING)]
    return sum(float(evidence.mass[body.subtree(b.joints[0])].sum()) for b in arms)


def _farthest(evidence: Evidence, chain: list[int]) -> int:
    """Place of the joint that is farthest from the first; the last unless the chain comes back, as
    hair that falls from a head does."""
    away = np.linalg.norm(evidence.positions[chain] - evidence.positions[chain[0]], axis=1)
    farthest = int(away.argmax())
    comes_back = away[farthest] - away[-1] > _COMES_BACK * evidence.size
    return farthest if comes_back else len(chain) - 1


def _is_tail(
    evidence: Evidence, chain: list[int], forward: Float[np.ndarray, "3"], carries: bool
) -> bool:
    """By name; else a chain of nothing else in particular that leads backwards."""
    parts = [names.parts_of(evidence.skeleton.names[j]) for j in chain]
    if any("tail" in p for p in parts):
        return True
    if carries or any(p for p in parts):
        return False
    away = evidence.positions[chain[-1]] - evidence.positions[chain[0]]
    return len(chain) > 1 and float(away @ forward) < 0


def _is_only_tail(evidence: Evidence, chain: list[int], forward: Float[np.ndarray, "3"]) -> bool:
    """Whether a lone chain from the root is a tail, as in a fish whose root is its head."""
    said = set().union(*(names.parts_of(evidence.skeleton.names[j]) for j in chain))
    if said & {"head", "tail"}:
        return "head" not in said
    return _is_tail(evidence, chain, forward, False)


def _limbs(
    evidence: Evidence,
    body: Body,
    pairs: list[tuple[Branch, Branch]],
    trunk: list[int],
    forward: Float[np.ndarray, "3"],
    left: Float[np.ndarray, "3"],
) -> tuple[Limb, ...]:
    """Name the pairs: legs from the front backwards, then arms, wings and fins."""
    legs = [p for p in pairs if p[0].is_leg]
    head = body.subtree(trunk[-1]) if len(trunk) > 1 else []
    # The eyelids, brows and lips of a face are pairs too, and say nothing of tracks.
    beyond_head = [p for p in pairs if p[0].attached_to not in head]
    if len(beyond_head) >= 2 * _MOST_LEGS and len(legs) != 1:
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
    for pair in (p for p in pairs if not p[0].is_leg):
        kind = pair[0].verdict.kind
        # What hangs on the head is an ear or a feature unless it is called a limb, and what begins
        # no higher than the legs of an upright body is a skirt.
        is_plain = pair[0].attached_to not in head and not _is_skirt(evidence, pair, legs, trunk)
        if _is_loose_girdle(evidence, body, pair, pairs):
            continue
        if kind is not None and (pair[0].is_named or is_plain):
            limbs += _sided(evidence, pair, kind, left, 0)
    return _apart(limbs)


def _is_skirt(
    evidence: Evidence,
    pair: tuple[Branch, Branch],
    legs: list[tuple[Branch, Branch]],
    trunk: list[int],
) -> bool:
    """Whether what looks like an arm hangs where the legs of an upright body on two legs do."""
    along = evidence.positions[trunk[-1]] - evidence.positions[trunk[0]]
    is_upright = along[1] > np.hypot(along[0], along[2])
    if len(legs) != 1 or pair[0].verdict.kind is not LimbKind.ARM or not is_upright:
        return False
    tops = [
        evidence.positions[[b.joints[0] for b in both]].mean(axis=0) for both in (pair, legs[0])
    ]
    gap = tops[0] - tops[1]
    is_near = float(np.linalg.norm(gap)) < _AROUND_LEGS * evidence.size
    return is_near and float(gap[1]) < _ABOVE_LEGS * evidence.height


def _is_loose_girdle(
    evidence: Evidence,
    body: Body,
    pair: tuple[Branch, Branch],
    pairs: list[tuple[Branch, Branch]],
) -> bool:
    """Whether a pair is the collar bones of another limb that were linked to the trunk apart,
    in a file whose tree is flat: loose joints, one on each side, as near to where that limb begins
    as to the trunk."""
    if any(len(b.joints) != 1 or b.joints[0] not in body.detached for b in pair):
        return False
    collar = pair[0].joints[0]

    def begins_beside(limb: Branch) -> bool:
        start, places = limb.joints[0], evidence.positions
        others = [collar, limb.tip, limb.attached_to]
        gap, length, above = np.linalg.norm(places[others] - places[start], axis=1).tolist()
        return start in body.detached and gap < min(_GIRDLE * length, above)

    return any(len(limb.joints) > 1 and begins_beside(limb) for other in pairs for limb in other)


def _apart(limbs: list[Limb]) -> tuple[Limb, ...]:
    """Without the joints that carry several limbs, as the anchor of a spider's legs does: turning
    one would swing all of them. Pairs that end in such a joint are no limbs."""
    carried = Counter(joint for limb in limbs for joint in limb.joints)
    own = [replace(limb, joints=tuple(j for j in limb.joints if carried[j] == 1)) for limb in limbs]
    pairs = zip(own[::2], own[1::2], strict=True)
    return tuple(limb for pair in pairs if all(x.tip in x.joints for x in pair) for limb in pair)


def _sided(
    evidence: Evidence,
    pair: tuple[Branch, Branch],
    kind: LimbKind,
    left: Float[np.ndarray, "3"],
    number: int,
) -> list[Limb]:
    """The left limb, then the right one."""
    across = [float(evidence.positions[b.joints[-1]] @ left) for b in pair]
    if abs(across[0] - across[1]) < 1e-3 * evidence.size:  # limbs of one joint, on the plane
        across = [float(_middle_of(evidence, b.joints) @ left) for b in pair]
    ordered = pair if across[0] >= across[1] else pair[::-1]
    sides = zip((Side.LEFT, Side.RIGHT), ordered, strict=True)
    return [_limb(branch, kind, side, number) for side, branch in sides]


def _lone(
    evidence: Evidence, branches: list[Branch], trunk: list[int], left: Float[np.ndarray, "3"]
) -> tuple[Limb, ...]:
    """Arms without another, each on the side on which it is."""
    middle = evidence.positions[trunk].mean(axis=0)
    return tuple(
        _limb(
            branch,
            LimbKind.ARM,
            Side.LEFT
            if float((evidence.positions[branch.tip] - middle) @ left) > 0
            else Side.RIGHT,
        )
        for branch in branches
    )


def _limb(branch: Branch, kind: LimbKind, side: Side, number: int = 0) -> Limb:
    return Limb(
        kind,
        side,
        branch.joints,
        branch.tip,
        number,
        branch.verdict.confidence,
        branch.verdict.doubt,
        branch.lies and kind.is_leg,
    )


def _middle_of(evidence: Evidence, joints: tuple[int, ...]) -> Float[np.ndarray, "3"]:
    """Mean of a limb's skin; of its joints without one."""
    skin = np.concatenate([evidence.skin_of[j] for j in joints])
    return (skin if len(skin) else evidence.positions[list(joints)]).mean(axis=0)


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
        roles |= limb_roles(evidence, limb, np.cross(left, UP))
    held = [j for j in body.parents if body.is_held(j, evidence)]
    roles |= {j: roles[body.parents[j]] for j in held}
    return tuple(roles[j] for j in range(len(evidence.skeleton)))


def _trunk_roles(
    evidence: Evidence, trunk: list[int], limbs: tuple[Limb, ...], body: Body
) -> dict[int, Role]:
    """Pelvis, spine up to where arms or fore legs hang, neck from there, head."""
    if len(trunk) == 1:
        return {trunk[0]: Role(Part.PELVIS)}
    front = [x for x in limbs if x.kind in (LimbKind.FORE, LimbKind.ARM, LimbKind.WING)]
    carried = [trunk.index(p) for x in front if (p := _carrier(body, x, limbs)) in trunk]
    shoulders = max(carried, default=max(1, round(0.6 * (len(trunk) - 1))))
    named = [i for i, j in enumerate(trunk) if "neck" in names.parts_of(evidence.skeleton.names[j])]
    first_neck = named[0] if named else min(shoulders + 1, len(trunk) - 1)
    roles = {trunk[0]: Role(Part.PELVIS), trunk[-1]: Role(Part.HEAD)}
    for place, joint in enumerate(trunk[1:-1], start=1):
        part = Part.SPINE if place < first_neck else Part.NECK
        number = place if part is Part.SPINE else place - first_neck + 1
        roles[joint] = Role(part, number=number)
    return roles


def _carrier(body: Body, limb: Limb, limbs: tuple[Limb, ...]) -> int:
    """The joint that a limb hangs on, beyond those of its side that carry several limbs."""
    joint = body.parents[limb.joints[0]]
    sides = {side for side in Side if side is not limb.side}

    def is_anchor(joint: int) -> bool:
        below = set(body.subtree(joint))
        held = [other for other in limbs if other.joints[0] in below]
        return len(held) > 1 and not any(other.side in sides for other in held)

    while joint >= 0 and is_anchor(joint):
        joint = body.parents[joint]
    return joint
