"""Norms with frozen weights and the SiLU behind them, written out over rows of pixels.

A group norm is y = a x + b with one a and b a channel, and its gradient dx = a gy + p x + q with gy
the gradient of y; what remains are sums over rows. Values and gradients are those of the layers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from akd.prior.large.encoder.fused import (
    affine_gradient,
    affine_sums,
    apart,
    as_rows,
    channel_gradient,
    choose,
    from_rows,
    in_lines,
    line_sums,
    stacked,
    wide,
    write_affine,
    write_channel,
)

Columns = tuple[Tensor, ...]
"""Per-channel coefficients of a norm, in wide precision."""


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
    """Channels of each pixel brought to unit length, times scale and gamma."""

    gamma: Tensor
    scale: float
    compile: bool

    def columns(self, rows: Float[Tensor, "R C"], shift: Tensor | None, length: int) -> Columns:
        """Factor and shift."""
        del length
        factors = self.gamma.reshape(-1).to(wide(rows)) * self.scale
        return factors, torch.zeros_like(factors) if shift is None else shift.to(factors.dtype)

    def write(self, out: Tensor, rows: Tensor, columns: Columns) -> None:
        """SiLU of the norm of x + shift into `out`."""
        choose(write_channel, self.compile)(out, rows, *(apart(one) for one in columns))

    def gradient(self, given: Tensor, rows: Tensor, columns: Columns, length: int) -> Tensor:
        """That of x from that of the SiLU."""
        del length
        run = choose(channel_gradient, self.compile)
        return run(given, rows, *(apart(one) for one in columns))


class NormSilu(torch.autograd.Function):
    """SiLU of a norm, keeping the input and a few numbers a channel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, norm: GroupNorm | ChannelNorm) -> Tensor:
        """SiLU(norm(x))."""
        rows, columns = as_rows(x), []
        result = torch.empty_like(rows)
        for here, out in zip(rows, result, strict=True):
            columns.append(norm.columns(apart(here), None, x.shape[-1]))
            norm.write(apart(out), apart(here), columns[-1])
        ctx.save_for_backward(x, *(one for some in columns for one in some))
        ctx.norm = norm
        return from_rows(result, x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x."""
        x, *columns = ctx.saved_tensors
        return norm_gradient(ctx.norm, gradients[0], x, columns), None


def norm_gradient(
    norm: GroupNorm | ChannelNorm, given: Tensor, x: Tensor, columns: list[Tensor]
) -> Tensor:
    """Gradient of x from that of the SiLU; `columns` are those of all samples in a row."""
    rows, each = as_rows(x), len(columns) // len(x)
    results = [
        norm.gradient(
            apart(one), apart(here), tuple(columns[each * i : each * (i + 1)]), x.shape[-1]
        )
        for i, (one, here) in enumerate(zip(as_rows(given), rows, strict=True))
    ]
    return from_rows(stacked(results), x.shape)


def norm_of(norm: Any, fused: str) -> GroupNorm | ChannelNorm | None:
    """A layer's norm, if it is one of those that are written out here.

    `fused`: "" for none of them, "eager", or "compiled".
    """
    if fused and isinstance(norm, nn.GroupNorm) and norm.affine:
        return GroupNorm(norm.weight, norm.bias, norm.num_groups, norm.eps, fused == "compiled")
    kind = type(norm).__name__
    if fused and kind == "WanRMS_norm":
        return ChannelNorm(norm.gamma, norm.scale, fused == "compiled")  # pyright: ignore
    return None
