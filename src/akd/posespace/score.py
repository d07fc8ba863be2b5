"""Plausibility of poses: how far the model's denoiser moves them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.diffusion import denoise, signal_and_noise
from akd.posespace.network import PoseNetwork

LEVELS = (0.04, 0.08, 0.12, 0.2)
"""Noise levels at which poses are judged. Chosen on the training side."""


@dataclass(frozen=True)
class PoseScores:
    """Denoising errors; the lower, the more plausible."""

    joints: Float[Tensor, "B J"]
    """Of each token, in standard deviations of the noise; zero for padding."""
    poses: Float[Tensor, "B"]
    """Root mean square over the tokens."""


@torch.no_grad()
def score(
    network: PoseNetwork,
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    *,
    noise_levels: Sequence[float] = LEVELS,
) -> PoseScores:
    """Denoising error of states, by joint and by pose.

    The states are scaled as at a noise level but not noised: noise would be averaged away again.

    Args:
        network: The pose model.
        body: A batch with the body of each state.
        states: Of `PoseCodec.encode`.
        noise_levels: Levels t that the model takes the states for.

    Returns:
        The errors.
    """
    given = network.describe(body)
    joints = states.new_zeros(states.shape[:2])
    for level in noise_levels:
        alpha, sigma = (float(x) for x in signal_and_noise(torch.tensor(level)))
        error = denoise(network, given, alpha * states, level) - states
        joints += error.norm(dim=-1) * body.present / (sigma * len(noise_levels))
    mean = joints.square().sum(-1) / body.present.sum(-1)
    return PoseScores(joints, mean.sqrt())
