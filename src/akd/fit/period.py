"""How long a cycle lasts that a video shows over and over."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.photometric import chroma, pyramid

SHORTEST_CYCLE = 3.2
"""Frames that a cycle must last to be looked for."""
_RANGE = (0.7, 1.45)
"""Cycles that are looked for, in parts of the expected one."""
_LEVELS = 4
"""Coarse pixels change smoothly as a limb goes through them, fine ones flash up."""
_FASTEST = 2.2
"""Frames that a wave needs to be seen."""


def find_period(video: Float[Tensor, "T H W 3"], fps: float, *, near: float) -> float:
    """Seconds of the cycle in a video of coloured limbs, near an expected one.

    For every length of a cycle its first two harmonics are fitted to all pixels, and the length
    that leaves least is taken. A length at which the second harmonic is the stronger one is two
    cycles and not one: every length explains what half of it does. Brightness is left out: the
    ground is grey, and its squares come by at a rate of their own.
    """
    frames = len(video)
    pixels = pyramid(chroma(video.detach().double().cpu()), _LEVELS)[-1].flatten(1)
    pixels = pixels - pixels.mean(0)
    t = torch.arange(frames, dtype=torch.float64)
    best, least = near * fps, math.inf
    for part in torch.linspace(*_RANGE, 61).tolist():
        length = part * near * fps
        if length < SHORTEST_CYCLE:
            continue
        columns = [torch.ones_like(t)]
        for k in (1, 2):
            if length / k > _FASTEST:
                angle = 2.0 * math.pi * k * t / length
                columns += [angle.cos(), angle.sin()]
        if len(columns) >= frames - 2:
            continue
        q, _ = torch.linalg.qr(torch.stack(columns, dim=1))
        shares = q.T @ pixels
        if float(shares[3:].square().sum()) > float(shares[1:3].square().sum()):
            continue
        left = float((pixels - q @ shares).square().sum())
        # What is left by chance falls with every column that was fitted.
        left /= frames - len(columns)
        if left < least:
            best, least = length, left
    return best / fps
