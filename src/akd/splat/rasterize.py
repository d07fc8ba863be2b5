"""`rasterize`: Gaussians carried by bones, as images, with gradients for everything.

Skinning, projection and blending happen in one call; nothing of the size of frames x Gaussians x
3 x 3 is made. The kernels see `camera_from_mesh` transforms only, so the gradients to the camera's
pose and to the bones follow from one small matrix product that autograd does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.splat.raster_call import RasterCall
from akd.splat.raster_cpu import CpuRaster
from akd.splat.raster_tiles import TileRaster


class _Rasterize(torch.autograd.Function):
    """The bridge between autograd and the kernels."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any,
        transforms: Tensor,
        means: Tensor,
        factors: Tensor,
        colours: Tensor,
        opacities: Tensor,
        call: RasterCall,
        threads: int | None,
        tiles: bool,
    ) -> tuple[Tensor, Tensor]:
        raster = TileRaster(call) if tiles else CpuRaster(call, threads)
        raster.forward()
        ctx.raster = raster
        ctx.set_materialize_grads(False)
        size = (call.frames, call.height, call.width)
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
            return (d_transforms, *(None,) * 7)
        d_covariances = six[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].unflatten(-1, (3, 3))
        # S = M M^T, so dM = 2 dS M.
        d_factors = 2.0 * d_covariances @ raster.call.factors
        return (d_transforms, d_means, d_factors, d_colours, d_opacities, *(None,) * 3)


def _nothing(like: Tensor) -> Tensor:
    """Zeros; on the CPU made without waking torch's threads, which would get in our own's way."""
    if like.is_cuda:
        return torch.zeros_like(like)
    return torch.from_numpy(np.zeros(like.shape, dtype=np.float32))


def rasterize(
    call: RasterCall, *, threads: int | None = None, tiles: bool | None = None
) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "T H W"]]:
    """Colour of the splats over black, and their transmittance.

    Runs in float32 on the tensors' device; all but bones, intrinsics and grounds get gradients.
    `threads` is for the CPU. `tiles` chooses the kernels made for CUDA or those made for the CPU;
    None leaves it to the device.
    """
    frames, splats, means = call.frames, call.means.shape[0], call.means
    if splats == 0 or frames == 0:
        empty = means.new_zeros(frames, call.height, call.width, 3, dtype=torch.float32)
        return empty, empty.new_ones(frames, call.height, call.width)
    by_tiles = means.is_cuda if tiles is None else tiles
    if means.is_cuda and not by_tiles:
        raise ValueError("tiles=False is for the CPU; the cloud is on a CUDA device")
    with_gradient = (call.camera_from_mesh, means, call.factors, call.colours, call.opacities)
    single = (x.to(dtype=torch.float32) for x in with_gradient)
    result: Any = _Rasterize.apply(*single, call.prepared(), threads, by_tiles)
    return result
