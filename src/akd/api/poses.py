"""Creatures of the zoo for the pose space."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from akd.api.creatures import creature_character
from akd.base.splits import pose_species_trains, zoo_seed_trains
from akd.posespace.collect import character_poses
from akd.posespace.dataset import BodyPoses
from akd.rig.character import Character
from akd.zoo import SPECIES, Style, build_creature, make_clip

_TRAINING_SEED = 1000
_VERTICES = 800


def zoo_character(species: str, seed: int, *, styles: int = 0, cycles: int = 1) -> Character:
    """A creature of the zoo with clips of all its actions, each in `styles` styles."""
    creature = build_creature(species, seed=seed, vertices=_VERTICES)
    rng = np.random.default_rng((seed, 47))
    motions = [
        make_clip(creature, action, cycles=cycles, style=Style.random(int(rng.integers(1, 2**31))))
        for action in creature.actions
        for _ in range(styles)
    ]
    return creature_character(creature, motions)


def zoo_side(count: int, *, training: bool) -> list[tuple[str, int]]:
    """Species and seed of `count` creatures of one side: species in turn, seeds counting up.

    The measuring side has the species that are never trained on, at the seeds that measure.
    """
    species = [s for s in SPECIES if pose_species_trains(s) == training]
    first = _TRAINING_SEED if training else 0
    assert zoo_seed_trains(first) == training
    return [(species[n % len(species)], first + n // len(species)) for n in range(count)]


def collect_zoo(count: int, *, training: bool) -> Iterator[BodyPoses]:
    """Poses of creatures of one side: see `zoo_side`."""
    for species, seed in zoo_side(count, training=training):
        found = character_poses(
            zoo_character(species, seed, styles=2),
            name=f"{species} {seed}", source="zoo", family=species,
        )  # fmt: skip
        if found is not None:
            yield found
