"""gsplat as a second rasterizer, if it is installed and there is a GPU.

It takes no bones, so the cloud is skinned in torch first: T copies of it.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.splat import rules
from akd.splat.raster_call import RasterCall


def rasterize_gsplat(call: RasterCall) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "T H W"]]:
    """As `akd.splat.rasterize.rasterize`, by way of gsplat."""
    means, intrinsics, grounds = call.means, call.intrinsics, call.grounds
    if not means.is_cuda:
        raise ValueError(f"gsplat needs a CUDA device; the cloud is on {means.device}")
    try:
        from gsplat import rasterization  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(
            "rasterizer 'gsplat' needs the package gsplat; 'warp' needs nothing"
        ) from error
    frames, splats = call.frames, means.shape[0]
    phi = sum_over_bones(call.camera_from_mesh, call.bones, call.weights)
    seen = (phi[..., :3] @ means[..., None]).squeeze(-1) + phi[..., 3]
    spread = phi[..., :3] @ call.shapes() @ phi[..., :3].transpose(-1, -2)
    strengths = call.opacities.expand(frames, splats)
    if grounds is not None:
        above = torch.einsum("tnc,tc->tn", seen, grounds[:, :3]) + grounds[:, 3:] >= 0
        strengths = strengths * above
    view = torch.eye(4, dtype=means.dtype, device=means.device).expand(frames, 1, 4, 4)
    lens = means.new_zeros(frames, 1, 3, 3)
    lens[:, 0, 0, 0], lens[:, 0, 1, 1] = intrinsics[:, 0], intrinsics[:, 1]
    lens[:, 0, 0, 2], lens[:, 0, 1, 2] = intrinsics[:, 2], intrinsics[:, 3]
    lens[:, 0, 2, 2] = 1.0
    colours = call.colours.expand(frames, splats, 3).contiguous()
    image, alpha, _ = rasterization(
        seen, None, None, strengths, colours, view, lens, call.width, call.height,
        near_plane=rules.NEAR, eps2d=rules.LOW_PASS, covars=spread, packed=False,
        rasterize_mode="antialiased" if call.antialias else "classic",
    )  # fmt: skip
    return image[:, 0], 1.0 - alpha[:, 0, ..., 0]


def sum_over_bones(
    camera_from_mesh: Float[Tensor, "T B 3 4"],
    bones: Int[Tensor, "N K"],
    weights: Float[Tensor, "N K"],
) -> Float[Tensor, "T N 3 4"]:
    """Each Gaussian's own transform, frame by frame."""
    total = weights[:, 0, None, None] * camera_from_mesh[:, bones[:, 0]]
    for k in range(1, bones.shape[1]):
        total = total + weights[:, k, None, None] * camera_from_mesh[:, bones[:, k]]
    return total
