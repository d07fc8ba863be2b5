"""The checkerboard ground, ray-cast and filtered by area, so that it does not shimmer.

A checkerboard is the product of two square waves; a box filter over a pixel's footprint is the
product of two differences of the waves' integrals, so no pixel needs more than one evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.math.srgb import to_linear, to_srgb
from akd.scene.settings import GroundSettings
from akd.splat.camera import Camera


@dataclass(frozen=True)
class GroundHits:
    """Where every pixel's ray meets the plane y = 0."""

    points: Float[Tensor, "T H W 2"]
    """World x and z, metres; meaningless where `hit` is false."""
    footprint: Float[Tensor, "T H W 2"]
    """Extent of the pixel on the ground along x and z, metres."""
    distance: Float[Tensor, "T H W"]
    """Metres from the eye."""
    hit: Bool[Tensor, "T H W"]


def hit_ground(camera: Camera) -> GroundHits:
    """Cast a ray through every pixel's centre, with its derivatives, onto the plane y = 0.

    A ray D meets it at P = eye - eye_y D / D_y: an affine function of the eye, with factors that
    depend on the rotation alone. Where that is fixed, only the eye is followed back.
    """
    like, rotation, eye = camera.focal, camera.rotation, camera.eye
    x = torch.arange(camera.width, dtype=like.dtype, device=like.device) + 0.5
    y = torch.arange(camera.height, dtype=like.dtype, device=like.device) + 0.5
    # Directions D = R^T (u, v, 1), linear in the pixel; not of unit length.
    along_x = rotation[:, 0] / camera.focal[:, :1]
    along_y = rotation[:, 1] / camera.focal[:, 1:]
    axis = rotation[:, 2] - camera.centre[:, :1] * along_x - camera.centre[:, 1:] * along_y
    along_x, along_y, axis = (v[:, None, None] for v in (along_x, along_y, axis))
    rays = axis + x[None, None, :, None] * along_x + y[None, :, None, None] * along_y
    drop = -eye[:, None, None, 1]
    slope = rays[..., 1]
    hit = slope * drop > 1e-9 * rays.norm(dim=-1)
    over = torch.where(hit, slope, torch.ones_like(slope)).reciprocal()[..., None]
    tilt = rays * over
    points = eye[:, None, None, ::2] + drop[..., None] * tilt[..., ::2]
    # dP = drop / D_y (dD - D dD_y / D_y).
    step_x = along_x[..., ::2] - tilt[..., ::2] * along_x[..., 1:2]
    step_y = along_y[..., ::2] - tilt[..., ::2] * along_y[..., 1:2]
    footprint = drop[..., None].abs() * (over.abs() * (step_x.abs() + step_y.abs()))
    return GroundHits(points, footprint, drop.abs() * tilt.norm(dim=-1), hit)


def _wave_integral(x: Tensor) -> Tensor:
    """Integral of the square wave that is +1 on [0, 1) and -1 on [1, 2): a triangle of height 1."""
    phase = torch.remainder(x, 2.0)
    return 1.0 - (phase - 1.0).abs()


def checker(
    points: Float[Tensor, "*b 2"], footprint: Float[Tensor, "*b 2"], square: float
) -> Float[Tensor, "*b"]:
    """Share of the light squares in a box of size `footprint` around each point, 0..1."""
    width = (footprint / square).clamp_min(1e-4)
    middle = points / square
    waves = (_wave_integral(middle + 0.5 * width) - _wave_integral(middle - 0.5 * width)) / width
    return 0.5 + 0.5 * waves[..., 0] * waves[..., 1]


@cache
def _linear(
    colour: tuple[float, float, float], dtype: torch.dtype, device: torch.device
) -> Float[Tensor, "3"]:
    """A colour as linear light, made once: see `akd.math.resident`."""
    return to_linear(torch.tensor(colour, dtype=dtype, device=device))


def paint_ground(
    camera: Camera,
    settings: GroundSettings,
    *,
    body_height: float = 1.0,
    shade: Float[Tensor, "T H W"] | None = None,
    hits: GroundHits | None = None,
) -> Float[Tensor, "T H W 3"]:
    """The ground and what is behind it, sRGB. `shade` multiplies the ground's light, 0..1."""
    hits = hits or hit_ground(camera)
    like = camera.focal

    share = checker(hits.points, hits.footprint, settings.square * body_height)[..., None]
    dark, light, behind = (
        _linear(colour, like.dtype, like.device)
        for colour in (settings.dark, settings.light, settings.background)
    )
    ground = torch.lerp(dark, light, share)
    if shade is not None:
        ground = ground * shade[..., None]
    seen = hits.hit[..., None].to(like.dtype)
    if settings.fade > 0.0:
        seen = seen * torch.exp(-hits.distance / (settings.fade * body_height))[..., None]
    return to_srgb(torch.lerp(behind, ground, seen))
