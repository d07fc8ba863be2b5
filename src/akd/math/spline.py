"""Bases over time: a curve is a basis matrix [T, K] times K coefficients."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def cubic_basis(
    times: Float[Tensor, "T"], count: int, *, periodic: bool = False
) -> Float[Tensor, "T K"]:
    """Uniform cubic B-spline basis of `count` coefficients on phases in [0, 1].

    The rows sum to one. A periodic basis has the same value and derivatives at 0 and 1; an open one
    spans the interval with `count - 3` segments, its end coefficients just outside.
    """
    if count < 4:
        raise ValueError(f"count must be at least 4 for a cubic spline, got {count}")
    segments = count if periodic else count - 3
    x = times.remainder(1.0) * segments if periodic else times.clamp(0.0, 1.0) * segments
    start = x.floor().clamp(max=segments - 1)
    u = x - start
    pieces = torch.stack(
        (
            (1 - u) ** 3,
            3 * u**3 - 6 * u**2 + 4,
            -3 * u**3 + 3 * u**2 + 3 * u + 1,
            u**3,
        ),
        dim=-1,
    )
    columns = start.long()[:, None] + torch.arange(4, device=times.device)
    basis = times.new_zeros(times.shape[0], count)
    return basis.scatter_add(1, columns.remainder(count), pieces / 6.0)


def hermite(
    start: Float[Tensor, "*#b C"],
    start_slope: Float[Tensor, "*#b C"],
    end: Float[Tensor, "*#b C"],
    end_slope: Float[Tensor, "*#b C"],
    u: Float[Tensor, "*#b 1"],
) -> Float[Tensor, "*_ C"]:
    """Cubic between two values with given slopes per unit of u; u is 0 at start and 1 at end."""
    u2, u3 = u * u, u * u * u
    return (
        (2 * u3 - 3 * u2 + 1) * start
        + (u3 - 2 * u2 + u) * start_slope
        + (3 * u2 - 2 * u3) * end
        + (u3 - u2) * end_slope
    )
