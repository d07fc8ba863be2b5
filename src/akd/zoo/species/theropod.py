"""Anatomy of theropods: tyrannosaurs, raptors and ostriches."""

from __future__ import annotations

from functools import partial

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Tube, vector
from akd.zoo.species.anatomy import LEG, Anatomy, hang_leg, string_tail
from akd.zoo.species.parameters import Theropod
from akd.zoo.species.theropod_head import add_theropod_head
from akd.zoo.species.wings import add_wing


def build_theropod(p: Theropod) -> Anatomy:
    """Joints and flesh of a theropod, feet on y = 0, the hips over the origin."""
    body = Anatomy()
    h = p.height
    hip = vector(p.leg.spread * h, h, 0.0)
    pitch = np.radians(p.trunk_pitch)
    forward = vector(0.0, np.sin(pitch), np.cos(pitch))
    pelvis = vector(0.0, h + 0.10 * p.rump.depth * h, 0.0)
    chest = pelvis + p.trunk * h * forward
    neck = _neck_points(p, chest)
    spine = [pelvis + t * (chest - pelvis) for t in (0.32, 0.66)]
    names = ("pelvis", "spine_1", "spine_2", "neck_1", "neck_2", "neck_3", "head")
    body.joint("root", None, (0.0, 0.0, 0.0))
    body.string(names, "root", (pelvis, *spine, *neck))
    head_pitch = np.radians(p.head.pitch)
    look = vector(0.0, np.sin(head_pitch), np.cos(head_pitch))
    body.chain("trunk", names, neck[3] + p.head.length * h * look)
    _trunk(body, p, pelvis, forward)
    _neck(body, p, neck)
    add_theropod_head(body, p, neck[3], look)
    _tail(body, p, pelvis)
    _arm(body, p, chest, forward)
    if p.wing is not None:
        out = vector(0.40 * p.chest.width * h, 0.22 * p.chest.depth * h, 0.0)
        add_wing(body, p.wing, "spine_2", chest - 0.16 * p.trunk * h * forward + out, h)
    _leg(body, p, hip)
    return body


def _neck_points(p: Theropod, chest: Array) -> list[Array]:
    places = [chest]
    for i in range(3):
        angle = np.radians(p.neck_pitch + p.neck_curl * i / 2)
        step = p.neck_length * p.height / 3
        places.append(places[-1] + step * vector(0.0, np.sin(angle), np.cos(angle)))
    return places


def _trunk(body: Anatomy, p: Theropod, pelvis: Array, forward: Array) -> None:
    h = p.height
    (rd, rw), (cd, cw) = (p.rump.depth, p.rump.width), (p.chest.depth, p.chest.width)
    width = (0.62 * rw, rw, 0.55 * rw + 0.48 * cw, cw, 0.60 * cw)
    up = (0.40 * rd, 0.52 * rd, 0.25 * (rd + cd), 0.46 * cd, 0.36 * cd)
    down = (0.42 * rd, 0.50 * rd, 0.28 * (rd + cd), 0.58 * cd, 0.40 * cd)
    loft = Loft(
        pelvis - 0.34 * p.trunk * h * forward,
        pelvis + 1.04 * p.trunk * h * forward,
        (0.0, 0.22, 0.50, 0.78, 1.0),
        [0.5 * w * h for w in width],
        [u * h for u in up],
        [d * h for d in down],
        cap=(0.12 * h, 0.10 * h),
    )
    body.add(loft, "trunk", material="feather" if p.beaked else "coat")
    if p.feathers == "ostrich":
        # The wing lies over the flank as a mass of plumes.
        for along, out, size in ((0.30, 0.44, 1.0), (-0.05, 0.42, 0.85)):
            offset = vector(out * cw * h, 0.02 * h, 0)
            centre = pelvis + along * p.trunk * h * forward + offset
            radii = (0.10 * h * size, 0.20 * h * size, 0.32 * h * size)
            wing = Ellipsoid(centre, radii, axis=forward)
            body.add(wing, "trunk", material="feather", blend=0.06 * h)


def _neck(body: Anatomy, p: Theropod, neck: list[Array]) -> None:
    h = p.height
    t = np.linspace(0.0, 1.0, 4)
    thick = (p.neck_base * (1 - t) ** 1.5 + p.neck_top * (1 - (1 - t) ** 1.5)) * h
    start = neck[0] - 0.25 * (neck[1] - neck[0])
    material = {"ostrich": "skin", "bird": "feather"}.get(p.feathers, "coat")
    tube = Tube((start, *neck[1:]), thick, flat=0.86, bent=True)
    body.add(tube, "trunk", material=material, blend=0.12 * h, detail=0.8)
    if p.feathers == "ostrich":
        ruff = Tube((start, 0.4 * neck[0] + 0.6 * neck[1]), (1.25 * thick[0], 0.6 * thick[1]))
        body.add(ruff, "trunk", material="feather", blend=0.08 * h, detail=0.8)


def _tail(body: Anatomy, p: Theropod, pelvis: Array) -> None:
    h, tail = p.height, p.tail
    joints = 6 if tail.length > 0.8 and not p.beaked else 3
    angles = [np.radians(tail.pitch + tail.curl * i / (joints - 1)) for i in range(joints)]
    root = pelvis + vector(0.0, 0.0, -0.22 * p.rump.depth * h)
    places, thick = string_tail(body, tail, h, root, angles)
    # A bird's tail is a fan of feathers.
    fan = (1.0, 1.5, 2.2, 3.2) if p.feathers == "bird" else 0.88
    tube = Tube(places, thick, flat=fan, bent=True, finer=3)
    material = "plume" if p.beaked else "tail"
    body.add(tube, "tail", material=material, blend=0.16 * h, detail=0.9)


def _arm(body: Anatomy, p: Theropod, chest: Array, forward: Array) -> None:
    if p.arm <= 0.0:
        return
    h = p.height
    r = p.arm_radius * h
    offset = vector(0.44 * p.chest.width * h, -0.20 * p.chest.depth * h, 0.0)
    shoulder = chest - 0.10 * p.trunk * h * forward + offset
    lengths = vector(0.42, 0.36, 0.22) * p.arm * h
    elbow = shoulder + lengths[0] * vector(0.12, -0.82, -0.52)
    wrist = elbow + lengths[1] * vector(-0.05, -0.38, 0.92)
    tip = wrist + lengths[2] * vector(-0.08, -0.75, 0.65)
    body.limb("left_arm", "spine_2", ("upper", "lower", "hand"), (shoulder, elbow, wrist), tip)
    add = partial(body.add, group="left_arm")
    if p.feathers == "ostrich":
        line = (shoulder, elbow, wrist + vector(0.0, 0.0, -0.1 * h))
        wing = Tube(line, (1.6 * r, 1.8 * r, 0.8 * r), flat=0.5, bent=True)
        add(wing, material="plume", blend=0.04 * h, detail=0.85)
        return
    limb = Tube((shoulder, elbow, wrist), (1.25 * r, 0.9 * r, 0.55 * r), flat=0.85)
    add(limb, blend=0.05 * h, detail=0.65)
    for side in (-0.35, 0.35):
        end = tip + vector(side * 0.8 * r, 0.0, 0.2 * r)
        finger = Cone(wrist, end, 0.42 * r, 0.24 * r)
        add(finger, blend=0.15 * r, detail=0.5, bone="left_arm_hand")
        claw = Cone(end, end + vector(0.0, -0.7 * r, 0.35 * r), 0.24 * r, 0.08 * r)
        add(claw, material="hoof", detail=0.45, bone="left_arm_hand")
    if p.feathers == "raptor":
        for t in (0.1, 0.5, 0.9):
            root = elbow + t * (wrist - elbow)
            end = root + lengths[0] * vector(0.25, -0.25, -0.85)
            quill = Cone(root, end, 0.45 * r, 0.2 * r, flat=2.2, side=(0.0, 1.0, 0.0))
            add(quill, material="feather", blend=0.1 * r, detail=0.6, bone="left_arm_lower")


def _leg(body: Anatomy, p: Theropod, hip: Array) -> None:
    h, leg, foot = p.height, p.leg, p.foot
    joints = hang_leg(hip, leg, foot, h)
    j, k, a, t = joints
    tip = t + vector(0.0, -0.4 * foot.height * h, 0.7 * foot.length * h)
    body.limb("left_leg", "pelvis", LEG, joints, tip)
    body.leg("left_leg", "hind")
    top, knee, ankle, toes = (r * h for r in leg.radii)
    bare = "skin" if p.beaked else "coat"
    add = partial(body.add, group="left_leg", material=bare)
    fan = 0.5 * (j + k) + vector(0.0, 0.03 * h, -0.05 * h)
    radii = (0.66 * top, leg.muscle * h, 0.78 * float(np.linalg.norm(k - j)))
    add(Ellipsoid(fan, radii, axis=k - j), blend=0.10 * h)
    middle = k + 0.35 * (a - k) + vector(0.0, 0.0, -0.3 * knee)
    limb = Tube(
        (j, k, middle, a, t),
        (0.9 * top, 1.1 * knee, 0.72 * knee, ankle, toes),
        flat=(0.7, 0.78, 0.82, 0.85, 0.95),
    )
    add(limb, blend=0.06 * h, detail=0.8)
    centre = a + vector(0.0, 0.1 * ankle, -0.25 * ankle)
    heel = Ellipsoid(centre, (1.0 * ankle, 1.25 * ankle, 1.2 * ankle))
    add(heel, blend=0.4 * ankle, detail=0.75)
    _claws(body, p, t, toes, bare)


def _claws(body: Anatomy, p: Theropod, joint: Array, radius: float, bare: str) -> None:
    """Three long toes (two on an ostrich), each ending in a claw."""
    h, foot = p.height, p.foot
    length, height = foot.length * h, foot.height * h
    add = partial(body.add, group="left_leg", bone="left_leg_toes", detail=0.6)
    x, _, z = joint
    ball = vector(x, 0.62 * height, z)
    pad = Ellipsoid(ball, (1.15 * radius, 0.85 * height, 1.3 * radius))
    add(pad, material=bare, blend=0.5 * radius)
    if p.feathers == "ostrich":
        toes = ((-8.0, 1.0), (30.0, 0.6))
    else:
        toes = ((0.0, 1.0), (30.0, 0.82), (-30.0, 0.82))
    for angle, size in toes:
        way = np.array((np.sin(np.radians(angle)), 0.0, np.cos(np.radians(angle))))
        end = vector(x, 0.26 * height, z) + 0.78 * size * length * way
        middle = 0.5 * (ball + end) + vector(0.0, 0.10 * height, 0.0)
        toe = Tube((ball, middle, end), (0.50 * height, 0.42 * height, 0.34 * height), flat=1.15)
        add(toe, material=bare, blend=0.25 * height)
        tip = end + 0.22 * size * length * way + vector(0.0, -0.16 * height, 0.0)
        claw = Cone(end + vector(0.0, 0.02 * height, 0.0), tip, 0.30 * height, 0.08 * height)
        add(claw, material="hoof", blend=0.06 * height)
