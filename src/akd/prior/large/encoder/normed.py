"""Norm, SiLU, cached frames and convolution as one step, forward and backward.

What the norm gives is written where the convolution reads it, behind the frames that came before.
The bias of a convolution is not added in a pass of its own: the norm behind it counts it in, or
the sum at the end of a residual block does. Values and gradients are those of the layers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from akd.prior.large.encoder.convolve import Shape, chunk_gradient, convolve
from akd.prior.large.encoder.fused import (
    affine_gradient,
    affine_sums,
    apart,
    as_rows,
    choose,
    from_rows,
    in_lines,
    line_sums,
    silu_slope,
    wide,
)

Columns = tuple[Tensor, ...]
"""What a norm needs to know of each channel, in wide precision."""


@dataclass(frozen=True)
class GroupNorm:
    """A group norm over all pixels of a sample."""

    weight: Tensor
    bias: Tensor
    groups: int
    eps: float
    compile: bool

    def columns(self, rows: Float[Tensor, "R C"], shift: Tensor | None, length: int) -> Columns:
        """Factor a and offset b of y = a x + b, the shift in it; scale, mean, shift, weight."""
        w, kind = self.weight.to(wide(rows)), wide(rows)
        s = torch.zeros_like(w) if shift is None else shift.to(kind)
        sums = choose(line_sums, self.compile)(in_lines(rows, length), apart(w))
        plain, squares = (one.sum(0) for one in sums)
        squares = squares + s * (2.0 * plain + len(rows) * s)
        plain = plain + len(rows) * s
        each = rows.shape[1] // self.groups
        mean = plain.unflatten(0, (self.groups, -1)).sum(1) / (len(rows) * each)
        square = squares.unflatten(0, (self.groups, -1)).sum(1) / (len(rows) * each)
        rstd = torch.rsqrt((square - mean * mean).clamp_min(0.0) + self.eps)
        a = rstd.repeat_interleave(each) * w
        b = self.bias.to(kind) + (s - mean.repeat_interleave(each)) * a
        return a, b, rstd, mean, s, w

    def write(self, out: Tensor, rows: Tensor, columns: Columns) -> None:
        """SiLU(a x + b) into `out`."""
        a, b, *_ = columns
        choose(write_affine, self.compile)(out, rows, apart(a), apart(b))

    def gradient(self, given: Tensor, rows: Tensor, columns: Columns, length: int) -> Tensor:
        """That of x from that of the SiLU."""
        a, b, rstd, mean, s, w = columns
        add, finish = choose(affine_sums, self.compile), choose(affine_gradient, self.compile)
        sums = add(in_lines(given, length), in_lines(rows, length), apart(a), apart(b))
        plain, times = (one.sum(0) for one in sums)
        times = times + s * plain
        each = rows.shape[1] // self.groups
        count = len(rows) * each
        first = (w * plain).unflatten(0, (self.groups, -1)).sum(1) / count
        second = (w * times).unflatten(0, (self.groups, -1)).sum(1) / count
        second = rstd * (second - mean * first)
        p = -rstd.square() * second
        q = -rstd * first - mean * p
        p, q = p.repeat_interleave(each), q.repeat_interleave(each)
        return finish(given, rows, apart(a), apart(b), p, q + p * s)


@dataclass(frozen=True)
class ChannelNorm:
    """Channels of each pixel brought to unit length, times `factors`."""

    factors: Tensor
    compile: bool

    def columns(self, rows: Float[Tensor, "R C"], shift: Tensor | None, length: int) -> Columns:
        """Factor and shift."""
        del length
        factors = self.factors.reshape(-1).to(wide(rows))
        return factors, torch.zeros_like(factors) if shift is None else shift.to(factors.dtype)

    def write(self, out: Tensor, rows: Tensor, columns: Columns) -> None:
        """SiLU of the norm of x + shift into `out`."""
        choose(write_channel, self.compile)(out, rows, *(apart(one) for one in columns))

    def gradient(self, given: Tensor, rows: Tensor, columns: Columns, length: int) -> Tensor:
        """That of x from that of the SiLU."""
        del length
        run = choose(shifted_gradient, self.compile)
        return run(given, rows, *(apart(one) for one in columns))


def write_affine(out: Tensor, x: Float[Tensor, "R C"], a: Tensor, b: Tensor) -> None:
    """SiLU(a x + b) into `out`, one a and b a column."""
    y = x.to(a.dtype) * a + b
    out.copy_(y * torch.sigmoid(y))


def write_channel(out: Tensor, x: Float[Tensor, "R C"], gamma: Tensor, shift: Tensor) -> None:
    """SiLU of rows (x + shift) brought to unit length, times gamma, into `out`."""
    values = x.to(gamma.dtype) + shift
    length = values.square().sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    y = values / length * gamma
    out.copy_(y * torch.sigmoid(y))


def shifted_gradient(
    gradient: Float[Tensor, "R C"], x: Float[Tensor, "R C"], gamma: Tensor, shift: Tensor
) -> Float[Tensor, "R C"]:
    """Gradient of the rows: that of the unit vector, less its part along the vector."""
    values = x.to(gamma.dtype) + shift
    length = values.square().sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    unit = values / length
    slope = silu_slope(gradient, unit * gamma) * gamma
    along = (slope * unit).sum(1, keepdim=True)
    return ((slope - unit * along) / length).to(x.dtype)


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
        rows, given = as_rows(x), as_rows(own)
        each = len(flat) // len(rows)
        results = []
        for i in range(len(rows)):
            columns = tuple(flat[each * i : each * (i + 1)])
            results.append(ctx.norm.gradient(apart(given[i]), apart(rows[i]), columns, x.shape[-1]))
        result = results[0][None] if len(results) == 1 else torch.stack(results)
        return from_rows(result, x.shape), None, edge, None, None, None, None


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


def norm_of(layer: Any) -> GroupNorm | ChannelNorm | None:
    """The norm of a `NormAct`, if it is one of those that are written out here."""
    fused, norm = getattr(layer, "fused", ""), getattr(layer, "norm", None)
    if fused and isinstance(norm, nn.GroupNorm) and norm.affine:
        return GroupNorm(norm.weight, norm.bias, norm.num_groups, norm.eps, fused == "compiled")
    if fused and type(norm).__name__ == "WanRMS_norm":
        gamma: Any = norm.gamma  # pyright: ignore[reportOptionalMemberAccess]
        return ChannelNorm(gamma * norm.scale, fused == "compiled")  # pyright: ignore[reportOptionalMemberAccess]
    return None


def two_steps(
    layers: Sequence[tuple[Any, nn.Conv3d, Shape | None]],
    x: Tensor, shortcut: Callable[[Tensor], Tensor], before: Sequence[Tensor | None],
    *, black: bool,
) -> tuple[Tensor, list[Tensor]] | None:  # fmt: skip
    """A residual block of norms and convolutions, and the frames each hands on.

    None where a layer is not one of those that are written out here.
    """
    norms = [norm_of(layer) for layer, _, _ in layers]
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
