"""How smooth a curve over time is."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def laplacian(values: Float[Tensor, "T *c"], *, periodic: bool = False) -> Float[Tensor, "L *c"]:
    """Second difference over time, x[t-1] - 2 x[t] + x[t+1]: T - 2 of them, T where periodic."""
    if periodic:
        return values.roll(1, dims=0) - 2.0 * values + values.roll(-1, dims=0)
    return values[:-2] - 2.0 * values[1:-1] + values[2:]
