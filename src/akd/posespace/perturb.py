"""Poses made implausible on purpose, to measure whether a score notices."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion
from akd.posespace.body import PoseBody
from akd.posespace.settings import ANGLE_UNIT


def twist_one_joint(
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    generator: torch.Generator,
    *,
    degrees: float = 60.0,
) -> Float[Tensor, "B J 3"]:
    """One random joint of each pose turned about its own bone, either way."""
    rows = torch.arange(len(states))
    chance = torch.rand(body.present.shape, generator=generator) * body.present
    chance[:, 0] = 0.0
    joint = chance.argmax(-1)
    sign = torch.where(torch.rand(len(states), generator=generator) < 0.5, -1.0, 1.0)
    about = torch.zeros(len(states), 3)
    about[:, 2] = sign * math.radians(degrees)
    turned = quaternion.multiply(
        quaternion.from_rotation_vector(states[rows, joint] * ANGLE_UNIT),
        quaternion.from_rotation_vector(about),
    )
    result = states.clone()
    result[rows, joint] = quaternion.to_rotation_vector(turned) / ANGLE_UNIT
    return result


def swap_one_limb(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """The joints of one random limb exchanged with those of its mirror image.

    Poses of bodies without a pair of limbs are returned as they are.
    """
    result = states.clone()
    token = torch.arange(body.tokens)
    paired = (body.mirror != token) & (body.mirror >= 0) & body.present
    # A limb begins at a paired token whose parent is on the midline.
    parent_paired = paired.gather(-1, body.parents)
    starts = paired & ~parent_paired
    chance = torch.rand(body.present.shape, generator=generator) * starts
    for row in torch.nonzero(starts.any(-1))[:, 0].tolist():
        start = int(chance[row].argmax())
        limb = [start]
        for child in range(start + 1, body.tokens):
            if int(body.parents[row, child]) in limb and bool(body.present[row, child]):
                limb.append(child)
        other = body.mirror[row, limb]
        result[row, limb], result[row, other] = states[row, other], states[row, limb]
    return result


def random_angles(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """Every joint turned as far as in the pose, about a random axis; the root as it was."""
    way = torch.randn(states.shape, generator=generator)
    size = states.norm(dim=-1, keepdim=True)
    result = size * way / way.norm(dim=-1, keepdim=True).clamp_min(1e-9)
    result[:, 0] = states[:, 0]
    return result * body.present[..., None]


def area_under_curve(good: Float[Tensor, "N"], bad: Float[Tensor, "M"]) -> float:
    """Probability that a bad one scores above a good one (area under the ROC curve)."""
    both = torch.cat((good, bad)).double()
    order = both.argsort()
    ranks = torch.empty_like(both)
    ranks[order] = torch.arange(1, len(both) + 1, dtype=torch.float64)
    _, groups = both.unique(return_inverse=True)
    ties = torch.zeros(int(groups.max()) + 1, dtype=torch.float64)
    mean = ties.clone().index_add(0, groups, ranks) / ties.index_add(
        0, groups, torch.ones_like(both)
    )
    above = mean[groups][len(good) :].sum() - len(bad) * (len(bad) + 1) / 2
    return float(above / (len(good) * len(bad)))
