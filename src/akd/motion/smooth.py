"""How smooth a curve over time is, and how a gap in it closes smoothly."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def laplacian(values: Float[Tensor, "T *c"]) -> Float[Tensor, "L *c"]:
    """Second differences over time, x[t-1] - 2 x[t] + x[t+1]: T - 2 of them."""
    return values[:-2] - 2.0 * values[1:-1] + values[2:]


def closing(u: Float[Tensor, "*t"]) -> tuple[Float[Tensor, "*t"], Float[Tensor, "*t"]]:
    """How a gap closes from `u` = 0 to 1: what is left of a gap of one that is at rest, and of one
    that starts from zero and grows by one a unit of `u`. Both end at rest; at 0 neither bends."""
    u = u.clamp(0.0, 1.0)
    return 1 - 10 * u**3 + 15 * u**4 - 6 * u**5, u - 6 * u**3 + 8 * u**4 - 3 * u**5
