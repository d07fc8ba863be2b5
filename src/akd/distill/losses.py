"""What a motion owes apart from what the prior says: smoothness, the ground, a pull to neutral."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.smooth import laplacian
from akd.rig.control import ControlPose
from akd.rig.skin import skin_points
from akd.splat.cloud import SplatCloud

_GROUND_POINTS = 400


def smoothness(controls: ControlPose, *, leg_length: float) -> Tensor:
    """Mean absolute second difference of the coordinates over time."""
    parts = torch.cat(
        (
            controls.angles.flatten(1),
            controls.heading,
            controls.translation / leg_length,
        ),
        dim=1,
    )
    return laplacian(parts).abs().mean()


def depth(cloud: SplatCloud, bones: Float[Tensor, "T B 4 4"], *, body_height: float) -> Tensor:
    """Mean depth of the surface under the ground, in body heights."""
    step = max(1, len(cloud) // _GROUND_POINTS)
    some = cloud[torch.arange(0, len(cloud), step, device=cloud.means.device)]
    points = skin_points(bones.to(some.means), some.means, some.bones, some.weights)
    return (-points[..., 1]).clamp_min(0.0).mean() / body_height


def departure(controls: ControlPose) -> Tensor:
    """Mean square of the angles."""
    return (
        controls.angles.square().mean() if controls.angles.numel() else controls.heading.sum() * 0
    )
