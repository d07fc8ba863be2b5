"""Validators: differentiable measures of what no pose should do, and the guidance made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.diffusion import Steer
from akd.posespace.ground import ground_excess
from akd.posespace.intersect import INTERSECTS, intersection_depth
from akd.posespace.settings import ANGLE_UNIT, LIMIT_FEATURES

Validator = Callable[[Float[Tensor, "B J 3"]], Float[Tensor, "B"]]
"""How far each state is beyond what is allowed, zero within; differentiable."""

SLACK = 0.35
"""Radians beyond a joint's limits that are allowed: limits are those of gaits, and 5 % of the joint
angles of motion capture on the training side are further out."""
_GUARDED = 0.5
"""Noise level below which clean estimates are guided: above, they are means over many poses."""
_ROUNDS = 3
_LARGEST_STEP = 0.5
"""Of any number of a state in one round."""


def state_limits(body: PoseBody) -> tuple[Float[Tensor, "B J 3"], Float[Tensor, "B J 3"]]:
    """Least and greatest values of a state: the joints' limits, and 1 either way for the root."""
    forth, back = (body.features[..., LIMIT_FEATURES] / ANGLE_UNIT).split(3, dim=-1)
    root = torch.zeros_like(forth)
    root[..., 0, :] = 1.0
    return -(back + root), forth + root


def range_excess(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B J"]:
    """Radians by which each joint is beyond its limits and `SLACK`; the root is free."""
    low, high = state_limits(body)
    beyond = torch.maximum(low - states, states - high).amax(-1) * ANGLE_UNIT - SLACK
    return beyond.clamp_min(0.0) * _joints(body)


def body_validators(body: PoseBody) -> list[Validator]:
    """Joint range, intersection of bones and height above the ground, for a batch of bodies."""
    return [
        lambda states: range_excess(body, states).sum(-1),
        intersection_validator(body),
        lambda states: ground_excess(body, states),
    ]


def intersection_validator(
    body: PoseBody, *, touch: Float[Tensor, "B"] | float = INTERSECTS
) -> Validator:
    """Bones deeper in each other than `touch`."""
    return lambda states: (intersection_depth(body, states) - touch).clamp_min(0.0)


def between_guidance(
    body: PoseBody, a: Float[Tensor, "B J 3"], b: Float[Tensor, "B J 3"], shares: Float[Tensor, "S"]
) -> Steer:
    """Guidance for `interpolate`: poses may intersect where the ends do, so that those are kept."""
    deep = torch.lerp(
        intersection_depth(body, a), intersection_depth(body, b), shares[:, None]
    ).flatten()
    index = torch.arange(len(a), device=a.device).repeat(len(shares))
    return guidance([intersection_validator(body[index], touch=deep.clamp_min(INTERSECTS))])


def guidance(validators: Sequence[Validator]) -> Steer:
    """Guidance for `walk`: moves clean estimates until the validators find nothing.

    A round is a Polyak step for each validator, as long as its value over its gradient.
    """

    def steer(clean: Float[Tensor, "B J 3"], level: float) -> Float[Tensor, "B J 3"]:
        if level > _GUARDED:
            return clean
        for _ in range(_ROUNDS):
            moved = False
            for validator in validators:
                with torch.enable_grad():
                    free = clean.detach().requires_grad_()
                    value = validator(free)
                    if not bool((value > 0).any()):
                        continue
                    (slope,) = torch.autograd.grad(value.sum(), free)
                steep = slope.square().sum((1, 2)).clamp_min(1e-8)
                step = (value.detach() / steep)[:, None, None] * slope
                largest = step.abs().amax((1, 2), keepdim=True)
                clean = clean - step * (_LARGEST_STEP / largest.clamp_min(_LARGEST_STEP))
                moved = True
            if not moved:
                break
        return clean

    return steer


def _joints(body: PoseBody) -> Tensor:
    """Present tokens other than the root."""
    joints = body.present.clone()
    joints[..., 0] = False
    return joints
