"""`rasterize`: Gaussians carried by bones, as images, with gradients for everything.

Skinning, projection and blending happen in one call; nothing of the size of frames x Gaussians x
3 x 3 is made. The kernels see `camera_from_mesh` transforms only, so the gradients to the camera's
pose and to the bones follow from one small matrix product that autograd does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.splat.raster_cpu import CpuRaster
from akd.splat.raster_inputs import Inputs
from akd.splat.raster_tiles import TileRaster


class _Rasterize(torch.autograd.Function):
    """The bridge between autograd and the kernels. `shape` is factors or covariances."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        transforms: Tensor,
        means: Tensor,
        shape: Tensor,
        colours: Tensor,
        opacities: Tensor,
        inputs: Inputs,
        is_factor: bool,
        threads: int | None,
        tiles: bool,
    ) -> tuple[Tensor, Tensor]:
        raster = TileRaster(inputs) if tiles else CpuRaster(inputs, threads)
        raster.forward()
        ctx.raster, ctx.is_factor = raster, is_factor
        ctx.set_materialize_grads(False)
        size = (inputs.frames, inputs.height, inputs.width)
        return raster.image.view(*size, 3), raster.transmittance.view(size)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(  # type: ignore[override]
        ctx: Any, d_image: Tensor | None, d_transmittance: Tensor | None
    ) -> tuple:
        raster = ctx.raster
        if d_image is None:
            d_image = _nothing(raster.image)
        if d_transmittance is None:
            d_transmittance = _nothing(raster.transmittance)
        cloud_too = any(ctx.needs_input_grad[1:5])
        d_transforms, d_means, six, d_colours, d_opacities = raster.backward(
            d_image.reshape(raster.image.shape).contiguous(),
            d_transmittance.reshape(raster.transmittance.shape).contiguous(),
            cloud_too=cloud_too,
        )
        if not cloud_too:
            return (d_transforms, *(None,) * 8)
        d_shape = six[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].unflatten(-1, (3, 3))
        if ctx.is_factor:
            # S = M M^T, so dM = 2 dS M.
            d_shape = 2.0 * d_shape @ raster.inputs.factors
        return (d_transforms, d_means, d_shape, d_colours, d_opacities, *(None,) * 4)


def _nothing(like: Tensor) -> Tensor:
    """Zeros; on the CPU made without waking torch's threads, which would get in our own's way."""
    if like.is_cuda:
        return torch.zeros_like(like)
    return torch.from_numpy(np.zeros(like.shape, dtype=np.float32))


def covariance_factors(covariances: Float[Tensor, "N 3 3"]) -> Float[Tensor, "N 3 3"]:
    """M with M M^T = S for symmetric positive semidefinite S; no gradient passes through here."""
    with torch.no_grad():
        values, vectors = torch.linalg.eigh(covariances.double())
        return (vectors * values.clamp_min(0.0).sqrt()[..., None, :]).to(covariances.dtype)


def rasterize(
    camera_from_mesh: Float[Tensor, "T B 3 4"],
    means: Float[Tensor, "N 3"],
    colours: Float[Tensor, "C N 3"],
    opacities: Float[Tensor, "N"],
    bones: Int[Tensor, "N K"],
    weights: Float[Tensor, "N K"],
    intrinsics: Float[Tensor, "T 4"],
    width: int,
    height: int,
    *,
    factors: Float[Tensor, "N 3 3"] | None = None,
    covariances: Float[Tensor, "N 3 3"] | None = None,
    grounds: Float[Tensor, "T 4"] | None = None,
    antialias: bool = False,
    threads: int | None = None,
    tiles: bool | None = None,
) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "T H W"]]:
    """Colour of the splats over black, and their transmittance.

    `means` (metres) and the shapes are in the mesh's bind space; `camera_from_mesh` takes each bone
    to the camera's frame, frame by frame. The shape of a Gaussian is its covariance or, better
    conditioned, a factor M with S = M M^T, such as rotation times scales. `colours` has one layer
    for all frames (C = 1) or one a frame. `intrinsics` are fx, fy, cx, cy in pixels and get no
    gradient. `grounds` are planes in the camera's frame below which Gaussians are switched off.
    `antialias` weakens a Gaussian by as much as the low-pass widens it, so that a cloud looks alike
    at every size; without it, the image is that of classic 3DGS. Runs in float32 on the tensors'
    device; `threads` is for the CPU. `tiles` chooses the kernels: those made for CUDA, or those
    made for the CPU; None leaves it to the device.
    """
    if (factors is None) == (covariances is None):
        raise ValueError("rasterize needs either factors or covariances, and not both")
    frames, splats = camera_from_mesh.shape[0], means.shape[0]
    if colours.shape[0] not in (1, frames):
        raise ValueError(
            f"colours must have one layer or one a frame ({frames}), got {colours.shape[0]}"
        )
    if splats == 0 or frames == 0:
        empty = means.new_zeros(frames, height, width, 3, dtype=torch.float32)
        return empty, empty.new_ones(frames, height, width)
    shape = factors if factors is not None else covariances
    assert shape is not None
    device = means.device

    def plain(tensor: Tensor) -> Tensor:
        return tensor.detach().to(device=device, dtype=torch.float32).contiguous()

    inputs = Inputs(
        transforms=plain(camera_from_mesh),
        means=plain(means),
        factors=plain(shape if factors is not None else covariance_factors(shape)),
        colours=plain(colours),
        opacities=plain(opacities),
        bones=bones.detach().to(device=device, dtype=torch.int32).contiguous(),
        bones_key=bones,
        weights=plain(weights),
        intrinsics=plain(intrinsics),
        grounds=plain(intrinsics.new_zeros(0, 4) if grounds is None else grounds),
        width=width,
        height=height,
        antialias=antialias,
    )
    by_tiles = means.is_cuda if tiles is None else tiles
    if means.is_cuda and not by_tiles:
        raise ValueError("tiles=False is for the CPU; the cloud is on a CUDA device")
    with_gradient = (camera_from_mesh, means, shape, colours, opacities)
    single = (x.to(dtype=torch.float32) for x in with_gradient)
    result: Any = _Rasterize.apply(*single, inputs, factors is not None, threads, by_tiles)
    return result
