"""Parameters of the quadrupeds. Proportions after photographs in profile and standard anatomy."""

from __future__ import annotations

from akd.zoo.parameters import Coat, Foot, Head, Leg, Manner, Quadruped, Tail

FOX = Quadruped(
    height=0.40,
    trunk=1.02,
    croup=0.98,
    chest_depth=0.43,
    chest_width=0.36,
    waist_depth=0.30,
    waist_width=0.27,
    rump_width=0.31,
    fore=Leg(0.66, (0.24, 0.30, 0.13), (-42, 6, 4), (0.105, 0.058, 0.037, 0.034), 0.115, 0.105),
    hind=Leg(0.76, (0.30, 0.31, 0.22), (22, -38, 6), (0.13, 0.07, 0.040, 0.034), 0.15, 0.105),
    fore_foot=Foot("paw", 0.15, 0.105, 0.075),
    hind_foot=Foot("paw", 0.15, 0.100, 0.075),
    neck_length=0.36,
    neck_pitch=44,
    neck_base=0.19,
    neck_top=0.145,
    neck_width=0.92,
    head=Head(
        length=0.40, pitch=-14, skull_width=0.25, skull_height=0.21, muzzle_width=0.10,
        muzzle_height=0.15, jaw=0.17, muzzle=0.50, eye=0.045, cheek=0.17, ear="pointed",
        ear_length=0.58, ear_width=0.44, ear_spread=20,
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

QUADRUPEDS = {"fox": FOX}
