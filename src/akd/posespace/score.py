"""Plausibility of poses: what the model's judge says of them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.network import PoseNetwork


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
