"""Damped least squares on the state of a pose: the smallest change that meets goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics

_LOOK = 0.2
"""Body sizes that a direction wrong by one radian counts as."""
_DAMPING = 1e-3
_CLOSE = 1e-4
"""Body sizes of error at which goals count as met."""
_LARGEST_STEP = 1.0
"""Of any number of a state in one round: further the kinematics are not linear."""


@dataclass(frozen=True)
class Goals:
    """Where tokens should be, and where they should face: body frame, body sizes."""

    tokens: Tensor
    """[H] tokens with a target."""
    targets: Float[Tensor, "H 3"]
    facing: Tensor
    """[L] tokens that look at a point."""
    points: Float[Tensor, "L 3"]

    @classmethod
    def of(
        cls,
        body: PoseBody,
        start: Float[Tensor, "J 3"],
        *,
        handles: Mapping[int, Tensor],
        look: Mapping[int, Tensor],
        pin: Sequence[int],
    ) -> Goals:
        """Goals by token; pinned tokens stay where they are in `start`."""
        places, _ = kinematics(body.expand(1), start[None])
        targets = {token: places[0, token] for token in pin} | dict(handles)
        if not targets and not look:
            raise ValueError("handles must name at least one joint, got none")

        def stacked(given: Mapping[int, Tensor]) -> Tensor:
            return torch.stack(list(given.values())) if given else torch.zeros(0, 3)

        return cls(
            torch.tensor(list(targets), dtype=torch.long), stacked(targets),
            torch.tensor(list(look), dtype=torch.long), stacked(look),
        )  # fmt: skip

    def chains(self, body: PoseBody) -> Bool[Tensor, "B J"]:
        """Tokens with a goal and those between them and the root."""
        chain = torch.zeros_like(body.present)
        at = torch.cat((self.tokens, self.facing)).expand(len(chain), -1)
        for _ in range(int(body.depth.max()) + 1):
            chain.scatter_(1, at, True)
            at = body.parents.gather(1, at)
        chain[:, 0] = False
        return chain

    def errors(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B E"]:
        """What is missing: body sizes."""
        places, turned = kinematics(body, states)
        apart = self.targets - places[:, self.tokens]
        front = turned[:, self.facing, :, 2]
        way = torch.nn.functional.normalize(self.points - places[:, self.facing], dim=-1)
        return torch.cat((apart.flatten(1), _LOOK * (way - front).flatten(1)), dim=-1)

    def residual(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
        """Largest distance of a token from its target, body sizes."""
        places, _ = kinematics(body, states)
        apart = (self.targets - places[:, self.tokens]).norm(dim=-1)
        return torch.cat((apart.new_zeros(len(apart), 1), apart), dim=-1).amax(-1)


def reach(
    body: PoseBody, states: Float[Tensor, "B J 3"], goals: Goals, *, rounds: int
) -> Float[Tensor, "B J 3"]:
    """States that meet the goals as nearly as `rounds` rounds of damped least squares bring them.

    A round that does not bring a pose nearer is not taken.
    """
    error = goals.errors(body, states)
    for _ in range(rounds):
        if float(error.detach().norm(dim=-1).max()) < _CLOSE:
            break
        jacobian = _jacobian(body, states, goals)  # [B, E, J * 3]
        square = jacobian @ jacobian.transpose(-1, -2)
        damped = square + _DAMPING * torch.eye(square.shape[-1])
        change = jacobian.transpose(-1, -2) @ torch.linalg.solve(damped, error[..., None])
        change = change.squeeze(-1)
        largest = change.abs().amax(-1, keepdim=True)
        change = change * (_LARGEST_STEP / largest.clamp_min(_LARGEST_STEP))
        moved = states + change.view_as(states)
        after = goals.errors(body, moved)
        better = after.norm(dim=-1) < error.norm(dim=-1)
        states = torch.where(better[:, None, None], moved, states)
        error = torch.where(better[:, None], after, error)
    return states


def _jacobian(
    body: PoseBody, states: Float[Tensor, "B J 3"], goals: Goals
) -> Float[Tensor, "B E S"]:
    """Derivative of minus the errors by the state, one row an error."""
    count, rows = len(states), 3 * (len(goals.tokens) + len(goals.facing))
    # A copy of the states for each row, so that one backward pass gives all of them.
    index = torch.arange(count).repeat_interleave(rows)
    with torch.enable_grad():
        free = states.detach()[index].requires_grad_()
        met = -goals.errors(body[index], free).unflatten(0, (count, rows))
        (slope,) = torch.autograd.grad(met.diagonal(dim1=1, dim2=2).sum(), free)
    return slope.flatten(1).unflatten(0, (count, rows))
