"""Plausibility of poses: the log-odds of the model's judge, and its denoising errors."""

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
"""Noise levels at which poses are denoised. Chosen on the training side."""


@dataclass(frozen=True)
class PoseScores:
    """Implausibility: the lower, the more plausible."""

    joints: Float[Tensor, "B J"]
    """Log-odds that a token is out of place; -inf for padding."""
    poses: Float[Tensor, "B"]
    """Log-odds that the pose is implausible."""


@torch.no_grad()
def score(network: PoseNetwork, body: PoseBody, states: Float[Tensor, "B J 3"]) -> PoseScores:
    """What the model's judge says of states, by joint and by pose.

    Args:
        network: The pose model.
        body: A batch with the body of each state.
        states: Of `PoseCodec.encode`.

    Returns:
        Log-odds of being implausible.
    """
    joints, poses = network.judge(states, network.describe(body))
    return PoseScores(joints.masked_fill(~body.present, float("-inf")), poses)


@torch.no_grad()
def denoising_error(
    network: PoseNetwork,
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    *,
    noise_levels: Sequence[float] = LEVELS,
) -> Float[Tensor, "B"]:
    """How far the denoiser moves states: standard deviations of the noise, over all tokens.

    The states are scaled as at a noise level but not noised: noise would be averaged away again.
    """
    given = network.describe(body)
    joints = states.new_zeros(states.shape[:2])
    for level in noise_levels:
        alpha, sigma = (float(x) for x in signal_and_noise(torch.tensor(level)))
        error = denoise(network, given, alpha * states, level) - states
        joints += error.norm(dim=-1) * body.present / (sigma * len(noise_levels))
    return (joints.square().sum(-1) / body.present.sum(-1)).sqrt()
