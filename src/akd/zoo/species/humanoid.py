"""Anatomy of people."""

from __future__ import annotations

from typing import Literal

import numpy as np

from akd.zoo.mesh.shapes import Array, Cone, Ellipsoid, Loft, Shape, Tube, vector
from akd.zoo.species.anatomy import Anatomy, hang_leg
from akd.zoo.species.parameters import Humanoid


def build_humanoid(p: Humanoid) -> Anatomy:
    """Joints and flesh of a person, feet on y = 0, the hips over the origin."""
    body = Anatomy()
    h = p.height
    hip = vector(p.leg.spread * h, p.leg.top * h, 0.0)
    shoulder = p.shoulder_height * h
    body.joint("root", None, (0.0, 0.0, 0.0))
    body.joint("pelvis", "root", (0.0, hip[1] + 0.015 * h, -0.005 * h))
    parent, low = "pelvis", hip[1] + 0.015 * h
    for number, t in enumerate((0.22, 0.46, 0.72), 1):
        sway = 0.012 * h * np.sin(2 * np.pi * t)
        body.joint(f"spine_{number}", parent, (0.0, low + t * (shoulder - low), sway - 0.01 * h))
        parent = f"spine_{number}"
    neck = vector(0.0, shoulder + 0.012 * h, -0.014 * h)
    top = neck + vector(0.0, p.neck * h, 0.012 * h)
    body.joint("neck_1", parent, neck)
    body.joint("head", "neck_1", top)
    crown = vector(0.0, h, 0.0)
    body.chain("trunk", ("pelvis", "spine_1", "spine_2", "spine_3", "neck_1", "head"), crown)
    _torso(body, p)
    _head(body, p, neck, top)
    _arm(body, p)
    _leg(body, p, hip)
    return body


def _torso(body: Anatomy, p: Humanoid) -> None:
    h = p.height
    low, high = (p.leg.top - 0.055) * h, (p.shoulder_height + 0.005) * h
    at = (0.0, 0.14, 0.36, 0.52, 0.74, 0.92, 1.0)
    half_width = (
        0.80 * p.hip_width,
        p.hip_width,
        0.5 * (p.hip_width + p.waist_width) * 0.98,
        p.waist_width,
        p.chest_width,
        0.92 * p.chest_width,
        0.62 * p.chest_width,
    )
    back = (
        0.85 * p.hip_depth,
        1.08 * p.hip_depth,
        0.95 * p.waist_depth,
        0.82 * p.waist_depth,
        1.0 * p.chest_depth,
        0.92 * p.chest_depth,
        0.66 * p.chest_depth,
    )
    front = (
        0.70 * p.hip_depth,
        0.88 * p.hip_depth,
        1.0 * p.waist_depth + p.belly,
        1.0 * p.waist_depth + 0.8 * p.belly,
        1.0 * p.chest_depth,
        0.80 * p.chest_depth,
        0.45 * p.chest_depth,
    )
    scale = 0.5 * h
    for start, end, material in ((0, 3, "trousers"), (2, 7, "shirt")):
        rows = slice(start, end)
        places = np.asarray(at[rows])
        bottom, top = low + places[0] * (high - low), low + places[-1] * (high - low)
        body.add(
            Loft(
                (0.0, bottom, -0.006 * h),
                (0.0, top, -0.012 * h),
                (places - places[0]) / np.ptp(places),
                [w * scale for w in half_width[rows]],
                [b * scale for b in back[rows]],
                [f * scale for f in front[rows]],
                cap=(0.02 * h, 0.02 * h),
                boxy=2.35,
            ),
            "trunk",
            material=material,
            blend=0.02 * h,
            detail=0.85,
        )
    seat = (
        0.42 * p.hip_width * h * 0.5 + 0.01 * h,
        (p.leg.top - 0.005) * h,
        -0.36 * p.hip_depth * h,
    )
    body.add(
        Ellipsoid(seat, (0.26 * p.hip_width * h, 0.052 * h, 0.30 * p.hip_depth * h)),
        "trunk",
        material="trousers",
        blend=0.03 * h,
        bone="pelvis",
    )
    if p.bust > 0.0:
        place = (
            0.24 * p.chest_width * h,
            (p.shoulder_height - 0.092) * h,
            0.40 * p.chest_depth * h,
        )
        body.add(
            Ellipsoid(place, (1.05 * p.bust * h, 1.1 * p.bust * h, 1.15 * p.bust * h)),
            "trunk",
            material="shirt",
            blend=0.03 * h,
            bone="spine_3",
        )
    else:
        place = (
            0.24 * p.chest_width * h,
            (p.shoulder_height - 0.062) * h,
            0.30 * p.chest_depth * h,
        )
        body.add(
            Ellipsoid(place, (0.22 * p.chest_width * h, 0.036 * h, 0.13 * p.chest_depth * h)),
            "trunk",
            material="shirt",
            blend=0.03 * h,
            bone="spine_3",
        )


def _head(body: Anatomy, p: Humanoid, neck: Array, top: Array) -> None:
    h, size = p.height, p.head * p.height
    r = p.neck_radius * h
    nape = neck + vector(0.0, 0.006 * h, -0.002 * h)
    body.add(
        Tube((nape, top + vector(0.0, 0.22 * size, 0.0)), (1.06 * r, 0.98 * r)),
        "trunk",
        material="skin",
        blend=0.012 * h,
        detail=0.65,
    )
    # The shirt's shoulders slope from the neck to the arms.
    tip = vector(0.42 * p.shoulder_width * h, p.shoulder_height * h - 0.002 * h, -0.012 * h)
    body.add(
        Tube(
            (
                nape + vector(0.0, -0.018 * h, -0.004 * h),
                0.5 * (nape + tip) + vector(0.0, -0.012 * h, 0.0),
                tip,
            ),
            (1.22 * r, 0.034 * h, 0.030 * h),
            bent=True,
        ),
        "trunk",
        material="shirt",
        blend=0.015 * h,
        detail=0.85,
    )
    chin = h - size
    cranium = vector(0.0, chin + 0.625 * size, -0.045 * size)

    def add(
        shape: Shape,
        material: str,
        blend: float,
        detail: float = 0.5,
        action: Literal["add", "paint"] = "add",
    ) -> None:
        body.add(
            shape,
            "trunk",
            material=material,
            blend=blend * size,
            detail=detail,
            bone="head",
            action=action,
        )

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
    add(
        Tube((at(0, 0.555, 0.345), at(0, 0.36, 0.425)), (0.030 * size, 0.050 * size)),
        "skin",
        0.07,
        0.4,
    )
    add(ball(0.045, 0.345, 0.385, 0.036, 0.034, 0.042), "skin", 0.03, 0.4)
    add(ball(0.125, 0.585, 0.300, 0.105, 0.036, 0.055), "skin", 0.06, 0.4)
    add(ball(0.130, 0.510, 0.315, 0.062, 0.040, 0.045), "eye", 0.008, 0.26)
    add(ball(0.0, 0.225, 0.345, 0.105, 0.036, 0.07), "lips", 0.0, 0.35, "paint")
    add(ball(0.320, 0.44, -0.01, 0.042, 0.115, 0.072), "skin", 0.035, 0.42)
    if p.hair == "bald":
        return
    add(
        Ellipsoid(
            cranium + vector(0.0, 0.055 * size, -0.050 * size),
            (0.352 * size, 0.375 * size, 0.415 * size),
        ),
        "hair",
        0.015,
        0.55,
    )
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
    body.joint(
        "left_arm_shoulder", "spine_3", (0.022 * h, p.shoulder_height * h - 0.005 * h, 0.01 * h)
    )
    body.joint("left_arm_upper", "left_arm_shoulder", shoulder)
    body.joint("left_arm_lower", "left_arm_upper", elbow)
    body.joint("left_arm_hand", "left_arm_lower", wrist)
    names = [f"left_arm_{n}" for n in ("shoulder", "upper", "lower", "hand")]
    body.chain("left_arm", names, wrist + hand * down)
    r, e, w = (radius * h for radius in p.arm_radii)
    forearm = elbow + 0.28 * (wrist - elbow)
    cuff = forearm if p.sleeves == "short" else wrist
    upper_arm = shoulder + 0.45 * (elbow - shoulder)
    if p.sleeves == "short":
        body.add(
            Tube(
                (shoulder, upper_arm, elbow - 0.18 * (elbow - shoulder)),
                (1.12 * r, 1.02 * r, 1.06 * e),
                flat=0.95,
            ),
            "left_arm",
            material="shirt",
            blend=0.022 * h,
            detail=0.75,
        )
        body.add(
            Tube((upper_arm, elbow, forearm, wrist), (0.8 * r, 0.95 * e, 1.0 * e, w), flat=0.92),
            "left_arm",
            material="skin",
            blend=0.006 * h,
            detail=0.7,
        )
    else:
        body.add(
            Tube(
                (shoulder, upper_arm, elbow, forearm, cuff - 0.03 * (wrist - elbow)),
                (1.12 * r, 1.0 * r, 1.05 * e, 1.08 * e, 1.12 * w),
                flat=0.95,
            ),
            "left_arm",
            material="shirt",
            blend=0.022 * h,
            detail=0.75,
        )
        body.add(
            Cone(cuff - 0.1 * (wrist - elbow), wrist, 0.95 * w, w),
            "left_arm",
            material="skin",
            blend=0.002 * h,
            detail=0.6,
        )
    _hand(body, wrist, down, hand, w)


def _hand(body: Anatomy, wrist: Array, down: Array, length: float, w: float) -> None:
    """A relaxed hand, palm towards the thigh: palm, fingers in a gentle curve, thumb."""
    inward, ahead = vector(-1.0, 0.0, 0.0), vector(0.0, 0.0, 1.0)
    palm = wrist + 0.28 * length * down
    options = {"material": "skin", "detail": 0.5, "bone": "left_arm_hand"}
    body.add(
        Ellipsoid(palm, (0.12 * length, 0.22 * length, 0.34 * length), axis=down),
        "left_arm",
        blend=0.35 * w,
        **options,
    )
    for i, (reach, size) in enumerate(((0.40, 0.92), (0.14, 1.0), (-0.12, 0.95), (-0.36, 0.8))):
        root = palm + 0.15 * length * down + 0.42 * reach * length * ahead
        bend = root + 0.25 * size * length * down + 0.03 * length * inward
        tip = bend + 0.20 * size * length * (down + 0.45 * inward)
        thick = (0.066 if i < 3 else 0.056) * length
        body.add(
            Tube((root, bend, tip), (thick, thick, 0.8 * thick), finer=2),
            "left_arm",
            blend=0.022 * length,
            **options,
        )
    root = wrist + 0.16 * length * down + 0.16 * length * ahead
    tip = root + 0.34 * length * (0.75 * down + 0.6 * ahead + 0.25 * inward)
    body.add(
        Tube((root, tip), (0.09 * length, 0.062 * length), finer=1),
        "left_arm",
        blend=0.06 * length,
        **options,
    )


def _leg(body: Anatomy, p: Humanoid, hip: Array) -> None:
    h, foot = p.height, p.foot
    joints = hang_leg(hip, hip[1] - foot.height * h, p.leg.ratios, np.radians(p.leg.angles))
    parent = "pelvis"
    for name, place in zip(("upper", "lower", "foot", "toes"), joints, strict=True):
        body.joint(f"left_leg_{name}", parent, place)
        parent = f"left_leg_{name}"
    body.leg("left_leg", "plantigrade")
    j, k, a, t = joints
    tip = t + vector(0.0, 0.0, 0.3 * foot.length * h)
    body.chain("left_leg", [f"left_leg_{n}" for n in ("upper", "lower", "foot", "toes")], tip)
    top, knee, ankle, _ = (r * h for r in p.leg.radii)
    calf = k + 0.30 * (a - k) + vector(0.0, 0.0, -0.25 * knee)
    thigh = j + 0.35 * (k - j) + vector(0.0, 0.0, 0.12 * top)
    body.add(
        Tube(
            (j + vector(0.0, -0.01 * h, 0.0), thigh, k, calf, a + vector(0.0, 0.012 * h, 0.0)),
            (top, 0.90 * top, knee, 1.04 * knee, 1.18 * ankle),
            flat=(0.92, 0.92, 0.95, 0.95, 0.98),
        ),
        "left_leg",
        material="trousers",
        blend=0.028 * h,
        detail=0.85,
    )
    _shoe(body, p, a, t)


def _shoe(body: Anatomy, p: Humanoid, ankle: Array, ball: Array) -> None:
    h = p.height
    length, width = p.foot.length * h, 0.5 * p.foot.width * h
    x = ankle[0]
    heel_z = ankle[2] - 0.20 * length
    sole = -0.15 * width
    foot = {"material": "shoes", "detail": 0.6, "bone": "left_leg_foot"}
    toes = {"material": "shoes", "detail": 0.6, "bone": "left_leg_toes"}
    body.add(
        Tube(
            ((x, 0.60 * width, heel_z + 0.1 * length), (x, 0.62 * width, ball[2] - 0.2 * length)),
            (0.74 * width, 0.80 * width),
            flat=(0.95, 1.1),
        ),
        "left_leg",
        blend=0.25 * width,
        **foot,
    )
    body.add(
        Cone(
            ankle,
            (x, 0.8 * width, ankle[2] + 0.22 * length),
            p.leg.radii[2] * h * 1.05,
            0.55 * width,
        ),
        "left_leg",
        blend=0.5 * width,
        **foot,
    )
    body.add(
        Ellipsoid(
            (x, 0.42 * width + sole, ball[2] + 0.02 * length), (width, 0.82 * width, 0.28 * length)
        ),
        "left_leg",
        blend=0.3 * width,
        **toes,
    )
