"""Inverse kinematics: goals of a pose, and Levenberg-Marquardt on its state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from akd.math.resident import constant
from akd.posespace.body import DOUBLINGS, PoseBody, kinematics
from akd.posespace.settings import ANGLE_UNIT, HEIGHT_UNIT

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

Ancestors = tuple[Bool[Tensor, "B H J"], Bool[Tensor, "B L J"]]
"""Which tokens move those with a target, and those that look at a point."""


@dataclass(frozen=True)
class Spot:
    """A point of a body: it moves with a token."""

    token: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """From the token's pivot, in the neutral pose: body frame, body sizes."""

    def place(
        self, places: Float[Tensor, "B J 3"], turned: Float[Tensor, "B J 3 3"]
    ) -> Float[Tensor, "B 3"]:
        """Where it is in poses, of what `kinematics` returns."""
        return places[:, self.token] + turned[:, self.token] @ places.new_tensor(self.offset)


@dataclass(frozen=True)
class Goals:
    """Where points should be, and where tokens should face: body frame, body sizes.

    The leading axis has a row for each pose, or one row for all of them.
    """

    tokens: Int[Tensor, "#B H"]
    """Tokens of the points with a target."""
    targets: Float[Tensor, "#B H 3"]
    facing: Int[Tensor, "#B L"]
    """Tokens that look at a point."""
    points: Float[Tensor, "#B L 3"]
    weights: Float[Tensor, "H"]
    """Of the errors of the targets: 1, or less for soft ones, which yield where the others cannot
    be met as well."""
    offsets: Float[Tensor, "#B H 3"]
    """Of the points with a target, as those of a `Spot`."""

    @classmethod
    def at(cls, tokens: Int[Tensor, "#B H"], targets: Float[Tensor, "#B H 3"]) -> Goals:
        """Targets of the tokens' pivots only."""
        weights = targets.new_ones(tokens.shape[-1])
        nowhere = torch.zeros_like(targets)
        return cls(tokens, targets, tokens[:, :0], targets[:, :0], weights, nowhere)

    @classmethod
    def of(
        cls,
        body: PoseBody,
        start: Float[Tensor, "J 3"],
        *,
        handles: Mapping[Spot, Tensor],
        look: Mapping[int, Tensor],
        pin: Sequence[Spot],
        stand: Sequence[int] = (),
    ) -> Goals:
        """The same goals for every pose.

        Points of `pin` stay where `start` has them, and the tokens of `stand` if the others allow
        it.
        """
        posed = kinematics(body.expand(1), start[None])
        targets = {spot: spot.place(*posed)[0] for spot in pin} | dict(handles)
        if not targets and not look:
            raise ValueError("handles must name at least one joint, got none")
        soft = {spot: spot.place(*posed)[0] for spot in map(Spot, stand) if spot not in targets}
        targets |= soft

        def stacked(given: Mapping[Any, Tensor]) -> Tensor:
            return torch.stack(list(given.values()))[None] if given else torch.zeros(1, 0, 3)

        return cls(
            torch.tensor([[spot.token for spot in targets]], dtype=torch.long), stacked(targets),
            torch.tensor([list(look)], dtype=torch.long), stacked(look),
            torch.tensor([_SOFT if spot in soft else 1.0 for spot in targets]),
            torch.tensor([[spot.offset for spot in targets]]).view(1, -1, 3),
        )  # fmt: skip

    @property
    def hard(self) -> Goals:
        """Without the soft targets."""
        return replace(self, weights=(self.weights == 1.0).to(self.weights))

    def moved_by(self, ancestors: Bool[Tensor, "B J J"]) -> Ancestors:
        """Ancestors of the tokens with a target, and of those that look at a point."""
        return _of(ancestors, self.tokens), _of(ancestors, self.facing)

    def chains(self, ancestors: Bool[Tensor, "B J J"]) -> Bool[Tensor, "B J"]:
        """Tokens with a goal and those between them and the root; of `ancestry`."""
        at = torch.cat((self.tokens, self.facing), dim=-1)
        chain = _of(ancestors, at).any(1)
        chain[:, 0] = False
        return chain

    def reached(
        self, places: Float[Tensor, "B J 3"], turned: Float[Tensor, "B J 3 3"]
    ) -> Float[Tensor, "B H 3"]:
        """Where the points with a target are, of what `kinematics` returns."""
        turn = _of(turned.flatten(2), self.tokens).unflatten(-1, (3, 3))
        return _of(places, self.tokens) + (turn @ self.offsets[..., None]).squeeze(-1)

    def errors(
        self, places: Float[Tensor, "B J 3"], turned: Float[Tensor, "B J 3 3"]
    ) -> Float[Tensor, "B E"]:
        """What is missing, of what `kinematics` returns: body sizes, times the weights."""
        apart = (self.targets - self.reached(places, turned)) * self.weights[:, None]
        front = _of(turned[..., 2], self.facing)
        way = torch.nn.functional.normalize(self.points - _of(places, self.facing), dim=-1)
        return torch.cat((apart.flatten(1), _LOOK * (way - front).flatten(1)), dim=-1)

    def residual(self, body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
        """Largest distance of a point from its target, soft ones left out: body sizes."""
        apart = (self.targets - self.reached(*kinematics(body, states))).norm(dim=-1)
        apart = apart * self.hard.weights
        return torch.cat((apart.new_zeros(len(apart), 1), apart), dim=-1).amax(-1)


def reach(
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    goals: Goals,
    *,
    rounds: int,
    moved_by: Ancestors | None = None,
) -> Float[Tensor, "B J 3"]:
    """States that meet the goals as nearly as Levenberg-Marquardt brings them.

    A round that does not bring a pose nearer is not taken, and the next one is damped more. A pose
    that is close enough rests, so that answers do not depend on the batch.

    Args:
        body: A batch with the body of each state.
        states: Where to start.
        goals: What to meet.
        rounds: At most.
        moved_by: Of `Goals.moved_by`, where it is known already.
    """
    moved_by = goals.moved_by(ancestry(body)) if moved_by is None else moved_by
    damping = states.new_full((len(states), 1, 1), _DAMPING)
    places, turned = kinematics(body, states)
    error = goals.errors(places, turned)
    for _ in range(rounds):
        far = error.norm(dim=-1) >= _CLOSE
        if not bool(far.any()):
            break
        slopes = jacobian(body, states, places, turned, goals, moved_by)
        square = slopes @ slopes.transpose(-1, -2)
        one = torch.eye(square.shape[-1], dtype=square.dtype, device=square.device)
        # Damped, it is never singular. The plain `solve` waits for a GPU to say so.
        solved, _ = torch.linalg.solve_ex(square + damping * one, error[..., None])
        change = (slopes.transpose(-1, -2) @ solved).squeeze(-1)
        largest = change.abs().amax(-1, keepdim=True)
        change = change * (_LARGEST_STEP / largest.clamp_min(_LARGEST_STEP))
        moved = states + change.view_as(states)
        new_places, new_turned = kinematics(body, moved)
        after = goals.errors(new_places, new_turned)
        better = far & (after.norm(dim=-1) < error.norm(dim=-1))
        states = torch.where(better[:, None, None], moved, states)
        places = torch.where(better[:, None, None], new_places, places)
        turned = torch.where(better[:, None, None, None], new_turned, turned)
        error = torch.where(better[:, None], after, error)
        factor = torch.where(better, _EASE, _HARDEN)[:, None, None]
        damping = (damping * factor).clamp(_LEAST_DAMPING, _MOST_DAMPING)
    return states


def jacobian(
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    places: Float[Tensor, "B J 3"],
    turned: Float[Tensor, "B J 3 3"],
    goals: Goals,
    moved_by: Ancestors,
) -> Float[Tensor, "B E S"]:
    """Derivative of minus the errors by the state, one row an error.

    `places` and `turned` are those of `kinematics`, `moved_by` that of `Goals`.
    """
    axes = _turning_axes(body, states, turned)
    travel = _travel(goals.reached(places, turned), places, axes, moved_by[0])
    rows = (travel * goals.weights[:, None, None, None]).flatten(1, 2)
    if goals.facing.shape[-1]:
        eyes = _of(places, goals.facing)
        offset = goals.points - eyes
        distance = offset.norm(dim=-1)[..., None, None]
        way = offset / distance[..., 0].clamp_min(1e-6)
        travel = _travel(eyes, places, axes, moved_by[1]).flatten(3)  # [B L 3 S]
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
    right = torch.eye(3, dtype=skew.dtype, device=skew.device) - one * skew + two * (skew @ skew)
    axes = ANGLE_UNIT * turned @ right @ body.frames.transpose(-1, -2)
    axes[:, 0, :, 2] = 0.0  # the root's third number is its height
    return axes


def _tilt(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B 1 3"]:
    """Rotation vector of the root."""
    return (states[:, :1, None, :2] @ body.frames[:, :1, :2]).squeeze(-2) * ANGLE_UNIT


def _travel(
    points: Float[Tensor, "B H 3"],
    places: Float[Tensor, "B J 3"],
    axes: Float[Tensor, "B J 3 3"],
    moved_by: Bool[Tensor, "B H J"],
) -> Float[Tensor, "B H 3 J 3"]:
    """Derivative of points by the state."""
    lever = points[:, :, None] - places[:, None]  # [B H J 3]
    moved = torch.linalg.cross(*torch.broadcast_tensors(axes[:, None], lever[..., None]), dim=-2)
    moved = moved * moved_by[..., None, None]
    moved[:, :, 0, :, 2] = constant((0.0, HEIGHT_UNIT, 0.0), moved)
    return moved.transpose(2, 3)


def ancestry(body: PoseBody) -> Bool[Tensor, "B J J"]:
    """Whether a token (last axis) is another's (axis before) ancestor, or that one itself."""
    token = torch.arange(body.tokens, device=body.parents.device)
    above = (body.parents[..., None] == token) | (token[:, None] == token)
    # Each squaring doubles how far up is known.
    known = above.to(body.pivots)
    for _ in range(DOUBLINGS):
        known = (known @ known).clamp_max(1.0)
    return known > 0.5


def _of(values: Shaped[Tensor, "B J C"], tokens: Tensor) -> Shaped[Tensor, "B H C"]:
    """Values of tokens, the same ones for every row or each row its own."""
    index = tokens.expand(len(values), -1)[..., None].expand(-1, -1, values.shape[-1])
    return values.gather(1, index)
