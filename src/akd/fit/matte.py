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

_THIN = 1e-3
"""How much less pixels nearer to the outline count. A thin limb has no others."""
_LEAST = 0.05
"""Contrast (root of summed squares, sRGB) below which colours cannot be unmixed."""


def unmixed(
    frames: Float[Tensor, "T H W 3"],
    background: Float[Tensor, "#T H W 3"],
    rough: Bool[Tensor, "T H W"],
    reach: int,
) -> Float[Tensor, "T H W"]:
    """The share of each pixel that the character covers, 0 beyond the pixels next to `rough`.

    Args:
        frames: The video, sRGB 0..1.
        background: What is behind the character, likewise.
        rough: Masks that hold at least all of the character; may hold some background.
        reach: How far its edges are spread, pixels. The character's own colour is that of pixels as
            deep inside, averaged over this distance (standard deviation). Those with the strongest
            contrast count most: what is mixed with the background has less.
    """
    box = _box(rough, 3 * reach)
    found = torch.zeros_like(frames[..., 0])
    if box is None:
        return found
    inside = rough[(..., *box)]
    apart = (frames - background)[(slice(None), *box)].movedim(-1, 1)
    behind = background[(slice(None), *box)].movedim(-1, 1)
    contrast = apart.square().sum(1, keepdim=True)
    core = _eroded(inside, reach)[:, None].to(apart)
    weights = (core + _THIN * inside[:, None]) * (contrast + _LEAST**2).pow(reach)
    total = _averaged(weights, reach).clamp_min(1e-20)
    own = _averaged(weights * (apart + behind), reach) / total - behind
    strength = own.square().sum(1)
    # Lengths, not projections: beside another colour of the character a pixel has that one.
    share = (contrast.squeeze(1) / strength.clamp_min(1e-9)).sqrt().clamp_max(1.0)
    share = torch.where(strength > _LEAST**2, share, inside.to(share))
    found[(..., *box)] = share * _grown(inside)
    return found


def _box(masks: Bool[Tensor, "T H W"], room: int) -> tuple[slice, slice] | None:
    """Rows and columns around all masks, with room for what is averaged; None: all are empty."""
    sides = []
    for axis in (1, 2):
        used = masks.any(3 - axis).any(0).nonzero().flatten()
        if not len(used):
            return None
        sides.append(slice(max(0, int(used[0]) - room), int(used[-1]) + room + 1))
    return sides[0], sides[1]


def _averaged(images: Float[Tensor, "T c h w"], reach: int) -> Float[Tensor, "T c h w"]:
    """Gaussian means; `reach` is the standard deviation, pixels."""
    room, channels = 3 * reach, images.shape[1]
    away = torch.arange(-room, room + 1).to(images)
    kernel = torch.exp(-0.5 * (away / reach).square())
    kernel = (kernel / kernel.sum()).expand(channels, 1, 1, -1)
    images = nn.conv2d(images, kernel, padding=(0, room), groups=channels)
    return nn.conv2d(images, kernel.mT, padding=(room, 0), groups=channels)


def _eroded(masks: Bool[Tensor, "T h w"], pixels: int) -> Bool[Tensor, "T h w"]:
    """What is at least so far inside."""
    outside = (~masks).float()
    return nn.max_pool2d(outside, 2 * pixels + 1, stride=1, padding=pixels) < 0.5


def _grown(masks: Bool[Tensor, "T h w"]) -> Bool[Tensor, "T h w"]:
    """The masks and the pixels next to them."""
    return nn.max_pool2d(masks.float(), 3, stride=1, padding=1) > 0.5
