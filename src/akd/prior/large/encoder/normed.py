"""Norm, SiLU, cached frames and convolution as one step, forward and backward.

What the norm gives is written where the convolution reads it, behind the frames that came before.
The bias of a convolution is not added in a pass of its own: the norm behind it counts it in, or
the sum at the end of a residual block does. Values and gradients are those of the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from akd.prior.large.encoder.convolve import Shape, chunk_gradient, convolve
from akd.prior.large.encoder.fused import apart, as_rows, choose, from_rows, wide
from akd.prior.large.encoder.norms import ChannelNorm, GroupNorm, norm_gradient, norm_of


class NormedConvolution(torch.autograd.Function):
    """The convolution, without its bias, of SiLU(norm(x + shift)) behind the frames before it."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, shift: Tensor | None, before: Tensor | None, weight: Tensor,
        norm: GroupNorm | ChannelNorm, shape: Shape, black: bool,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Output [B, O, T, H, W] of x [B, C, T, H, W] and the frames to hand on. Without frames
        before, these are black, or the first one repeated."""
        count, (batch, channels, frames, height, width) = weight.shape[2] - 1, x.shape
        line = x.new_empty(batch, count + frames, height, width, channels)
        rows, whole = as_rows(x), line.movedim(-1, 1)
        columns = []
        for i in range(batch):
            columns.append(norm.columns(apart(rows[i]), shift, width))
            norm.write(apart(line[i, count:].flatten(0, 2)), apart(rows[i]), columns[-1])
        ctx.first = "" if before is not None else "black" if black else "repeated"
        if before is not None:
            whole[:, :, :count] = before
        elif black:
            whole[:, :, :count] = 0.0
        else:
            whole[:, :, :count] = whole[:, :, count : count + 1]
        ctx.save_for_backward(x, weight, *(one for some in columns for one in some))
        ctx.norm, ctx.shape, ctx.count, ctx.like = norm, shape, count, whole.shape
        ctx.set_materialize_grads(False)
        return convolve(whole, weight, None, shape), whole[:, :, frames:].clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        """Gradients of x and of the frames before it."""
        of_output, of_handed_on = gradients
        x, weight, *flat = ctx.saved_tensors
        own, edge = chunk_gradient(
            of_output, of_handed_on, ctx.like, weight, ctx.shape, count=ctx.count, first=ctx.first
        )
        result = norm_gradient(ctx.norm, own, x, flat)
        return result, None, edge, None, None, None, None


def sum_of(x: Tensor, other: Tensor, bias: Tensor) -> Tensor:
    """x + other + bias, the bias a column."""
    return (x.to(bias.dtype) + other.to(bias.dtype) + bias).to(x.dtype)


class SumWithBias(torch.autograd.Function):
    """x + other + bias in one pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, other: Tensor, bias: Tensor, compile: bool) -> Tensor:
        """`bias` is one number a channel."""
        del ctx
        rows = (apart(as_rows(one).flatten(0, 1)) for one in (x, other))
        result = choose(sum_of, compile)(*rows, bias.to(wide(x)))
        return from_rows(result.unflatten(0, (x.shape[0], -1)), x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """The same for both."""
        del ctx
        return gradients[0], gradients[0], None, None


def two_steps(
    layers: Sequence[tuple[Any, nn.Conv3d, Shape | None]],
    x: Tensor, shortcut: Callable[[Tensor], Tensor], before: Sequence[Tensor | None],
    *, black: bool,
) -> tuple[Tensor, list[Tensor]] | None:  # fmt: skip
    """A residual block of norms and convolutions, and the frames each hands on.

    None where a layer is not one of those that are written out here.
    """
    norms = [
        norm_of(getattr(layer, "norm", None), getattr(layer, "fused", "")) for layer, _, _ in layers
    ]
    result, shift, handed_on = x, None, []
    for norm, (_, conv, shape), given in zip(norms, layers, before, strict=True):
        fits = shape is not None and conv.bias is not None
        if norm is None or not fits or conv.weight.shape[1] != result.shape[1]:
            return None
        result, frames = NormedConvolution.apply(  # pyright: ignore[reportGeneralTypeIssues]
            result, shift, given, conv.weight, norm, shape, black
        )
        shift = conv.bias
        handed_on.append(frames)
    compile = norms[0] is not None and norms[0].compile
    return SumWithBias.apply(result, shortcut(x), shift, compile), handed_on  # pyright: ignore[reportReturnType]
