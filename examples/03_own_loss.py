"""Add a loss of your own: a function of `akd.LossState` that returns a scalar.

    python examples/03_own_loss.py --depth 0.2

The fox keeps its body low, as if it were stalking prey.
"""

from dataclasses import replace
from pathlib import Path

import tyro

import akd
from akd.presets import TINY


def main(
    out: Path = Path("out/own_loss"),
    depth: float = 0.2,
    iterations: int = 150,
    physics: bool = True,
    weights: Path | None = None,
) -> akd.Animation:
    """A fox that walks with its body lower than usual by `depth` leg lengths."""

    def crouch(state: akd.LossState):
        lift = state.controls.translation[:, 1] / state.curves.leg_length
        return (lift + depth).square().mean()

    losses = [*akd.losses.default(), akd.LossTerm("crouch", 10.0, crouch)]
    clip = akd.animate(
        akd.zoo("fox"),
        "a fox walking",
        losses=losses,
        preset=replace(TINY, iterations=iterations),
        physics=physics,
        weights=weights,
    )
    clip.save(out)
    return clip


if __name__ == "__main__":
    tyro.cli(main)
