"""Which way a body faces: across its lateral axis, the sign by what shape and names say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from akd.rig.roles import names
from akd.rig.roles.body import Body, Evidence
from akd.rig.roles.limb_kind import shape_model
from akd.rig.roles.limbs import Branch
from akd.rig.roles.symmetry import Sagittal

UP = np.array([0.0, 1.0, 0.0])
FACING_FEATURES = (
    "the feet",
    "the upper body",
    "the thin end",
    "the root",
    "the ends of the middle",
    "the bulk",
    "the thin end of the upper body",
    "the heavy end of the middle",
    "pairs that are no legs",
)
"""Where each of these lies along the axis, in body sizes, so that a turned body has the opposite
signs: the skin of the feet as seen from their joints, the upper third of the body and the root as
seen from its centre, the skewness of the surface, the last joints of chains on the plane, the
median of the surface, the skewness of the upper third, the last joints of chains on the plane by
what they move, and the joints of arms, ears and other pairs."""
_NAMED_SIDES = 2.0
"""Log-odds of left and right in names. Some artists call left what is on the left of the image,
so shape can outvote them."""
_NAMED_MIDDLE = 8.0
"""Log-odds of a head that is named to be straight ahead of the tail, or, where only one of them is
named, one body size ahead of the pelvis or the middle."""
_NAMED_FACE, _FACE_AHEAD = 4.0, 0.1
"""Log-odds of eyes, jaw or nose that are named to be this many body sizes ahead of the head."""
_NO_TRUNK, _LITTLE = 0.05, 0.25
"""Where less than this share of the surface is trunk, as on the arms of a first-person game, what
shape says counts this much: it was learnt from whole bodies."""
_FORMAT = 2.0
"""Log-odds of +Z, which glTF calls the front: decides where shape and names hardly do."""


@dataclass(frozen=True)
class Facing:
    """The way a body faces."""

    forward: Float[np.ndarray, "3"]
    """Horizontal unit vector."""
    found_by: str
    confidence: float
    """Probability, by shape and names together."""


def find_facing(
    evidence: Evidence, body: Body, plane: Sagittal, pairs: list[tuple[Branch, Branch]]
) -> Facing:
    """The log-odds that shape and names give the two ways across the lateral axis, added up."""
    axis = np.cross(plane.lateral, UP)
    shape = shape_model().facing * measure_facing(evidence, body, axis, plane, pairs)
    if sum(evidence.mass[j] for j in body.parents if j not in plane.partners) < _NO_TRUNK:
        shape = _LITTLE * shape
    votes = dict(zip(FACING_FEATURES, shape.tolist(), strict=True)) | {
        "left and right in the joints' names": _NAMED_SIDES if plane.is_signed else 0.0,
        "front and back in the joints' names": _named_ends(evidence, pairs, axis),
        "head and tail in the joints' names": _named_middle(evidence, body, axis),
        "the face in the joints' names": _named_face(evidence, body, axis),
        "the format's +Z": _FORMAT * float(axis[2] + 1e-3 * axis[0]),
    }
    total = sum(votes.values())
    sign = 1.0 if total >= 0 else -1.0
    found_by = max(votes, key=lambda by: votes[by] * sign)
    return Facing(axis * sign, found_by, float(1.0 / (1.0 + np.exp(-abs(total)))))


def measure_facing(
    evidence: Evidence,
    body: Body,
    axis: Float[np.ndarray, "3"],
    plane: Sagittal,
    pairs: list[tuple[Branch, Branch]],
) -> Float[np.ndarray, "F"]:
    """`FACING_FEATURES`, cut to within one size of the body."""
    points = evidence.points
    along, size = points @ axis, max(evidence.size, 1e-9)
    middle = 0.5 * float(along.min() + along.max())
    place = (evidence.positions @ axis - middle) / size
    ends = [j for j in body.parents if j not in plane.partners and not body.children[j]]
    weight = evidence.mass[ends]
    aside = sorted(body.parents.keys() & plane.partners.keys() - _joints_of_legs(body, pairs))
    high = along[points[:, 1] > evidence.ground + 0.67 * evidence.height]
    values = np.array([
        10.0 * _toes_ahead(evidence, body, [b for p in pairs for b in p if b.is_leg], axis) / size,
        float(high.mean() - middle) / size if len(high) else 0.0,
        0.2 * _skewness(along),
        place[body.root],
        place[ends].mean() if ends else 0.0,
        float(np.median(along) - middle) / size,
        0.2 * _skewness(high),
        float(weight @ place[ends]) / max(float(weight.sum()), 1e-9),
        place[aside].mean() if aside else 0.0,
    ])  # fmt: skip
    return np.clip(values, -1.0, 1.0)


def _joints_of_legs(body: Body, pairs: list[tuple[Branch, Branch]]) -> set[int]:
    legs = [branch.joints[0] for pair in pairs for branch in pair if branch.is_leg]
    return {joint for leg in legs for joint in body.subtree(leg)}


def _skewness(values: Float[np.ndarray, "N"]) -> float:
    """Third standardised moment; 0 for a few values."""
    if len(values) < 8:
        return 0.0
    deviation = values - values.mean()
    return float((deviation**3).mean() / max(float((deviation**2).mean()) ** 1.5, 1e-12))


def _toes_ahead(
    evidence: Evidence, body: Body, legs: list[Branch], axis: Float[np.ndarray, "3"]
) -> float:
    """Mean offset of the surface of the feet from their joints."""
    offsets = []
    for leg in legs:
        toes = leg.joints[leg.joints.index(leg.tip) :]
        joints = [j for toe in toes for j in body.with_held(toe, evidence)]
        skin = np.concatenate([evidence.skin_of[j] for j in joints])
        points = skin if len(skin) else evidence.positions[joints]
        along = points @ axis
        offsets.append(0.5 * (along.min() + along.max()) - evidence.positions[leg.tip] @ axis)
    return float(np.mean(offsets)) if offsets else 0.0


def _named_ends(
    evidence: Evidence, pairs: list[tuple[Branch, Branch]], axis: Float[np.ndarray, "3"]
) -> float:
    """4 where limbs called front or fore lie ahead of those called back or hind, along the axis."""
    places: dict[str, list[float]] = {"front": [], "back": []}
    for branch in (b for pair in pairs for b in pair):
        if end := names.end_of(evidence.skeleton.names[branch.joints[0]]):
            places[end].append(float(evidence.positions[branch.joints[0]] @ axis))
    if not places["front"] or not places["back"]:
        return 0.0
    return 4.0 * float(np.sign(np.mean(places["front"]) - np.mean(places["back"])))


def _named_places(
    evidence: Evidence, body: Body, parts: tuple[str, ...]
) -> dict[str, Float[np.ndarray, "3"]]:
    """Mean positions of the joints that are called each of these parts."""
    places: dict[str, list[Float[np.ndarray, "3"]]] = {}
    for joint in body.parents:
        for part in names.parts_of(evidence.skeleton.names[joint]) & set(parts):
            places.setdefault(part, []).append(evidence.positions[joint])
    return {part: np.mean(found, axis=0) for part, found in places.items()}


def _named_middle(evidence: Evidence, body: Body, axis: Float[np.ndarray, "3"]) -> float:
    """How far joints called head, neck or face lie ahead of those called tail or pelvis. One of the
    two may be missing: then the middle of the body stands in for it."""
    places = _named_places(evidence, body, ("head", "neck", "face", "tail", "pelvis"))
    front = next((places[part] for part in ("head", "neck", "face") if part in places), None)
    if front is None and "tail" not in places:
        return 0.0
    if front is not None and "tail" in places:
        way = front - places["tail"]
        # However wide its wings: a head is ahead of the tail by most of the way between them.
        return _NAMED_MIDDLE * float(way @ axis) / max(float(np.linalg.norm(way)), 1e-9)
    middle = evidence.positions[list(body.parents)].mean(axis=0)
    back = places.get("tail", places.get("pelvis", middle))
    gap = float(((middle if front is None else front) - back) @ axis)
    return _NAMED_MIDDLE * gap / max(evidence.size, 1e-9)


def _named_face(evidence: Evidence, body: Body, axis: Float[np.ndarray, "3"]) -> float:
    """How far joints called eyes, jaw or nose lie ahead of the one called head."""
    places = _named_places(evidence, body, ("head", "face"))
    if len(places) < 2:
        return 0.0
    gap = float((places["face"] - places["head"]) @ axis) / max(evidence.size, 1e-9)
    return _NAMED_FACE * float(np.clip(gap / _FACE_AHEAD, -1.0, 1.0))
