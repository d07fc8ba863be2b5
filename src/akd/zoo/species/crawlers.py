"""Parameters of spiders, crabs, snakes and fish."""

from __future__ import annotations

from dataclasses import replace

from akd.zoo.species.parameters import Arthropod, Fish, Serpent
from akd.zoo.species.parts import Carapace, Coat, Manner

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
ARTHROPODS = {"spider": SPIDER, "crab": CRAB}
SERPENTS = {"snake": SNAKE, "cobra": COBRA}
FISHES = {"trout": TROUT, "shark": SHARK}
