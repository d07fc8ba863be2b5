"""What both rasterizers take: the tensors of one call, and their Warp views."""

from __future__ import annotations

from dataclasses import dataclass

import warp as wp
from torch import Tensor

from akd.base.warp_runtime import as_warp
from akd.splat.kernel_types import mat34


@dataclass
class Inputs:
    """Contiguous float32 tensors of one call; `akd.splat.rasterize` says their shapes."""

    transforms: Tensor
    means: Tensor
    factors: Tensor
    colours: Tensor
    opacities: Tensor
    bones: Tensor
    bones_key: Tensor
    """The caller's own tensor of bones, by which what follows from it is remembered."""
    weights: Tensor
    intrinsics: Tensor
    grounds: Tensor
    width: int
    height: int
    antialias: bool

    @property
    def frames(self) -> int:
        """T."""
        return self.transforms.shape[0]

    @property
    def splats(self) -> int:
        """N."""
        return self.means.shape[0]

    def cloud(self) -> list:
        """Warp views in the order in which the projection kernels take them."""
        return [
            as_warp(self.transforms, mat34), as_warp(self.bones, wp.int32),
            as_warp(self.weights, wp.float32), as_warp(self.means, wp.vec3),
            as_warp(self.factors, wp.mat33),
        ]  # fmt: skip
