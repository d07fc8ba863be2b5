"""`akd create`: a rigged character from a sentence."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.errors import SEEDS, check_ranges, usage_errors
from akd.commands.options import Out, Seed


@dataclass(frozen=True)
class Create:
    """Make a character from a sentence: a mesh from Shap-E, cleaned up, rigged and written as GLB.

    Example: akd create "an ostrich" -o ostrich.glb
    """

    prompt: tyro.conf.Positional[str]
    """What to make, such as "an ostrich"."""
    out: Out
    """The GLB file to write."""
    weights: Path | None = None
    """Folder of Shap-E's pipeline, in place of the hub's copy."""
    download: bool = False
    """Fetch the weights from the hub where they are missing."""
    mesh: Path | None = None
    """A mesh file made by another generator, in place of Shap-E."""
    steps: int = 64
    """Denoising steps."""
    seed: Seed = 0
    device: str = "cpu"
    """cpu or cuda."""
    template: str = "auto"
    """Body plan: auto, quadruped, biped, theropod or generic."""
    height: float | None = None
    """Height in metres; by default a usual one for what the prompt names."""

    def run(self) -> None:
        """Generate, rig, write, and say how sure the rig is."""
        check_ranges(self, steps=(1, 1000), seed=SEEDS, height=(1e-6, 1e6))
        from akd.api.creating import create

        with usage_errors():
            made = create(
                self.prompt, generator=self.mesh, weights=self.weights, download=self.download,
                steps=self.steps, seed=self.seed, device=self.device, template=self.template,
                height=self.height,
            )  # fmt: skip
        made.save(self.out)
        for warning in made.warnings:
            print(f"akd: warning: {warning}", file=sys.stderr)
        found = made.result
        print(
            f"{self.out}: {found.template}, {len(found.skeleton)} joints, "
            f"confidence {found.confidence:.2f}"
        )
