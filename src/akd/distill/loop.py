"""The loop of distillation: render, ask the prior, follow its gradient back to the joints."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from akd.distill.checkpoint import Checkpoint, capture, restore
from akd.distill.score import score_gradient, score_loss
from akd.distill.settings import DistillSettings
from akd.fit import losses
from akd.motion.parameters import MotionParameters
from akd.prior.protocol import VideoPrior
from akd.scene.stage import Stage

Report = Callable[[int, int, dict[str, float]], None]
"""Called with the iteration, how many there are, and the parts of the loss."""
_MOST_ROLLBACKS = 5
_RUNAWAY = 20.0
"""Angles that leave zero by more than this many radians have run away."""


@dataclass
class CheckpointManager:
    """Where the state is kept: in memory for a roll-back, on disk for another day."""

    path: Path | None = None
    belongs_to: Mapping[str, str] = field(default_factory=dict)
    """What the state depends on, such as the asset's hash: a state of anything else is refused."""
    good: Checkpoint | None = field(default=None, init=False)

    def keep(self, checkpoint: Checkpoint) -> None:
        """Remember a state that is sound."""
        self.good = checkpoint
        if self.path is not None:
            checkpoint.save(self.path, belongs_to=self.belongs_to)

    def found(self) -> Checkpoint | None:
        """A state left behind by an earlier run."""
        if self.path is None or not self.path.exists():
            return None
        return Checkpoint.load(self.path, belongs_to=self.belongs_to)


def distil(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    unknowns: MotionParameters,
    settings: DistillSettings,
    *,
    generator: torch.Generator,
    keeper: CheckpointManager | None = None,
    report: Report | None = None,
) -> list[dict[str, float]]:
    """Change the unknowns until the prior finds the video likely. Returns the history of the loss.

    A state found by the keeper is taken up and gives the same result as a run without a stop. A
    loss that is not finite, or angles that run away, are rolled back to the last sound state with
    half the learning rate, and noted; after five times it stops with `ArithmeticError`. A
    `report` that raises `KeyboardInterrupt` has the state kept before it is passed on.
    """
    keeper = keeper or CheckpointManager()
    optimiser = torch.optim.Adam(unknowns.leaves(), lr=settings.learning_rate, betas=(0.9, 0.99))
    iteration, rollbacks, notes = 0, 0, ()
    history: list[dict[str, float]] = []

    def state() -> Checkpoint:
        return capture(
            iteration, unknowns, optimiser, generator, history, rollbacks=rollbacks, notes=notes
        )

    if (found := keeper.found()) is not None:
        restore(found, unknowns, optimiser, generator)
        iteration, history = found.iteration, list(found.history)
        rollbacks, notes = found.rollbacks, found.notes
        keeper.good = found
    else:
        keeper.keep(state())
    _slow_down(optimiser, settings.learning_rate, rollbacks)
    while iteration < settings.iterations:
        parts = _step(stage, prior, prompt, unknowns, settings, iteration, optimiser, generator)
        if not _is_sound(unknowns, parts):
            rollbacks += 1
            if rollbacks > _MOST_ROLLBACKS or keeper.good is None:
                raise ArithmeticError(
                    f"distillation ran away {rollbacks} times, last at iteration {iteration}: "
                    f"loss {parts['loss']:g}; the last sound state is kept"
                )
            restore(keeper.good, unknowns, optimiser, generator)
            notes = (
                *notes,
                f"iteration {iteration}: ran away (loss {parts['loss']:g}); went back to iteration "
                f"{keeper.good.iteration} with half the learning rate",
            )
            iteration, history = keeper.good.iteration, list(keeper.good.history)
            _slow_down(optimiser, settings.learning_rate, rollbacks)
            continue
        history.append(parts)
        iteration += 1
        if iteration % settings.checkpoint_every == 0 or iteration == settings.iterations:
            keeper.keep(state())
        if report is not None:
            try:
                report(iteration, settings.iterations, parts)
            except KeyboardInterrupt:
                keeper.keep(state())
                raise
    return history


def _slow_down(optimiser: torch.optim.Optimizer, learning_rate: float, rollbacks: int) -> None:
    """Half the learning rate for each time that the search ran away."""
    for group in optimiser.param_groups:
        group["lr"] = learning_rate * 0.5**rollbacks


def _step(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    unknowns: MotionParameters,
    settings: DistillSettings,
    iteration: int,
    optimiser: torch.optim.Optimizer,
    generator: torch.Generator,
) -> dict[str, float]:
    """One iteration, and the parts of its loss."""
    turn = settings.camera_jitter * (2.0 * float(torch.rand((), generator=generator)) - 1.0)
    controls = unknowns.controls()
    bones = stage.bones(controls)
    progress = iteration / settings.iterations
    video, picture = stage.show(
        bones, controls.translation, turn=turn, coarse=progress < settings.coarse
    )
    condition = prior.condition(prompt, reference=picture if prior.takes_reference else None)
    latents = prior.encode(video[None])
    gradient = score_gradient(
        prior, latents, condition, settings.score,
        progress=progress, generator=generator,
    )  # fmt: skip
    parts: dict[str, Tensor] = {
        "score": settings.losses.score * score_loss(latents, gradient).to("cpu"),
        **losses.regularisers(stage, unknowns, controls, bones, settings.losses),
    }
    loss = torch.stack(list(parts.values())).sum()
    optimiser.zero_grad()
    if bool(loss.isfinite()):
        loss.backward()
        optimiser.step()
    pull = float(gradient.square().mean().sqrt())
    values = {name: float(part.detach()) for name, part in parts.items()}
    return {"loss": float(loss.detach()), "pull": pull, **values}


def _is_sound(unknowns: MotionParameters, parts: dict[str, float]) -> bool:
    """Whether everything is finite and nothing has run away."""
    if not math.isfinite(parts["loss"]):
        return False
    return all(bool((leaf.detach().abs() < _RUNAWAY).all()) for leaf in unknowns.leaves())
