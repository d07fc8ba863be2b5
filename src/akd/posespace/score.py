"""Plausibility of poses: how well the model restores them from a little noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.diffusion import denoise, signal_and_noise
from akd.posespace.network import PoseNetwork

LEVELS = (0.08, 0.15, 0.25)
"""Noise levels at which poses are judged."""
WORST = 3
"""Joints whose error makes the score of a pose: one bad joint is enough to spoil it."""


@dataclass(frozen=True)
class PoseScores:
    """Denoising errors; the lower, the more plausible."""

    joints: Float[Tensor, "B J"]
    """Of each token, in standard deviations of the noise; zero for padding."""
    poses: Float[Tensor, "B"]
    """Mean of the worst joints."""


@torch.no_grad()
def score(
    network: PoseNetwork,
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    *,
    noise_levels: Sequence[float] = LEVELS,
    draws: int = 2,
    seed: int = 0,
) -> PoseScores:
    """Denoising error of states, by joint and by pose.

    Args:
        network: The pose model.
        body: A batch with the body of each state.
        states: Of `PoseCodec.encode`.
        noise_levels: Levels t at which the states are noised.
        draws: Pairs of opposite noise at each level.
        seed: Of the noise; the same for every pose, so that scores can be compared.

    Returns:
        The errors.
    """
    given = network.describe(body)
    generator = torch.Generator().manual_seed(seed)
    total = states.new_zeros(states.shape[:2])
    for level in noise_levels:
        alpha, sigma = (float(x) for x in signal_and_noise(torch.tensor(level)))
        for _ in range(draws):
            noise = torch.randn(1, *states.shape[1:], generator=generator).to(states)
            error = states.new_zeros(states.shape)
            for sign in (1.0, -1.0):
                noisy = alpha * states + sign * sigma * noise
                error += 0.5 * (denoise(network, given, noisy, level) - states)
            # Opposite noise cancels what the noise itself adds: the pull of the model remains.
            total += error.norm(dim=-1) / sigma
    joints = total / (len(noise_levels) * draws) * body.present
    worst = joints.topk(min(WORST, joints.shape[1]), dim=-1).values
    return PoseScores(joints, worst.mean(-1))
