"""Curves over time whose coefficients are optimised: bumps of splines, or a cycle's harmonics.

All are scaled alike: a coefficient of one has a mean square of one over the number of curves.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float
from scipy.interpolate import CubicSpline
from torch import Tensor

from akd.math.spline import cubic_basis

_FASTEST = 2.2
"""Shortest wave, in frames of the prior: a faster one cannot be seen."""


def bumps(
    seconds: Float[Tensor, "S"], *, frames: int, fps: float, count: int, periodic: bool
) -> Float[Tensor, "S K"]:
    """`count` bumps that span the cubic splines over `frames` frames, at any times within them.

    B-splines themselves make a bad search: the first and the last are all but invisible in the
    frames, so that steps of one size for all shake the ends of the clip. These are the nearest ones
    to them that are orthogonal to each other. With as many bumps as frames each one is a frame.
    """
    end = frames / fps if periodic else (frames - 1) / fps
    at_frames = torch.arange(frames, dtype=torch.float64) / fps
    seconds = seconds.double().clamp(0.0, end)
    if count >= frames:
        if frames == 1:
            return torch.ones(len(seconds), 1)
        curve = CubicSpline(at_frames.numpy(), np.eye(frames))
        return torch.from_numpy(curve(seconds.numpy())).float()
    basis = cubic_basis(at_frames / end, count, periodic=periodic)
    values, vectors = torch.linalg.eigh(basis.T @ basis)
    apart = vectors @ torch.diag(values.clamp_min(1e-9).rsqrt()) @ vectors.T
    there = cubic_basis(seconds / end, count, periodic=periodic)
    return (math.sqrt(frames / count) * there @ apart).float()


def harmonics_within(period: float, fps: float, most: int) -> int:
    """How many harmonics of a cycle of `period` seconds can be seen at a frame rate."""
    return max(1, min(most, int(period * fps / _FASTEST)))


def waves(
    seconds: Float[Tensor, "S"], period: Float[Tensor, "..."], count: int
) -> Float[Tensor, "*b S 2*{count}+1"]:
    """A constant, and cosine and sine of the first `count` harmonics of a cycle in `period` s.

    Periods of a batch are a column.
    """
    turns = 2.0 * math.pi * seconds / period
    columns = [torch.ones_like(turns) * math.sqrt(0.5)]
    for k in range(1, count + 1):
        columns += [(k * turns).cos(), (k * turns).sin()]
    return torch.stack(columns, dim=-1) * math.sqrt(2.0 / len(columns))
