"""The distillation loop: render, ask the prior, follow its gradient back to the parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from akd.base.observer import Observer
from akd.distill.checkpoint import Checkpoint
from akd.distill.score import score_gradient, score_loss
from akd.distill.settings import DistillSettings
from akd.fit.losses import LossState, LossTerm, default, evaluate
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
    parameters: MotionParameters,
    settings: DistillSettings,
    *,
    generator: torch.Generator,
    losses: Sequence[LossTerm] | None = None,
    observer: Observer | None = None,
    checkpoint: str = "distil",
) -> Distillation:
    """Optimise the parameters, in place, until the prior finds their video likely.

    Args:
        stage: Where the character performs.
        prior: The video model.
        prompt: What it is asked for.
        parameters: What is optimised.
        settings: Iterations, learning rate, noise levels and so on.
        generator: Source of all randomness.
        losses: Terms beside the score; `losses.default(settings.losses)` if left out.
        observer: Told about every iteration; keeps checkpoints and previews. A checkpoint that it
            loads is continued, with the same result as a run without a stop.
        checkpoint: Name of the checkpoint.

    Raises:
        ArithmeticError: The loss was not finite, or parameters diverged, six times. Before that,
            the last sound state is restored with half the learning rate, and noted.
    """
    observer = observer or Observer()
    terms = default(settings.losses) if losses is None else list(losses)
    tensors = parameters.tensors()
    optimiser = torch.optim.Adam(tensors, lr=settings.learning_rate, betas=(0.9, 0.99))
    kept = observer.load(checkpoint)
    state = Checkpoint.capture(0, tensors, optimiser, generator, [])
    if kept is not None:
        state = Checkpoint.from_tensors(kept)
        state.restore(tensors, optimiser, generator)
    else:
        observer.save(checkpoint, state.to_tensors())
    sound, iteration, history = state, state.iteration, list(state.history)
    rollbacks, notes = state.rollbacks, state.notes
    _slow_down(optimiser, settings.learning_rate, rollbacks)
    while iteration < settings.iterations:
        progress = iteration / settings.iterations
        turn = settings.camera_jitter * (2.0 * float(torch.rand((), generator=generator)) - 1.0)
        posed = parameters.pose(stage)
        video, image = stage.show(
            posed.transforms, posed.path, turn=turn, half_size=progress < settings.half_size
        )
        condition = prior.condition(
            prompt, reference_image=image if prior.takes_reference_image else None
        )
        latents = prior.encode(video[None])
        gradient = score_gradient(
            prior, latents, condition, settings.score, progress=progress, generator=generator
        )
        losses_now = {
            "score": settings.losses.score * score_loss(latents, gradient).to("cpu"),
            **evaluate(terms, LossState(stage, parameters, posed, video, progress)),
        }
        values = _descend(losses_now, tensors, optimiser, settings.gradient_clip)
        values["score_rms"] = float(gradient.square().mean().sqrt())
        if not _is_sound(tensors, values["loss"]):
            rollbacks += 1
            if rollbacks > _MOST_ROLLBACKS:
                raise ArithmeticError(
                    f"distillation diverged {rollbacks} times, last at iteration {iteration}: "
                    f"loss {values['loss']:g}; the last sound state is kept"
                )
            sound.restore(tensors, optimiser, generator)
            notes = (
                *notes,
                f"iteration {iteration}: diverged (loss {values['loss']:g}); went back to "
                f"iteration {sound.iteration} with half the learning rate",
            )
            iteration, history = sound.iteration, list(sound.history)
            _slow_down(optimiser, settings.learning_rate, rollbacks)
            continue
        history.append(values)
        iteration += 1

        def now() -> Checkpoint:
            return Checkpoint.capture(
                iteration, tensors, optimiser, generator, history,  # noqa: B023
                rollbacks=rollbacks, notes=notes,  # noqa: B023
            )  # fmt: skip

        if iteration % settings.checkpoint_every == 0 or iteration == settings.iterations:
            sound = now()
            observer.save(checkpoint, sound.to_tensors())
        if observer.wants_preview() or iteration == settings.iterations:
            show_preview(stage, parameters, prior.fps, observer)
        try:
            observer.step(iteration, settings.iterations, values)
        except KeyboardInterrupt:
            observer.save(checkpoint, now().to_tensors())
            raise
    return Distillation(history, notes)


@torch.no_grad()
def show_preview(
    stage: Stage, parameters: MotionParameters, fps: float, observer: Observer
) -> None:
    """Render the motion so far for an observer."""
    posed = parameters.pose(stage)
    frames, _ = stage.show(posed.transforms, posed.path)
    observer.preview(frames.cpu(), fps)


def _descend(
    losses: dict[str, Tensor],
    tensors: Sequence[Tensor],
    optimiser: torch.optim.Optimizer,
    clip: float | None,
) -> dict[str, float]:
    """One step of the optimiser, where the loss is finite. Returns the loss and its terms."""
    loss = torch.stack(list(losses.values())).sum()
    optimiser.zero_grad()
    if bool(loss.isfinite()):
        loss.backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(tensors, clip)
        optimiser.step()
    values = {name: float(term.detach()) for name, term in losses.items()}
    return {"loss": float(loss.detach()), **values}


def _slow_down(optimiser: torch.optim.Optimizer, learning_rate: float, rollbacks: int) -> None:
    """Half the learning rate for each time that the search diverged."""
    for group in optimiser.param_groups:
        group["lr"] = learning_rate * 0.5**rollbacks


def _is_sound(tensors: Sequence[Tensor], loss: float) -> bool:
    """Whether everything is finite and nothing has diverged."""
    if not math.isfinite(loss):
        return False
    return all(bool((value.detach().abs() < _DIVERGED).all()) for value in tensors)
