"""Poses made implausible on purpose: what the judge learns from, and what measures it."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.math import quaternion
from akd.posespace.body import PoseBody
from akd.posespace.ground import clearance, lifted
from akd.posespace.settings import ANGLE_UNIT

_ROUNDS = 6
"""Doublings that reach the start of a limb from its tip."""


def twist_one_joint(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """One random joint of each pose turned about its own bone by 60 degrees, either way."""
    sign = torch.where(_uniform(states, generator, len(states), 1) < 0.5, -1.0, 1.0)
    about = torch.zeros_like(states[:, 0])
    about[:, 2:] = sign * math.radians(60.0)
    return _turn_one(body, states, about, generator)


def turn_one_joint(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """One random joint of each pose turned by 30 to 120 degrees about a random axis; in half of
    them about its bone."""
    axis = torch.randn(len(states), 3, generator=generator, device=states.device)
    along = axis * axis.new_tensor((0.0, 0.0, 1.0))
    axis = torch.where(_uniform(states, generator, len(states), 1) < 0.5, along, axis)
    angle = 30.0 + 90.0 * _uniform(states, generator, len(states), 1)
    about = torch.nn.functional.normalize(axis, dim=-1) * torch.deg2rad(angle)
    return _turn_one(body, states, about, generator)


def swap_one_limb(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """The joints of one random limb exchanged with those of its mirror image.

    Poses of bodies without a pair of limbs are returned as they are.
    """
    token = torch.arange(body.tokens, device=states.device)
    paired = (body.mirror != token) & (body.mirror >= 0) & body.present
    # A limb begins at a paired token whose parent is on the midline.
    starts = paired & ~paired.gather(-1, body.parents)
    above = torch.where(starts | (token == 0), token, body.parents)
    for _ in range(_ROUNDS):
        above = above.gather(-1, above)
    chance = _uniform(states, generator, *starts.shape) * starts
    start = chance.argmax(-1, keepdim=True)
    other = body.mirror.gather(-1, start)
    limb = ((above == start) | (above == other)) & paired & starts.any(-1, keepdim=True)
    partner = body.mirror.clamp_min(0)[..., None].expand_as(states)
    return torch.where(limb[..., None], states.gather(-2, partner), states)


def random_angles(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """Every joint turned as far as in the pose, about a random axis; the root as it was."""
    way = torch.randn(states.shape, generator=generator, device=states.device)
    size = states.norm(dim=-1, keepdim=True)
    result = size * way / way.norm(dim=-1, keepdim=True).clamp_min(1e-9)
    result[:, 0] = states[:, 0]
    return result * body.present[..., None]


def jitter(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """Gaussian noise of a random strength on a random part of the joints."""
    count = len(states)
    strength = 0.3 + 1.2 * _uniform(states, generator, count, 1, 1)
    part = _uniform(states, generator, *body.present.shape) < _uniform(states, generator, count, 1)
    noise = torch.randn(states.shape, generator=generator, device=states.device)
    return states + strength * noise * (part & body.present)[..., None]


def leave_ground(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """Each pose as it is but higher, or lower and in the ground, by 0.08 to 0.35 body sizes."""
    by = 0.08 + (0.35 - 0.08) * _uniform(states, generator, len(states))
    sink = -by - clearance(body, states).clamp_min(0.0)
    return lifted(states, torch.where(_uniform(states, generator, len(states)) < 0.5, by, sink))


def spoil(
    body: PoseBody, states: Float[Tensor, "B J 3"], generator: torch.Generator
) -> Float[Tensor, "B J 3"]:
    """Each pose spoilt in one of the ways above, drawn at random."""
    ways = (turn_one_joint, swap_one_limb, random_angles, jitter, leave_ground)
    spoilt = torch.stack([way(body, states, generator) for way in ways])
    kind = torch.randint(len(ways), (len(states),), generator=generator, device=states.device)
    return spoilt[kind, torch.arange(len(states), device=states.device)]


def _uniform(states: Tensor, generator: torch.Generator, *shape: int) -> Tensor:
    return torch.rand(*shape, generator=generator, device=states.device)


def _turn_one(
    body: PoseBody,
    states: Float[Tensor, "B J 3"],
    about: Float[Tensor, "B 3"],
    generator: torch.Generator,
) -> Float[Tensor, "B J 3"]:
    """One random joint of each pose turned by a rotation vector in its own axes, radians."""
    joints = body.present.clone()
    joints[:, 0] = False
    chosen = (_uniform(states, generator, *joints.shape) * joints).argmax(-1)
    turned = quaternion.multiply(
        quaternion.from_rotation_vector(states * ANGLE_UNIT),
        quaternion.from_rotation_vector(about)[:, None],
    )
    picked: Bool[Tensor, "B J"] = torch.arange(body.tokens, device=states.device) == chosen[:, None]
    result = quaternion.to_rotation_vector(turned) / ANGLE_UNIT
    return torch.where(picked[..., None], result, states)
