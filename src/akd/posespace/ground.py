"""The ground under a pose: the lowest point of its skin, and clips put on the ground."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody, kinematics
from akd.posespace.settings import HEIGHT_UNIT

SINK = 0.02
"""Body sizes that a pose may be below the ground: soles are known by a dozen points each."""
STANDING = 0.1
"""Largest clearance of a pose that does not leave the ground: 99 % of the true poses of walking,
standing and turning on the training side are lower."""
FLIGHT = 0.3
"""Largest clearance of any pose: 99 % of the true poses of the training side are lower."""
_AIRBORNE = 0.5
"""Seconds from a pose within which its body touches the ground: a man who jumps 0.5 m high is in
the air for 0.64 s. A body that is up for longer climbs or hangs on something that is not there."""


def token_heights(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B J"]:
    """Height of the lowest surface point of each token, or of the joints of a body without skin.

    Body sizes, from the root's neutral place, as in `kinematics`; infinite for tokens without skin.
    """
    places, turned = kinematics(body, states)
    joints = places[..., 1]
    skin = joints[..., None] + (body.points @ turned[..., 1, :, None]).squeeze(-1)
    covered = body.present & body.has_points
    bare = body.present & ~covered.any(-1, keepdim=True)
    return torch.where(
        covered, skin.amin(-1), torch.where(bare, joints, torch.full_like(joints, torch.inf))
    )


def lowest(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
    """Height of the lowest surface point, or joint of a body without skin, body sizes."""
    return token_heights(body, states).amin(-1)


def clearance(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B"]:
    """Gap between a posed body and the ground it stands on in the neutral pose, body sizes.

    Negative for a body that sinks into the ground.
    """
    return lowest(body, states) - lowest(body, torch.zeros_like(states))


def ground_excess(
    body: PoseBody, states: Float[Tensor, "B J 3"], *, highest: float = FLIGHT
) -> Float[Tensor, "B"]:
    """How far a pose is above `highest` or in the ground, body sizes; zero between."""
    gap = clearance(body, states)
    return torch.maximum(gap - highest, -gap - SINK).clamp_min(0.0)


def lifted(states: Float[Tensor, "B J 3"], height: Float[Tensor, "B"]) -> Float[Tensor, "B J 3"]:
    """States whose root is higher by this many body sizes."""
    up = torch.zeros_like(states)
    up[:, 0, 2] = height / HEIGHT_UNIT
    return states + up


def settled(body: PoseBody, states: Float[Tensor, "B J 3"]) -> Float[Tensor, "B J 3"]:
    """States that stand on the ground where they are nearly on it; those that leap stay as high."""
    gap = clearance(body, states)
    return lifted(states, torch.where(gap.abs() < STANDING, -gap, torch.zeros_like(gap)))


def grounded(
    body: PoseBody, states: Float[Tensor, "T J 3"], *, fps: float
) -> Float[Tensor, "T J 3"]:
    """States of a clip, each above the lowest point that the body reaches about that time.

    Files disagree on where the ground is, and motion capture goes up stairs.
    """
    gap = clearance(body.expand(len(states)), states)
    reach = round(_AIRBORNE * fps)
    floor = -torch.nn.functional.max_pool1d(-gap[None], 2 * reach + 1, stride=1, padding=reach)[0]
    return lifted(states, -floor)
