"""Conversions between a diffusion model's prediction (noise, velocity, flow) and clean latents.

z_t = alpha z + sigma e throughout. Variance-preserving models have alpha = sqrt(a),
sigma = sqrt(1 - a); flow-matching models have alpha = 1 - sigma.
"""

from __future__ import annotations

from enum import StrEnum

from jaxtyping import Float
from torch import Tensor


class Prediction(StrEnum):
    """Meaning of a network's output."""

    EPSILON = "epsilon"
    """The noise e."""
    V = "v"
    """The velocity alpha e - sigma z, of variance-preserving models only."""
    SAMPLE = "sample"
    """The clean latents z themselves (x-prediction)."""
    FLOW = "flow"
    """The flow e - z, of models with alpha = 1 - sigma."""


def as_columns(values: Float[Tensor, "B"], like: Tensor) -> Tensor:
    """One value a row, shaped to multiply `like`."""
    return values.to(like).reshape(-1, *(1,) * (like.dim() - 1))


def add_noise(
    latents: Tensor, noise: Tensor, *, alpha: Float[Tensor, "B"], sigma: Float[Tensor, "B"]
) -> Tensor:
    """z_t = alpha z + sigma e."""
    return as_columns(alpha, latents) * latents + as_columns(sigma, latents) * noise


def clean_estimate(
    prediction: Tensor,
    noisy: Tensor,
    kind: Prediction,
    *,
    alpha: Float[Tensor, "B"],
    sigma: Float[Tensor, "B"],
) -> Tensor:
    """The clean latents that a prediction implies for noisy latents z_t, of the same shape.

    With a = alpha^2 a v-prediction gives sqrt(a) z_t - sqrt(1 - a) v. A noise prediction says
    nothing about the clean latents where alpha is zero; there the result is not finite.
    """
    if prediction.shape != noisy.shape:
        raise ValueError(
            f"prediction and noisy latents must have one shape, got {tuple(prediction.shape)} "
            f"and {tuple(noisy.shape)}"
        )
    a, s = as_columns(alpha, noisy), as_columns(sigma, noisy)
    match kind:
        case Prediction.EPSILON:
            return (noisy - s * prediction) / a
        case Prediction.V:
            return a * noisy - s * prediction
        case Prediction.SAMPLE:
            return prediction
        case Prediction.FLOW:
            return noisy - s * prediction


def implied_noise(
    clean: Tensor, noisy: Tensor, *, alpha: Float[Tensor, "B"], sigma: Float[Tensor, "B"]
) -> Tensor:
    """The noise e that leads from a clean estimate to z_t; where sigma is zero there is none."""
    a, s = as_columns(alpha, noisy), as_columns(sigma, noisy)
    return (noisy - a * clean) / s
