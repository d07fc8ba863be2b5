"""Parameters of foxes, dogs, cats and bears, after photographs in profile."""

from __future__ import annotations

from dataclasses import replace

from akd.zoo.species.parameters import Quadruped
from akd.zoo.species.parts import Coat, Ear, Foot, Head, Leg, Manner, Neck, Oval, Skull, Tail, Trunk

FOX = Quadruped(
    height=0.40,
    trunk=Trunk(1.02, croup=0.98, chest=Oval(0.43, 0.36), waist=Oval(0.30, 0.27), rump=0.31),
    fore=Leg(0.66, (0.24, 0.30, 0.13), (-42, 6, 4), (0.105, 0.058, 0.037, 0.034), 0.115, 0.105),
    hind=Leg(0.76, (0.30, 0.31, 0.22), (22, -38, 6), (0.13, 0.07, 0.040, 0.034), 0.15, 0.105),
    fore_foot=Foot("paw", 0.15, 0.105, 0.075),
    hind_foot=Foot("paw", 0.15, 0.100, 0.075),
    neck=Neck(0.36, pitch=44, base=0.19, end=0.145, width=0.92),
    head=Head(
        length=0.40, pitch=-14,
        skull=Skull(0.25, 0.21, muzzle_width=0.10, muzzle_height=0.15, jaw=0.17, muzzle=0.50),
        blunt=0.3, eye=0.052, cheek=0.17,
        ear=Ear("pointed", 0.58, 0.44, lean=20),
    ),
    tail=Tail(0.98, -35, 25, (0.05, 0.115, 0.130, 0.035)),
    coat=Coat(
        base=(0.56, 0.17, 0.035), back=(0.46, 0.115, 0.022), belly=(0.72, 0.64, 0.56),
        face=(0.80, 0.74, 0.66), socks=(0.025, 0.018, 0.015), sock_height=0.34,
        ear_inner=(0.62, 0.52, 0.44), ear_back=(0.03, 0.02, 0.018), tail_tip=(0.82, 0.78, 0.72),
        eye=(0.05, 0.025, 0.005),
    ),
    manner=Manner(supple=0.8, weight_fore=0.56),
)  # fmt: skip

WOLF = Quadruped(
    height=0.80,
    trunk=Trunk(0.94, croup=0.97, chest=Oval(0.45, 0.33), waist=Oval(0.31, 0.25), rump=0.29),
    fore=Leg(0.65, (0.24, 0.30, 0.13), (-44, 6, 4), (0.105, 0.058, 0.036, 0.033), 0.115, 0.095),
    hind=Leg(0.76, (0.30, 0.31, 0.22), (22, -38, 7), (0.135, 0.072, 0.040, 0.033), 0.15, 0.095),
    fore_foot=Foot("paw", 0.155, 0.115, 0.075),
    hind_foot=Foot("paw", 0.150, 0.105, 0.075),
    neck=Neck(0.36, pitch=34, base=0.21, end=0.155, width=0.85),
    head=Head(
        length=0.37, pitch=-12,
        skull=Skull(0.235, 0.21, muzzle_width=0.115, muzzle_height=0.19, jaw=0.185, muzzle=0.50),
        blunt=0.5, eye=0.042, cheek=0.14,
        ear=Ear("pointed", 0.40, 0.32, lean=16),
    ),
    tail=Tail(0.58, -62, 12, (0.05, 0.085, 0.085, 0.025)),
    coat=Coat(
        base=(0.24, 0.215, 0.185), back=(0.085, 0.078, 0.072), belly=(0.58, 0.53, 0.46),
        face=(0.62, 0.57, 0.50), socks=(0.48, 0.42, 0.34), sock_height=0.40,
        ear_inner=(0.36, 0.29, 0.24), ear_back=(0.15, 0.12, 0.10), tail_tip=(0.05, 0.045, 0.04),
        eye=(0.10, 0.045, 0.008),
    ),
    manner=Manner(supple=0.6, trot_froude=1.0, gallop_froude=3.4, weight_fore=0.58),
)  # fmt: skip

DOG = Quadruped(
    height=0.57,
    trunk=Trunk(0.95, croup=0.97, chest=Oval(0.48, 0.37), waist=Oval(0.36, 0.29), rump=0.32),
    fore=Leg(0.64, (0.24, 0.30, 0.13), (-44, 6, 4), (0.12, 0.066, 0.043, 0.040), 0.125, 0.11),
    hind=Leg(0.75, (0.30, 0.31, 0.21), (24, -40, 8), (0.145, 0.082, 0.046, 0.040), 0.16, 0.11),
    fore_foot=Foot("paw", 0.16, 0.125, 0.080),
    hind_foot=Foot("paw", 0.15, 0.115, 0.080),
    neck=Neck(0.36, pitch=46, base=0.19, end=0.145, width=0.88),
    head=Head(
        length=0.41, pitch=-13,
        skull=Skull(0.255, 0.235, muzzle_width=0.150, muzzle_height=0.235, jaw=0.20, muzzle=0.45),
        blunt=0.75, eye=0.042,
        ear=Ear("flop", 0.46, 0.36),
    ),
    tail=Tail(0.62, -12, 30, (0.055, 0.050, 0.038, 0.016)),
    coat=Coat(
        base=(0.62, 0.40, 0.17), back=(0.52, 0.31, 0.12), belly=(0.72, 0.54, 0.32),
        face=(0.68, 0.48, 0.25), ear_back=(0.50, 0.29, 0.11), eye=(0.04, 0.018, 0.006),
    ),
    manner=Manner(supple=0.6, weight_fore=0.60),
)  # fmt: skip

CAT = Quadruped(
    height=0.25,
    trunk=Trunk(1.06, croup=0.99, chest=Oval(0.43, 0.34), waist=Oval(0.37, 0.29), rump=0.31),
    fore=Leg(0.62, (0.25, 0.30, 0.12), (-40, 8, 3), (0.115, 0.066, 0.043, 0.040), 0.12, 0.095),
    hind=Leg(0.72, (0.31, 0.32, 0.22), (34, -44, 12), (0.145, 0.082, 0.046, 0.040), 0.17, 0.095),
    fore_foot=Foot("paw", 0.15, 0.125, 0.078),
    hind_foot=Foot("paw", 0.15, 0.115, 0.078),
    neck=Neck(0.27, pitch=44, base=0.165, end=0.135, width=0.95),
    head=Head(
        length=0.37, pitch=-10,
        skull=Skull(0.33, 0.30, muzzle_width=0.155, muzzle_height=0.18, jaw=0.22, muzzle=0.31),
        blunt=0.55, eye=0.055, cheek=0.13,
        ear=Ear("pointed", 0.50, 0.46, lean=24),
    ),
    tail=Tail(1.02, -48, 78, (0.042, 0.040, 0.038, 0.026)),
    coat=Coat(
        base=(0.30, 0.245, 0.19), back=(0.18, 0.145, 0.11), belly=(0.62, 0.56, 0.48),
        face=(0.62, 0.56, 0.49), socks=(0.64, 0.58, 0.51), sock_height=0.16,
        ear_inner=(0.55, 0.33, 0.28), nose=(0.34, 0.12, 0.10), eye=(0.10, 0.14, 0.025),
        pattern="stripes", pattern_colour=(0.045, 0.035, 0.028), pattern_scale=0.17,
    ),
    manner=Manner(supple=1.0, lift=0.10, weight_fore=0.54),
)  # fmt: skip

TIGER = Quadruped(
    height=0.95,
    trunk=Trunk(1.14, croup=0.98, chest=Oval(0.50, 0.37), waist=Oval(0.42, 0.31), rump=0.34),
    fore=Leg(0.61, (0.24, 0.28, 0.11), (-42, 8, 3), (0.145, 0.085, 0.062, 0.058), 0.15, 0.115),
    hind=Leg(0.71, (0.30, 0.30, 0.20), (30, -41, 10), (0.165, 0.095, 0.058, 0.054), 0.185, 0.115),
    fore_foot=Foot("paw", 0.20, 0.175, 0.095),
    hind_foot=Foot("paw", 0.19, 0.155, 0.090),
    neck=Neck(0.33, pitch=26, base=0.21, end=0.175, width=0.88),
    head=Head(
        length=0.39, pitch=-10,
        skull=Skull(0.29, 0.25, muzzle_width=0.185, muzzle_height=0.25, jaw=0.235, muzzle=0.40),
        blunt=0.75, eye=0.038, cheek=0.15,
        ear=Ear("round", 0.27, 0.30, lean=34),
    ),
    tail=Tail(0.92, -58, 92, (0.050, 0.046, 0.042, 0.032)),
    coat=Coat(
        base=(0.62, 0.26, 0.05), back=(0.52, 0.18, 0.03), belly=(0.80, 0.75, 0.66),
        face=(0.82, 0.77, 0.68), ear_inner=(0.70, 0.62, 0.54), ear_back=(0.03, 0.025, 0.02),
        nose=(0.36, 0.15, 0.12), eye=(0.14, 0.09, 0.01), pattern="stripes",
        pattern_colour=(0.016, 0.012, 0.010), pattern_scale=0.135,
    ),
    manner=Manner(supple=0.85, lift=0.09, weight_fore=0.56),
)  # fmt: skip

LION = replace(
    TIGER, height=1.05,
    trunk=replace(TIGER.trunk, length=1.08),
    neck=replace(TIGER.neck, pitch=32),
    mane="lion",
    head=replace(TIGER.head, skull=replace(TIGER.head.skull, muzzle=0.43, jaw=0.25), cheek=0.10),
    tail=Tail(0.85, -60, 70, (0.040, 0.034, 0.028, 0.024), tuft=0.055),
    coat=Coat(
        base=(0.52, 0.33, 0.14), back=(0.45, 0.27, 0.10), belly=(0.66, 0.52, 0.34),
        face=(0.64, 0.50, 0.33), mane=(0.16, 0.07, 0.025), ear_inner=(0.55, 0.42, 0.30),
        tail_tip=(0.12, 0.055, 0.02), nose=(0.10, 0.05, 0.04), eye=(0.12, 0.06, 0.01),
    ),
)  # fmt: skip

LEOPARD = replace(
    TIGER, height=0.68,
    trunk=replace(TIGER.trunk, chest=Oval(0.50, 0.33)),
    head=replace(TIGER.head, length=0.36),
    tail=Tail(1.12, -52, 80, (0.050, 0.046, 0.042, 0.030)),
    coat=Coat(
        base=(0.60, 0.36, 0.12), back=(0.52, 0.28, 0.08), belly=(0.78, 0.71, 0.60),
        face=(0.74, 0.62, 0.45), ear_inner=(0.6, 0.5, 0.4), ear_back=(0.05, 0.04, 0.03),
        nose=(0.25, 0.10, 0.08), eye=(0.12, 0.11, 0.02), pattern="spots",
        pattern_colour=(0.018, 0.013, 0.010), pattern_scale=0.085,
    ),
    manner=Manner(supple=1.0, lift=0.10, weight_fore=0.56),
)  # fmt: skip

BEAR = Quadruped(
    height=1.05,
    trunk=Trunk(0.98, croup=0.95, chest=Oval(0.54, 0.46), waist=Oval(0.50, 0.44), rump=0.46),
    fore=Leg(0.60, (0.25, 0.27, 0.09), (-34, 5, 2), (0.17, 0.115, 0.085, 0.080), 0.17, 0.15),
    hind=Leg(0.66, (0.29, 0.27, 0.12), (22, -28, 6), (0.20, 0.125, 0.085, 0.078), 0.21, 0.15),
    fore_foot=Foot("paw", 0.23, 0.20, 0.095),
    hind_foot=Foot("paw", 0.25, 0.19, 0.095),
    neck=Neck(0.34, pitch=16, base=0.23, end=0.185, width=0.92),
    head=Head(
        length=0.40, pitch=-14,
        skull=Skull(0.28, 0.25, muzzle_width=0.14, muzzle_height=0.235, jaw=0.22, muzzle=0.46),
        blunt=0.55, eye=0.028, cheek=0.13,
        ear=Ear("round", 0.24, 0.26, lean=38),
    ),
    tail=Tail(0.10, -55, 0, (0.05, 0.05, 0.045, 0.03)),
    coat=Coat(
        base=(0.14, 0.075, 0.035), back=(0.17, 0.10, 0.05), belly=(0.09, 0.048, 0.024),
        face=(0.26, 0.17, 0.10), socks=(0.055, 0.03, 0.018), sock_height=0.30,
        ear_inner=(0.10, 0.06, 0.035),
    ),
    hump=0.05,
    manner=Manner(supple=0.5, lift=0.09, trot_froude=0.8, gallop_froude=2.4, weight_fore=0.55),
    unable=("sit_down",),
)  # fmt: skip

_CARNIVORES = {
    "fox": FOX,
    "wolf": WOLF,
    "dog": DOG,
    "cat": CAT,
    "tiger": TIGER,
    "lion": LION,
    "leopard": LEOPARD,
    "bear": BEAR,
}
CARNIVORES = {
    name: replace(species, actions=(*species.actions, "crawl"))
    for name, species in _CARNIVORES.items()
}
