"""`akd zoo`: a procedural creature as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from akd.commands.errors import SEEDS, UsageError, check_ranges


@dataclass(frozen=True)
class Zoo:
    """Write a built-in creature with its skeleton, weights and clips as a GLB file.

    Example: akd zoo fox -o fox.glb
    """

    species: tyro.conf.Positional[str]
    """Which creature; `akd zoo list` shows them."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """The file to write; SPECIES.glb in this folder if left out."""
    seed: int = 0
    """0 is the archetype; every other number is another animal of the species."""
    vertices: int = 5000
    """About how many vertices the mesh has."""

    def run(self) -> None:
        """Build the creature and write it."""
        from akd.zoo.species.catalogue import SPECIES

        if self.species == "list":
            print("\n".join(SPECIES))
            return
        if self.species not in SPECIES:
            raise UsageError(f"there is no {self.species!r} in the zoo: {', '.join(SPECIES)}")
        check_ranges(self, seed=SEEDS, vertices=(500, 200_000))
        from akd.export.creature import write_creature
        from akd.zoo.creature import build_creature
        from akd.zoo.gait.clips import make_clip

        out = self.out or Path(f"{self.species}.glb")
        creature = build_creature(self.species, seed=self.seed, vertices=self.vertices)
        write_creature(creature, [make_clip(creature, a) for a in creature.actions], out)
        print(f"{out}: {len(creature.mesh.vertices):,} vertices, {len(creature.skeleton)} joints")
        print("clips: " + ", ".join(creature.actions))
