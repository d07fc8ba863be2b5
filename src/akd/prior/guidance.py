"""Classifier-free guidance: the one formula, used by sampling and by distillation.

It is applied to clean estimates. For a fixed z_t these are an affine function of what a model
predicts, be it noise, velocity or flow, and the weights of the formula add up to one: guiding the
estimate is the same as guiding the prediction.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from akd.prior.protocol import Condition, VideoPrior


def guide(
    with_words: Tensor, without_words: Tensor, *, scale: float, rescale: float = 0.0
) -> Tensor:
    """Classifier-free guidance of a clean estimate.

    `scale` 1 is the plain conditional estimate, 0 the unconditional one. `rescale` (0 to 1) brings
    each row's standard deviation back towards that of the conditional estimate, which strong
    guidance inflates.
    """
    if with_words.shape != without_words.shape:
        raise ValueError(
            f"both estimates must have one shape, got {tuple(with_words.shape)} and "
            f"{tuple(without_words.shape)}"
        )
    if not 0.0 <= rescale <= 1.0:
        raise ValueError(f"rescale must lie in 0..1, got {rescale}")
    guided = without_words + scale * (with_words - without_words)
    if rescale == 0.0:
        return guided
    rows = tuple(range(1, guided.dim()))
    spread = guided.std(rows, keepdim=True).clamp_min(1e-8)
    wanted = with_words.std(rows, keepdim=True)
    return guided * (1.0 + rescale * (wanted / spread - 1.0))


def predict_guided(
    prior: VideoPrior,
    latents: Tensor,
    t: Float[Tensor, "B"],
    condition: Condition | Sequence[Condition],
    *,
    scale: float,
    rescale: float = 0.0,
) -> Tensor:
    """The guided clean estimate of each row of noisy latents.

    The model is asked once, for a batch of twice the size; one that is short of memory takes its
    rows apart itself. A `scale` of 1 needs no second estimate. `condition` is one for all rows, or
    one a row.
    """
    rows = len(latents)
    given = [condition] * rows if isinstance(condition, Condition) else list(condition)
    if scale == 1.0:
        return prior.predict(latents, t, given)
    empty = {id(one): prior.unconditioned(one) for one in given}
    both = prior.predict(
        torch.cat((latents, latents)),
        torch.cat((t, t)),
        [*given, *(empty[id(one)] for one in given)],
    )
    return guide(both[:rows], both[rows:], scale=scale, rescale=rescale)
