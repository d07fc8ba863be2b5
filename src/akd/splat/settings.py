"""Settings of `fit_splats`: no torch here, so that a command line can show them at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FitSettings:
    """How a cloud is fitted to a mesh. The 200 views are the paper's; the rest is ours."""

    splats: int = 20_000
    """Gaussians: at the vertices, and between them where triangles are large."""
    degree: int = 0
    """Of the spherical harmonics, 0 to 3. The views are unlit, so 0 loses nothing."""
    views: int = 200
    """Random views around the mesh."""
    sizes: tuple[int, ...] = (128, 256, 512)
    """Sides of the square views, pixels, taken in turn: a cloud fitted at one size alone is too
    thin at others, because the low-pass of a pixel is a part of what is fitted."""
    samples: int = 2
    """Rays a pixel along each side."""
    iterations: int = 2000
    antialias: bool = True
    """Fit a cloud that looks the same at every size, for akd's own images. False: one for classic
    3DGS viewers, best seen at the sizes it was fitted at."""
    rate: float = 1.0
    """Multiplies all learning rates."""
    seed: int = 0
    checkpoint_every: int = 200
    """Iterations between checkpoints, where a folder for them is given."""
