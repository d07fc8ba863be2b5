"""The sRGB transfer function on tensors; `akd.asset.srgb` has it for arrays."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.constants import (
    SRGB_EXPONENT,
    SRGB_KNEE_ENCODED,
    SRGB_KNEE_LINEAR,
    SRGB_OFFSET,
    SRGB_SLOPE,
)


def to_srgb(linear: Float[Tensor, "*b C"]) -> Float[Tensor, "*b C"]:
    """Display values of linear light, both in 0..1."""
    linear = linear.clamp(0.0, 1.0)
    power = linear.clamp_min(1e-8) ** (1.0 / SRGB_EXPONENT)
    curve = (1.0 + SRGB_OFFSET) * power - SRGB_OFFSET
    return torch.where(linear <= SRGB_KNEE_LINEAR, SRGB_SLOPE * linear, curve)


def to_linear(encoded: Float[Tensor, "*b C"]) -> Float[Tensor, "*b C"]:
    """Linear light of display values, the inverse of `to_srgb`."""
    curve = ((encoded + SRGB_OFFSET) / (1.0 + SRGB_OFFSET)) ** SRGB_EXPONENT
    return torch.where(encoded <= SRGB_KNEE_ENCODED, encoded / SRGB_SLOPE, curve)
