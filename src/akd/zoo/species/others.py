"""Parameters of a dragon, frogs, spiders, crabs, snakes and fish."""

from __future__ import annotations

from dataclasses import replace

from akd.zoo.species.carnivores import LION
from akd.zoo.species.parameters import Arthropod, Fish, Quadruped, Serpent
from akd.zoo.species.parts import (
    Carapace,
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
    Wing,
)

DRAGON = replace(
    LION, height=2.0,
    trunk=Trunk(1.15, 0.92, chest=Oval(0.46, 0.36), waist=Oval(0.32, 0.26), rump=0.32),
    neck=Neck(0.80, 46, base=0.17, end=0.085, width=0.86),
    head=Head(
        length=0.42, pitch=-14, eye=0.04, blunt=0.3, nose="nostrils",
        skull=Skull(0.20, 0.18, muzzle_width=0.13, muzzle_height=0.11, jaw=0.17, muzzle=0.58),
        ear=Ear("none"),
        horns=Horns("goat", 0.8),
    ),
    tail=Tail(1.55, -8, 16, (0.13, 0.085, 0.05, 0.02), tuft=0.0),
    mane="none",
    wing=Wing(2.1, 0.62, 0.05, ratios=(0.28, 0.36, 0.36), fingers=3, vane="skin"),
    coat=Coat(
        base=(0.055, 0.11, 0.045), back=(0.02, 0.045, 0.022), belly=(0.34, 0.28, 0.12),
        skin=(0.24, 0.055, 0.035), eye=(0.75, 0.45, 0.02), horn=(0.30, 0.26, 0.20),
        hoof=(0.05, 0.04, 0.03), pattern="spots", pattern_colour=(0.02, 0.05, 0.02),
        pattern_scale=0.05,
    ),
    manner=Manner(supple=0.5, lift=0.10, walk_froude=0.18, trot_froude=0.8, gallop_froude=2.2),
)  # fmt: skip
FROG = Quadruped(
    height=0.10,
    trunk=Trunk(0.86, 0.72, chest=Oval(0.62, 0.80), waist=Oval(0.52, 0.74), rump=0.72),
    fore=Leg(0.62, (0.42, 0.40, 0.18), (-30, 34, 24), (0.13, 0.10, 0.085, 0.08), 0.11, 0.40),
    hind=Leg(0.50, (0.98, 1.0, 0.80), (64, -60, 52), (0.17, 0.13, 0.095, 0.085), 0.19, 0.37),
    fore_foot=Foot("paw", 0.26, 0.24, 0.07),
    hind_foot=Foot("paw", 0.42, 0.28, 0.07),
    neck=Neck(0.16, 8, base=0.30, end=0.28, width=1.25),
    head=Head(
        length=0.62, pitch=4, eye=0.115, blunt=0.6, nose="nostrils",
        skull=Skull(0.44, 0.26, muzzle_width=0.34, muzzle_height=0.15, jaw=0.22, muzzle=0.50),
        ear=Ear("none"),
    ),
    tail=Tail(0.0, 0, 0, (0.01, 0.01, 0.01, 0.01)),
    coat=Coat(
        base=(0.10, 0.24, 0.045), back=(0.06, 0.17, 0.03), belly=(0.62, 0.62, 0.40),
        eye=(0.62, 0.45, 0.06), pattern="spots", pattern_colour=(0.03, 0.07, 0.02),
        pattern_scale=0.16,
    ),
    manner=Manner(supple=0.1, lift=0.12, walk_froude=0.02, leap=3.6, weight_fore=0.4),
    actions=("stand", "walk", "jump", "turn_left", "turn_right"),
    unable=("lie_down", "get_up", "roll", "sit_down", "shake", "drink", "roar"),
)  # fmt: skip
TOAD = replace(
    FROG, height=0.11,
    hind=replace(FROG.hind, ratios=(0.86, 0.88, 0.62)),
    coat=replace(
        FROG.coat, base=(0.17, 0.11, 0.06), back=(0.11, 0.075, 0.045), belly=(0.45, 0.36, 0.24),
        pattern_colour=(0.06, 0.04, 0.025),
    ),
    manner=replace(FROG.manner, leap=1.8, walk_froude=0.025),
)  # fmt: skip
SPIDER = Arthropod(
    height=0.042,
    body=Carapace(0.95, 0.80, 0.50),
    abdomen=1.15, azimuths=(28.0, 66.0, 108.0, 150.0), reach=2.6, knee=1.75, leg_radius=0.105,
    eye=0.06,
    coat=Coat(
        base=(0.055, 0.035, 0.022), back=(0.09, 0.055, 0.03), tail_tip=(0.16, 0.08, 0.035),
        hoof=(0.03, 0.02, 0.015), eye=(0.01, 0.01, 0.01), pattern="bands",
        pattern_colour=(0.025, 0.016, 0.012), pattern_scale=0.5,
    ),
    manner=Manner(walk_froude=0.10, trot_froude=0.9, lift=0.28),
)  # fmt: skip
CRAB = Arthropod(
    height=0.05,
    body=Carapace(1.25, 1.95, 0.70),
    abdomen=0.0, azimuths=(58.0, 82.0, 104.0, 128.0), reach=2.7, knee=1.30, leg_radius=0.115,
    eye=0.10, stalks=True, claw=1.7,
    coat=Coat(
        base=(0.42, 0.085, 0.035), back=(0.34, 0.06, 0.03), belly=(0.62, 0.42, 0.26),
        hoof=(0.16, 0.05, 0.03), eye=(0.01, 0.01, 0.01),
    ),
    manner=Manner(walk_froude=0.03, trot_froude=0.22, lift=0.26),
)  # fmt: skip
SNAKE = Serpent(
    length=2.0, radius=0.022,
    coat=Coat(
        base=(0.20, 0.17, 0.07), back=(0.13, 0.11, 0.05), belly=(0.52, 0.47, 0.28),
        eye=(0.02, 0.02, 0.01), pattern="cells", pattern_colour=(0.09, 0.06, 0.03),
        pattern_scale=1.6,
    ),
)  # fmt: skip
COBRA = replace(
    SNAKE, length=2.2, radius=0.020, hood=2.3,
    coat=replace(SNAKE.coat, base=(0.07, 0.055, 0.035), back=(0.04, 0.03, 0.02), pattern="plain"),
)  # fmt: skip
TROUT = Fish(
    length=0.42, depth=0.26, width=0.13, fin=0.14,
    coat=Coat(
        base=(0.26, 0.27, 0.20), back=(0.08, 0.10, 0.07), belly=(0.66, 0.64, 0.58),
        mane=(0.18, 0.13, 0.08), eye=(0.05, 0.04, 0.03), pattern="spots",
        pattern_colour=(0.04, 0.035, 0.03), pattern_scale=0.22,
    ),
)  # fmt: skip
SHARK = replace(
    TROUT, length=2.6, depth=0.19, width=0.16, fin=0.17, lobes=0.55, eye=0.5,
    coat=Coat(
        base=(0.16, 0.18, 0.20), back=(0.09, 0.105, 0.12), belly=(0.66, 0.67, 0.68),
        mane=(0.12, 0.135, 0.15), eye=(0.01, 0.01, 0.01),
    ),
)  # fmt: skip
REPTILES = {"dragon": DRAGON, "frog": FROG, "toad": TOAD}
ARTHROPODS = {"spider": SPIDER, "crab": CRAB}
SERPENTS = {"snake": SNAKE, "cobra": COBRA}
FISHES = {"trout": TROUT, "shark": SHARK}
