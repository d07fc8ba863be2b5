"""`akd splat`: Gaussians from a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import SEEDS, check_ranges, input_file
from akd.commands.options import Out, Seed


@dataclass(frozen=True)
class Splat:
    """Make a Gaussian cloud that looks like a mesh, as a standard 3DGS PLY file.

    Fitted to 200 random views of the mesh; with --quick, spread over its surface. An
    interrupted fit continues where it stopped; a finished fit is loaded from the cache.

    Example: akd splat fox.glb -o fox.ply
    """

    file: tyro.conf.Positional[Path]
    """A file with a mesh."""
    out: Out
    """The PLY file to write."""
    splats: int = 20_000
    """Number of Gaussians."""
    degree: int = 0
    """Degree of the spherical harmonics, 0 to 3."""
    iterations: int = 2000
    """Iterations of the fit."""
    quick: bool = False
    """Spread flat Gaussians over the surface instead of fitting."""
    antialias: bool = False
    """Fit for akd's own renderer, which antialiases, instead of for other viewers."""
    seed: Seed = 0

    def run(self) -> None:
        """Fit or spread, then write."""
        check_ranges(
            self, splats=(1, 5_000_000), degree=(0, 3), iterations=(1, 1_000_000), seed=SEEDS
        )
        from akd.api.measuring import splat
        from akd.commands.terminal import Terminal
        from akd.splat.ply import write_splat_ply
        from akd.splat.settings import FitSettings

        settings = FitSettings(
            splats=self.splats,
            degree=self.degree,
            iterations=self.iterations,
            antialias=self.antialias,
            seed=self.seed,
        )
        with Terminal() as terminal:
            cloud = splat(
                input_file(self.file), quick=self.quick, settings=settings, observer=terminal
            )
        write_splat_ply(cloud, self.out)
        print(f"{self.out}: {len(cloud):,} Gaussians")
