"""The sRGB transfer function on arrays; `akd.math.srgb` has it for tensors."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from akd.base.constants import SRGB_EXPONENT, SRGB_KNEE_ENCODED, SRGB_OFFSET, SRGB_SLOPE


def to_linear(encoded: Float[np.ndarray, "*b C"]) -> Float[np.ndarray, "*b C"]:
    """Linear light of display values, both in 0..1."""
    curve = ((encoded + SRGB_OFFSET) / (1.0 + SRGB_OFFSET)) ** SRGB_EXPONENT
    return np.where(encoded <= SRGB_KNEE_ENCODED, encoded / SRGB_SLOPE, curve)
