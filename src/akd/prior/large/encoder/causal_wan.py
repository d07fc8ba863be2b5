"""Causal layers of Wan's encoders, with fewer copies of their frames."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor

from akd.prior.large.encoder.causal import CausalConvolution
from akd.prior.large.encoder.convolve import FrozenConvolution, Shape, fill_channels, join_frames
from akd.prior.large.encoder.normed import two_steps
from akd.prior.large.settings import Convolutions


def freeze_wan(module: Any, way: Convolutions) -> None:
    """Swap the arithmetic of one of Wan's causal convolutions."""
    sides = (0, module._padding[2], module._padding[0])
    shape = Shape(
        tuple(module.stride), sides, tuple(module.dilation), module.groups, way
    )  # fmt: skip
    module.causal_shape = shape
    module.forward = partial(wan_causal, module, shape, module._padding[4])


def wan_causal(
    module: Any, shape: Shape, missing: int, x: Tensor, cache_x: Tensor | None = None
) -> Tensor:
    """A chunk after the frames it is given; what is missing of these is black."""
    x = fill_channels(x, module.weight.shape[1] * module.groups - x.shape[1])
    parts = [x]
    if missing > 0 and cache_x is not None:
        cache_x = fill_channels(cache_x.to(x.device), x.shape[1] - cache_x.shape[1])
        parts.insert(0, cache_x)
        missing -= cache_x.shape[2]
    if missing > 0:
        batch, channels, _, height, width = x.shape
        parts.insert(0, x.new_zeros(batch, channels, missing, height, width))
    whole = join_frames(parts, module.weight)
    return FrozenConvolution.apply(whole, module.weight, module.bias, shape)  # pyright: ignore[reportReturnType]


def residual_block(
    module: Any, x: Tensor, feat_cache: list[Tensor | None] | None = None, feat_idx: Any = None
) -> Tensor:
    """Two norms and convolutions beside a shortcut. Frames that are missing are black."""
    convolutions = (module.conv1, module.conv2)
    given: list[Tensor | None] = [None, None]
    if feat_cache is not None:
        given = feat_cache[feat_idx[0] : feat_idx[0] + 2]
    layers = [
        (norm, conv, conv.causal_shape)
        for norm, conv in zip((module.norm1, module.norm2), convolutions, strict=True)
    ]
    found = two_steps(layers, x, module.conv_shortcut, given, black=True)
    if found is None:
        found = plain_steps(module, layers, x, given)
    if feat_cache is not None:
        feat_cache[feat_idx[0] : feat_idx[0] + 2] = found[1]
        feat_idx[0] += 2
    return found[0]


def plain_steps(
    module: Any, layers: list[Any], x: Tensor, before: list[Tensor | None]
) -> tuple[Tensor, list[Tensor]]:
    """The same layer by layer."""
    shortcut, handed_on = module.conv_shortcut(x), []
    for (norm, conv, shape), given in zip(layers, before, strict=True):
        x = module.nonlinearity(norm(x))
        x = fill_channels(x, conv.weight.shape[1] - x.shape[1])
        x, frames = CausalConvolution.apply(x, given, conv.weight, conv.bias, shape, True)  # pyright: ignore[reportGeneralTypeIssues]
        handed_on.append(frames)
    return x + shortcut, handed_on


def down_block(
    module: Any, x: Tensor, feat_cache: list[Tensor | None] | None = None, feat_idx: Any = None
) -> Tensor:
    """Wan 2.2's residual blocks and a halving, beside means of squares of pixels."""
    shortcut = module.avg_shortcut(x)
    for block in module.resnets:
        x = block(x, feat_cache=feat_cache, feat_idx=feat_idx)
    if module.downsampler is not None:
        x = module.downsampler(x, feat_cache=feat_cache, feat_idx=feat_idx)
    return x + shortcut


class MeanOfSquares(torch.autograd.Function):
    """Means over squares of `side` pixels; `step` frames become channels, each beside its own."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, step: int, side: int) -> Tensor:
        """[B, C, T, H, W] to [B, C * step, T / step, H / side, W / side], black frames before."""
        batch, channels, count, height, width = x.shape
        ctx.like, ctx.step, ctx.side = x.shape, step, side
        frames = x.movedim(1, -1)
        missing = -count % step
        if missing:
            black = frames.new_zeros(batch, missing, height, width, channels)
            frames = torch.cat((black, frames), dim=1)
        squares = frames.reshape(
            batch, -1, step, height // side, side, width // side, side, channels
        )
        return squares.mean((4, 6)).movedim(2, -1).flatten(-2).movedim(-1, 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient of each mean in all of its pixels."""
        batch, channels, count, height, width = ctx.like
        each = gradients[0].movedim(1, -1).unflatten(-1, (channels, ctx.step)).movedim(-1, 2)
        each = (each / ctx.side**2)[:, :, :, :, None, :, None]
        all_of_them = each.expand(-1, -1, -1, -1, ctx.side, -1, ctx.side, -1)
        frames = all_of_them.reshape(batch, -1, height, width, channels)
        return frames[:, frames.shape[1] - count :].movedim(-1, 1), None, None


def mean_of_squares(module: Any, plain: Any, x: Tensor) -> Tensor:
    """Wan 2.2's shortcut past a halving."""
    if module.factor == module.group_size == 1:
        return x
    if module.group_size != module.factor_s**2:
        return plain(x)
    return MeanOfSquares.apply(x, module.factor_t, module.factor_s)  # pyright: ignore[reportReturnType]


def swap_wan(module: Any) -> None:
    """Swap the arithmetic of one of Wan's blocks, whose convolutions are or will be frozen."""
    match type(module).__name__:
        case "WanResidualBlock":
            module.forward = partial(residual_block, module)
        case "WanResidualDownBlock":
            module.forward = partial(down_block, module)
        case "AvgDown3D":
            module.forward = partial(mean_of_squares, module, module.forward)
