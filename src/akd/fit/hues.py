"""Locates limbs in images by their hue, in the `roles` style."""

from __future__ import annotations

import torch
import torch.nn.functional as nn
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.photometric import chroma, halved
from akd.scene.stage import Stage

_SHARPNESS = 12.0
"""How quickly a pixel stops to count for a hue that is not its own."""
_GREY = 0.06
"""Chroma that sky and haze have as well."""
_FRAMES, _PIXELS = 12, 48
"""Frames, and pixels on a side, that show well enough how parts of one hue swing. Videos of twice
as many or more are thinned out."""


def hue_maps(
    video: Float[Tensor, "T H W 3"], colours: Float[Tensor, "K 3"]
) -> Float[Tensor, "T K h w"]:
    """How much of each colour's hue there is around each place, a sixteenth of the image wide."""
    coarse = _cell(video.shape[2])
    hues = chroma(colours[:, None, None].to(video))[:, 0, 0]
    hues = hues / hues.norm(dim=-1, keepdim=True).clamp_min(1e-9)
    flat = chroma(video)
    size = (flat.square().sum(-1) + 1e-8).sqrt()
    alike = torch.einsum("thwc,kc->tkhw", flat / size[..., None], hues)
    weight = (size - _GREY).clamp_min(0.0)[:, None] * torch.exp(_SHARPNESS * (alike - 1.0))
    return nn.avg_pool2d(weight, coarse, stride=hue_stride(video.shape[2]))


def hue_stride(width: int) -> int:
    """Pixels from one place of the maps to the next, for images of a width."""
    return max(1, _cell(width) // 2)


def _cell(width: int) -> int:
    return max(1, width // 16)


def thinned(
    stage: Stage, target: Float[Tensor, "T H W 3"]
) -> tuple[Stage, Float[Tensor, "F h w 3"], Int[Tensor, "F"]]:
    """Stage and video at the size and number of frames that a search by hue needs, and which of the
    frames these are."""
    frames = torch.arange(0, len(target), max(1, len(target) // _FRAMES), device=target.device)
    target = target[frames]
    if min(stage.size) >= 2 * _PIXELS:
        stage, target = halved(stage, target)
    return stage, target, frames
