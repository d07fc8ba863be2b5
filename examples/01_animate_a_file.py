"""Animate a character from a sentence, and follow the progress.

    python examples/01_animate_a_file.py --file fox.glb --prompt "a fox trotting"

Without `--file`, a fox of the zoo is animated. `--iterations 20 --no-physics` is quicker.
"""

from dataclasses import replace
from pathlib import Path

import tyro

import akd
from akd.presets import TINY


class Progress(akd.Observer):
    """Prints the phases, and the loss every tenth iteration."""

    def begin(self, phase):
        print(phase)

    def step(self, iteration, iterations, values):
        if iteration % 10 == 0:
            print(f"  {iteration}/{iterations}  loss {values['loss']:.3g}")


def main(
    file: Path | None = None,
    prompt: str = "a fox walking",
    out: Path = Path("out/animate"),
    iterations: int = 150,
    physics: bool = True,
    weights: Path | None = None,
) -> akd.Animation:
    """Animate `file`, or a fox, and write the results to `out`."""
    clip = akd.animate(
        akd.zoo("fox") if file is None else akd.load(file),
        prompt,
        preset=replace(TINY, iterations=iterations),
        physics=physics,
        weights=weights,
        observer=Progress(),
    )
    for path in clip.save(out):
        print(path)
    for name, metrics in clip.metrics.items():
        print(f"{name}: {metrics.verdict}, score {metrics.score:.2f}")
    return clip


if __name__ == "__main__":
    tyro.cli(main)
