"""`RasterCall`: what every rasterizer takes."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor


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

    def shapes(self) -> Float[Tensor, "N 3 3"]:
        """Covariances, metres squared."""
        return self.factors @ self.factors.transpose(-1, -2)
