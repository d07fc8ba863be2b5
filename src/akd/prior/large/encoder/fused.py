"""Norm and SiLU fused: few passes over memory, forward and backward.

Pixels are rows and channels columns, which is how channels-last tensors lie in memory. A group norm
is then y = a x + b with one a and b a channel, and its gradient dx = a gy + p x + q with gy the
gradient of y; what remains are sums over rows. The functions over rows are plain PyTorch, and short
so that a compiler makes one kernel of each; shapes stay open, so that each is compiled once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function compiled: once for each number of channels, for all numbers of pixels."""
    inner = torch.compile(function)
    # Models differ in their channels: beyond its limit the compiler would give up without a word.
    config: Any = torch._dynamo.config
    config.recompile_limit = max(config.recompile_limit, 64)

    def call(*tensors: Tensor) -> Any:
        for tensor in tensors:
            # A kernel that knows the channels needs no division to find its column.
            for axis in range(tensor.dim() - 1):
                torch._dynamo.maybe_mark_dynamic(tensor, axis)
            torch._dynamo.mark_static(tensor, tensor.dim() - 1)
        return inner(*tensors)

    return call


def choose(function: Callable[..., Any], compile: bool) -> Callable[..., Any]:
    """The function, or its compiled form."""
    return compiled(function) if compile else function


def wide(x: Tensor) -> torch.dtype:
    """Precision of sums and of arithmetic between loads and stores."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def as_rows(x: Float[Tensor, "N C *S"]) -> Float[Tensor, "N R C"]:
    """Pixels as rows: the same memory of a channels-last tensor, a copy of another."""
    return apart(x.movedim(1, -1).reshape(x.shape[0], -1, x.shape[1]).contiguous())


def apart(x: Tensor) -> Tensor:
    """The same memory as a tensor of its own: a compiler makes no case of what x is a view of."""
    if x.device.type == "meta":
        return x.detach()
    alone = torch.empty(0, dtype=x.dtype, device=x.device)
    return alone.set_(x.untyped_storage(), x.storage_offset(), x.shape, x.stride())  # pyright: ignore


def from_rows(rows: Float[Tensor, "N R C"], shape: torch.Size) -> Tensor:
    """Rows as pixels, channels last in memory."""
    return rows.reshape(shape[0], *shape[2:], shape[1]).movedim(-1, 1)


def affine_silu(x: Float[Tensor, "R C"], a: Tensor, b: Tensor) -> Float[Tensor, "R C"]:
    """SiLU(a x + b), one a and b a column."""
    y = x.to(a.dtype) * a + b
    return (y * torch.sigmoid(y)).to(x.dtype)


def silu_slope(gradient: Tensor, y: Tensor) -> Tensor:
    """The gradient of y from that of SiLU(y)."""
    s = torch.sigmoid(y)
    return gradient.to(y.dtype) * s * (1.0 + y * (1.0 - s))


def in_lines(rows: Float[Tensor, "R C"], length: int) -> Float[Tensor, "P L C"]:
    """Rows in lines of pixels: sums are taken by line first, which keeps all of a GPU busy."""
    return apart(rows.unflatten(0, (-1, length)))


def line_sums(
    x: Float[Tensor, "P L C"], like: Float[Tensor, "C"]
) -> tuple[Float[Tensor, "P C"], Float[Tensor, "P C"]]:
    """Sums over each line of x and of its square, in the precision of `like`."""
    values = x.to(like.dtype)
    return values.sum(1), values.square().sum(1)


def affine_sums(
    gradient: Float[Tensor, "P L C"], x: Float[Tensor, "P L C"], a: Tensor, b: Tensor
) -> tuple[Float[Tensor, "P C"], Float[Tensor, "P C"]]:
    """Sums over each line of the gradient of y = a x + b, and of it times x."""
    values = x.to(a.dtype)
    slope = silu_slope(gradient, values * a + b)
    return slope.sum(1), (slope * values).sum(1)


def affine_gradient(
    gradient: Float[Tensor, "R C"], x: Float[Tensor, "R C"],
    a: Tensor, b: Tensor, p: Tensor, q: Tensor,
) -> Float[Tensor, "R C"]:  # fmt: skip
    """a gy + p x + q."""
    values = x.to(a.dtype)
    slope = silu_slope(gradient, values * a + b)
    return (slope * a + values * p + q).to(x.dtype)


class GroupNormSilu(torch.autograd.Function):
    """SiLU of a group norm with frozen weights."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, options: Any) -> Tensor:
        """`options`: number of groups, eps, whether to compile."""
        groups, eps, compile = options
        rows, kind = as_rows(x), wide(x)
        w, each = weight.to(kind), rows.shape[2] // groups
        count = rows.shape[1] * each
        add, run = choose(line_sums, compile), choose(affine_silu, compile)
        means, spreads, factors, offsets, results = [], [], [], [], []
        for row in rows:
            plain, squares = (one.sum(0) for one in add(in_lines(row, x.shape[-1]), apart(w)))
            mean = plain.unflatten(0, (groups, -1)).sum(1) / count
            square = squares.unflatten(0, (groups, -1)).sum(1) / count
            rstd = torch.rsqrt((square - mean * mean).clamp_min(0.0) + eps)
            a = rstd.repeat_interleave(each) * w
            b = bias.to(kind) - mean.repeat_interleave(each) * a
            results.append(run(apart(row), a, b))
            for kept, one in zip(
                (means, spreads, factors, offsets), (mean, rstd, a, b), strict=True
            ):
                kept.append(one)
        columns = (stacked(one) for one in (means, spreads, factors, offsets))
        ctx.save_for_backward(x, *columns, weight)
        ctx.options = options
        return from_rows(stacked(results), x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x."""
        x, mean, rstd, a, b, weight = ctx.saved_tensors
        groups, _, compile = ctx.options
        rows, given = as_rows(x), as_rows(gradients[0])
        each, kind = rows.shape[2] // groups, mean.dtype
        count, length = rows.shape[1] * each, x.shape[-1]
        add, finish = choose(affine_sums, compile), choose(affine_gradient, compile)
        results = []
        for i in range(len(rows)):
            here, grad, factor, offset = (apart(one[i]) for one in (rows, given, a, b))
            sums = add(in_lines(grad, length), in_lines(here, length), factor, offset)
            plain, times = (one.sum(0) for one in sums)
            w = weight.to(kind)
            first = (w * plain).unflatten(0, (groups, -1)).sum(1) / count
            second = (w * times).unflatten(0, (groups, -1)).sum(1) / count
            second = rstd[i] * (second - mean[i] * first)
            p = -rstd[i].square() * second
            q = -rstd[i] * first - mean[i] * p
            p, q = p.repeat_interleave(each), q.repeat_interleave(each)
            results.append(finish(grad, here, factor, offset, p, q))
        return from_rows(stacked(results), x.shape), None, None, None


def stacked(samples: list[Tensor]) -> Tensor:
    """Samples as one batch; of a single one no copy is made."""
    return samples[0][None] if len(samples) == 1 else torch.stack(samples)


def channel_silu(x: Float[Tensor, "R C"], gamma: Float[Tensor, "C"]) -> Float[Tensor, "R C"]:
    """SiLU of rows brought to unit length, times gamma."""
    values = x.to(gamma.dtype)
    length = values.square().sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    y = values / length * gamma
    return (y * torch.sigmoid(y)).to(x.dtype)


def channel_gradient(
    gradient: Float[Tensor, "R C"], x: Float[Tensor, "R C"], gamma: Float[Tensor, "C"]
) -> Float[Tensor, "R C"]:
    """Gradient of the rows: that of the unit vector, less its part along the vector."""
    values = x.to(gamma.dtype)
    length = values.square().sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    unit = values / length
    slope = silu_slope(gradient, unit * gamma) * gamma
    along = (slope * unit).sum(1, keepdim=True)
    return ((slope - unit * along) / length).to(x.dtype)


class ChannelNormSilu(torch.autograd.Function):
    """SiLU of x brought to unit length over its channels, times scale and gamma (frozen)."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, options: Any) -> Tensor:
        """`options`: scale, whether to compile."""
        scale, compile = options
        factors = gamma.reshape(-1).to(wide(x)) * scale
        ctx.save_for_backward(x, factors)
        ctx.compile = compile
        rows = apart(as_rows(x).flatten(0, 1))
        result = choose(channel_silu, compile)(rows, factors)
        return from_rows(result.unflatten(0, (x.shape[0], -1)), x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x."""
        x, factors = ctx.saved_tensors
        given, rows = (apart(as_rows(one).flatten(0, 1)) for one in (gradients[0], x))
        result = choose(channel_gradient, ctx.compile)(given, rows, factors)
        return from_rows(result.unflatten(0, (x.shape[0], -1)), x.shape), None, None
