"""Three angles about three given axes: R = rot(u1, a1) rot(u2, a2) rot(u3, a3).

The middle axis is perpendicular to the other two; the outer ones may have any angle between them.
Euler angles are the case of perpendicular outer axes. The chain is singular (a gimbal) where the
middle rotation brings u3 on to u1, so tilting u3 moves the gimbal to where a joint never goes.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion


def to_quaternion(
    axes: Float[Tensor, "*#b 3 3"], angles: Float[Tensor, "*#b 3"]
) -> Float[Tensor, "*_ 4"]:
    """Rotation (wxyz) of the chain. `axes` holds u1, u2, u3 as rows; `angles` are radians."""
    first, second, third = (
        quaternion.about_axis(axes[..., i, :], angles[..., i]) for i in range(3)
    )
    return quaternion.multiply(quaternion.multiply(first, second), third)


def from_quaternion(
    axes: Float[Tensor, "*#b 3 3"], rotation: Float[Tensor, "*#b 4"]
) -> Float[Tensor, "*_ 3"]:
    """Angles of the chain that gives `rotation`, each in (-pi, pi], on the branch of zero."""
    u1, u2, u3 = axes.unbind(-2)
    e = torch.linalg.cross(u2, u1)
    # u3 = cos(tilt) u1 + sin(tilt) e, and the middle rotation adds its angle to the tilt.
    tilt = torch.atan2((u3 * e).sum(-1), (u3 * u1).sum(-1))
    branch = torch.where(tilt < 0, -1.0, 1.0).to(rotation.dtype)
    image = quaternion.rotate(rotation, u3)
    along = (image * u1).sum(-1)
    across = (image * e).sum(-1) * branch
    beyond = (image * torch.linalg.cross(u1, e)).sum(-1) * branch
    a1 = torch.atan2(beyond, across)
    a2 = branch * torch.atan2(torch.hypot(across, beyond), along) - tilt
    outer = quaternion.multiply(quaternion.about_axis(u1, a1), quaternion.about_axis(u2, a2))
    rest = quaternion.multiply(quaternion.conjugate(outer), rotation)
    a3 = 2.0 * torch.atan2((rest[..., 1:] * u3).sum(-1), rest[..., 0])
    return wrap(torch.stack((a1, a2, a3), dim=-1))


def wrap(angles: Float[Tensor, "*b"]) -> Float[Tensor, "*b"]:
    """Bring angles into [-pi, pi)."""
    return torch.remainder(angles + math.pi, 2.0 * math.pi) - math.pi


def unwrap(
    axes: Float[Tensor, "*#b 3 3"], angles: Float[Tensor, "T *b 3"]
) -> Float[Tensor, "T *b 3"]:
    """The same rotations over time with angles that do not jump. Not differentiable.

    Every rotation has two sets of angles, each up to whole turns; at each frame the one nearest to
    the frame before is taken. In the gimbal only the sum or the difference of the outer angles
    means anything: the first one stays as it was and the third makes up for it.
    """
    u1, u2, u3 = axes.detach().double().cpu().unbind(-2)
    e = torch.linalg.cross(u2, u1)
    tilt = torch.atan2((u3 * e).sum(-1), (u3 * u1).sum(-1)).numpy()
    frames = angles.detach().double().cpu().numpy().copy()
    for previous, current in pairwise(frames):
        reach = current[..., 1] + tilt
        locked = np.abs(np.sin(reach)) < 1e-6
        excess = np.where(locked, _wrapped(current[..., 0] - previous[..., 0]), 0.0)
        current[..., 0] -= excess
        current[..., 2] += np.sign(np.cos(reach)) * excess
        other = np.stack(
            (current[..., 0] + math.pi, -current[..., 1] - 2.0 * tilt, current[..., 2] + math.pi),
            axis=-1,
        )
        near, far = _wrapped(current - previous), _wrapped(other - previous)
        nearer = (near * near).sum(-1) <= (far * far).sum(-1)
        current[...] = previous + np.where(nearer[..., None], near, far)
    return torch.from_numpy(frames).to(angles)


def _wrapped(angles: np.ndarray | np.floating) -> np.ndarray | np.floating:
    return (angles + math.pi) % (2.0 * math.pi) - math.pi
