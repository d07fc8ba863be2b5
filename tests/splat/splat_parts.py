"""A small cloud, bones that move it and a camera that sees it."""

from __future__ import annotations

import torch

from akd.math import quaternion, transform
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud


def make_cloud(count: int = 60, *, bones: int = 3, degree: int = 0, seed: int = 0) -> SplatCloud:
    g = torch.Generator().manual_seed(seed)
    weights = torch.rand(count, 2, generator=g) + 0.05
    return SplatCloud(
        means=torch.rand(count, 3, generator=g) - torch.tensor([0.5, 0.0, 0.5]),
        scales=0.02 + 0.06 * torch.rand(count, 3, generator=g),
        rotations=quaternion.normalize(torch.randn(count, 4, generator=g)),
        opacities=0.2 + 0.7 * torch.rand(count, generator=g),
        sh=0.3 * torch.randn(count, (degree + 1) ** 2, 3, generator=g),
        bones=torch.randint(0, bones, (count, 2), generator=g),
        weights=weights / weights.sum(-1, keepdim=True),
    )


def make_bones(frames: int = 3, bones: int = 3, seed: int = 1) -> torch.Tensor:
    g = torch.Generator().manual_seed(seed)
    turn = quaternion.from_rotation_vector(0.4 * torch.randn(frames, bones, 3, generator=g))
    shift = 0.1 * torch.randn(frames, bones, 3, generator=g)
    return transform.compose(shift, turn, torch.ones(frames, bones, 3))


def make_camera(frames: int = 3, size: tuple[int, int] = (40, 32)) -> Camera:
    angle = torch.linspace(0.2, 0.9, frames)
    eye = torch.stack((2.5 * angle.sin(), 0.8 + 0 * angle, 2.5 * angle.cos()), dim=-1)
    target = torch.tensor([0.0, 0.4, 0.0]).expand(frames, 3)
    return Camera.look_at(eye, target, width=size[0], height=size[1])
