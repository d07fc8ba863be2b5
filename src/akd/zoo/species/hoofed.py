"""Parameters of hoofed animals and elephants, after photographs in profile."""

from __future__ import annotations

from dataclasses import replace

from akd.zoo.species.parameters import Quadruped
from akd.zoo.species.parts import (
    Coat,
    Ear,
    Foot,
    Head,
    Horns,
    Leg,
    Manner,
    Neck,
    Oval,
    Skull,
    Tail,
    Trunk,
)

STRIDING = Manner(gallop="transverse", lift=0.09)
"""The gallop of horses, deer, cattle, goats and giraffes."""

HORSE = Quadruped(
    height=1.60,
    trunk=Trunk(0.82, croup=0.99, chest=Oval(0.45, 0.29), waist=Oval(0.37, 0.30), rump=0.33),
    fore=Leg(0.63, (0.20, 0.29, 0.20), (-46, 3, 1), (0.115, 0.062, 0.033, 0.027), 0.115, 0.085),
    hind=Leg(0.76, (0.26, 0.28, 0.24), (24, -34, 4), (0.135, 0.072, 0.038, 0.028), 0.165, 0.085),
    fore_foot=Foot("hoof", 0.135, 0.080, 0.130),
    hind_foot=Foot("hoof", 0.135, 0.076, 0.130),
    neck=Neck(0.53, pitch=47, base=0.175, end=0.095, width=0.62),
    head=Head(
        length=0.40, pitch=-46,
        skull=Skull(0.155, 0.165, muzzle_width=0.098, muzzle_height=0.19, jaw=0.205, muzzle=0.60),
        eye=0.042, blunt=0.75, nose="nostrils",
        ear=Ear("leaf", 0.29, 0.15, lean=12),
    ),
    tail=Tail(0.55, -68, -16, (0.035, 0.055, 0.065, 0.028)),
    coat=Coat(
        base=(0.22, 0.085, 0.032), back=(0.17, 0.062, 0.024), belly=(0.24, 0.11, 0.05),
        face=(0.20, 0.08, 0.032), socks=(0.022, 0.017, 0.015), sock_height=0.30,
        mane=(0.018, 0.013, 0.011), tail_tip=(0.016, 0.012, 0.01), ear_inner=(0.10, 0.05, 0.03),
    ),
    mane="horse",
    manner=replace(
        STRIDING, supple=0.12, nod=0.045, trot_froude=0.95, gallop_froude=3.6, weight_fore=0.57,
    ),
)  # fmt: skip

ZEBRA = replace(
    HORSE, height=1.32,
    trunk=replace(HORSE.trunk, chest=Oval(0.45, 0.32)),
    neck=replace(HORSE.neck, length=0.47, base=0.185),
    head=replace(HORSE.head, ear=Ear("leaf", 0.36, 0.19, lean=12)),
    tail=Tail(0.48, -70, -10, (0.030, 0.024, 0.026, 0.022), tuft=0.035),
    coat=Coat(
        base=(0.74, 0.71, 0.65), belly=(0.76, 0.73, 0.68), mane=(0.05, 0.045, 0.04),
        tail_tip=(0.03, 0.025, 0.02), ear_inner=(0.45, 0.42, 0.38), pattern="bands",
        pattern_colour=(0.016, 0.014, 0.013), pattern_scale=0.092,
    ),
)  # fmt: skip

DEER = Quadruped(
    height=1.05,
    trunk=Trunk(0.84, croup=1.0, chest=Oval(0.41, 0.27), waist=Oval(0.33, 0.25), rump=0.28),
    fore=Leg(0.65, (0.20, 0.29, 0.22), (-44, 4, 2), (0.10, 0.052, 0.027, 0.022), 0.105, 0.075),
    hind=Leg(0.77, (0.26, 0.29, 0.26), (26, -38, 5), (0.125, 0.066, 0.032, 0.023), 0.155, 0.075),
    fore_foot=Foot("hoof", 0.105, 0.055, 0.105),
    hind_foot=Foot("hoof", 0.105, 0.052, 0.105),
    neck=Neck(0.48, pitch=56, base=0.145, end=0.080, width=0.72),
    head=Head(
        length=0.31, pitch=-26,
        skull=Skull(0.195, 0.19, muzzle_width=0.095, muzzle_height=0.16, jaw=0.19, muzzle=0.54),
        eye=0.046, blunt=0.5,
        ear=Ear("leaf", 0.50, 0.28, lean=58),
        horns=Horns("antlers", 1.15),
    ),
    tail=Tail(0.16, -52, 0, (0.035, 0.045, 0.040, 0.018)),
    coat=Coat(
        base=(0.32, 0.165, 0.070), back=(0.25, 0.12, 0.048), belly=(0.66, 0.56, 0.44),
        face=(0.42, 0.27, 0.15), ear_inner=(0.58, 0.48, 0.38), tail_tip=(0.78, 0.72, 0.62),
        horn=(0.26, 0.19, 0.12), socks=(0.24, 0.13, 0.06), sock_height=0.34,
    ),
    manner=replace(
        STRIDING, supple=0.35, lift=0.12, trot_froude=1.0, gallop_froude=3.8, weight_fore=0.55,
    ),
)  # fmt: skip

COW = Quadruped(
    height=1.38,
    trunk=Trunk(1.0, croup=0.99, chest=Oval(0.53, 0.40), waist=Oval(0.50, 0.44), rump=0.40),
    fore=Leg(0.58, (0.22, 0.25, 0.16), (-40, 3, 1), (0.125, 0.070, 0.045, 0.036), 0.13, 0.105),
    hind=Leg(0.70, (0.26, 0.25, 0.21), (22, -30, 4), (0.145, 0.080, 0.048, 0.037), 0.175, 0.105),
    fore_foot=Foot("hoof", 0.130, 0.095, 0.105),
    hind_foot=Foot("hoof", 0.130, 0.090, 0.105),
    neck=Neck(0.40, pitch=14, base=0.205, end=0.145, width=0.66),
    head=Head(
        length=0.40, pitch=-38,
        skull=Skull(0.225, 0.19, muzzle_width=0.150, muzzle_height=0.235, jaw=0.205, muzzle=0.58),
        eye=0.040, blunt=1.0, nose="nostrils",
        ear=Ear("leaf", 0.40, 0.25, lean=88),
        horns=Horns("cow", 0.62),
    ),
    tail=Tail(0.72, -78, -10, (0.034, 0.022, 0.018, 0.016), tuft=0.040),
    coat=Coat(
        base=(0.76, 0.73, 0.68), belly=(0.74, 0.68, 0.62), face=(0.70, 0.60, 0.54),
        mane=(0.55, 0.5, 0.44), nose=(0.42, 0.26, 0.23), ear_inner=(0.55, 0.40, 0.34),
        pattern="patches", pattern_colour=(0.022, 0.018, 0.016), pattern_scale=0.30,
    ),
    sag=0.03,
    manner=replace(
        STRIDING, supple=0.15, walk_froude=0.17, trot_froude=0.75, gallop_froude=2.4,
        weight_fore=0.56,
    ),
)  # fmt: skip

PIG = Quadruped(
    height=0.72,
    trunk=Trunk(1.10, croup=1.0, chest=Oval(0.60, 0.46), waist=Oval(0.58, 0.48), rump=0.46),
    fore=Leg(0.52, (0.22, 0.21, 0.11), (-36, 4, 1), (0.135, 0.085, 0.058, 0.048), 0.14, 0.13),
    hind=Leg(0.60, (0.25, 0.22, 0.16), (24, -32, 6), (0.16, 0.092, 0.060, 0.048), 0.19, 0.13),
    fore_foot=Foot("hoof", 0.13, 0.105, 0.085),
    hind_foot=Foot("hoof", 0.13, 0.100, 0.085),
    neck=Neck(0.22, pitch=4, base=0.245, end=0.205, width=0.88),
    head=Head(
        length=0.50, pitch=-24,
        skull=Skull(0.25, 0.24, muzzle_width=0.14, muzzle_height=0.21, jaw=0.235, muzzle=0.50),
        eye=0.030, cheek=0.10, blunt=1.0, nose="disc",
        ear=Ear("leaf", 0.42, 0.34, lean=40),
    ),
    tail=Tail(0.30, -10, -60, (0.026, 0.020, 0.017, 0.012)),
    coat=Coat(
        base=(0.66, 0.36, 0.29), back=(0.62, 0.33, 0.26), belly=(0.70, 0.42, 0.35),
        nose=(0.48, 0.21, 0.18), ear_inner=(0.60, 0.28, 0.23), hoof=(0.20, 0.13, 0.10),
    ),
    sag=0.02,
    manner=Manner(supple=0.3, lift=0.10, gallop_froude=2.6, weight_fore=0.56),
)  # fmt: skip

GOAT = Quadruped(
    height=0.70,
    trunk=Trunk(0.92, croup=1.0, chest=Oval(0.48, 0.33), waist=Oval(0.45, 0.36), rump=0.33),
    fore=Leg(0.60, (0.21, 0.26, 0.17), (-42, 4, 1), (0.115, 0.062, 0.040, 0.033), 0.12, 0.095),
    hind=Leg(0.72, (0.26, 0.26, 0.22), (24, -34, 5), (0.135, 0.072, 0.043, 0.033), 0.16, 0.095),
    fore_foot=Foot("hoof", 0.12, 0.080, 0.095),
    hind_foot=Foot("hoof", 0.12, 0.075, 0.095),
    neck=Neck(0.40, pitch=48, base=0.165, end=0.105, width=0.72),
    head=Head(
        length=0.36, pitch=-28,
        skull=Skull(0.20, 0.19, muzzle_width=0.115, muzzle_height=0.19, jaw=0.20, muzzle=0.55),
        eye=0.040, blunt=0.6, nose="nostrils",
        ear=Ear("leaf", 0.42, 0.22, lean=78),
        horns=Horns("goat", 0.78),
    ),
    tail=Tail(0.16, 25, 20, (0.035, 0.036, 0.030, 0.015)),
    coat=Coat(
        base=(0.60, 0.54, 0.45), back=(0.50, 0.43, 0.34), belly=(0.64, 0.58, 0.50),
        face=(0.56, 0.50, 0.42), ear_inner=(0.5, 0.36, 0.3), horn=(0.20, 0.165, 0.12),
        eye=(0.30, 0.19, 0.04),
    ),
    manner=replace(STRIDING, supple=0.3, lift=0.11, weight_fore=0.57),
)  # fmt: skip

GIRAFFE = Quadruped(
    height=2.9,
    trunk=Trunk(0.56, croup=0.86, chest=Oval(0.33, 0.20), waist=Oval(0.26, 0.19), rump=0.20),
    fore=Leg(0.74, (0.20, 0.33, 0.25), (-34, 2, 1), (0.080, 0.046, 0.027, 0.022), 0.085, 0.066),
    hind=Leg(0.71, (0.22, 0.27, 0.26), (24, -28, 4), (0.090, 0.050, 0.029, 0.022), 0.11, 0.066),
    fore_foot=Foot("hoof", 0.075, 0.055, 0.075),
    hind_foot=Foot("hoof", 0.075, 0.052, 0.075),
    neck=Neck(0.82, pitch=62, base=0.145, end=0.045, width=0.66),
    head=Head(
        length=0.225, pitch=-28,
        skull=Skull(0.165, 0.17, muzzle_width=0.095, muzzle_height=0.16, jaw=0.17, muzzle=0.58),
        eye=0.036, blunt=0.6, nose="nostrils",
        ear=Ear("leaf", 0.34, 0.17, lean=76),
        horns=Horns("goat", 0.22),
    ),
    tail=Tail(0.36, -80, -6, (0.014, 0.011, 0.010, 0.010), tuft=0.022),
    coat=Coat(
        base=(0.66, 0.50, 0.28), belly=(0.70, 0.58, 0.38), face=(0.60, 0.46, 0.28),
        mane=(0.16, 0.07, 0.03), tail_tip=(0.02, 0.015, 0.01), socks=(0.68, 0.55, 0.36),
        sock_height=0.20, horn=(0.16, 0.09, 0.045), pattern="cells",
        pattern_colour=(0.24, 0.095, 0.030), pattern_scale=0.105,
    ),
    manner=replace(
        STRIDING, supple=0.08, lift=0.08, walk_froude=0.14, trot_froude=0.6, gallop_froude=1.8,
        weight_fore=0.62,
    ),
    actions=("stand", "walk", "gallop", "jump", "turn_left", "turn_right"),
    unable=("lie_down", "get_up", "roll"),
)  # fmt: skip

ELEPHANT = Quadruped(
    height=2.9,
    trunk=Trunk(0.66, croup=0.95, chest=Oval(0.54, 0.46), waist=Oval(0.52, 0.50), rump=0.44),
    fore=Leg(0.60, (0.28, 0.29, 0.09), (-26, 7, 2), (0.135, 0.095, 0.080, 0.085), 0.14, 0.145),
    hind=Leg(0.65, (0.30, 0.25, 0.09), (16, -17, 3), (0.150, 0.105, 0.080, 0.085), 0.16, 0.135),
    fore_foot=Foot("pad", 0.17, 0.215, 0.075),
    hind_foot=Foot("pad", 0.17, 0.195, 0.075),
    neck=Neck(0.20, pitch=24, base=0.24, end=0.195, width=0.85),
    head=Head(
        length=0.34, pitch=-42,
        skull=Skull(0.36, 0.40, muzzle_width=0.26, muzzle_height=0.30, jaw=0.36, muzzle=0.40),
        eye=0.026,
        ear=Ear("fan", 1.02),
        horns=Horns("tusks", 0.95),
    ),
    tail=Tail(0.42, -74, -10, (0.034, 0.024, 0.018, 0.014), tuft=0.024),
    coat=Coat(
        base=(0.165, 0.150, 0.138), back=(0.145, 0.13, 0.118), belly=(0.19, 0.172, 0.158),
        mane=(0.03, 0.027, 0.025), hoof=(0.42, 0.37, 0.30), horn=(0.78, 0.73, 0.60),
        eye=(0.03, 0.018, 0.01),
    ),
    sag=0.02,
    proboscis=0.66,
    manner=Manner(
        supple=0.1, lift=0.075, walk_froude=0.12, trot_froude=0.30, nod=0.02, weight_fore=0.60
    ),
    actions=("stand", "walk", "amble", "turn_left", "turn_right"),
    # Its trunk would do what others do with the neck.
    unable=("eat", "drink", "attack", "sit_down", "lie_down", "get_up", "roll"),
)  # fmt: skip

HOOFED = {
    "horse": HORSE,
    "zebra": ZEBRA,
    "deer": DEER,
    "cow": COW,
    "pig": PIG,
    "goat": GOAT,
    "giraffe": GIRAFFE,
    "elephant": ELEPHANT,
}
