"""Multi-scale photometric loss: at coarse scales, distant limbs attract each other."""

from __future__ import annotations

import torch
import torch.nn.functional as nn
from jaxtyping import Float
from torch import Tensor

from akd.scene.stage import Stage


def chroma(video: Float[Tensor, "*t H W 3"]) -> Float[Tensor, "*t H W 2"]:
    """What is colour and not brightness: red against green, and blue against both.

    Where limbs have hues and ground, sky and shade are grey, only the limbs are left: the squares
    of the ground, whose place a sampled video makes up, no longer pull at the body.
    """
    red, green, blue = video.unbind(-1)
    return torch.stack((red - green, blue - 0.5 * (red + green)), dim=-1)


def pyramid(video: Float[Tensor, "*k T H W c"], levels: int = 4) -> list[Tensor]:
    """All frames and ever smaller copies of them, each half as large: [frames, c, h, w]."""
    current = video.flatten(0, -4).movedim(-1, 1)
    copies = [current]
    for _ in range(levels - 1):
        if min(current.shape[-2:]) < 2:
            break
        current = nn.avg_pool2d(current, 2)
        copies.append(current)
    return copies


def halved(
    stage: Stage, videos: Float[Tensor, "*k T H W 3"]
) -> tuple[Stage, Float[Tensor, "*k T h w 3"]]:
    """A stage of half the resolution, and videos brought to it."""
    width, height = (side // 2 for side in stage.size)
    small = nn.adaptive_avg_pool2d(videos.flatten(0, -4).movedim(-1, 1), (height, width))
    return stage.resized(width, height), small.movedim(1, -1).unflatten(0, videos.shape[:-3])


def photometric_loss(
    video: Float[Tensor, "*k T H W c"], target: list[Tensor]
) -> Float[Tensor, "*k"]:
    """Mean square difference of each video, summed over the levels of a pyramid."""
    levels = pyramid(video, len(target))
    shape = (*video.shape[:-4], -1)
    differences = [
        (a - b).square().reshape(shape).mean(-1) for a, b in zip(levels, target, strict=True)
    ]
    return torch.stack(differences).sum(0)
