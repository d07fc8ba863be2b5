"""Known frames of training videos: a beginning, both ends, or a random subset."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor

_MOST_ENDS = 3
"""Frames given at each end, at most."""


def draw_known(
    rows: int, frames: int, share: float, *, generator: torch.Generator
) -> Bool[Tensor, "B T"]:
    """Masks of known frames, on the generator's device; a `share` of the rows have any.

    Of these, a third is given up to half of the video from its start, as when a clip is continued;
    a third up to three frames at either end, as in between keyframes; a third single frames.
    At least one frame stays unknown.
    """
    device = generator.device
    u = torch.rand(6, rows, 1, generator=generator, device=device)
    at = torch.arange(frames, device=device)[None]

    def up_to(most: int, draw: Float[Tensor, "B 1"]) -> Tensor:
        return 1 + (draw * most).floor().clamp_max(most - 1)

    start = at < up_to(frames // 2, u[2])
    ends = (at < up_to(_MOST_ENDS, u[2])) | (at >= frames - up_to(_MOST_ENDS, u[3]))
    anywhere = torch.rand(rows, frames, generator=generator, device=device) < 0.4 * u[2]
    known = torch.where(u[1] < 1 / 3, start, torch.where(u[1] < 2 / 3, ends, anywhere))
    hidden = (u[4] * frames).floor().clamp_max(frames - 1) == at
    return known & (u[0] < share) & ~(known.all(1, keepdim=True) & hidden)
