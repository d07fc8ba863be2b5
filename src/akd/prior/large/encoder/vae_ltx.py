"""LTX-Video's encoder in chunks of frames.

diffusers runs it over the whole video at once. Its convolutions are causal and its norms look at
one pixel at a time, so that with the last frames of every convolution's input handed on, chunks
give the same result.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from akd.prior.large.encoder.chain import Caches, Step
from akd.prior.large.errors import PriorError


class Ledger:
    """Caches of one pass over a chunk: read in order, written in order."""

    def __init__(self) -> None:
        self.given: Caches | None = None
        self.handed_on: Caches = []

    def next(self) -> tuple[bool, Tensor | None]:
        """Whether this is the first chunk, and what the layer remembered if it is not."""
        if self.given is None:
            return True, None
        return False, self.given[len(self.handed_on)]


def ltx_step(encoder: Any) -> Step:
    """One chunk through LTX-Video's encoder."""
    ledger = Ledger()
    for module in encoder.modules():
        match type(module).__name__:
            case "LTXVideoCausalConv3d":
                if not module.is_causal:
                    raise PriorError("vae: encoder_causal must be true for encoding in chunks")
                module.forward = partial(causal_forward, module, ledger)
            case "LTXVideoDownsampler3d":
                module.forward = partial(downsample_forward, module, ledger)

    def step(chunk: Tensor, caches: Caches | None) -> tuple[Tensor, Caches]:
        ledger.given, ledger.handed_on = caches, []
        output = encoder(chunk)
        handed_on, ledger.given, ledger.handed_on = ledger.handed_on, None, []
        return output, handed_on

    return step


def causal_forward(module: Any, ledger: Ledger, x: Tensor) -> Tensor:
    """A causal convolution that goes on where the chunk before ended."""
    first, remembered = ledger.next()
    kernel, stride = module.kernel_size[0], module.conv.stride[0]
    if first:
        x = torch.cat((x[:, :, :1].expand(-1, -1, kernel - 1, -1, -1), x), dim=2)
    elif remembered is not None:
        x = torch.cat((remembered, x), dim=2)
    # The next window starts one stride on: a kernel of 3 and a stride of 2 share one frame.
    shared = kernel - stride
    ledger.handed_on.append(x[:, :, x.shape[2] - shared :] if shared > 0 else None)
    return module.conv(x)


def downsample_forward(module: Any, ledger: Ledger, x: Tensor) -> Tensor:
    """LTX-Video 0.9.5's way to halve: time is padded at the start of the video only."""
    if ledger.given is None:
        x = torch.cat((x[:, :, : module.stride[0] - 1], x), dim=2)
    residual = stacked(x, module.stride).unflatten(1, (-1, module.group_size)).mean(dim=2)
    return stacked(module.conv(x), module.stride) + residual


def stacked(x: Tensor, stride: tuple[int, int, int]) -> Tensor:
    """Blocks of frames and pixels as channels."""
    split = x.unflatten(4, (-1, stride[2])).unflatten(3, (-1, stride[1]))
    return split.unflatten(2, (-1, stride[0])).permute(0, 1, 3, 5, 7, 2, 4, 6).flatten(1, 4)
