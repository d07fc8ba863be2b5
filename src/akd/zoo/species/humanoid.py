"""Anatomy of people."""

from __future__ import annotations

from functools import partial

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Shape, Tube, vector
from akd.zoo.species.anatomy import LEG, Anatomy, hang_leg
from akd.zoo.species.parameters import Humanoid


def build_humanoid(p: Humanoid) -> Anatomy:
    """Joints and flesh of a person, feet on y = 0, the hips over the origin."""
    body = Anatomy()
    h = p.height
    hip = vector(p.leg.spread * h, p.leg.top * h, 0.0)
    shoulder = p.shoulder_height * h
    body.joint("root", None, (0.0, 0.0, 0.0))
    low = hip[1] + 0.015 * h
    spine = []
    for t in (0.22, 0.46, 0.72):
        sway = 0.012 * h * np.sin(2 * np.pi * t)
        spine.append((0.0, low + t * (shoulder - low), sway - 0.01 * h))
    neck = vector(0.0, shoulder + 0.012 * h, -0.014 * h)
    top = neck + vector(0.0, p.neck * h, 0.012 * h)
    names = ("pelvis", "spine_1", "spine_2", "spine_3", "neck_1", "head")
    body.string(names, "root", ((0.0, low, -0.005 * h), *spine, neck, top))
    body.chain("trunk", names, vector(0.0, h, 0.0))
    _torso(body, p)
    _head(body, p, neck, top)
    _arm(body, p)
    _leg(body, p, hip)
    return body


def _torso(body: Anatomy, p: Humanoid) -> None:
    h = p.height
    low, high = (p.leg.top - 0.055) * h, (p.shoulder_height + 0.005) * h
    at = (0.0, 0.14, 0.36, 0.52, 0.74, 0.92, 1.0)
    hw, ww, cw = p.hip_width, p.waist_width, p.chest_width
    hd, wd, cd = p.hip_depth, p.waist_depth, p.chest_depth
    half_width = (0.80 * hw, hw, 0.5 * (hw + ww) * 0.98, ww, cw, 0.92 * cw, 0.62 * cw)
    back = (0.85 * hd, 1.08 * hd, 0.95 * wd, 0.82 * wd, cd, 0.92 * cd, 0.66 * cd)
    waist, ribs = wd + p.belly, wd + 0.8 * p.belly
    front = (0.70 * hd, 0.88 * hd, waist, ribs, cd, 0.80 * cd, 0.45 * cd)
    scale = 0.5 * h
    add = partial(body.add, group="trunk")
    for start, end, material in ((0, 3, "trousers"), (2, 7, "shirt")):
        rows = slice(start, end)
        places = np.asarray(at[rows])
        bottom, top = low + places[0] * (high - low), low + places[-1] * (high - low)
        loft = Loft(
            (0.0, bottom, -0.006 * h),
            (0.0, top, -0.012 * h),
            (places - places[0]) / np.ptp(places),
            [w * scale for w in half_width[rows]],
            [b * scale for b in back[rows]],
            [f * scale for f in front[rows]],
            cap=(0.02 * h, 0.02 * h),
            boxy=2.35,
        )
        add(loft, material=material, blend=0.02 * h, detail=0.85)
    place = (0.42 * hw * h * 0.5 + 0.01 * h, (p.leg.top - 0.005) * h, -0.36 * hd * h)
    seat = Ellipsoid(place, (0.26 * hw * h, 0.052 * h, 0.30 * hd * h))
    add(seat, material="trousers", blend=0.03 * h, bone="pelvis")
    if p.bust > 0.0:
        place = (0.24 * cw * h, (p.shoulder_height - 0.092) * h, 0.40 * cd * h)
        radii = (1.05 * p.bust * h, 1.1 * p.bust * h, 1.15 * p.bust * h)
    else:
        place = (0.24 * cw * h, (p.shoulder_height - 0.062) * h, 0.30 * cd * h)
        radii = (0.22 * cw * h, 0.036 * h, 0.13 * cd * h)
    add(Ellipsoid(place, radii), material="shirt", blend=0.03 * h, bone="spine_3")


def _head(body: Anatomy, p: Humanoid, neck: Array, top: Array) -> None:
    h, size = p.height, p.head * p.height
    r = p.neck_radius * h
    nape = neck + vector(0.0, 0.006 * h, -0.002 * h)
    throat = Tube((nape, top + vector(0.0, 0.22 * size, 0.0)), (1.06 * r, 0.98 * r))
    body.add(throat, "trunk", material="skin", blend=0.012 * h, detail=0.65)
    # The shirt's shoulders slope from the neck to the arms.
    tip = vector(0.42 * p.shoulder_width * h, p.shoulder_height * h - 0.002 * h, -0.012 * h)
    collar = nape + vector(0.0, -0.018 * h, -0.004 * h)
    middle = 0.5 * (nape + tip) + vector(0.0, -0.012 * h, 0.0)
    slope = Tube((collar, middle, tip), (1.22 * r, 0.034 * h, 0.030 * h), bent=True)
    body.add(slope, "trunk", material="shirt", blend=0.015 * h, detail=0.85)
    chin = h - size
    cranium = vector(0.0, chin + 0.625 * size, -0.045 * size)

    head = partial(body.add, group="trunk", bone="head")

    def add(shape: Shape, material: str, blend: float, detail: float = 0.5) -> None:
        head(shape, material=material, blend=blend * size, detail=detail)

    def at(x: float, up: float, ahead: float) -> tuple[float, float, float]:
        """A point of the head, in head heights from the chin's level."""
        return x * size, chin + up * size, ahead * size

    def ball(x: float, up: float, ahead: float, *radii: float) -> Ellipsoid:
        a, b, c = (radius * size for radius in radii)
        return Ellipsoid(at(x, up, ahead), (a, b, c))

    add(Ellipsoid(cranium, (0.330 * size, 0.375 * size, 0.420 * size)), "skin", 0.05)
    add(ball(0.0, 0.40, 0.10, 0.275, 0.36, 0.275), "skin", 0.08)
    add(ball(0.13, 0.22, 0.10, 0.13, 0.13, 0.17), "skin", 0.10)
    add(ball(0.0, 0.095, 0.25, 0.115, 0.085, 0.100), "skin", 0.12)
    add(ball(0.15, 0.42, 0.24, 0.095, 0.070, 0.075), "skin", 0.08)
    nose = Tube((at(0, 0.555, 0.345), at(0, 0.36, 0.425)), (0.030 * size, 0.050 * size))
    add(nose, "skin", 0.07, 0.4)
    add(ball(0.045, 0.345, 0.385, 0.036, 0.034, 0.042), "skin", 0.03, 0.4)
    add(ball(0.125, 0.585, 0.300, 0.105, 0.036, 0.055), "skin", 0.06, 0.4)
    add(ball(0.130, 0.510, 0.315, 0.062, 0.040, 0.045), "eye", 0.008, 0.26)
    lips = ball(0.0, 0.225, 0.345, 0.105, 0.036, 0.07)
    head(lips, material="lips", detail=0.35, action="paint")
    add(ball(0.320, 0.44, -0.01, 0.042, 0.115, 0.072), "skin", 0.035, 0.42)
    if p.hair == "bald":
        return
    crown = cranium + vector(0.0, 0.055 * size, -0.050 * size)
    add(Ellipsoid(crown, (0.352 * size, 0.375 * size, 0.415 * size)), "hair", 0.015, 0.55)
    add(ball(0.0, 0.90, 0.12, 0.26, 0.125, 0.21), "hair", 0.05, 0.55)
    if p.hair == "long":
        fall = Tube(
            (
                (0.0, cranium[1], -0.20 * size),
                (0.0, chin + 0.10 * size, -0.27 * size),
                (0.0, chin - 0.32 * size, -0.25 * size),
            ),
            (0.30 * size, 0.25 * size, 0.12 * size),
            flat=(1.15, 1.3, 1.5),
            bent=True,
        )
        add(fall, "hair", 0.06, 0.7)


def _arm(body: Anatomy, p: Humanoid) -> None:
    h = p.height
    spread = np.radians(p.arm_spread)
    shoulder = vector(0.5 * p.shoulder_width * h, p.shoulder_height * h - 0.012 * h, -0.012 * h)
    upper, lower, hand = (length * h for length in p.arm)
    elbow = shoulder + upper * vector(np.sin(spread), -np.cos(spread), -0.03)
    bend = np.radians(9.0)
    down = vector(0.9 * np.sin(spread), -np.cos(spread), 0.0)
    down = np.array((down[0], down[1] * np.cos(bend), np.sin(bend)))
    down /= np.linalg.norm(down)
    wrist = elbow + lower * down
    collar = vector(0.022 * h, p.shoulder_height * h - 0.005 * h, 0.01 * h)
    segments = ("shoulder", "upper", "lower", "hand")
    joints = (collar, shoulder, elbow, wrist)
    body.limb("left_arm", "spine_3", segments, joints, wrist + hand * down)
    r, e, w = (radius * h for radius in p.arm_radii)
    forearm = elbow + 0.28 * (wrist - elbow)
    upper_arm = shoulder + 0.45 * (elbow - shoulder)
    shirt = partial(body.add, group="left_arm", material="shirt", blend=0.022 * h, detail=0.75)
    skin = partial(body.add, group="left_arm", material="skin")
    if p.sleeves == "short":
        line = (shoulder, upper_arm, elbow - 0.18 * (elbow - shoulder))
        shirt(Tube(line, (1.12 * r, 1.02 * r, 1.06 * e), flat=0.95))
        line = (upper_arm, elbow, forearm, wrist)
        bare = Tube(line, (0.8 * r, 0.95 * e, 1.0 * e, w), flat=0.92)
        skin(bare, blend=0.006 * h, detail=0.7)
    else:
        line = (shoulder, upper_arm, elbow, forearm, wrist - 0.03 * (wrist - elbow))
        shirt(Tube(line, (1.12 * r, 1.0 * r, 1.05 * e, 1.08 * e, 1.12 * w), flat=0.95))
        bare = Cone(wrist - 0.1 * (wrist - elbow), wrist, 0.95 * w, w)
        skin(bare, blend=0.002 * h, detail=0.6)
    _hand(body, wrist, down, hand, w)


def _hand(body: Anatomy, wrist: Array, down: Array, length: float, w: float) -> None:
    """A relaxed hand, palm towards the thigh: palm, fingers in a gentle curve, thumb."""
    inward, ahead = vector(-1.0, 0.0, 0.0), vector(0.0, 0.0, 1.0)
    palm = wrist + 0.28 * length * down
    add = partial(body.add, group="left_arm", material="skin", detail=0.5, bone="left_arm_hand")
    flat = Ellipsoid(palm, (0.12 * length, 0.22 * length, 0.34 * length), axis=down)
    add(flat, blend=0.35 * w)
    for i, (reach, size) in enumerate(((0.40, 0.92), (0.14, 1.0), (-0.12, 0.95), (-0.36, 0.8))):
        root = palm + 0.15 * length * down + 0.42 * reach * length * ahead
        bend = root + 0.25 * size * length * down + 0.03 * length * inward
        tip = bend + 0.20 * size * length * (down + 0.45 * inward)
        thick = (0.066 if i < 3 else 0.056) * length
        finger = Tube((root, bend, tip), (thick, thick, 0.8 * thick), finer=2)
        add(finger, blend=0.022 * length)
    root = wrist + 0.16 * length * down + 0.16 * length * ahead
    tip = root + 0.34 * length * (0.75 * down + 0.6 * ahead + 0.25 * inward)
    thumb = Tube((root, tip), (0.09 * length, 0.062 * length), finer=1)
    add(thumb, blend=0.06 * length)


def _leg(body: Anatomy, p: Humanoid, hip: Array) -> None:
    h, foot = p.height, p.foot
    joints = hang_leg(hip, p.leg, foot, h)
    j, k, a, t = joints
    body.limb("left_leg", "pelvis", LEG, joints, t + vector(0.0, 0.0, 0.3 * foot.length * h))
    body.leg("left_leg", "plantigrade")
    top, knee, ankle, _ = (r * h for r in p.leg.radii)
    calf = k + 0.30 * (a - k) + vector(0.0, 0.0, -0.25 * knee)
    thigh = j + 0.35 * (k - j) + vector(0.0, 0.0, 0.12 * top)
    limb = Tube(
        (j + vector(0.0, -0.01 * h, 0.0), thigh, k, calf, a + vector(0.0, 0.012 * h, 0.0)),
        (top, 0.90 * top, knee, 1.04 * knee, 1.18 * ankle),
        flat=(0.92, 0.92, 0.95, 0.95, 0.98),
    )
    body.add(limb, "left_leg", material="trousers", blend=0.028 * h, detail=0.85)
    _shoe(body, p, a, t)


def _shoe(body: Anatomy, p: Humanoid, ankle: Array, ball: Array) -> None:
    h = p.height
    length, width = p.foot.length * h, 0.5 * p.foot.width * h
    x = ankle[0]
    heel_z = ankle[2] - 0.20 * length
    sole = -0.15 * width
    add = partial(body.add, group="left_leg", material="shoes", detail=0.6)
    heel = (x, 0.60 * width, heel_z + 0.1 * length)
    middle = (x, 0.62 * width, ball[2] - 0.2 * length)
    back = Tube((heel, middle), (0.74 * width, 0.80 * width), flat=(0.95, 1.1))
    add(back, blend=0.25 * width, bone="left_leg_foot")
    instep = (x, 0.8 * width, ankle[2] + 0.22 * length)
    upper = Cone(ankle, instep, p.leg.radii[2] * h * 1.05, 0.55 * width)
    add(upper, blend=0.5 * width, bone="left_leg_foot")
    centre = (x, 0.42 * width + sole, ball[2] + 0.02 * length)
    toes = Ellipsoid(centre, (width, 0.82 * width, 0.28 * length))
    add(toes, blend=0.3 * width, bone="left_leg_toes")
