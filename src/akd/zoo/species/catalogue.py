"""Named sets of parameters: the species of the zoo."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from akd.zoo.species.bipeds import BIRDS, HUMANOIDS, THEROPODS
from akd.zoo.species.carnivores import CARNIVORES
from akd.zoo.species.hoofed import HOOFED
from akd.zoo.species.others import ARTHROPODS, FISHES, REPTILES, SERPENTS
from akd.zoo.species.parameters import Humanoid, Parameters, Quadruped, Theropod

__all__ = ["SPECIES", "Humanoid", "Quadruped", "Theropod"]

SPECIES: Mapping[str, Parameters] = MappingProxyType(
    CARNIVORES | HOOFED | HUMANOIDS | THEROPODS | BIRDS | REPTILES | ARTHROPODS | SERPENTS | FISHES
)
"""Every species by name."""
