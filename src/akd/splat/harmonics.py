"""Real spherical harmonics up to degree 3, in the order and with the signs that 3DGS uses."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

_DEGREES = {1: 0, 4: 1, 9: 2, 16: 3}
CONSTANT = 0.5 / math.sqrt(math.pi)
"""Value of the constant harmonic."""


def degree_of(coefficients: int) -> int:
    """Degree of a set of 1, 4, 9 or 16 harmonics."""
    if coefficients not in _DEGREES:
        raise ValueError(f"spherical harmonics come as 1, 4, 9 or 16 numbers, got {coefficients}")
    return _DEGREES[coefficients]


def harmonics(directions: Float[Tensor, "*b 3"], degree: int) -> Float[Tensor, "*b D"]:
    """Values of the (degree + 1)^2 harmonics for unit directions from the eye to the Gaussian."""
    if not 0 <= degree <= 3:
        raise ValueError(f"the degree of spherical harmonics must be 0 to 3, got {degree}")
    x, y, z = directions.unbind(-1)
    values = [torch.full_like(x, CONSTANT)]
    if degree >= 1:
        c = math.sqrt(3.0 / (4.0 * math.pi))
        values += [-c * y, c * z, -c * x]
    if degree >= 2:
        c = math.sqrt(15.0 / (4.0 * math.pi))
        values += [
            c * x * y,
            -c * y * z,
            math.sqrt(5.0 / (16.0 * math.pi)) * (2.0 * z * z - x * x - y * y),
            -c * x * z,
            0.5 * c * (x * x - y * y),
        ]
    if degree >= 3:
        a = math.sqrt(35.0 / (32.0 * math.pi))
        b = math.sqrt(105.0 / (4.0 * math.pi))
        c = math.sqrt(21.0 / (32.0 * math.pi))
        d = math.sqrt(7.0 / (16.0 * math.pi))
        values += [
            -a * y * (3.0 * x * x - y * y),
            b * x * y * z,
            -c * y * (4.0 * z * z - x * x - y * y),
            d * z * (2.0 * z * z - 3.0 * x * x - 3.0 * y * y),
            -c * x * (4.0 * z * z - x * x - y * y),
            0.5 * b * z * (x * x - y * y),
            -a * x * (x * x - 3.0 * y * y),
        ]
    return torch.stack(values, dim=-1)


def shade(
    sh: Float[Tensor, "N D 3"], directions: Float[Tensor, "*b N 3"]
) -> Float[Tensor, "*b N 3"]:
    """Colours seen along unit directions: 0.5 + harmonics, not below zero."""
    basis = harmonics(directions, degree_of(sh.shape[1]))
    return (0.5 + torch.einsum("...nd,ndc->...nc", basis, sh)).clamp_min(0.0)


def from_colour(colours: Float[Tensor, "*b 3"]) -> Float[Tensor, "*b 3"]:
    """The constant coefficient that shows a colour from every side."""
    return (colours - 0.5) / CONSTANT
