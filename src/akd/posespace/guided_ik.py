"""Inverse kinematics guided by the pose model: answers that meet goals and are plausible."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.diffusion import denoise, signal_and_noise
from akd.posespace.ik import Ancestors, Goals, ancestry, jacobian, reach
from akd.posespace.network import Condition, PoseNetwork

IK_STEPS, IK_LEVEL = 12, 0.8
"""Noise levels of IK, and where they start."""
_LAST = 0.1
"""The last level, as a share of the first."""
_SURE = 0.5
"""Noise level of the joints between the root and a handle, as a share of the others'."""
_LAST_ROUNDS = 20
"""Rounds of least squares at the end, at most."""
_PLAUSIBLE = -2.0
"""Log-odds of the judge up to which an answer is left as it is. Of the true poses of the training
side 5 % are above -1.7 (zoo), -0.5 (motion capture) and 0.1 (artists' rigs)."""
_CORRECTIONS = 4
"""Steps along the judge's gradient, at most."""
_LARGEST_STEP = 0.3
"""Of any number of a state in one of them."""
_MISSED = 1e-3
"""Body sizes that a correction may miss the goals by, beyond what the answer misses them by."""


@torch.no_grad()
def guided_ik(
    network: PoseNetwork,
    body: PoseBody,
    goals: Goals,
    start: Float[Tensor, "B J 3"],
    *,
    noise: Float[Tensor, "B J 3"] | None = None,
    steps: int = IK_STEPS,
    level: float = IK_LEVEL,
) -> Float[Tensor, "B J 3"]:
    """States that meet goals: denoising and least squares in turn, at falling noise levels.

    The joints between the root and the goals are better known than the others, so that the model
    completes the body to suit them. Soft goals give way in the end. Answers that the judge finds
    implausible are corrected where the goals leave them free.
    """
    given, ancestors = network.describe(body), ancestry(body)
    moved_by = goals.moved_by(ancestors)
    x = reach(body, start, goals, rounds=3, moved_by=moved_by)
    share = torch.where(goals.chains(ancestors), _SURE, 1.0)
    for top in torch.linspace(level, _LAST * level, steps).tolist():
        alpha, sigma = (v[..., None] for v in signal_and_noise(top * share))
        noisy = alpha * x if noise is None else alpha * x + sigma * noise
        x = denoise(network, given, noisy, top * share)
        x = reach(body, x, goals, rounds=2, moved_by=moved_by)
    x = reach(body, x, goals, rounds=_LAST_ROUNDS, moved_by=moved_by)
    if bool((goals.weights < 1.0).any()):
        x = reach(body, x, goals.hard, rounds=_LAST_ROUNDS, moved_by=moved_by)
    return _corrected(network, given, goals, x, moved_by)


def _corrected(
    network: PoseNetwork,
    given: Condition,
    goals: Goals,
    states: Float[Tensor, "B J 3"],
    moved_by: Ancestors,
) -> Float[Tensor, "B J 3"]:
    """Implausible states moved along the judge's gradient, in the null space of the goals.

    A step is as long as would make the pose plausible if the log-odds were linear. One that makes
    it worse, or misses a goal, is taken back and tried again at half its length.
    """
    body, best = given.body, states
    allowed = _missed(body, goals, states) + _MISSED
    least = states.new_full((len(states), 1, 1), torch.inf)
    length, slope = torch.ones_like(least), torch.zeros_like(states)
    for left in reversed(range(_CORRECTIONS + 1)):
        with torch.enable_grad():
            free = states.detach().requires_grad_()
            odds = network.judge(free, given)[1]
            total = odds.sum()
        value = odds.detach()[:, None, None]
        better = (value < least) & (_missed(body, goals, states) <= allowed)[:, None, None]
        best, least = torch.where(better, states, best), torch.where(better, value, least)
        excess = (least - _PLAUSIBLE).clamp_min(0.0)
        if not left or not bool((excess > 0.0).any()):
            break
        (uphill,) = torch.autograd.grad(total, free)
        slope = torch.where(better, _unseen(body, goals, states, uphill, moved_by), slope)
        length = torch.where(better, length, 0.5 * length)
        step = excess / slope.square().sum((1, 2), keepdim=True).clamp_min(1e-6) * slope
        largest = step.abs().amax((1, 2), keepdim=True)
        step = length * step * (_LARGEST_STEP / largest.clamp_min(_LARGEST_STEP))
        states = reach(body, best - step, goals.hard, rounds=2, moved_by=moved_by)
    return best


def _missed(body: PoseBody, goals: Goals, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
    return goals.errors(*kinematics(body, states)).norm(dim=-1)


def _unseen(
    body: PoseBody,
    goals: Goals,
    states: Float[Tensor, "B J 3"],
    direction: Float[Tensor, "B J 3"],
    moved_by: Ancestors,
) -> Float[Tensor, "B J 3"]:
    """The part of a direction along which no goal moves, soft ones neither."""
    slopes = jacobian(body, states, *kinematics(body, states), goals, moved_by)
    square = slopes @ slopes.transpose(-1, -2)
    one = torch.eye(square.shape[-1], dtype=square.dtype, device=square.device)
    along, _ = torch.linalg.solve_ex(square + 1e-6 * one, slopes @ direction.flatten(1)[..., None])
    return direction - (slopes.transpose(-1, -2) @ along).view_as(direction)
