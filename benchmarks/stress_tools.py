"""What further tools do to a skeleton, beside their names: correctives, faces of many joints, share
bones, a second skinned leg, rigid pieces, motors in one place; and half bodies and other binds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.stress_bodies import cut, posed
from benchmarks.stress_rig import SIDES, Joint, Piece, StressRig
from benchmarks.stress_structures import (
    Change,
    arms_at,
    chained,
    fingers,
    ik_targets,
    leaf_ends,
    spine_of,
    twists,
    without,
    written,
)


def _patch(rig: StressRig, parent: str, joint: Joint, radius: float, share: float) -> StressRig:
    """With a joint that takes a share of its parent's skin near itself."""
    rig = rig.added(replace(joint, parent=parent))
    near = np.linalg.norm(rig.vertices - joint.place, axis=1) < radius
    return rig.moved(parent, joint.key, share * near)


def correctives(rig: StressRig) -> StressRig:
    """Four joints around every hip, knee, shoulder and elbow that take skin from their segment, on
    a joint that takes none, as Unreal 5's mannequins and MetaHumans have them."""
    h = float(np.ptp(rig.vertices[:, 1]))
    ways = {"bck": (0, 0, -1), "fwd": (0, 0, 1), "in": (-1, 0, 0), "out": (1, 0, 0)}
    for joint in rig.joints:
        if joint.part not in ("upper", "lower") or not joint.limb:
            continue
        holder = f"{joint.key}_correctiveRoot"
        rig = rig.added(Joint(holder, joint.key, joint.place, "helper", joint.side, name=holder))
        for way, step in ways.items():
            key = f"{joint.key}_{way}"
            sign = np.array([-1.0 if joint.side == "right" else 1.0, 1.0, 1.0])
            place = joint.place + 0.03 * h * sign * np.array(step)
            rig = rig.added(Joint(key, holder, place, "corrective", joint.side, name=key))
            near = np.linalg.norm(rig.vertices - place, axis=1) < 0.035 * h
            rig = rig.moved(joint.key, key, 0.5 * near)
    return rig


def dense_face(rig: StressRig) -> StressRig:
    """Forty-eight joints on the head that take all of its skin."""
    head = rig.index("head")
    own = np.flatnonzero(rig.weights[:, head] > 0.5)
    rig = rig.added(Joint("face_root", "head", rig.joint("head").place, "face", name="face_root"))
    points = rig.vertices[own]
    chosen = [int(points[:, 1].argmin())]
    gaps = np.full(len(points), np.inf)
    while len(chosen) < min(48, len(points)):
        gaps = np.minimum(gaps, np.linalg.norm(points - points[chosen[-1]], axis=1))
        chosen.append(int(gaps.argmax()))
    nearest = np.linalg.norm(points[:, None] - points[chosen], axis=2).argmin(axis=1)
    for k, c in enumerate(chosen):
        x = points[c, 0]
        side = "left" if x > 1e-3 else "right" if x < -1e-3 else ""
        key = f"face_{k}"
        rig = rig.added(Joint(key, "face_root", points[c], "face", side, number=k, name=key))
        share = np.zeros(len(rig.vertices))
        share[own[nearest == k]] = 1.0
        rig = rig.moved("head", key, share)
    return rig


def share_bones(rig: StressRig) -> StressRig:
    """A joint at each knee, elbow and ball that takes half of the skin around it, beside the next
    of the chain; ribs and breasts beside the spine: as Character Creator has them."""
    h = float(np.ptp(rig.vertices[:, 1]))
    for joint in rig.joints:
        if joint.limb and joint.part in ("lower", "toes"):
            key = f"{joint.key}_share"
            own = replace(joint, key=key, part=f"{joint.part}_share", name=key)
            rig = _patch(rig, joint.parent or "", own, 0.05 * h, 0.5)
    chest = max((j for j in rig.joints if j.part == "spine"), key=lambda j: j.number)
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        place = chest.place + h * np.array([0.05 * sign, 0.0, 0.05])
        ribs = Joint(f"ribs_{side}", "", place, "ribs", side, name=f"ribs_{side}")
        rig = _patch(rig, chest.key, ribs, 0.07 * h, 0.6)
        place = place + h * np.array([0.01 * sign, 0.0, 0.02])
        breast = Joint(f"breast_{side}", "", place, "breast", side, name=f"breast_{side}")
        rig = _patch(rig, ribs.key, breast, 0.05 * h, 0.8)
    return rig


def second_legs(rig: StressRig) -> StressRig:
    """The legs that move the skin are copies of those that inverse kinematics turns and that move
    none, beside them on the pelvis: the D-bones of MikuMikuDance."""
    for side in SIDES:
        above = None
        for joint in rig.chain(side, "leg"):
            bare = replace(
                joint, key=f"bare_{joint.key}", part=f"{joint.part}_bare", parent=above or "pelvis"
            )
            rig, above = rig.added(bare), bare.key
    return rig


def motors(rig: StressRig) -> StressRig:
    """Three joints in one place at every hip, shoulder and ankle, of which the last moves the skin
    and holds the next: the yaw, roll and pitch links of a robot."""
    for joint in rig.joints:
        if not joint.limb or joint.part not in ("upper", "foot", "hand"):
            continue
        below, above = rig.children(joint.key), joint.key
        for axis in ("roll", "pitch"):
            key = f"{joint.key}_{axis}"
            rig = rig.added(replace(joint, key=key, parent=above, part=f"{joint.part}_{axis}"))
            above = key
        rig = rig.moved(joint.key, above, 0.97)
        for child in below:
            rig = rig.changed(child.key, parent=above)
    return rig


def pieces(rig: StressRig) -> StressRig:
    """No skin: each joint's part of the surface is a rigid mesh on its node."""
    owners = rig.weights.argmax(axis=1)
    face_owner = np.array([np.bincount(owners[f]).argmax() for f in rig.faces])
    moving = np.isin(np.arange(len(rig.joints)), face_owner)
    weights = rig.weights * moving + 1e-9 * moving
    made = []
    for i, joint in enumerate(rig.joints):
        faces = rig.faces[face_owner == i]
        if not len(faces):
            continue
        used, renumbered = np.unique(faces, return_inverse=True)
        made.append(Piece(joint.key, joint.key, rig.vertices[used], renumbered.reshape(-1, 3)))
    none = np.zeros((0, 3), dtype=np.int64)
    weights /= weights.sum(axis=1, keepdims=True)
    return replace(rig, pieces=(*rig.pieces, *made), faces=none, weights=weights)


def pivots(rig: StressRig) -> StressRig:
    """Limbs of one joint, trunk of one, and all of them on the root: a block model's pivots."""
    for limb in rig.limbs():
        for joint in rig.chain(*limb)[:0:-1]:
            rig = rig.without(joint.key)
    for joint in rig.joints:
        if joint.part in ("spine", "neck", "jaw", "ear", "tail"):
            rig = rig.without(joint.key)
    joints = tuple(replace(j, parent=None if j.parent is None else "root") for j in rig.joints)
    return pieces(replace(rig, joints=joints))


def upper_half(rig: StressRig) -> StressRig:
    """Cut off at the hips: no legs."""
    for side in SIDES:
        if chain := rig.chain(side, "leg"):
            rig = cut(rig, chain[0].key)
    return rig


def arms_alone(rig: StressRig) -> StressRig:
    """The arms of a first-person game: neither head nor legs, little of the trunk."""
    rig = upper_half(cut(rig, "neck_1" if rig.has("neck_1") else "head"))
    trunk = [i for i, j in enumerate(rig.joints) if not j.limb]
    kept = rig.weights[:, trunk].sum(axis=1) < 0.5
    number = np.cumsum(kept) - 1
    faces = number[rig.faces[kept[rig.faces].all(axis=1)]]
    rig = replace(rig, vertices=rig.vertices[kept], faces=faces, weights=rig.weights[kept])
    turn = {j.key: Rotation.from_euler("x", -80.0, degrees=True)
            for s in SIDES for j in rig.chain(s, "arm")[:1]}  # fmt: skip
    return rig.turned(turn)


def lying(rig: StressRig) -> StressRig:
    """Bound on its back: the head behind, the face up."""
    return _turned_whole(rig, Rotation.from_euler("x", -90.0, degrees=True))


def _turned_whole(rig: StressRig, turn: Rotation) -> StressRig:
    joints = tuple(replace(j, place=turn.apply(j.place)) for j in rig.joints)
    rig = replace(rig, joints=joints, vertices=turn.apply(rig.vertices))
    lowest = np.array([0.0, float(rig.vertices[:, 1].min()), 0.0])
    joints = tuple(replace(j, place=j.place - lowest) for j in rig.joints)
    return replace(rig, joints=joints, vertices=rig.vertices - lowest)


def one_leg_shorter(rig: StressRig) -> StressRig:
    """The right leg ends in a peg: no joints below the knee."""
    for joint in rig.chain("right", "leg")[:1:-1]:
        if joint.part in ("foot", "toes"):
            rig = rig.without(joint.key)
    return rig


def backpack(rig: StressRig) -> StressRig:
    """A box on a joint of its own behind the chest, with a quiver of five arrows."""
    h = float(np.ptp(rig.vertices[:, 1]))
    chest = max((j for j in rig.joints if j.part == "spine"), key=lambda j: j.number)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([f for a, b, c, d in quads for f in ((a, b, c), (a, c, d))])
    place = chest.place + h * np.array([0.0, 0.02, -0.14])
    rig = rig.added(Joint("pack", chest.key, place, "backpack", name="pack"))
    rig = rig.with_skin(place + h * corners * [0.09, 0.12, 0.06], faces, {"pack": np.ones(8)})
    for k in range(5):
        at = place + h * np.array([0.02 * (k - 2), 0.15, 0.0])
        key = f"arrow_{k}"
        rig = rig.added(Joint(key, "pack", at, "arrow", name=key, number=k + 1))
        rig = rig.with_skin(at + h * corners * [0.004, 0.15, 0.004], faces, {key: np.ones(8)})
    return rig


def beside_another(rig: StressRig) -> StressRig:
    """A smaller one of the same stands beside it, in one skin: two characters in one file."""
    step = np.array([1.3 * float(np.ptp(rig.vertices[:, 0])), 0.0, 0.0])
    own = rig
    second = [
        replace(j, key=f"second_{j.key}", parent=j.parent and f"second_{j.parent}",
                place=0.6 * j.place + step, limb="", side="", part="other", name=f"second_{j.key}")
        for j in own.joints
    ]  # fmt: skip
    rig = rig.added(*second)
    columns = {f"second_{j.key}": own.weights[:, i] for i, j in enumerate(own.joints)}
    return rig.with_skin(0.6 * own.vertices + step, own.faces, columns)


def swapped_numbers(rig: StressRig) -> StressRig:
    """The joints of the file in the order of an exporter that sorts by name backwards."""
    order = sorted(range(len(rig.joints)), key=lambda i: rig.joints[i].key, reverse=True)
    return replace(rig, joints=tuple(rig.joints[i] for i in order), weights=rig.weights[:, order])


_CROUCH: Change = posed(leg_upper=(-60, 0, 0), leg_lower=(110, 0, 0), leg_foot=(-50, 0, 0))
_RELAXED: Change = posed(arm_upper=(-10, 0, 0), arm_lower=(-40, 0, 0))
_BENT_OVER: Change = posed(leg_upper=(-20, 0, 0), leg_lower=(25, 0, 0), arm_upper=(-50, 0, -10))

TOOLS: dict[str, Change] = {
    "correctives": correctives,
    "a face of 48 joints": dense_face,
    "share bones": share_bones,
    "D-bones": chained(second_legs, ik_targets),
    "motors in one place": motors,
    "rigid pieces": pieces,
    "pivots on the root": pivots,
    "no legs": upper_half,
    "arms alone": arms_alone,
    "lying": lying,
    "crouched": _CROUCH,
    "relaxed": _RELAXED,
    "crouched, arms ahead": chained(_CROUCH, _BENT_OVER),
    "one leg a peg": one_leg_shorter,
    "backpack and arrows": backpack,
    "another beside": beside_another,
    "joints sorted backwards": swapped_numbers,
    "mannequin of Unreal 5": chained(
        arms_at(45.0), spine_of(5), fingers, twists(inline=False, count=2), correctives, ik_targets,
        written(scale=0.01, z_up=True),
    ),
    "Character Creator": chained(
        arms_at(45.0), fingers, twists(inline=False), share_bones, dense_face, written(scale=0.01),
    ),
    "robot of pieces and motors": chained(motors, pieces),
    "rigid pieces, no toes, ends": chained(without("toes", "girdle"), pieces, leaf_ends),
}  # fmt: skip
"""By what a table calls them."""
