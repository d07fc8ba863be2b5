"""Anatomy of four-legged animals: skeleton, trunk, neck, legs and tail. Heads are in `heads`."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Tube, vector
from akd.zoo.species.anatomy import LEG, Anatomy, hang_leg, string_tail
from akd.zoo.species.heads import add_head
from akd.zoo.species.parameters import Quadruped
from akd.zoo.species.parts import Foot, Tail
from akd.zoo.species.wings import add_wing


def build_quadruped(p: Quadruped) -> Anatomy:
    """Joints and flesh of a quadruped, feet on y = 0, the middle of its trunk over the origin."""
    body = Anatomy()
    h = p.height
    half = 0.5 * p.trunk.length * h
    hip = vector(p.hind.spread * h, p.hind.top * h, -half)
    shoulder = vector(p.fore.spread * h, p.fore.top * h, half)
    withers = vector(0.0, h, half - 0.06 * h)

    body.joint("root", None, (0.0, 0.0, 0.0))
    _spine(body, p, hip, shoulder)
    _trunk(body, p, hip, shoulder, withers)
    _neck(body, p)
    add_head(body, p)
    _fore_leg(body, p, shoulder)
    _hind_leg(body, p, hip)
    _tail(body, p.tail, h, vector(0.0, (p.trunk.croup - 0.105) * h, -half - 0.12 * h))
    if p.wing is not None:
        root = vector(0.30 * p.trunk.chest.width * h, (1.0 - 0.10 * p.trunk.chest.depth) * h, 0.0)
        add_wing(body, p.wing, "spine_3", root + vector(0.0, 0.0, shoulder[2] - 0.16 * h), h)
    if p.mane != "none":
        _mane(body, p)
    return body


def _spine(body: Anatomy, p: Quadruped, hip: Array, shoulder: Array) -> None:
    h, croup = p.height, p.trunk.croup * p.height
    start = np.array((0.0, croup - 0.36 * (croup - hip[1]) - 0.03 * h, hip[2]))
    end = np.array((0.0, h - 0.45 * p.trunk.chest.depth * h, shoulder[2] - 0.02 * h))
    places = [start]
    for t in (0.2, 0.45, 0.7):
        arch = vector(0.0, 0.12 * p.trunk.chest.depth * h * np.sin(np.pi * t), 0.0)
        places.append(start + t * (end - start) + arch)
    names = ("pelvis", "spine_1", "spine_2", "spine_3", "neck_1", "neck_2", "head")
    body.string(names, "root", (*places, *_neck_points(p)))
    pitch = np.radians(p.head.pitch)
    look = vector(0.0, np.sin(pitch), np.cos(pitch))
    body.chain("trunk", names, body.position("head") + p.head.length * h * look)


def _neck_points(p: Quadruped) -> list[Array]:
    """Joints at the base, the middle and the top of the neck."""
    h = p.height
    pitch = np.radians(p.neck.pitch)
    base = vector(0.0, h - 0.42 * p.trunk.chest.depth * h, 0.5 * p.trunk.length * h - 0.02 * h)
    forward = vector(0.0, np.sin(pitch), np.cos(pitch))
    over = vector(0.0, np.cos(pitch), -np.sin(pitch))
    length = p.neck.length * h
    # Necks rise in a gentle S: the lower half leans forward, the upper half stands up.
    middle = base + 0.52 * length * forward + 0.05 * length * over
    return [base, middle, base + length * forward]


def _trunk(body: Anatomy, p: Quadruped, hip: Array, shoulder: Array, withers: Array) -> None:
    """One loft from the buttocks to the breast, drawn by its back line and its belly line."""
    h = p.height
    back, front = hip[2] - 0.10 * h, shoulder[2] + 0.05 * h
    axis = withers[1] - 0.5 * p.trunk.chest.depth * h
    croup, loin = p.trunk.croup * h, (0.55 * p.trunk.croup + 0.45) * h - 0.012 * h
    brisket = h - p.trunk.chest.depth * h
    waist = loin - p.trunk.waist.depth * h
    at = (0.0, 0.17, 0.40, 0.62, 0.84, 1.0)
    top = (croup - 0.10 * h, croup, loin, 0.985 * h + 0.35 * p.hump * h, h + p.hump * h, 0.88 * h)
    ribs = brisket + 0.015 * h - 0.6 * p.sag * h
    flank, breast = waist + 0.03 * h, brisket + 0.13 * h
    belly = (croup - 0.30 * h, flank, waist - p.sag * h, ribs, brisket, breast)
    rump, chest = p.trunk.rump, p.trunk.chest.width
    wide = (0.62 * rump, 0.98 * rump, p.trunk.waist.width, chest, 0.86 * chest, 0.55 * chest)
    loft = Loft(
        (0.0, axis, back),
        (0.0, axis, front),
        at,
        [0.5 * w * h for w in wide],
        [y - axis for y in top],
        [axis - y for y in belly],
        cap=(0.07 * h, 0.07 * h),
        boxy=2.2,
    )
    body.add(loft, "trunk")


def _neck(body: Anatomy, p: Quadruped) -> None:
    h = p.height
    base, middle, top = _neck_points(p)
    radius = (p.neck.base * h, (0.42 * p.neck.base + 0.58 * p.neck.end) * h, p.neck.end * h)
    start = base - 0.35 * (middle - base)
    tube = Tube((start, middle, top), radius, flat=p.neck.width, bent=True)
    body.add(tube, "trunk", blend=0.09 * h, detail=0.9)


def _fore_leg(body: Anatomy, p: Quadruped, shoulder: Array) -> None:
    h, leg, foot = p.height, p.fore, p.fore_foot
    joints = hang_leg(shoulder, leg, foot, h)
    blade = shoulder + np.array((-0.35 * leg.spread * h, 0.9 * (h - shoulder[1]), -0.16 * h))
    tip = joints[3] + vector(0.0, -0.5 * foot.height * h, 0.6 * foot.length * h)
    body.limb("left_fore", "spine_3", ("shoulder", *LEG), (blade, *joints), tip)
    body.leg("left_fore", "fore", shoulder=True)

    add = partial(body.add, group="left_fore")
    top, elbow, wrist, toes = (r * h for r in leg.radii)
    s, e, w, t = joints
    # Shoulder blade and upper arm lie flat against the chest.
    centre = 0.55 * blade + 0.45 * s + vector(0.02 * h, -0.02 * h, 0.0)
    radii = (0.55 * top, leg.muscle * h, 0.62 * float(np.linalg.norm(blade - s)))
    add(Ellipsoid(centre, radii, axis=s - blade), blend=0.10 * h)
    middle = e + 0.40 * (w - e)
    limb = Tube(
        (s + vector(0.15 * top, 0.0, -0.1 * top), e, middle, w, t),
        (0.78 * top, 1.1 * elbow, 0.55 * elbow + 0.45 * wrist, wrist, toes),
        flat=(0.72, 0.75, 0.84, 0.95, 0.92),
    )
    add(limb, blend=0.07 * h, detail=0.75)
    point = Cone(e, e + vector(0.0, 0.3 * elbow, -0.7 * elbow), 0.8 * elbow, 0.6 * elbow)
    add(point, blend=0.5 * elbow, detail=0.8)
    radii = (1.08 * wrist, 1.5 * wrist, 1.12 * wrist)
    add(Ellipsoid(w + vector(0.0, 0.0, 0.1 * wrist), radii), blend=0.3 * wrist, detail=0.7)
    _add_foot(body, "left_fore", foot, t, toes, h)


def _hind_leg(body: Anatomy, p: Quadruped, hip: Array) -> None:
    h, leg, foot = p.height, p.hind, p.hind_foot
    joints = hang_leg(hip, leg, foot, h)
    tip = joints[3] + vector(0.0, -0.5 * foot.height * h, 0.6 * foot.length * h)
    body.limb("left_hind", "pelvis", LEG, joints, tip)
    body.leg("left_hind", "hind")

    add = partial(body.add, group="left_hind")
    top, knee, hock, toes = (r * h for r in leg.radii)
    j, k, a, t = joints
    # The thigh is a flat fan from croup and buttock down to the knee.
    fan = 0.5 * (j + k) + vector(0.0, 0.02 * h, -0.045 * h)
    radii = (0.62 * top, leg.muscle * h, 0.72 * float(np.linalg.norm(k - j)))
    add(Ellipsoid(fan, radii, axis=k - j), blend=0.10 * h)
    middle = k + 0.45 * (a - k) + vector(0.0, 0.0, -0.2 * knee)
    limb = Tube(
        (j, k, middle, a, t),
        (0.9 * top, 1.05 * knee, 0.5 * (knee + hock), hock, toes),
        flat=(0.66, 0.72, 0.78, 0.85, 0.9),
    )
    add(limb, blend=0.06 * h, detail=0.75)
    # The heel: the point of the hock stands out behind, with the tendon running up from it.
    heel = a + vector(0.0, 0.5 * hock, -0.95 * hock)
    tendon = 0.5 * (k + a) + vector(0.0, 0.0, -0.45 * knee)
    tube = Tube((tendon, heel, a), (0.5 * hock, 0.72 * hock, hock), flat=0.75)
    add(tube, blend=0.35 * hock, detail=0.7)
    _add_foot(body, "left_hind", foot, t, toes, h)


def _add_foot(body: Anatomy, group: str, foot: Foot, joint: Array, radius: float, h: float) -> None:
    length, width, height = foot.length * h, 0.5 * foot.width * h, foot.height * h
    x, _, z = joint
    add = partial(body.add, group=group, bone=f"{group}_toes")
    match foot.kind:
        case "paw":
            centre = (x, 0.42 * height, z + 0.22 * length)
            pad = Ellipsoid(centre, (0.92 * width, 0.72 * height, 0.55 * length))
            add(pad, blend=0.5 * radius, detail=0.6)
            for side, reach in ((-0.68, 0.42), (-0.24, 0.56), (0.24, 0.56), (0.68, 0.42)):
                centre = (x + side * width, 0.30 * height, z + reach * length)
                toe = Ellipsoid(centre, (0.30 * width, 0.42 * height, 0.24 * length))
                add(toe, material="toe", blend=0.10 * width, detail=0.5)
        case "hoof":
            pastern = (x, 0.45 * height, z + 0.30 * length)
            add(Cone(joint, pastern, 1.1 * radius, 0.9 * radius), blend=0.8 * radius, detail=0.65)
            top = (x, 0.50 * height, z + 0.30 * length)
            sole = (x, -0.10 * height, z + 0.46 * length)
            hoof = Cone(top, sole, 0.86 * width, width, flat=0.95)
            add(hoof, material="hoof", blend=0.25 * radius, detail=0.55)
        case "pad":
            sole = (x, -0.3 * height, z + 0.12 * length)
            add(Cone((x, height, z), sole, radius, width), blend=0.6 * radius, detail=0.75)
            for side, reach in ((-0.62, 0.36), (0.0, 0.52), (0.62, 0.36)):
                centre = (x + side * width, 0.22 * height, z + 0.12 * length + reach * 1.75 * width)
                nail = Ellipsoid(centre, (0.26 * width, 0.30 * height, 0.14 * width))
                add(nail, material="hoof", blend=0.03 * width, detail=0.5)
        case "claw":
            raise ValueError("foot.kind: a quadruped has paws, hooves or pads, not claws")


def _tail(body: Anatomy, tail: Tail, h: float, root: Array) -> None:
    if tail.length <= 0.0:
        return
    angles = [np.radians(tail.pitch) + np.radians(tail.curl) * (i / 4) for i in range(5)]
    places, thick = string_tail(body, tail, h, root, angles)
    body.add(
        Tube(places, thick, bent=True, finer=3),
        "tail",
        material="tail",
        blend=min(0.06, 1.1 * tail.radii[0]) * h,
        detail=0.85,
    )
    if tail.tuft > 0.0:
        last = places[-1] - places[-2]
        ends = places[-1] - 0.3 * last, places[-1] + 0.6 * last
        hair = Cone(*ends, tail.tuft * h, 0.4 * tail.tuft * h)
        body.add(hair, "tail", material="mane", blend=0.5 * tail.tuft * h, detail=0.7)


def _mane(body: Anatomy, p: Quadruped) -> None:
    h = p.height
    base, middle, top = _neck_points(p)
    over = np.cross(top - base, (1.0, 0.0, 0.0))
    over = -over / np.linalg.norm(over)
    if over[1] < 0.0:
        over = -over
    add = partial(body.add, group="trunk", material="mane")
    if p.mane == "horse":
        crest = [
            base + 0.92 * p.neck.base * h * over,
            middle + 1.0 * (0.42 * p.neck.base + 0.58 * p.neck.end) * h * over,
            top + 1.0 * p.neck.end * h * over,
        ]
        for a, b in pairwise(crest):
            add(Cone(a, b, 0.045 * h, 0.045 * h, flat=0.45), blend=0.02 * h, detail=0.7)
    else:
        for t, r in ((0.05, 1.12), (0.45, 1.25), (0.85, 1.25)):
            centre = base + t * (top - base) - 0.02 * h * over
            radius = ((1 - t) * p.neck.base + t * p.neck.end) * h
            radii = (r * radius * 0.95, 1.2 * r * radius, 0.85 * r * radius)
            add(Ellipsoid(centre, radii, axis=top - base), blend=0.05 * h, detail=0.8)
