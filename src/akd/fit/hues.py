"""Where the parts of one hue are in an image: limbs told apart by their colours."""

from __future__ import annotations

import torch
import torch.nn.functional as nn
from jaxtyping import Float
from torch import Tensor

from akd.fit.photometric import chroma

_SHARPNESS = 12.0
"""How quickly a pixel stops to count for a hue that is not its own."""
_GREY = 0.06
"""Chroma that sky and haze have as well."""


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
