"""Named sets of parameters: the species of the zoo."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from akd.zoo.species.bipeds import HUMANOIDS, THEROPODS
from akd.zoo.species.birds import BIRDS
from akd.zoo.species.carnivores import CARNIVORES
from akd.zoo.species.crawlers import ARTHROPODS, FISHES, SERPENTS
from akd.zoo.species.hoofed import HOOFED
from akd.zoo.species.parameters import Humanoid, Parameters, Quadruped, Theropod
from akd.zoo.species.reptiles import REPTILES

__all__ = ["SPECIES", "Humanoid", "Quadruped", "Theropod"]

SPECIES: Mapping[str, Parameters] = MappingProxyType(
    {
        **CARNIVORES,
        **HOOFED,
        **HUMANOIDS,
        **THEROPODS,
        **BIRDS,
        **REPTILES,
        **ARTHROPODS,
        **SERPENTS,
        **FISHES,
    }
)
"""Every species by name."""
