"""The distillation loop: render, query the prior, follow its gradient back to the parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Tensor

from akd.base.files import checking_content
from akd.base.observer import Observer
from akd.distill.checkpoint import Checkpoint, pack, unpack
from akd.distill.settings import DistillSettings
from akd.distill.step import DistillStep
from akd.fit.losses import LossTerm, default
from akd.motion.parametrization import MotionParameters
from akd.prior.protocol import VideoPrior
from akd.scene.stage import Stage

_MOST_ROLLBACKS = 5
_DIVERGED = 20.0
"""A parameter beyond this has diverged: angles are in radians."""


@dataclass(frozen=True)
class Distillation:
    """How a distillation went."""

    history: list[dict[str, float]]
    """Loss and its terms at every iteration."""
    notes: tuple[str, ...]
    """For the user: what diverged and was rolled back."""


def distil(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    candidates: Sequence[MotionParameters],
    settings: DistillSettings,
    *,
    generators: Sequence[torch.Generator],
    losses: Sequence[LossTerm] | None = None,
    observer: Observer | None = None,
) -> list[Distillation]:
    """Optimise candidates, in place and in one batch, until the prior finds their videos likely.

    No candidate depends on the others: each has its optimiser, its source of randomness and its
    roll-backs. One that was rolled back is brought up to the others before they go on.

    Args:
        stage: Where the character performs.
        prior: The video model.
        prompt: What it is asked for.
        candidates: What is optimised.
        settings: Iterations, learning rate, noise levels and so on.
        generators: Source of all randomness of each candidate.
        losses: Terms beside the score; `losses.default(settings.losses)` if left out.
        observer: Told about every iteration; keeps checkpoints and previews. A checkpoint `distil`
            that it loads is continued, with the same result as a run without a stop.

    Raises:
        ArithmeticError: The loss was not finite, or parameters diverged, six times. Before that,
            the last sound state is restored with half the learning rate, and noted.
        DamagedFile: A checkpoint holds values that cannot be used.
    """
    observer = observer or Observer()
    terms = default(settings.losses) if losses is None else list(losses)
    searches = [
        _Search(parameters, settings, generator)
        for parameters, generator in zip(candidates, generators, strict=True)
    ]

    steps = DistillStep(stage, prior, prompt, settings, terms)

    def save() -> None:
        observer.save("distil", pack([search.capture().to_tensors() for search in searches]))

    if (kept := observer.load("distil")) is not None:
        with checking_content("checkpoint distil"):
            for search, tensors in zip(searches, unpack(kept), strict=True):
                search.restore(Checkpoint.from_tensors(tensors))
    else:
        save()
    while (iteration := min(s.iteration for s in searches)) < settings.iterations:
        behind = [search for search in searches if search.iteration == iteration]
        parameters, progress = [s.parameters for s in behind], iteration / settings.iterations
        drawn = steps.draw([search.generator for search in behind], progress)
        step = steps.of(parameters, progress)
        values, gradients = steps.read(step(*drawn, progress=progress), parameters)
        for search, found in zip(behind, gradients, strict=True):
            search.step(found)
        sound = [search.advance(row) for search, row in zip(behind, values, strict=True)]
        if not all(sound):
            continue
        iteration += 1
        if iteration % settings.checkpoint_every == 0 or iteration == settings.iterations:
            for search in behind:
                search.sound = search.capture()
            save()
        if observer.wants_preview() or iteration == settings.iterations:
            show_preview(stage, behind[0].parameters, prior.fps, observer)
        try:
            mean = {name: fmean(row[name] for row in values) for name in values[0]}
            observer.step(iteration, settings.iterations, mean)
        except KeyboardInterrupt:
            save()
            raise
    return [Distillation(search.history, search.notes) for search in searches]


class _Search:
    """One candidate on its way: what the next iteration depends on, and the last sound state."""

    def __init__(
        self, parameters: MotionParameters, settings: DistillSettings, generator: torch.Generator
    ) -> None:
        self.parameters, self.settings, self.generator = parameters, settings, generator
        self.tensors = parameters.tensors()
        self.optimiser = torch.optim.Adam(
            self.tensors, lr=settings.learning_rate, betas=(0.9, 0.99)
        )
        self.iteration, self.rollbacks = 0, 0
        self.history: list[dict[str, float]] = []
        self.notes: tuple[str, ...] = ()
        self.sound = self.capture()

    def capture(self) -> Checkpoint:
        """The current state."""
        return Checkpoint.capture(
            self.iteration, self.tensors, self.optimiser, self.generator, self.history,
            rollbacks=self.rollbacks, notes=self.notes,
        )  # fmt: skip

    def restore(self, state: Checkpoint) -> None:
        """Go on from a state."""
        self.sound, self.rollbacks, self.notes = state, state.rollbacks, state.notes
        self._rewind()

    def step(self, gradients: Sequence[Tensor | None]) -> None:
        """One step of the optimiser."""
        for tensor, gradient in zip(self.tensors, gradients, strict=True):
            tensor.grad = gradient
        if self.settings.gradient_clip is not None:
            torch.nn.utils.clip_grad_norm_(self.tensors, self.settings.gradient_clip)
        self.optimiser.step()

    def advance(self, values: dict[str, float]) -> bool:
        """Count an iteration, or roll back to the last sound state: False.

        Raises:
            ArithmeticError: It diverged too often.
        """
        if _is_sound(self.tensors, values["loss"]):
            self.history.append(values)
            self.iteration += 1
            return True
        self.rollbacks += 1
        what = _what_diverged(self.parameters, values)
        if self.rollbacks > _MOST_ROLLBACKS:
            raise ArithmeticError(
                f"distillation diverged {self.rollbacks} times, last at iteration "
                f"{self.iteration}: {what}; the last sound state is kept"
            )
        self.notes = (
            *self.notes,
            f"iteration {self.iteration}: diverged ({what}); went back to iteration "
            f"{self.sound.iteration} with half the learning rate",
        )
        self._rewind()
        return False

    def _rewind(self) -> None:
        """To the last sound state, at half the learning rate for each time that it diverged."""
        self.sound.restore(self.tensors, self.optimiser, self.generator)
        self.iteration, self.history = self.sound.iteration, list(self.sound.history)
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * 0.5**self.rollbacks


@torch.no_grad()
def show_preview(
    stage: Stage, parameters: MotionParameters, fps: float, observer: Observer
) -> None:
    """Render the motion so far for an observer."""
    posed = parameters.pose(stage)
    observer.preview(stage.show(posed.transforms).cpu(), fps)


def _is_sound(tensors: Sequence[Tensor], loss: float) -> bool:
    """Whether everything is finite and nothing has diverged."""
    if not math.isfinite(loss):
        return False
    largest = torch.stack([value.detach().abs().amax() for value in tensors])
    return bool((largest < _DIVERGED).all())


def _what_diverged(parameters: MotionParameters, values: dict[str, float]) -> str:
    """The loss and its terms that are not finite, or the parameters that went too far."""
    if not math.isfinite(values["loss"]):
        terms = [name for name, value in values.items() if not math.isfinite(value)]
        causes = [name for name in terms if name not in ("loss", "score_rms")]
        return f"loss {values['loss']:g}" + (f", from {', '.join(causes)}" if causes else "")
    largest = {name: float(v.abs().max()) for name, v in parameters.values().items() if v.numel()}
    gone = [f"{name} reached {far:.3g}" for name, far in largest.items() if not far < _DIVERGED]
    return f"{', '.join(gone)}, must stay below {_DIVERGED:g}; loss {values['loss']:g}"
