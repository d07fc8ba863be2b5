"""The derivative of a function that is only known by its values, and may have kinks."""

from __future__ import annotations

from collections.abc import Callable

import torch

STEPS = 2.0 ** -torch.arange(7.0, 25.0, dtype=torch.float64)


def derivative_at_zero(values: Callable[[torch.Tensor], torch.Tensor]) -> tuple[float, float]:
    """Derivative of f at 0 and the step at which it was taken; `values` maps [N] points to [N].

    Central differences c(h) at steps that halve err by a h^2 + O(h^4) + rounding / h; Richardson's
    (4 c(h / 2) - c(h)) / 3 has no h^2. Three things can spoil it: a kink between -h and h, a step
    too large for the series, rounding. None of them may be judged by the answer that is expected,
    so only the values decide:

    - Where f is smooth, the forward and the backward difference are apart by h f'', which halves
      with h. A kink within h keeps them apart, or lets them jump: such steps are left out.
    - Of those left, the one whose extrapolation changes least when h is halved is taken.
    """
    h = STEPS
    points = torch.cat((h, -h, torch.zeros(1, dtype=h.dtype)))
    made = values(points)
    ahead, behind, here = made[: len(h)], made[len(h) : -1], made[-1]
    central = (ahead - behind) / (2 * h)
    extrapolated = (4 * central[1:] - central[:-1]) / 3
    gap = ((ahead - here) - (here - behind)) / h
    halves = (gap[:-1] / gap[1:] - 2).abs() < 0.2
    # Where f'' is nearly nothing the gap is rounding, and cannot halve; there it must be small.
    tiny = gap[:-1].abs() < 1e-6 * central[1:].abs()
    smooth = (halves | tiny)[:-1] & (halves | tiny)[1:]
    changes = (extrapolated[1:] - extrapolated[:-1]).abs()
    if not bool(smooth.any()):
        raise ArithmeticError("no step at which both sides agree: there is a kink at the point")
    best = int(torch.where(smooth, changes, torch.inf).argmin())
    return float(extrapolated[best + 1]), float(h[best + 1])
