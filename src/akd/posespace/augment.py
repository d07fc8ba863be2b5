"""Body augmentation for training: other neutral poses, proportions, axes and missing joints.

Rigs of the same animal differ in exactly these. A few hundred bodies are easily memorised, and a
model that knows its bodies by heart says nothing about a new one.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.math import quaternion
from akd.posespace.body import PoseBody, descend, kinematics, local_rotations
from akd.posespace.ground import clearance, lifted
from akd.posespace.settings import ANGLE_UNIT, LIMIT_FEATURES, PoseTrainSettings


def augmented(
    body: PoseBody,
    states: Float[Tensor, "P J 3"],
    settings: PoseTrainSettings,
    generator: torch.Generator,
) -> tuple[PoseBody, Float[Tensor, "P J 3"]]:
    """Other bodies in the same poses.

    Args:
        body: A batch of B bodies.
        states: The same number of states of each body, one body after the other.
        settings: How much bodies change.
        generator: On the device of the states.

    Returns:
        The bodies and their states. Each pose is as high above the ground as it was.
    """
    s, device = settings, states.device
    count, each = len(body.present), len(states) // len(body.present)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, device=device)

    def uniform(*shape: int) -> Tensor:
        return torch.rand(*shape, generator=generator, device=device)

    index = torch.arange(count, device=device).repeat_interleave(each)
    gap = clearance(body[index], states)
    # How much a body changes is drawn as well: many stay nearly as they are.
    amount = uniform(count, 1, 1)
    symmetric = uniform(count, 1) < s.symmetric
    neutral = amount * s.neutral * _paired(body, normal(*body.pivots.shape), symmetric)
    twist = amount * s.axes * _paired(body, normal(*body.pivots.shape), symmetric)
    scale = torch.exp(amount * s.lengths * _paired(body, normal(*body.pivots.shape), symmetric))

    result, moved = rebased(body, states, neutral / ANGLE_UNIT)
    result, moved = reframed(result, moved, twist)
    result = result.stretched(1.0 + s.stretch * normal(count, 3))
    result = resized(result, scale[..., 0])
    moved = lifted(moved, gap - clearance(result[index], moved))
    bare = uniform(count, 1) < s.drop_surface
    leaves = _leaves(result) & (uniform(*body.present.shape) < s.drop_leaves)
    result = replace(result, present=result.present & ~leaves, has_points=result.has_points & ~bare)
    result = hidden(
        result,
        names=(uniform(count, 1) < s.drop_names) | (uniform(*body.present.shape) < s.drop_name),
        roles=(uniform(count, 1) < s.drop_roles) | (uniform(*body.present.shape) < s.drop_role),
    )
    return result, moved * result.present[index][..., None]


def rebased(
    body: PoseBody, states: Float[Tensor, "P J 3"], neutral: Float[Tensor, "B J 3"]
) -> tuple[PoseBody, Float[Tensor, "P J 3"]]:
    """The same bodies and poses, with `neutral` as the neutral pose; the root stays as it is."""
    each = len(states) // len(body.present)
    neutral = neutral * body.present[..., None]
    neutral = torch.cat((torch.zeros_like(neutral[:, :1]), neutral[:, 1:]), dim=1)
    places, turned = kinematics(body, neutral)
    result = replace(
        body,
        pivots=places,
        frames=body.frames @ turned.transpose(-1, -2),
        ends=(turned @ body.ends[..., None]).squeeze(-1),
        points=body.points @ turned.transpose(-1, -2),
    )
    # With N the neutral rotation of a joint and L that of the pose, the joint now turns by
    # L N^-1; its axes turned with it, so that N takes the vector into them.
    back = local_rotations(body, neutral).transpose(-1, -2).repeat_interleave(each, dim=0)
    frames = body.frames.repeat_interleave(each, dim=0)
    local = local_rotations(_repeated(body, each), states)
    turn = quaternion.to_rotation_vector(quaternion.from_matrix(local @ back))
    vectors = (frames @ back @ turn[..., None]).squeeze(-1) / ANGLE_UNIT
    return result, torch.cat((states[:, :1], vectors[:, 1:]), dim=1)


def reframed(
    body: PoseBody, states: Float[Tensor, "P J 3"], turn: Float[Tensor, "B J 3"]
) -> tuple[PoseBody, Float[Tensor, "P J 3"]]:
    """The same bodies and poses in other joint axes, turned by rotation vectors within the old."""
    each = len(states) // len(body.present)
    turn = torch.cat((torch.zeros_like(turn[:, :1]), turn[:, 1:]), dim=1)
    matrix = quaternion.to_matrix(quaternion.from_rotation_vector(turn))
    spread = matrix.repeat_interleave(each, dim=0)
    return replace(body, frames=matrix @ body.frames), (spread @ states[..., None]).squeeze(-1)


def resized(body: PoseBody, factors: Float[Tensor, "B J"]) -> PoseBody:
    """Bones, and the surface on them, lengthened by a factor each."""
    above = body.parents[..., None].expand_as(body.pivots)
    factor = factors[..., None]
    edges = (body.pivots - body.pivots.gather(-2, above)) * factor.gather(-2, above[..., :1])
    upright = torch.eye(3).to(edges).expand_as(body.frames)
    return replace(
        body,
        pivots=descend(body.parents, edges, upright)[0],
        ends=body.ends * factor,
        points=body.points * factor[..., None],
    )


def hidden(body: PoseBody, *, names: Bool[Tensor, "B J"], roles: Bool[Tensor, "B J"]) -> PoseBody:
    """Bodies without some of their names and roles; limits follow from roles and go with them."""
    features = body.features.clone()
    features[..., LIMIT_FEATURES] *= ~roles[..., None]
    return replace(
        body,
        features=features,
        names=body.names * ~names[..., None],
        roles=body.roles.masked_fill(roles[..., None], 0),
    )


def _paired(
    body: PoseBody, values: Float[Tensor, "B J 3"], symmetric: Bool[Tensor, "B 1"]
) -> Float[Tensor, "B J 3"]:
    """Equal values left and right, and on the midline none that would break the symmetry."""
    token = torch.arange(body.tokens, device=values.device).expand_as(body.mirror)
    first = torch.where(body.mirror < 0, token, torch.minimum(token, body.mirror))
    shared = values.gather(-2, first[..., None].expand_as(values))
    midline = (body.mirror == token)[..., None]
    flexion = shared * values.new_tensor((1.0, 0.0, 0.0))
    return torch.where(symmetric[..., None], torch.where(midline, flexion, shared), values)


def _leaves(body: PoseBody) -> Bool[Tensor, "B J"]:
    """Joints without children; never the root."""
    has_child = torch.zeros_like(body.present)
    has_child.scatter_(1, body.parents.masked_fill(~body.present, 0), True)
    has_child[:, 0] = True
    return body.present & ~has_child


def _repeated(body: PoseBody, times: int) -> PoseBody:
    index = torch.arange(len(body.present), device=body.pivots.device)
    return body[index.repeat_interleave(times)]
