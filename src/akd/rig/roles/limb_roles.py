"""What each joint of a limb is: girdle, upper, lower, cannon, foot or hand, toes; or a twist."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from akd.rig.roles import names
from akd.rig.roles.body import Evidence
from akd.rig.roles.limbs import SAME_PLACE
from akd.rig.roles.role import Limb, LimbKind, Part, Role

_BEND = 0.15
"""Least change along forward, between the unit directions of two segments, that is a bend."""
_STRAIGHT, _IN_LINE = math.radians(6.0), math.radians(1.0)
"""A twist joint bends the limb by less than this where names tell it, and where none do."""
_STUB = math.radians(30.0)
"""The short first one of two joints of a segment, as MakeHuman's `upperleg01`, bends by less."""
_TWIST_WORDS = {"twist", "roll", "bend", "stretch", "part"}


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


def _starts_on_trunk(evidence: Evidence, limb: Limb) -> bool:
    """Whether a limb's first joint sits on the joint that carries it, as the hip joints of CMU's
    skeletons do: its first segment only leads to where the limb begins."""
    above = evidence.skeleton.parents[limb.joints[0]]
    gap = evidence.positions[limb.joints[0]] - evidence.positions[max(above, 0)]
    first, second = np.diff(evidence.positions[list(limb.joints[:3])], axis=0)
    short = np.linalg.norm(first) < 0.5 * np.linalg.norm(second)
    return above >= 0 and bool(short and np.linalg.norm(gap) < 1e-3 * max(evidence.size, 1e-9))


def _named_girdles(evidence: Evidence, limb: Limb) -> tuple[int, ...]:
    """The joints before an arm's upper one that are called collar bones, shoulder blades or
    shoulders. A broad figure's collar bone is as long as its upper arm."""
    if limb.kind is not LimbKind.ARM:
        return ()
    said = [names.segment_of_arm(evidence.skeleton.names[j]) for j in limb.joints]
    end = limb.joints.index(limb.tip)
    first = next((k for k, segment in enumerate(said[:end]) if segment != "girdle"), end)
    has_arm = said[first] == "upper" and (end - first >= 2 or said[end] == "lower")
    return limb.joints[:first] if has_arm else ()


def _second_girdles(evidence: Evidence, limb: Limb) -> set[int]:
    """Further joints of a collar bone, as MakeHuman's `shoulder01` is."""
    return set(_named_girdles(evidence, limb)[1:])


def _find_twists(evidence: Evidence, limb: Limb) -> set[int]:
    """Joints in a limb that only share out the skin of a segment, as Daz, Rigify and MakeHuman have
    them: they lie in line with their neighbours, and are called after the joint before them, or
    `twist`. Without names they lie exactly in line, and there are more joints than a limb has. Of
    two joints that are called the same segment of a limb, and bend, the one with the longer bone
    counts.

    One joint at least bends: of several in line the one nearest to the middle of the limb.
    """
    end = limb.joints.index(limb.tip)
    inner = limb.joints[1:end]
    if len(inner) < 2:
        return set()
    steps = np.diff(evidence.positions[list(limb.joints[: end + 1])], axis=0)
    lengths = np.maximum(np.linalg.norm(steps, axis=1), 1e-12)
    ways = steps / lengths[:, None]
    bends = np.arccos(np.clip((ways[1:] * ways[:-1]).sum(axis=1), -1.0, 1.0))
    stems = [_stem(evidence.skeleton.names[j]) for j in limb.joints[: end + 1]]
    is_named = len(set(stems)) > 2
    found = []
    for k, joint in enumerate(inner):
        if is_named:
            is_twist = stems[k + 1] == stems[k] or _says_twist(evidence.skeleton.names[joint])
        else:
            is_twist = len(inner) > 2 and bool(bends[k] < _IN_LINE)
        if is_twist and bends[k] < _STRAIGHT:
            found.append(joint)
        elif is_named and k > 0 and stems[k + 1] == stems[k] and bends[k] < _STUB:
            same_segment = names.says_segment(evidence.skeleton.names[joint])
            found += [limb.joints[k]] if same_segment and lengths[k] < lengths[k + 1] else []
    if len(found) == len(inner):
        gone = np.cumsum(lengths)[:-1] / lengths.sum()
        found.remove(inner[int(np.abs(gone - 0.5).argmin())])
    return set(found)


def _find_motors(evidence: Evidence, limb: Limb) -> set[int]:
    """Joints that lie where the one before them does: a robot has one for each axis, and other rigs
    one for each constraint. The first of them turns all."""
    places = evidence.positions[list(limb.joints)]
    gaps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    return {
        joint
        for joint, gap in zip(limb.joints[1:], gaps, strict=True)
        if gap < SAME_PLACE * evidence.size and joint != limb.tip
    }


def _stem(name: str) -> tuple[str, ...]:
    """The words of a name without side, number and what tells a twist from a bend."""
    return tuple(w for w in names.without_side(name) if w.isalpha() and w not in _TWIST_WORDS)


def _says_twist(name: str) -> bool:
    return bool({"twist", "roll"} & set(names.words(name)))


def limb_roles(evidence: Evidence, limb: Limb, forward: Float[np.ndarray, "3"]) -> dict[int, Role]:
    """Girdle, upper, lower, cannon, foot or hand, toes along a limb; twist joints, and all but the
    first of several in one place or of one collar bone, are other parts of it, which follow."""
    followers = set[int]()
    for find in (_find_motors, _find_twists, _second_girdles):
        followers |= (found := find(evidence, limb))
        limb = replace(limb, joints=tuple(j for j in limb.joints if j not in found))
    roles = {j: Role(Part.OTHER, limb.side, limb.kind, limb.number) for j in followers}
    end = limb.joints.index(limb.tip)
    points = evidence.positions[list(limb.joints)]
    has_girdle = end >= 3 and _starts_with_girdle(limb, np.diff(points[: end + 1], axis=0), forward)
    if end >= 3 and not has_girdle:
        has_girdle = _starts_on_trunk(evidence, limb)
    has_girdle = has_girdle or bool(_named_girdles(evidence, limb))
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
    for joint, part in zip(limb.joints, parts, strict=True):
        seen[part] += 1
        number = seen[part] if counts[part] > 1 else 0
        if limb.number:
            number = limb.number
        roles[joint] = replace(template, part=part, number=number)
    return roles
