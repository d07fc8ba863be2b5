"""`akd animate`: a sentence becomes a clip in the user's own file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import tyro

from akd.commands.errors import UsageError, input_file
from akd.distill.settings import DistillSettings


@dataclass(frozen=True)
class Animate:
    """Distil the motion that a sentence names into a rigged character, with the prior that ships.

    Writes motion.glb (the file with the clips `PROMPT` and `PROMPT (grounded)` added), video.mp4,
    grounded.mp4, six frames of each as .png, and metrics.json.
    """

    file: tyro.conf.Positional[Path]
    """A rigged glTF or GLB file."""
    prompt: tyro.conf.Positional[str]
    """What the character does, such as "a fox walking"."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])]
    """Folder to write to."""
    seed: int = 0
    iterations: int = 300
    """Of the distillation."""
    grounded: bool = True
    """Bring the motion down to the ground by physics as well."""
    weights: Path | None = None
    """Folder of weights of the tiny prior; those of the package if left out."""
    device: str = "cpu"

    def run(self) -> None:
        """Animate, and say what came of it."""
        if not self.prompt.strip():
            raise UsageError("the prompt is empty: say what the character does")
        if len(self.prompt) > 1000:
            raise UsageError(f"the prompt must be at most 1000 letters, got {len(self.prompt)}")
        if not 0 <= self.iterations <= 1_000_000:
            raise UsageError(f"--iterations must be from 0 to 1000000, got {self.iterations}")
        from akd.commands.progress import Progress
        from akd.physics.settings import TrackingSettings
        from akd.pipeline import animate
        from akd.prior.tiny.load import has_weights, load_tiny, shipped_weights
        from akd.prior.tiny.vocabulary import read_prompt

        folder = self.weights or shipped_weights()
        if not has_weights(folder):
            raise UsageError(f"{folder}: holds no weights of the tiny prior")
        try:
            read_prompt(self.prompt)
        except ValueError as error:
            raise UsageError(str(error)) from None
        prior = load_tiny(folder, device=self.device)
        settings = replace(DistillSettings(), iterations=self.iterations)
        with Progress("distil") as progress:
            made = animate(
                input_file(self.file),
                self.prompt,
                self.out,
                prior,
                settings,
                seed=self.seed,
                physics=TrackingSettings() if self.grounded else None,
                report=lambda i, n, parts: progress(i - 1, n, parts["loss"]),
            )
        print(f"{self.out}: {made.metrics.verdict}")
