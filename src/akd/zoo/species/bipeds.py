"""Parameters of humanoids, theropods and birds."""

from __future__ import annotations

from dataclasses import replace

from akd.zoo.species.parameters import Humanoid, Theropod
from akd.zoo.species.parts import (
    Clothes,
    Coat,
    Ear,
    Foot,
    Head,
    Leg,
    Manner,
    Oval,
    Skull,
    Tail,
    Wing,
)

MAN = Humanoid(
    height=1.78,
    leg=Leg(
        0.525, (0.245, 0.245, 0.085), (1.5, -3.5, 64), (0.054, 0.034, 0.024, 0.02), 0.05, 0.053,
    ),
    foot=Foot("paw", 0.155, 0.058, 0.005),
    shoulder_width=0.215, shoulder_height=0.818, chest_width=0.185, chest_depth=0.125,
    waist_width=0.160, waist_depth=0.108, hip_width=0.188, hip_depth=0.118,
    arm=(0.172, 0.148, 0.105), arm_radii=(0.032, 0.0235, 0.0165), arm_spread=20, neck=0.045,
    neck_radius=0.032, head=0.130, sleeves="short",
    manner=Manner(walk_froude=0.21, trot_froude=1.0, lift=0.035),
)  # fmt: skip

TREX = Theropod(
    height=3.0,
    leg=Leg(1.0, (0.40, 0.40, 0.27), (38, -36, 20), (0.20, 0.115, 0.065, 0.062), 0.22, 0.16),
    foot=Foot("claw", 0.27, 0.20, 0.075),
    trunk=0.62, trunk_pitch=14,
    chest=Oval(0.50, 0.42),
    rump=Oval(0.46, 0.36),
    neck_length=0.46, neck_pitch=56, neck_curl=-36, neck_base=0.215, neck_top=0.118,
    head=Head(
        length=0.50, pitch=-9,
        skull=Skull(0.205, 0.235, muzzle_width=0.135, muzzle_height=0.205, jaw=0.24, muzzle=0.62),
        eye=0.030,
        ear=Ear("none"),
    ),
    tail=Tail(1.75, 4, 8, (0.20, 0.125, 0.07, 0.02)),
    arm=0.32, arm_radius=0.042,
    coat=Coat(
        base=(0.16, 0.13, 0.075), back=(0.07, 0.06, 0.04), belly=(0.42, 0.36, 0.24),
        face=(0.20, 0.15, 0.09), eye=(0.55, 0.32, 0.03), pattern="stripes",
        pattern_colour=(0.05, 0.04, 0.028), pattern_scale=0.16,
    ),
    manner=Manner(walk_froude=0.16, trot_froude=0.5, lift=0.12),
)  # fmt: skip

OSTRICH = Theropod(
    height=1.25,
    leg=Leg(1.0, (0.26, 0.44, 0.40), (62, -28, 12), (0.16, 0.085, 0.036, 0.030), 0.15, 0.10),
    foot=Foot("claw", 0.17, 0.10, 0.05),
    trunk=0.50, trunk_pitch=10,
    chest=Oval(0.50, 0.44),
    rump=Oval(0.46, 0.42),
    neck_length=0.86, neck_pitch=62, neck_curl=26, neck_base=0.10, neck_top=0.038,
    head=Head(
        length=0.17, pitch=-4,
        skull=Skull(0.20, 0.20, muzzle_width=0.15, muzzle_height=0.13, jaw=0.16, muzzle=0.58),
        eye=0.09,
        ear=Ear("none"),
    ),
    tail=Tail(0.30, 8, -20, (0.15, 0.16, 0.12, 0.03)),
    arm=0.40, arm_radius=0.055, feathers="ostrich",
    coat=Coat(
        base=(0.018, 0.016, 0.016), tail_tip=(0.70, 0.68, 0.64), skin=(0.48, 0.34, 0.29),
        horn=(0.42, 0.30, 0.20), hoof=(0.06, 0.05, 0.045),
    ),
    manner=Manner(walk_froude=0.2, trot_froude=1.6, lift=0.14),
)  # fmt: skip

WOMAN = replace(
    MAN, height=1.66,
    leg=Leg(
        0.525, (0.245, 0.245, 0.080), (1.5, -3.5, 64), (0.056, 0.034, 0.022, 0.02), 0.05, 0.052,
    ),
    foot=Foot("paw", 0.148, 0.054, 0.005),
    shoulder_width=0.196, chest_width=0.164, chest_depth=0.112, waist_width=0.138,
    waist_depth=0.094, hip_width=0.196, hip_depth=0.122, arm=(0.168, 0.144, 0.100),
    arm_radii=(0.026, 0.0200, 0.0140), arm_spread=22, neck=0.048, neck_radius=0.026, head=0.134,
    bust=0.030, hair="long",
    look=Clothes(
        skin=(0.60, 0.36, 0.26), hair=(0.16, 0.065, 0.025), shirt=(0.50, 0.10, 0.10),
        trousers=(0.10, 0.10, 0.12), shoes=(0.12, 0.06, 0.04),
    ),
)  # fmt: skip

CHILD = replace(
    MAN, height=1.12,
    leg=Leg(
        0.480, (0.228, 0.222, 0.086), (1.5, -3.5, 64), (0.058, 0.040, 0.028, 0.02), 0.05, 0.054,
    ),
    foot=Foot("paw", 0.165, 0.070, 0.005),
    shoulder_width=0.200, shoulder_height=0.755, chest_width=0.176, chest_depth=0.132,
    waist_width=0.168, waist_depth=0.130, hip_width=0.180, hip_depth=0.130,
    arm=(0.155, 0.130, 0.095), arm_radii=(0.030, 0.0250, 0.0185), neck=0.032, neck_radius=0.033,
    head=0.205, belly=0.012,
    look=Clothes(
        skin=(0.62, 0.38, 0.28), hair=(0.30, 0.16, 0.06), shirt=(0.62, 0.42, 0.05),
        trousers=(0.07, 0.16, 0.26), shoes=(0.45, 0.08, 0.06),
    ),
    manner=replace(MAN.manner, lift=0.05),
)  # fmt: skip

OGRE = replace(
    MAN, height=2.60,
    leg=Leg(0.440, (0.210, 0.205, 0.080), (6, -9, 64), (0.074, 0.052, 0.040, 0.03), 0.06, 0.078),
    foot=Foot("paw", 0.165, 0.085, 0.004),
    shoulder_width=0.320, shoulder_height=0.800, chest_width=0.285, chest_depth=0.215,
    waist_width=0.262, waist_depth=0.205, hip_width=0.235, hip_depth=0.165,
    arm=(0.215, 0.185, 0.125), arm_radii=(0.052, 0.0420, 0.0310), arm_spread=24, neck=0.022,
    neck_radius=0.052, head=0.150, belly=0.030, hair="bald",
    look=Clothes(
        skin=(0.17, 0.25, 0.10), shirt=(0.17, 0.10, 0.055), trousers=(0.10, 0.065, 0.04),
        shoes=(0.05, 0.035, 0.025), lips=(0.12, 0.12, 0.06), eye=(0.35, 0.20, 0.02),
    ),
    manner=replace(MAN.manner, walk_froude=0.16, trot_froude=0.7, lift=0.05),
)  # fmt: skip

ALLOSAUR = replace(
    TREX, height=2.1, trunk=0.66,
    chest=Oval(0.44, 0.36),
    neck_length=0.56, neck_base=0.175, neck_top=0.095,
    head=replace(
        TREX.head, length=0.42,
        skull=Skull(0.165, 0.215, muzzle_width=0.105, muzzle_height=0.205, jaw=0.19, muzzle=0.62),
    ),
    leg=Leg(1.0, (0.38, 0.41, 0.30), (40, -36, 18), (0.17, 0.095, 0.052, 0.048), 0.19, 0.14),
    tail=Tail(2.0, 2, 10, (0.17, 0.105, 0.058, 0.016)),
    arm=0.46, arm_radius=0.044,
    coat=Coat(
        base=(0.24, 0.105, 0.055), back=(0.11, 0.048, 0.030), belly=(0.50, 0.40, 0.27),
        face=(0.28, 0.14, 0.08), eye=(0.60, 0.42, 0.04), pattern="stripes",
        pattern_colour=(0.05, 0.025, 0.018), pattern_scale=0.20,
    ),
    manner=Manner(walk_froude=0.18, trot_froude=0.75, lift=0.13),
)  # fmt: skip

RAPTOR = Theropod(
    height=0.55,
    leg=Leg(1.0, (0.34, 0.41, 0.30), (48, -34, 14), (0.16, 0.090, 0.044, 0.040), 0.17, 0.12),
    foot=Foot("claw", 0.27, 0.16, 0.070),
    trunk=0.58, trunk_pitch=16,
    chest=Oval(0.40, 0.34),
    rump=Oval(0.36, 0.30),
    neck_length=0.52, neck_pitch=62, neck_curl=-30, neck_base=0.15, neck_top=0.080,
    head=Head(
        length=0.40, pitch=-8,
        skull=Skull(0.170, 0.165, muzzle_width=0.095, muzzle_height=0.130, jaw=0.16, muzzle=0.60),
        eye=0.046,
        ear=Ear("none"),
    ),
    tail=Tail(1.85, 4, 6, (0.13, 0.070, 0.042, 0.020)),
    arm=0.62, arm_radius=0.042, feathers="raptor",
    coat=Coat(
        base=(0.16, 0.17, 0.135), back=(0.055, 0.075, 0.085), belly=(0.52, 0.45, 0.32),
        face=(0.40, 0.26, 0.12), eye=(0.62, 0.30, 0.02), pattern="stripes",
        pattern_colour=(0.025, 0.032, 0.04), pattern_scale=0.20,
    ),
    manner=Manner(walk_froude=0.22, trot_froude=1.6, lift=0.15),
)  # fmt: skip

_FLIERS = ("stand", "walk", "jump", "turn_left", "turn_right", "back_up")
EAGLE = replace(
    OSTRICH, height=0.26,
    leg=Leg(1.0, (0.34, 0.42, 0.30), (40, -34, 14), (0.20, 0.13, 0.060, 0.055), 0.20, 0.17),
    foot=Foot("claw", 0.34, 0.20, 0.10),
    trunk=0.98, trunk_pitch=34,
    chest=Oval(0.72, 0.62),
    rump=Oval(0.56, 0.50),
    neck_length=0.52, neck_pitch=58, neck_curl=10, neck_base=0.26, neck_top=0.16,
    head=replace(
        OSTRICH.head, length=0.46, pitch=-8, eye=0.075,
        skull=Skull(0.27, 0.25, muzzle_width=0.12, muzzle_height=0.17, jaw=0.18, muzzle=0.46),
    ),
    tail=Tail(1.05, -12, -14, (0.20, 0.13, 0.085, 0.070)),
    arm=0.0, feathers="bird",
    wing=Wing(3.3, 0.86, 0.080, fingers=5),
    coat=Coat(
        base=(0.075, 0.042, 0.022), tail_tip=(0.80, 0.78, 0.72), skin=(0.62, 0.42, 0.05),
        horn=(0.70, 0.45, 0.05), hoof=(0.02, 0.02, 0.02), eye=(0.60, 0.42, 0.05),
    ),
    manner=Manner(walk_froude=0.16, trot_froude=0.9, lift=0.16, leap=1.6),
    actions=_FLIERS, unable=("headbutt",),
)  # fmt: skip
CROW = replace(
    EAGLE, height=0.15,
    leg=Leg(1.0, (0.30, 0.42, 0.36), (44, -30, 12), (0.17, 0.10, 0.042, 0.040), 0.17, 0.15),
    trunk=0.95, trunk_pitch=26, neck_length=0.40,
    head=replace(
        EAGLE.head, length=0.62,
        skull=Skull(0.22, 0.20, muzzle_width=0.085, muzzle_height=0.105, jaw=0.12, muzzle=0.58),
    ),
    wing=Wing(2.7, 0.78, 0.070, fingers=4),
    coat=Coat(
        base=(0.012, 0.012, 0.016), skin=(0.02, 0.02, 0.022), horn=(0.10, 0.10, 0.11),
        hoof=(0.015, 0.015, 0.015), eye=(0.05, 0.03, 0.02),
    ),
)  # fmt: skip
CRANE = replace(
    EAGLE, height=0.62,
    leg=Leg(1.0, (0.26, 0.42, 0.42), (48, -22, 8), (0.12, 0.065, 0.028, 0.026), 0.12, 0.09),
    foot=Foot("claw", 0.20, 0.12, 0.045),
    trunk=0.62, trunk_pitch=16,
    chest=Oval(0.36, 0.32),
    rump=Oval(0.30, 0.28),
    neck_length=0.80, neck_pitch=66, neck_curl=16, neck_base=0.085, neck_top=0.036,
    head=replace(
        EAGLE.head, length=0.32, pitch=-6, eye=0.05,
        skull=Skull(0.13, 0.13, muzzle_width=0.045, muzzle_height=0.06, jaw=0.07, muzzle=0.66),
    ),
    tail=Tail(0.34, -14, -10, (0.10, 0.075, 0.05, 0.04)),
    wing=Wing(1.75, 0.42, 0.042, fingers=5),
    coat=Coat(
        base=(0.62, 0.63, 0.64), tail_tip=(0.05, 0.05, 0.06), skin=(0.06, 0.06, 0.06),
        horn=(0.30, 0.27, 0.18), hoof=(0.05, 0.05, 0.05), eye=(0.55, 0.10, 0.05),
    ),
    manner=Manner(walk_froude=0.18, trot_froude=1.2, lift=0.16, leap=1.4),
    actions=("stand", "walk", "run", "jump", "turn_left", "turn_right", "back_up"),
)  # fmt: skip
HUMANOIDS = {"man": MAN, "woman": WOMAN, "child": CHILD, "ogre": OGRE}
THEROPODS = {"trex": TREX, "allosaur": ALLOSAUR, "raptor": RAPTOR, "ostrich": OSTRICH}
BIRDS = {"eagle": EAGLE, "crow": CROW, "crane": CRANE}
