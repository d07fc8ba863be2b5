"""Self-intersection of posed bodies: spheres along the bones, as thick as the surface around them.

Batched and differentiable, from a `PoseBody` alone.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody, bone_ends, kinematics
from akd.posespace.settings import STEPS

INTERSECTS = 0.035
"""Depth, in body sizes, from which a pose counts as intersecting itself: about the 95th percentile
of true poses of the training side."""
_SPHERES = 4
"""Along each bone."""
_APART = 3
"""Bones fewer steps apart in the tree always touch."""


def intersection_depth(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
    """How much deeper than in the neutral pose any two bones are inside each other, body sizes.

    Args:
        body: A batch with the body of each state.
        states: Of `PoseCodec.encode`.

    Returns:
        The largest depth over all pairs of bones; zero where none touch.
    """
    radius = _radii(body)
    neutral = _overlap(body, torch.zeros_like(states), radius).clamp_min(0.0)
    deeper = _overlap(body, states, radius) - neutral
    steps = body.relation % (STEPS * STEPS)
    far = steps // STEPS + steps % STEPS >= _APART
    solid = body.present & body.has_points
    pairs = far & solid[:, :, None] & solid[:, None, :]
    return deeper.masked_fill(~pairs, 0.0).flatten(1).amax(-1).clamp_min(0.0)


def _radii(body: PoseBody) -> Float[Tensor, "B J"]:
    """Median distance of a token's surface from its bone."""
    length = body.ends.square().sum(-1).clamp_min(1e-9)
    along = (body.points * body.ends[..., None, :]).sum(-1) / length[..., None]
    nearest = along.clamp(0.0, 1.0)[..., None] * body.ends[..., None, :]
    return (body.points - nearest).norm(dim=-1).median(-1).values


def _overlap(
    body: PoseBody, states: Float[Tensor, "B J 3"], radius: Float[Tensor, "B J"]
) -> Float[Tensor, "B J J"]:
    """How far the spheres of each pair of bones reach into each other; negative for a gap."""
    places, turned = kinematics(body, states)
    ends = bone_ends(body, places, turned)
    share = torch.linspace(0.0, 1.0, _SPHERES, device=states.device)[:, None]
    centres = torch.lerp(places[..., None, :], ends[..., None, :], share).flatten(1, 2)
    apart = torch.cdist(centres, centres)
    count = body.tokens
    nearest = apart.unflatten(2, (count, -1)).unflatten(1, (count, -1)).amin((2, 4))
    return radius[:, :, None] + radius[:, None, :] - nearest
