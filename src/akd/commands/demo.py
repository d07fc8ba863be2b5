"""`akd demo`: the whole job on the built-in fox, with the prior that ships."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import tyro

from akd.commands.animate import Animate
from akd.commands.errors import ResultFailed, UsageError
from akd.commands.options import Device, Grounded, Out


@dataclass(frozen=True)
class Demo:
    """Show what akd does: build a fox of the zoo and animate it with the bundled video model.

    `akd animate` does the same for your own character.

    Example: akd demo -o out/demo
    """

    prompt: tyro.conf.Positional[str] = "a fox walking"
    """What the fox does."""
    out: Out = Path("out/demo")
    """Folder to write to."""
    iterations: int | None = None
    """Iterations of the distillation; overrides the preset."""
    set: tuple[str, ...] = ()
    """Individual settings, such as score.guidance=50."""
    grounded: Grounded = True
    seed: int = 0
    device: Device = "auto"
    weights: Path | None = None
    """Folder of weights for the tiny prior, instead of the bundled ones."""
    overwrite: bool = False
    """Start over and overwrite the folder's contents."""

    def run(self) -> None:
        """Do it, saying what is being done."""
        from akd.distill.run_folder import RunFolder
        from akd.export.creature import write_creature
        from akd.zoo.creature import build_creature

        started = time.monotonic()
        folder, path = RunFolder(self.out), self.out / "fox.glb"
        if path.exists() and folder.read() is None and not self.overwrite:
            raise UsageError(
                f"{path}: exists and was not written by a demo: choose another folder, or "
                f"pass --overwrite"
            )
        self.out.mkdir(parents=True, exist_ok=True)
        fox = build_creature("fox")
        write_creature(fox, [], path)
        print(f"{path}: a fox of {len(fox.mesh.vertices):,} vertices, without any motion")
        animate = Animate(
            file=path,
            prompt=self.prompt,
            out=self.out,
            iterations=self.iterations,
            set=self.set,
            grounded=self.grounded,
            seed=self.seed,
            device=self.device,
            weights=self.weights,
            overwrite=self.overwrite,
        )
        try:
            animate.run()
        except ResultFailed:
            print(f"failed after {time.monotonic() - started:.0f} s: see {self.out}")
            raise
        print(f"done in {time.monotonic() - started:.0f} s: see {self.out}")
