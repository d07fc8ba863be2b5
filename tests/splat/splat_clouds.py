"""Random clouds, and the comparison of a rasterizer with the reference implementation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from akd.math import quaternion
from akd.splat import rasterize as fast
from akd.splat.raster_call import RasterCall
from akd.splat.reference import rasterize_reference

LEAVES = ("camera_from_mesh", "means", "factors", "colours", "opacities")


def random_call(
    splats: int = 150,
    *,
    frames: int = 2,
    bones: int = 5,
    influences: int = 3,
    width: int = 37,
    height: int = 29,
    depth: tuple[float, float] = (2.0, 4.0),
    side: float = 0.9,
    scale: tuple[float, float] = (0.02, 0.12),
    layers: int = 1,
    seed: int = 0,
) -> dict:
    """Arguments of `rasterize`, float64 but exact in float32, `side` metres around the axis."""
    g = torch.Generator().manual_seed(seed)

    def uniform(*shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=g, dtype=torch.float64)

    means = torch.cat(
        (
            uniform(splats, 2, low=-side, high=side),
            uniform(splats, 1, low=depth[0], high=depth[1]),
        ),
        dim=-1,
    )
    turn = quaternion.from_rotation_vector(uniform(frames, bones, 3, low=-0.15, high=0.15))
    shift = uniform(frames, bones, 3, low=-0.05, high=0.05)
    transforms = torch.cat((quaternion.to_matrix(turn), shift[..., None]), dim=-1)
    axes = quaternion.to_matrix(
        quaternion.normalize(torch.randn(splats, 4, generator=g, dtype=torch.float64))
    )
    log = (math.log(scale[0]), math.log(scale[1]))
    scales = torch.exp(uniform(splats, 3, low=log[0], high=log[1]))
    weights = uniform(splats, influences, low=0.1)
    focal = 1.1 * height
    call = {
        "camera_from_mesh": transforms,
        "means": means,
        "factors": axes * scales[:, None, :],
        "colours": uniform(layers, splats, 3),
        "opacities": uniform(splats, low=0.05, high=1.0),
        "bones": torch.randint(0, bones, (splats, influences), generator=g),
        "weights": weights / weights.sum(-1, keepdim=True),
        "intrinsics": torch.tensor(
            [focal, 1.05 * focal, 0.5 * width + 1.0, 0.5 * height - 0.5], dtype=torch.float64
        ).expand(frames, 4),
        "width": width,
        "height": height,
    }
    return {k: exact(v) for k, v in call.items()}


def exact(value: object) -> object:
    """Round a tensor to what float32 can hold, kept as float64."""
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.float().double()
    return value


def as_single(call: dict) -> dict:
    return {
        k: v.float() if isinstance(v, Tensor) and v.is_floating_point() else v
        for k, v in call.items()
    }


@dataclass
class Outcome:
    image: Tensor
    transmittance: Tensor
    gradients: dict[str, Tensor]


def differentiate(function, call: dict, *, seed: int = 5) -> Outcome:
    """Run, then pull one random gradient back to every leaf."""
    call = dict(call)
    for name in LEAVES:
        call[name] = call[name].clone().requires_grad_()
    image, transmittance = function(**call)
    g = torch.Generator().manual_seed(seed)
    pull = (
        torch.randn(image.shape, generator=g, dtype=torch.float64).to(image.dtype),
        torch.randn(transmittance.shape, generator=g, dtype=torch.float64).to(image.dtype),
    )
    grads = torch.autograd.grad(
        (image, transmittance), [call[n] for n in LEAVES], pull, materialize_grads=True
    )
    return Outcome(image.detach(), transmittance.detach(), dict(zip(LEAVES, grads, strict=True)))


def rasterize(
    *, threads: int | None = None, tiles: bool | None = None, **call: Any
) -> tuple[Tensor, Tensor]:
    return fast.rasterize(RasterCall(**call), threads=threads, tiles=tiles)


def reference(**call: Any) -> tuple[Tensor, Tensor]:
    return rasterize_reference(RasterCall(**call))


def assert_same(
    fast: Outcome, slow: Outcome, *, image: float = 5e-6, gradient: float = 5e-5
) -> None:
    assert float((fast.image.double() - slow.image).abs().max()) < image
    assert float((fast.transmittance.double() - slow.transmittance).abs().max()) < image
    for name in LEAVES:
        a, b = fast.gradients[name].double(), slow.gradients[name]
        assert torch.isfinite(a).all(), name
        assert float((a - b).norm()) <= gradient * float(b.norm()) + 1e-9, name
