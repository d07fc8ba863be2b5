"""`akd zoo`: a procedural creature as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from akd.commands.errors import SEEDS, check_ranges, say, usage_errors


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
    """0 is the archetype; any other seed gives another individual of the species."""
    vertices: int = 5000
    """Approximate number of vertices of the mesh."""

    def run(self) -> None:
        """Build the creature and write it."""
        from akd.zoo.species.catalogue import SPECIES

        if self.species == "list":
            print("\n".join(SPECIES))
            return
        check_ranges(self, seed=SEEDS)
        from akd.api.creatures import zoo
        from akd.export.gltf.write import write_glb

        out = self.out or Path(f"{self.species}.glb")
        with usage_errors(command=self):
            made = zoo(self.species, seed=self.seed, vertices=self.vertices, clips=None)
        assert made.mesh is not None and made.asset.document is not None  # noqa: PT018
        write_glb(made.asset.document, out)
        print(
            f"{out}: {len(made.mesh.vertices):,} vertices, {len(made.mesh.skin.bone_joints)} joints"
        )
        say("clips: " + ", ".join(clip.name for clip in made.asset.clips))
