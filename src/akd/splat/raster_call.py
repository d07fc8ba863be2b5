"""`RasterCall`: what every rasterizer takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import warp as wp
from jaxtyping import Float, Int
from torch import Tensor

from akd.base.warp_runtime import as_warp
from akd.splat.kernel_types import mat34


@dataclass(frozen=True)
class RasterCall:
    """N Gaussians carried by B bones, seen in T frames.

    Means (metres) and factors are in the mesh's bind space.
    """

    camera_from_mesh: Float[Tensor, "T B 3 4"]
    """Takes each bone to the camera's frame."""
    means: Float[Tensor, "N 3"]
    colours: Float[Tensor, "C N 3"]
    """sRGB: one layer for all frames, or one per frame."""
    factors: Float[Tensor, "N 3 3"]
    """M with covariance M M^T, such as rotation times scales."""
    opacities: Float[Tensor, "N"]
    bones: Int[Tensor, "N K"]
    weights: Float[Tensor, "N K"]
    intrinsics: Float[Tensor, "T 4"]
    """fx, fy, cx, cy in pixels."""
    width: int
    height: int
    grounds: Float[Tensor, "T 4"] | None = None
    """Planes a x + b y + c z + d = 0 in the camera's frame, below which Gaussians are hidden."""
    antialias: bool = False
    """Weaken a Gaussian by as much as the low-pass widens it, so that a cloud looks alike at every
    size; without it, the image is that of classic 3DGS."""
    bones_key: Tensor | None = None
    """The caller's own tensor of bones, by which what follows from it is remembered."""

    def __post_init__(self) -> None:
        if len(self.colours) not in (1, self.frames):
            raise ValueError(
                f"colours must have one layer or one per frame ({self.frames}), got "
                f"{len(self.colours)}"
            )

    @property
    def frames(self) -> int:
        """T."""
        return self.camera_from_mesh.shape[0]

    @property
    def splats(self) -> int:
        """N."""
        return self.means.shape[0]

    def prepared(self) -> RasterCall:
        """The same as contiguous float32 and int32 tensors without gradients, for the kernels."""

        def plain(tensor: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
            return tensor.detach().to(device=self.means.device, dtype=dtype).contiguous()

        return replace(
            self, camera_from_mesh=plain(self.camera_from_mesh), means=plain(self.means),
            colours=plain(self.colours), factors=plain(self.factors),
            opacities=plain(self.opacities), bones=plain(self.bones, torch.int32),
            weights=plain(self.weights), intrinsics=plain(self.intrinsics),
            grounds=None if self.grounds is None else plain(self.grounds), bones_key=self.bones,
        )  # fmt: skip

    def cloud(self) -> list:
        """Views and numbers in the order in which the projection kernels begin with them."""
        return [
            as_warp(self.camera_from_mesh, mat34), as_warp(self.bones, wp.int32),
            as_warp(self.weights, wp.float32), as_warp(self.means, wp.vec3),
            as_warp(self.factors, wp.mat33), as_warp(self.opacities, wp.float32),
            as_warp(self.intrinsics, wp.vec4), self.width, self.height, int(self.antialias),
        ]  # fmt: skip

    def planes(self) -> Any:
        """A view of the planes; of none where nothing is hidden."""
        none = self.means.new_zeros(0, 4)
        return as_warp(none if self.grounds is None else self.grounds, wp.vec4)

    def shapes(self) -> Float[Tensor, "N 3 3"]:
        """Covariances, metres squared."""
        return self.factors @ self.factors.transpose(-1, -2)
