"""Creatures shared by the tests of the zoo, each built once."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from akd.rig.skin import skin_points
from akd.zoo.creature import Creature, build_creature
from akd.zoo.gait.clips import Performance, perform
from akd.zoo.species.catalogue import SPECIES, Humanoid, Quadruped, Theropod


def _quick(species: Iterable[str]) -> list[Any]:
    """For parametrising: the quick tests take two of them, a quadruped and a biped."""
    slow = pytest.mark.slow
    return [pytest.param(s, marks=() if s in ("fox", "man") else slow) for s in species]


FEW = _quick(("fox", "horse", "man", "ostrich"))
"""One of each way of standing: paws, hooves, soles and claws."""
ALL = _quick(SPECIES)
STRIDERS = _quick(s for s, p in SPECIES.items() if isinstance(p, Quadruped | Humanoid | Theropod))
"""Those that stride on legs under their bodies."""


@cache
def creature(species: str, seed: int = 0) -> Creature:
    return build_creature(species, seed=seed, vertices=1500)


@cache
def performance(species: str, action: str, fps: float = 60.0) -> Performance:
    return perform(creature(species), action, fps=fps, cycles=1)


def joint_weights(animal: Creature) -> np.ndarray:
    """Weights [V, J], dense."""
    skin = animal.mesh.skin
    dense = torch.zeros(len(animal.mesh.vertices), len(animal.skeleton))
    dense.scatter_add_(1, skin.bone_joints[skin.bones], skin.weights)
    return dense.numpy()


@cache
def sole_rows(species: str) -> tuple[np.ndarray, ...]:
    """For each foot, the vertices that its toes and foot move more than anything else does, those
    blended between the two included."""
    animal = creature(species)
    weights = joint_weights(animal)
    rows = []
    for foot in animal.feet:
        columns = [animal.skeleton.names.index(name) for name in (foot.leg.toes, foot.leg.foot)]
        rows.append(np.flatnonzero(weights[:, columns].sum(axis=1) > 0.5))
    return tuple(rows)


def skinned(
    animal: Creature, act: Performance, rows: np.ndarray | slice = slice(None)
) -> np.ndarray:
    """Vertices of every frame in the world, [T, V, 3], all or some of them."""
    skin = animal.mesh.skin
    bones = skin.bone_transforms(act.motion.world())
    points = animal.mesh.vertices[rows]
    return skin_points(bones, points, skin.bones[rows], skin.weights[rows]).numpy()
