"""Sampling videos from a prior: deterministic steps from noise to a clean video (DPM-Solver++)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.prior.estimate import add_noise, as_columns, implied_noise
from akd.prior.guidance import predict_guided
from akd.prior.protocol import Condition, VideoPrior

Known = tuple[Bool[Tensor, "*m"], Tensor]
"""Which latents are given, as a mask that broadcasts to them, and their clean values."""


@torch.no_grad()
def sample_latents(
    prior: VideoPrior,
    conditions: Sequence[Condition],
    noise: Tensor,
    *,
    steps: int = 40,
    scale: float = 3.0,
    first: float = 0.995,
    order: Literal[1, 2] = 2,
    spacing: float = 1.0,
    known: Known | None = None,
) -> Tensor:
    """Clean latents, one row a condition, from `noise` of the latents' shape.

    The solver is the multistep DPM-Solver++ (Lu et al. 2022, 2M). Between two steps the clean
    estimate is taken to change linearly in log(alpha / sigma), as it did since the step before.

    Args:
        prior: The video model.
        conditions: What each row shows.
        noise: [B, ...], standard normal.
        steps: Estimates of the model, or guided pairs of them.
        scale: Guidance scale: see `akd.prior.guidance.guide`.
        first: The time at which the noise counts as such.
        order: 2, or 1 for DDIM (eta 0), which takes the clean estimate as constant.
        spacing: Times of the steps are `first * (1 - x**spacing)` for x in equal parts: above 1
            there are more of them near the noise.
        known: Latents that are given; estimates take their values.

    Returns:
        The last clean estimate. Estimates are clamped to the latents' bound where the prior has
        one.

    Raises:
        ValueError: The numbers of conditions and rows of noise differ, or there are no steps.
    """
    if len(conditions) != len(noise):
        raise ValueError(f"{len(conditions)} conditions cannot serve {len(noise)} rows of noise")
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    rows = len(noise)
    parts = torch.linspace(0.0, 1.0, steps + 1, device=noise.device)
    times = first * (1.0 - parts**spacing)
    signals = [prior.signal(time.expand(rows)) for time in times]
    levels = [(alpha / sigma).log() for alpha, sigma in signals]
    z, before, clean = noise, noise, noise
    for step in range(steps):
        before = clean
        t = times[step].expand(rows)
        clean = predict_guided(prior, z, t, conditions, scale=scale)
        if prior.bound is not None:
            clean = clean.clamp(-prior.bound, prior.bound)
        if known is not None:
            clean = torch.where(*known, clean)
        if step == steps - 1:
            break
        ahead = clean
        if order == 2 and step:
            # Half a step ahead on the line through the last two estimates.
            ratio = (levels[step + 1] - levels[step]) / (levels[step] - levels[step - 1])
            ahead = clean + as_columns(0.5 * ratio, clean) * (clean - before)
        (alpha, sigma), (next_alpha, next_sigma) = signals[step : step + 2]
        e = implied_noise(ahead, z, alpha=alpha, sigma=sigma)
        z = add_noise(ahead, e, alpha=next_alpha, sigma=next_sigma)
    return clean


@torch.no_grad()
def latent_shape(prior: VideoPrior) -> torch.Size:
    """Shape of a video's latents."""
    grey = torch.full((1, prior.frames, prior.height, prior.width, 3), 0.5, device=prior.device)
    return prior.encode(grey).shape[1:]


def draw_noise(prior: VideoPrior, rows: int, *, generator: torch.Generator) -> Tensor:
    """Noise of the shape of the prior's latents, on its device; `generator` is on the CPU."""
    return torch.randn(rows, *latent_shape(prior), generator=generator).to(prior.device)


@torch.no_grad()
def sample_videos(
    prior: VideoPrior,
    conditions: Sequence[Condition],
    *,
    generator: torch.Generator,
    steps: int = 40,
    scale: float = 3.0,
    known: Known | None = None,
) -> Float[Tensor, "B T H W 3"]:
    """Videos, sRGB 0..1, one a condition: see `sample_latents`."""
    noise = draw_noise(prior, len(conditions), generator=generator)
    clean = sample_latents(prior, conditions, noise, steps=steps, scale=scale, known=known)
    # One at a time: a large model's decoder takes more memory than its network.
    videos = [prior.decode(row[None]) for row in clean]
    return torch.cat(videos).clamp(0.0, 1.0)
