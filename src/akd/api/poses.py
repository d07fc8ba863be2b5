"""Pose sets of the zoo: creatures built, written and read back as any user's file would be."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from akd.asset.read import read_asset
from akd.base.splits import pose_species_trains, zoo_seed_trains
from akd.export.creature import write_creature
from akd.posespace.collect import character_poses
from akd.posespace.dataset import BodyPoses
from akd.rig.character import load_character
from akd.zoo import SPECIES, Style, build_creature, make_clip

_TRAINING_SEED = 1000
_VERTICES = 800


def creature_poses(species: str, seed: int, *, styles: int = 2) -> BodyPoses | None:
    """Poses of a creature of the zoo: all its actions, each in several styles."""
    creature = build_creature(species, seed=seed, vertices=_VERTICES)
    rng = np.random.default_rng((seed, 47))
    motions = [
        make_clip(creature, action, cycles=1, style=Style.random(int(rng.integers(1, 2**31))))
        for action in creature.actions
        for _ in range(styles)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{species}.glb"
        write_creature(creature, motions, path)
        character = load_character(read_asset(path))
    return character_poses(character, name=f"{species} {seed}", source="zoo", family=species)


def collect_zoo(count: int, *, training: bool) -> Iterator[BodyPoses]:
    """Poses of `count` creatures of one side: species in turn, seeds counting up.

    The measuring side has the species that are never trained on, at the seeds that measure.
    """
    species = [s for s in SPECIES if pose_species_trains(s) == training]
    for number in range(count):
        turn, place = divmod(number, len(species))
        seed = turn + (_TRAINING_SEED if training else 0)
        assert zoo_seed_trains(seed) == training
        found = creature_poses(species[place], seed)
        if found is not None:
            yield found
