"""Anatomy of four-legged animals: skeleton, trunk, neck, legs and tail. Heads are in `heads`."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import PchipInterpolator

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Tube, vector
from akd.zoo.species.anatomy import Anatomy, hang_leg
from akd.zoo.species.heads import add_head
from akd.zoo.species.parameters import Foot, Quadruped, Tail


def build_quadruped(p: Quadruped) -> Anatomy:
    """Joints and flesh of a quadruped, feet on y = 0, the middle of its trunk over the origin."""
    body = Anatomy()
    h = p.height
    half = 0.5 * p.trunk * h
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
    add_tail(body, p.tail, h, root=vector(0.0, (p.croup - 0.105) * h, -half - 0.12 * h))
    if p.mane != "none":
        _mane(body, p)
    return body


def _spine(body: Anatomy, p: Quadruped, hip: Array, shoulder: Array) -> None:
    h = p.height
    start = np.array((0.0, p.croup * h - 0.36 * (p.croup * h - hip[1]) - 0.03 * h, hip[2]))
    end = np.array((0.0, h - 0.45 * p.chest_depth * h, shoulder[2] - 0.02 * h))
    body.joint("pelvis", "root", start)
    parent = "pelvis"
    for number, t in enumerate((0.2, 0.45, 0.7), 1):
        arch = vector(0.0, 0.12 * p.chest_depth * h * np.sin(np.pi * t), 0.0)
        body.joint(f"spine_{number}", parent, start + t * (end - start) + arch)
        parent = f"spine_{number}"
    neck = _neck_points(p)
    body.joint("neck_1", parent, neck[0])
    body.joint("neck_2", "neck_1", neck[1])
    body.joint("head", "neck_2", neck[2])


def _neck_points(p: Quadruped) -> list[Array]:
    """Joints at the base, the middle and the top of the neck."""
    h = p.height
    pitch = np.radians(p.neck_pitch)
    base = vector(0.0, h - 0.42 * p.chest_depth * h, 0.5 * p.trunk * h - 0.02 * h)
    forward = vector(0.0, np.sin(pitch), np.cos(pitch))
    over = vector(0.0, np.cos(pitch), -np.sin(pitch))
    length = p.neck_length * h
    # Necks rise in a gentle S: the lower half leans forward, the upper half stands up.
    middle = base + 0.52 * length * forward + 0.05 * length * over
    return [base, middle, base + length * forward]


def _trunk(body: Anatomy, p: Quadruped, hip: Array, shoulder: Array, withers: Array) -> None:
    """One loft from the buttocks to the breast, drawn by its back line and its belly line."""
    h = p.height
    back, front = hip[2] - 0.10 * h, shoulder[2] + 0.05 * h
    axis = withers[1] - 0.5 * p.chest_depth * h
    croup, loin = p.croup * h, (0.55 * p.croup + 0.45) * h - 0.012 * h
    brisket = h - p.chest_depth * h
    waist = loin - p.waist_depth * h
    at = (0.0, 0.17, 0.40, 0.62, 0.84, 1.0)
    top = (croup - 0.10 * h, croup, loin, 0.985 * h + 0.35 * p.hump * h, h + p.hump * h, 0.88 * h)
    belly = (
        croup - 0.30 * h,
        waist + 0.03 * h,
        waist - p.sag * h,
        brisket + 0.015 * h - 0.6 * p.sag * h,
        brisket,
        brisket + 0.13 * h,
    )
    wide = (
        0.62 * p.rump_width,
        0.98 * p.rump_width,
        p.waist_width,
        p.chest_width,
        0.86 * p.chest_width,
        0.55 * p.chest_width,
    )
    body.add(
        Loft(
            (0.0, axis, back),
            (0.0, axis, front),
            at,
            [0.5 * w * h for w in wide],
            [y - axis for y in top],
            [axis - y for y in belly],
            cap=(0.07 * h, 0.07 * h),
            boxy=2.2,
        ),
        "trunk",
    )
    names = ("pelvis", "spine_1", "spine_2", "spine_3", "neck_1", "neck_2", "head")
    top_of_neck = body.position("head")
    pitch = np.radians(p.head.pitch)
    nose = top_of_neck + p.head.length * h * vector(0.0, np.sin(pitch), np.cos(pitch))
    body.chain("trunk", names, nose)


def _neck(body: Anatomy, p: Quadruped) -> None:
    h = p.height
    base, middle, top = _neck_points(p)
    radius = (p.neck_base * h, (0.42 * p.neck_base + 0.58 * p.neck_top) * h, p.neck_top * h)
    start = base - 0.35 * (middle - base)
    body.add(
        Tube((start, middle, top), radius, flat=p.neck_width, bent=True),
        "trunk",
        blend=0.09 * h,
        detail=0.9,
    )


def _fore_leg(body: Anatomy, p: Quadruped, shoulder: Array) -> None:
    h, leg, foot = p.height, p.fore, p.fore_foot
    joints = hang_leg(
        shoulder,
        shoulder[1] - foot.height * h,
        leg.ratios,
        np.radians(leg.angles),
    )
    blade = shoulder + np.array((-0.35 * leg.spread * h, 0.9 * (h - shoulder[1]), -0.16 * h))
    body.joint("left_fore_shoulder", "spine_3", blade)
    parent = "left_fore_shoulder"
    for name, place in zip(("upper", "lower", "foot", "toes"), joints, strict=True):
        body.joint(f"left_fore_{name}", parent, place)
        parent = f"left_fore_{name}"
    body.leg("left_fore", "fore", shoulder=True)
    tip = joints[3] + vector(0.0, -0.5 * foot.height * h, 0.6 * foot.length * h)
    chain = [f"left_fore_{n}" for n in ("shoulder", "upper", "lower", "foot", "toes")]
    body.chain("left_fore", chain, tip)

    top, elbow, wrist, toes = (r * h for r in leg.radii)
    s, e, w, t = joints
    # Shoulder blade and upper arm lie flat against the chest.
    body.add(
        Ellipsoid(
            0.55 * blade + 0.45 * s + vector(0.02 * h, -0.02 * h, 0.0),
            (0.55 * top, leg.muscle * h, 0.62 * float(np.linalg.norm(blade - s))),
            axis=s - blade,
        ),
        "left_fore",
        blend=0.10 * h,
    )
    middle = e + 0.40 * (w - e)
    body.add(
        Tube(
            (s + vector(0.15 * top, 0.0, -0.1 * top), e, middle, w, t),
            (0.78 * top, 1.1 * elbow, 0.55 * elbow + 0.45 * wrist, wrist, toes),
            flat=(0.72, 0.75, 0.84, 0.95, 0.92),
        ),
        "left_fore",
        blend=0.07 * h,
        detail=0.75,
    )
    body.add(
        Cone(e, e + vector(0.0, 0.3 * elbow, -0.7 * elbow), 0.8 * elbow, 0.6 * elbow),
        "left_fore",
        blend=0.5 * elbow,
        detail=0.8,
    )
    body.add(
        Ellipsoid(w + vector(0.0, 0.0, 0.1 * wrist), (1.08 * wrist, 1.5 * wrist, 1.12 * wrist)),
        "left_fore",
        blend=0.3 * wrist,
        detail=0.7,
    )
    _add_foot(body, "left_fore", foot, t, toes, h)


def _hind_leg(body: Anatomy, p: Quadruped, hip: Array) -> None:
    h, leg, foot = p.height, p.hind, p.hind_foot
    joints = hang_leg(hip, hip[1] - foot.height * h, leg.ratios, np.radians(leg.angles))
    parent = "pelvis"
    for name, place in zip(("upper", "lower", "foot", "toes"), joints, strict=True):
        body.joint(f"left_hind_{name}", parent, place)
        parent = f"left_hind_{name}"
    body.leg("left_hind", "hind")
    tip = joints[3] + vector(0.0, -0.5 * foot.height * h, 0.6 * foot.length * h)
    body.chain("left_hind", [f"left_hind_{n}" for n in ("upper", "lower", "foot", "toes")], tip)

    top, knee, hock, toes = (r * h for r in leg.radii)
    j, k, a, t = joints
    # The thigh is a flat fan from croup and buttock down to the knee.
    fan = 0.5 * (j + k) + vector(0.0, 0.02 * h, -0.045 * h)
    body.add(
        Ellipsoid(
            fan, (0.62 * top, leg.muscle * h, 0.72 * float(np.linalg.norm(k - j))), axis=k - j
        ),
        "left_hind",
        blend=0.10 * h,
    )
    middle = k + 0.45 * (a - k) + vector(0.0, 0.0, -0.2 * knee)
    body.add(
        Tube(
            (j, k, middle, a, t),
            (0.9 * top, 1.05 * knee, 0.5 * (knee + hock), hock, toes),
            flat=(0.66, 0.72, 0.78, 0.85, 0.9),
        ),
        "left_hind",
        blend=0.06 * h,
        detail=0.75,
    )
    # The heel: the point of the hock stands out behind, with the tendon running up from it.
    heel = a + vector(0.0, 0.5 * hock, -0.95 * hock)
    body.add(
        Tube(
            (0.5 * (k + a) + vector(0.0, 0.0, -0.45 * knee), heel, a),
            (0.5 * hock, 0.72 * hock, hock),
            flat=0.75,
        ),
        "left_hind",
        blend=0.35 * hock,
        detail=0.7,
    )
    _add_foot(body, "left_hind", foot, t, toes, h)


def _add_foot(body: Anatomy, group: str, foot: Foot, joint: Array, radius: float, h: float) -> None:
    length, width, height = foot.length * h, 0.5 * foot.width * h, foot.height * h
    x, _, z = joint
    bone = f"{group}_toes"
    match foot.kind:
        case "paw":
            body.add(
                Ellipsoid(
                    (x, 0.42 * height, z + 0.22 * length),
                    (0.92 * width, 0.72 * height, 0.55 * length),
                ),
                group,
                blend=0.5 * radius,
                detail=0.6,
                bone=bone,
            )
            for side, reach in ((-0.68, 0.42), (-0.24, 0.56), (0.24, 0.56), (0.68, 0.42)):
                centre = (x + side * width, 0.30 * height, z + reach * length)
                body.add(
                    Ellipsoid(centre, (0.30 * width, 0.42 * height, 0.24 * length)),
                    group,
                    material="toe",
                    blend=0.10 * width,
                    detail=0.5,
                    bone=bone,
                )
        case "hoof":
            body.add(
                Cone(joint, (x, 0.45 * height, z + 0.30 * length), 1.1 * radius, 0.9 * radius),
                group,
                blend=0.8 * radius,
                detail=0.65,
                bone=bone,
            )
            body.add(
                Cone(
                    (x, 0.50 * height, z + 0.30 * length),
                    (x, -0.10 * height, z + 0.46 * length),
                    0.86 * width,
                    width,
                    flat=0.95,
                ),
                group,
                material="hoof",
                blend=0.25 * radius,
                detail=0.55,
                bone=bone,
            )
        case "pad":
            body.add(
                Cone((x, 1.0 * height, z), (x, -0.3 * height, z + 0.12 * length), radius, width),
                group,
                blend=0.6 * radius,
                detail=0.75,
                bone=bone,
            )
            for side, reach in ((-0.62, 0.36), (0.0, 0.52), (0.62, 0.36)):
                centre = (x + side * width, 0.22 * height, z + 0.12 * length + reach * 1.75 * width)
                body.add(
                    Ellipsoid(centre, (0.26 * width, 0.30 * height, 0.14 * width)),
                    group,
                    material="hoof",
                    blend=0.03 * width,
                    detail=0.5,
                    bone=bone,
                )
        case "claw":
            raise ValueError("foot.kind: a quadruped has paws, hooves or pads, not claws")


def add_tail(body: Anatomy, tail: Tail, h: float, *, root: Array, joints: int = 5) -> None:
    """A chain of `joints` bones that leaves the trunk at `root` and ends in hair or a point."""
    if tail.length <= 0.0:
        return
    step = tail.length * h / joints
    places, direction = [root], np.radians(tail.pitch)
    for i in range(joints):
        angle = direction + np.radians(tail.curl) * (i / max(joints - 1, 1))
        places.append(places[-1] + step * vector(0.0, np.sin(angle), -np.cos(angle)))
    parent = "pelvis"
    for number, place in enumerate(places[:-1], 1):
        body.joint(f"tail_{number}", parent, place)
        parent = f"tail_{number}"
    body.chain("tail", [f"tail_{i + 1}" for i in range(joints)], places[-1])
    at = np.linspace(0, 1, joints + 1)
    thick = PchipInterpolator((0, 1 / 3, 2 / 3, 1), tail.radii)(at) * h
    body.add(
        Tube(places, thick, bent=True, finer=3),
        "tail",
        material="tail",
        blend=min(0.06, 1.1 * tail.radii[0]) * h,
        detail=0.85,
    )
    if tail.tuft > 0.0:
        end = places[-1] - 0.3 * (places[-1] - places[-2])
        body.add(
            Cone(
                end,
                places[-1] + 0.6 * (places[-1] - places[-2]),
                tail.tuft * h,
                0.4 * tail.tuft * h,
            ),
            "tail",
            material="mane",
            blend=0.5 * tail.tuft * h,
            detail=0.7,
        )


def _mane(body: Anatomy, p: Quadruped) -> None:
    h = p.height
    base, middle, top = _neck_points(p)
    over = np.cross(top - base, (1.0, 0.0, 0.0))
    over = -over / np.linalg.norm(over)
    if over[1] < 0.0:
        over = -over
    if p.mane == "horse":
        crest = [
            base + 0.92 * p.neck_base * h * over,
            middle + 1.0 * (0.42 * p.neck_base + 0.58 * p.neck_top) * h * over,
            top + 1.0 * p.neck_top * h * over,
        ]
        for a, b in ((crest[0], crest[1]), (crest[1], crest[2])):
            body.add(
                Cone(a, b, 0.045 * h, 0.045 * h, flat=0.45),
                "trunk",
                material="mane",
                blend=0.02 * h,
                detail=0.7,
            )
    else:
        for t, r in ((0.05, 1.12), (0.45, 1.25), (0.85, 1.25)):
            centre = base + t * (top - base) - 0.02 * h * over
            radius = ((1 - t) * p.neck_base + t * p.neck_top) * h
            body.add(
                Ellipsoid(
                    centre,
                    (r * radius * 0.95, 1.2 * r * radius, 0.85 * r * radius),
                    axis=top - base,
                ),
                "trunk",
                material="mane",
                blend=0.05 * h,
                detail=0.8,
            )
