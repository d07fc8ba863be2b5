"""`akd demo`: the whole job on the built-in fox, with the prior that ships."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from akd.commands.animate import Animate
from akd.commands.errors import ResultFailed, UsageError


@dataclass(frozen=True)
class Demo:
    """Show what akd does: build the zoo's fox, read it as any user's file, and distil a sentence
    into its joints with the prior that ships.

    Everything is as in `akd animate`, which does the same for your own character.

    Example: akd demo -o out/demo
    """

    prompt: tyro.conf.Positional[str] = "a fox walking"
    """What the fox does."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("out/demo")
    """Folder to write to."""
    iterations: int | None = None
    """Of the distillation, in place of the preset's."""
    set: tuple[str, ...] = ()
    """Single settings, such as score.guidance=50."""
    grounded: bool = True
    """Bring the motion down to the ground by physics as well."""
    seed: int = 0
    device: str = "auto"
    """auto, cpu or cuda."""
    weights: Path | None = None
    """Folder of weights of the tiny prior, in place of those that ship."""
    overwrite: bool = False
    """Begin anew, and write over what the folder holds."""

    def run(self) -> None:
        """Do it, saying what is being done."""
        from akd.distill.run_folder import RunFolder
        from akd.export.creature import write_creature
        from akd.zoo.creature import build_creature

        started = time.monotonic()
        folder, path = RunFolder(self.out), self.out / "fox.glb"
        if path.exists() and folder.read() is None and not self.overwrite:
            raise UsageError(
                f"{path}: is there already, and no demo left it there: choose another folder, or "
                f"write over it with --overwrite"
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
