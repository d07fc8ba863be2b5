"""Parameters of birds that fly."""

from __future__ import annotations

from dataclasses import replace

from akd.zoo.species.bipeds import OSTRICH
from akd.zoo.species.parts import Coat, Foot, Leg, Manner, Oval, Skull, Tail, Wing

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
BIRDS = {"eagle": EAGLE, "crow": CROW, "crane": CRANE}
