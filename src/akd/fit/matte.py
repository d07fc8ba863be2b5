"""Edges of masks: the share of each pixel at an outline that the character covers.

A pixel there mixes the character's colour with the background's, and so do more of them after
compression or motion blur. A threshold near the background takes all of these for the character,
whose mask is then too large; so the two colours are unmixed.
"""

from __future__ import annotations

import torch
import torch.nn.functional as nn
from jaxtyping import Bool, Float
from torch import Tensor

_DEEP = 2
"""Pixels from a rough mask's outline at which the character's own colour is seen."""
_NEAR = 2.0
"""Distance over which that colour is averaged, pixels (standard deviation)."""
_CONTRAST = 4
"""Power of a pixel's contrast with the background by which it counts in that average: what is
mixed with the background has less."""
_THIN = 1e-3
"""How much less pixels nearer to the outline count. A thin limb has no others."""
_LEAST = 0.05
"""Contrast (root of summed squares, sRGB) below which colours cannot be unmixed."""


def unmixed(
    frames: Float[Tensor, "T H W 3"],
    background: Float[Tensor, "#T H W 3"],
    rough: Bool[Tensor, "T H W"],
) -> Float[Tensor, "T H W"]:
    """The share of each pixel that the character covers, 0 beyond the pixels next to `rough`.

    Args:
        frames: The video, sRGB 0..1.
        background: What is behind the character, likewise.
        rough: Masks that hold at least all of the character; may hold some background.
    """
    box = _box(rough)
    found = torch.zeros_like(frames[..., 0])
    if box is None:
        return found
    inside = rough[(..., *box)]
    apart = (frames - background)[(slice(None), *box)].movedim(-1, 1)
    behind = background[(slice(None), *box)].movedim(-1, 1)
    contrast = apart.square().sum(1, keepdim=True)
    core = _eroded(inside, _DEEP)[:, None].to(apart)
    weights = (core + _THIN * inside[:, None]) * (contrast + _LEAST**2).pow(0.5 * _CONTRAST)
    total = _averaged(weights).clamp_min(1e-20)
    own = _averaged(weights * (apart + behind)) / total - behind
    strength = own.square().sum(1)
    # Lengths, not projections: beside another colour of the character a pixel has that one.
    share = (contrast.squeeze(1) / strength.clamp_min(1e-9)).sqrt().clamp_max(1.0)
    share = torch.where(strength > _LEAST**2, share, inside.to(share))
    found[(..., *box)] = share * _grown(inside)
    return found


def _box(masks: Bool[Tensor, "T H W"]) -> tuple[slice, slice] | None:
    """Rows and columns around all masks, with room for what is averaged; None: all are empty."""
    room, sides = round(3 * _NEAR), []
    for axis in (1, 2):
        used = masks.any(3 - axis).any(0).nonzero().flatten()
        if not len(used):
            return None
        sides.append(slice(max(0, int(used[0]) - room), int(used[-1]) + room + 1))
    return sides[0], sides[1]


def _averaged(images: Float[Tensor, "T c h w"]) -> Float[Tensor, "T c h w"]:
    """Gaussian means."""
    reach, channels = round(3 * _NEAR), images.shape[1]
    away = torch.arange(-reach, reach + 1).to(images)
    kernel = torch.exp(-0.5 * (away / _NEAR).square())
    kernel = (kernel / kernel.sum()).expand(channels, 1, 1, -1)
    images = nn.conv2d(images, kernel, padding=(0, reach), groups=channels)
    return nn.conv2d(images, kernel.mT, padding=(reach, 0), groups=channels)


def _eroded(masks: Bool[Tensor, "T h w"], pixels: int) -> Bool[Tensor, "T h w"]:
    """What is at least so far inside."""
    outside = (~masks).float()
    return nn.max_pool2d(outside, 2 * pixels + 1, stride=1, padding=pixels) < 0.5


def _grown(masks: Bool[Tensor, "T h w"]) -> Bool[Tensor, "T h w"]:
    """The masks and the pixels next to them."""
    return nn.max_pool2d(masks.float(), 3, stride=1, padding=1) > 0.5
