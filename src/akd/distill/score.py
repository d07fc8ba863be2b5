"""Score distillation: how a video should change so that the prior finds it more likely."""

from __future__ import annotations

from collections.abc import Sequence

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


def draw_noise(
    shape: Sequence[int],
    settings: ScoreSettings,
    *,
    progress: float,
    generators: Sequence[torch.Generator],
    device: torch.device,
) -> tuple[Float[Tensor, "N"], Float[Tensor, "N *z"]]:
    """Noise levels and noise of the samples of an iteration, each row by its own generator.

    The generators are on the CPU. On a GPU the noise is drawn there, from a seed of theirs.
    """
    t_max = largest_time(settings, progress)
    draws, noises = [], []
    for generator in generators:
        draws.append(torch.rand(settings.samples, generator=generator))
        source = generator
        if device.type != "cpu":
            seed = int(torch.randint(2**62, (), generator=generator))
            source = torch.Generator(device).manual_seed(seed)
        noises.append(torch.randn(settings.samples, *shape, generator=source, device=device))
    t = settings.t_min + (t_max - settings.t_min) * torch.cat(draws)
    return t.to(device), torch.cat(noises)


def score_gradient(
    prior: VideoPrior,
    latents: Float[Tensor, "K *z"],
    conditions: Sequence[Condition],
    settings: ScoreSettings,
    *,
    t: Float[Tensor, "N"],
    noise: Float[Tensor, "N *z"],
) -> Float[Tensor, "K *z"]:
    """w(t) (z - z_hat), the mean over noise samples, on the latents.

    w is one: z - z_hat is in units of the data whatever t is. Dividing by the guidance keeps its
    size, since a guided estimate strays in proportion to it. Each row has a condition and
    `settings.samples` rows of noise of its own: see `draw_noise`.
    """
    each = settings.samples
    clean = latents.detach().repeat_interleave(each, dim=0)
    asked = [condition for condition in conditions for _ in range(each)]
    with torch.no_grad():
        noisy = prior.add_noise(clean, noise.to(latents), t)
        estimate = predict_guided(
            prior, noisy, t, asked, scale=settings.guidance, rescale=settings.rescale
        )
    away = (clean - estimate).unflatten(0, (len(latents), each)).mean(1)
    return away / max(1.0, settings.guidance)


def score_loss(latents: Float[Tensor, "K *z"], gradient: Tensor) -> Float[Tensor, "K"]:
    """One value a row, whose gradient with respect to the latents is the given one, over their
    number."""
    return (latents * gradient.to(latents)).flatten(1).mean(1)
