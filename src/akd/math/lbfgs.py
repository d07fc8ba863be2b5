"""Minimising with L-BFGS."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def minimise(
    loss: Callable[[], Tensor],
    parameters: Sequence[Tensor],
    *,
    iterations: int,
    history: int,
    tolerances: tuple[float, float],
) -> None:
    """Change `parameters` in place to a local minimum of `loss`, with a strong Wolfe line search.

    Args:
        loss: The scalar to minimise, a function of the parameters.
        parameters: Tensors that require a gradient.
        iterations: At most.
        history: Steps that the curvature is estimated from.
        tolerances: Of the gradient, and of the change of loss and parameters.
    """
    optimiser = torch.optim.LBFGS(
        parameters, max_iter=iterations, history_size=history, line_search_fn="strong_wolfe",
        tolerance_grad=tolerances[0], tolerance_change=tolerances[1],
    )  # fmt: skip

    def closure() -> Tensor:
        optimiser.zero_grad()
        value = loss()
        value.backward()
        return value.detach()

    optimiser.step(closure)  # pyright: ignore[reportArgumentType]
