"""Parameters of humanoids and theropods."""

from __future__ import annotations

from akd.zoo.parameters import Clothes, Coat, Foot, Head, Humanoid, Leg, Manner, Tail, Theropod

MAN = Humanoid(
    height=1.78,
    leg=Leg(0.525, (0.245, 0.245, 0.085), (1.5, -3.5, 64), (0.054, 0.034, 0.024, 0.02), 0.05, 0.053),
    foot=Foot("paw", 0.155, 0.058, 0.014),
    shoulder_width=0.215,
    shoulder_height=0.818,
    chest_width=0.185,
    chest_depth=0.125,
    waist_width=0.160,
    waist_depth=0.108,
    hip_width=0.188,
    hip_depth=0.118,
    arm=(0.172, 0.148, 0.105),
    arm_radii=(0.032, 0.0235, 0.0165),
    arm_spread=20,
    neck=0.045,
    neck_radius=0.032,
    head=0.130,
    sleeves="short",
    manner=Manner(walk_froude=0.21, trot_froude=1.0, lift=0.035),
)

TREX = Theropod(
    height=3.0,
    leg=Leg(1.0, (0.40, 0.40, 0.27), (38, -36, 20), (0.20, 0.115, 0.065, 0.062), 0.22, 0.16),
    foot=Foot("claw", 0.27, 0.20, 0.075),
    trunk=0.62,
    trunk_pitch=14,
    chest_depth=0.50,
    chest_width=0.42,
    rump_depth=0.46,
    rump_width=0.36,
    neck_length=0.46,
    neck_pitch=52,
    neck_curl=-40,
    neck_base=0.22,
    neck_top=0.15,
    head=Head(
        length=0.46, pitch=-8, skull_width=0.21, skull_height=0.25, muzzle_width=0.14,
        muzzle_height=0.19, jaw=0.19, muzzle=0.62, eye=0.035, ear="none",
    ),
    tail=Tail(1.75, 4, 8, (0.20, 0.125, 0.07, 0.02)),
    arm=0.26,
    arm_radius=0.035,
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
    trunk=0.50,
    trunk_pitch=10,
    chest_depth=0.50,
    chest_width=0.44,
    rump_depth=0.46,
    rump_width=0.42,
    neck_length=0.86,
    neck_pitch=62,
    neck_curl=26,
    neck_base=0.10,
    neck_top=0.038,
    head=Head(
        length=0.17, pitch=-4, skull_width=0.20, skull_height=0.20, muzzle_width=0.15,
        muzzle_height=0.13, jaw=0.16, muzzle=0.58, eye=0.09, ear="none",
    ),
    tail=Tail(0.30, 8, -20, (0.15, 0.16, 0.12, 0.03)),
    arm=0.40,
    arm_radius=0.055,
    feathers="ostrich",
    coat=Coat(
        base=(0.018, 0.016, 0.016), tail_tip=(0.70, 0.68, 0.64), skin=(0.48, 0.34, 0.29),
        horn=(0.42, 0.30, 0.20), hoof=(0.06, 0.05, 0.045),
    ),
    manner=Manner(walk_froude=0.2, trot_froude=1.6, lift=0.14),
)  # fmt: skip

HUMANOIDS = {"man": MAN}
THEROPODS = {"trex": TREX, "ostrich": OSTRICH}
