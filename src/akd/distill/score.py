"""Score distillation: how a video should change so that the prior finds it more likely."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.distill.settings import ScoreSettings
from akd.prior.guidance import predict_guided
from akd.prior.protocol import Condition, VideoPrior


def largest_time(settings: ScoreSettings, progress: float) -> float:
    """Upper end of the noise levels, falling over the first half of the iterations."""
    fall = min(1.0, 2.0 * progress)
    return settings.t_max + fall * (settings.t_max_final - settings.t_max)


def score_gradient(
    prior: VideoPrior,
    latents: Float[Tensor, "1 *z"],
    condition: Condition,
    settings: ScoreSettings,
    *,
    progress: float,
    generator: torch.Generator,
) -> Float[Tensor, "1 *z"]:
    """w(t) (z - z_hat), the mean over noise samples, on the latents.

    w is one: z - z_hat is in units of the data whatever t is. Dividing by the guidance keeps its
    size, since a guided estimate strays in proportion to it.
    """
    t_max = largest_time(settings, progress)
    rows = settings.samples
    draws = torch.rand(rows, generator=generator)
    t = (settings.t_min + (t_max - settings.t_min) * draws).to(latents.device)
    noise = torch.randn(rows, *latents.shape[1:], generator=generator).to(latents)
    clean = latents.detach().expand(rows, *latents.shape[1:])
    with torch.no_grad():
        noisy = prior.add_noise(clean, noise, t)
        estimate = predict_guided(
            prior, noisy, t, condition, scale=settings.guidance, rescale=settings.rescale
        )
    return (clean - estimate).mean(0, keepdim=True) / max(1.0, settings.guidance)


def score_loss(latents: Tensor, gradient: Tensor) -> Tensor:
    """A scalar whose gradient with respect to the latents is the given one, over their number."""
    return (latents * gradient.to(latents)).mean()
