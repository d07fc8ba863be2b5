"""Inverse kinematics: Levenberg-Marquardt on the state of a pose, and guided by the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.diffusion import denoise, signal_and_noise
from akd.posespace.network import PoseNetwork
from akd.posespace.settings import ANGLE_UNIT, HEIGHT_UNIT

IK_STEPS, IK_LEVEL = 6, 0.8
"""Noise levels of IK, and where they start."""
_SURE = 0.1
"""Noise level of the joints between the root and a handle, as a share of the others'."""
_LOOK = 0.2
"""Body sizes that a direction wrong by one radian counts as."""
_DAMPING, _LEAST_DAMPING, _MOST_DAMPING = 1e-3, 1e-7, 1e-1
"""Of least squares, at first and within what bounds: body sizes squared."""
_EASE, _HARDEN = 0.25, 8.0
"""Factors of the damping after a round that brought a pose nearer, and after one that did not."""
_SOFT = 0.1
"""Weight of the errors of soft goals: the others are met first."""
_CLOSE = 1e-4
"""Body sizes of error at which goals count as met."""
_LARGEST_STEP = 1.0
"""Of any number of a state in one round: further the kinematics are not linear."""


@dataclass(frozen=True)
class Goals:
    """Where tokens should be, and where they should face: body frame, body sizes.

    The leading axis has a row for each pose, or one row for all of them.
    """

    tokens: Int[Tensor, "#B H"]
    """Tokens with a target."""
    targets: Float[Tensor, "#B H 3"]
    facing: Int[Tensor, "#B L"]
    """Tokens that look at a point."""
    points: Float[Tensor, "#B L 3"]
    soft: int = 0
    """The last targets, this many, yield where the others cannot be met as well."""

    @classmethod
    def at(cls, tokens: Int[Tensor, "#B H"], targets: Float[Tensor, "#B H 3"]) -> Goals:
        """Targets only."""
        return cls(tokens, targets, tokens[:, :0], targets[:, :0])

    @classmethod
    def of(
        cls,
        body: PoseBody,
        start: Float[Tensor, "J 3"],
        *,
        handles: Mapping[int, Tensor],
        look: Mapping[int, Tensor],
        pin: Sequence[int],
        stand: Sequence[int] = (),
    ) -> Goals:
        """The same goals for every pose, by token.

        Tokens of `pin` stay where `start` has them, and those of `stand` if the others allow it.
        """
        places, _ = kinematics(body.expand(1), start[None])
        targets = {token: places[0, token] for token in pin} | dict(handles)
        if not targets and not look:
            raise ValueError("handles must name at least one joint, got none")
        soft = {token: places[0, token] for token in stand if token not in targets}
        targets |= soft

        def stacked(given: Mapping[int, Tensor]) -> Tensor:
            return torch.stack(list(given.values()))[None] if given else torch.zeros(1, 0, 3)

        return cls(
            torch.tensor([list(targets)], dtype=torch.long), stacked(targets),
            torch.tensor([list(look)], dtype=torch.long), stacked(look), len(soft),
        )  # fmt: skip

    @property
    def hard(self) -> Goals:
        """Without the soft targets."""
        kept = self.tokens.shape[-1] - self.soft
        return replace(self, tokens=self.tokens[:, :kept], targets=self.targets[:, :kept], soft=0)

    @property
    def weights(self) -> Float[Tensor, "H"]:
        """Of the errors of the targets."""
        weights = self.targets.new_ones(self.tokens.shape[-1])
        weights[len(weights) - self.soft :] = _SOFT
        return weights

    def chains(self, body: PoseBody) -> Bool[Tensor, "B J"]:
        """Tokens with a goal and those between them and the root."""
        at = torch.cat((self.tokens, self.facing), dim=-1)
        chain = _ancestors(body, at).any(1)
        chain[:, 0] = False
        return chain

    def errors(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B E"]:
        """What is missing: body sizes, times the weights."""
        places, turned = kinematics(body, states)
        apart = (self.targets - _of(places, self.tokens)) * self.weights[:, None]
        front = _of(turned[..., 2], self.facing)
        way = torch.nn.functional.normalize(self.points - _of(places, self.facing), dim=-1)
        return torch.cat((apart.flatten(1), _LOOK * (way - front).flatten(1)), dim=-1)

    def residual(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
        """Largest distance of a token from its target, soft ones left out: body sizes."""
        places, _ = kinematics(body, states)
        hard = self.hard
        apart = (hard.targets - _of(places, hard.tokens)).norm(dim=-1)
        return torch.cat((apart.new_zeros(len(apart), 1), apart), dim=-1).amax(-1)


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

    The joints between the root and the goals are nearly known, so that the model completes the
    rest of the body to suit them. Soft goals give way in the end.
    """
    given, x = network.describe(body), reach(body, start, goals, rounds=3)
    share = torch.where(goals.chains(body), _SURE, 1.0)
    for top in torch.linspace(level, 0.25 * level, steps).tolist():
        alpha, sigma = (v[..., None] for v in signal_and_noise(top * share))
        noisy = alpha * x if noise is None else alpha * x + sigma * noise
        x = reach(body, denoise(network, given, noisy, top * share), goals, rounds=2)
    x = reach(body, x, goals, rounds=20)
    return reach(body, x, goals.hard, rounds=20) if goals.soft else x


def reach(
    body: PoseBody, states: Float[Tensor, "B J 3"], goals: Goals, *, rounds: int
) -> Float[Tensor, "B J 3"]:
    """States that meet the goals as nearly as `rounds` rounds of Levenberg-Marquardt bring them.

    A round that does not bring a pose nearer is not taken, and the next one is damped more.
    """
    error = goals.errors(body, states)
    damping = error.new_full((len(error), 1, 1), _DAMPING)
    moved_by = _ancestors(body, goals.tokens), _ancestors(body, goals.facing)
    for _ in range(rounds):
        far = error.detach().norm(dim=-1) >= _CLOSE
        if not bool(far.any()):
            break
        jacobian = _jacobian(body, states, goals, moved_by)  # [B, E, J * 3]
        square = jacobian @ jacobian.transpose(-1, -2)
        damped = square + damping * torch.eye(square.shape[-1]).to(square)
        change = jacobian.transpose(-1, -2) @ torch.linalg.solve(damped, error[..., None])
        change = change.squeeze(-1)
        largest = change.abs().amax(-1, keepdim=True)
        change = change * (_LARGEST_STEP / largest.clamp_min(_LARGEST_STEP))
        moved = states + change.view_as(states)
        after = goals.errors(body, moved)
        # A pose that is close enough rests, so that answers do not depend on the batch.
        better = far & (after.norm(dim=-1) < error.norm(dim=-1))
        states = torch.where(better[:, None, None], moved, states)
        error = torch.where(better[:, None], after, error)
        factor = torch.where(better, _EASE, _HARDEN)[:, None, None]
        damping = (damping * factor).clamp(_LEAST_DAMPING, _MOST_DAMPING)
    return states


def _jacobian(
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    goals: Goals,
    moved_by: tuple[Bool[Tensor, "B H J"], Bool[Tensor, "B L J"]],
) -> Float[Tensor, "B E S"]:
    """Derivative of minus the errors by the state, one row an error.

    `moved_by` are the ancestors of the tokens with a target, and of those that look at a point.
    """
    places, turned = kinematics(body, states)
    axes = _turning_axes(body, states, turned)
    travel = _travel(places, axes, goals.tokens, moved_by[0])
    rows = (travel * goals.weights[:, None, None, None]).flatten(1, 2)
    if goals.facing.shape[-1]:
        offset = goals.points - _of(places, goals.facing)
        distance = offset.norm(dim=-1)[..., None, None]
        way = offset / distance[..., 0].clamp_min(1e-6)
        travel = _travel(places, axes, goals.facing, moved_by[1]).flatten(3)  # [B L 3 S]
        across = travel - way[..., None] * (way[..., None, :] @ travel)
        front = _of(turned[..., 2], goals.facing)
        turn = moved_by[1][..., None, None] * torch.linalg.cross(
            *torch.broadcast_tensors(axes[:, None], front[:, :, None, :, None]), dim=-2
        )  # [B L J 3 3]
        turn = turn.transpose(2, 3).flatten(3)
        rows = torch.cat(
            (
                rows,
                _LOOK
                * (turn + across / distance.clamp_min(1e-6))
                .flatten(1, 2)
                .unflatten(-1, (body.tokens, 3)),
            ),
            dim=1,
        )
    return rows.flatten(2)


def _turning_axes(
    body: PoseBody, states: Float[Tensor, "B J 3"], turned: Float[Tensor, "B J 3 3"]
) -> Float[Tensor, "B J 3 3"]:
    """Angular velocity in the body's frame, a column for each number of a token's state.

    For a rotation vector w, d exp(w) = exp(w) J(w) dw with the right Jacobian J of SO(3).
    """
    vector = (states[..., None, :] @ body.frames).squeeze(-2) * ANGLE_UNIT
    vector = torch.cat((_tilt(body, states), vector[:, 1:]), dim=1)
    angle = vector.norm(dim=-1).clamp_min(1e-3)[..., None, None]
    zero = torch.zeros_like(vector[..., 0])
    x, y, z = vector.unbind(-1)
    skew = torch.stack((zero, -z, y, z, zero, -x, -y, x, zero), dim=-1).unflatten(-1, (3, 3))
    one = (1.0 - angle.cos()) / angle.square()
    two = (angle - angle.sin()) / angle**3
    right = torch.eye(3).to(skew) - one * skew + two * (skew @ skew)
    axes = ANGLE_UNIT * turned @ right @ body.frames.transpose(-1, -2)
    axes[:, 0, :, 2] = 0.0  # the root's third number is its height
    return axes


def _tilt(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B 1 3"]:
    """Rotation vector of the root."""
    return (states[:, :1, None, :2] @ body.frames[:, :1, :2]).squeeze(-2) * ANGLE_UNIT


def _travel(
    places: Float[Tensor, "B J 3"],
    axes: Float[Tensor, "B J 3 3"],
    tokens: Int[Tensor, "#B H"],
    moved_by: Bool[Tensor, "B H J"],
) -> Float[Tensor, "B H 3 J 3"]:
    """Derivative of the places of tokens by the state."""
    lever = _of(places, tokens)[:, :, None] - places[:, None]  # [B H J 3]
    moved = torch.linalg.cross(*torch.broadcast_tensors(axes[:, None], lever[..., None]), dim=-2)
    moved = moved * moved_by[..., None, None]
    moved[:, :, 0, :, 2] = moved.new_tensor((0.0, HEIGHT_UNIT, 0.0))
    return moved.transpose(2, 3)


def _ancestors(body: PoseBody, tokens: Tensor) -> Bool[Tensor, "B H J"]:
    """Whether each token is an ancestor of the given ones, or one of them."""
    at = tokens.expand(len(body.present), -1)
    found = torch.zeros(*at.shape, body.tokens, dtype=torch.bool, device=at.device)
    for _ in range(body.tokens):
        found.scatter_(2, at[..., None], True)
        if not bool(at.any()):
            break
        at = body.parents.gather(1, at)
    return found


def _of(values: Float[Tensor, "B J 3"], tokens: Tensor) -> Float[Tensor, "B H 3"]:
    """Values of tokens, the same ones for every row or each row its own."""
    index = tokens.expand(len(values), -1)[..., None].expand(-1, -1, values.shape[-1])
    return values.gather(1, index)
