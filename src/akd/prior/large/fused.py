"""A norm and its SiLU in few passes over memory, forward and backward, written out.

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
    """The function compiled for all shapes at once."""
    return torch.compile(function, dynamic=True)


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


def affine_sums(
    gradient: Float[Tensor, "R C"], x: Float[Tensor, "R C"], a: Tensor, b: Tensor
) -> tuple[Float[Tensor, "C"], Float[Tensor, "C"]]:
    """Sums over rows of the gradient of y = a x + b, and of it times x."""
    values = x.to(a.dtype)
    slope = silu_slope(gradient, values * a + b)
    return slope.sum(0), (slope * values).sum(0)


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
        count = rows.shape[1] * (rows.shape[2] // groups)
        sums = rows.sum(1, dtype=kind)
        squares = torch.linalg.vector_norm(rows, dim=1, dtype=kind).square()
        mean = sums.unflatten(1, (groups, -1)).sum(2) / count
        square = squares.unflatten(1, (groups, -1)).sum(2) / count
        rstd = torch.rsqrt((square - mean * mean).clamp_min(0.0) + eps)
        each = rows.shape[2] // groups
        a = rstd.repeat_interleave(each, 1) * weight.to(kind)
        b = bias.to(kind) - mean.repeat_interleave(each, 1) * a
        ctx.save_for_backward(x, mean, rstd, a, b, weight)
        ctx.options = options
        run = choose(affine_silu, compile)
        return from_rows(each_sample(run, rows, a, b), x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x."""
        x, mean, rstd, a, b, weight = ctx.saved_tensors
        groups, _, compile = ctx.options
        rows, given = as_rows(x), as_rows(gradients[0])
        each, kind = rows.shape[2] // groups, mean.dtype
        count = rows.shape[1] * each
        add, finish = choose(affine_sums, compile), choose(affine_gradient, compile)
        results = []
        for i in range(len(rows)):
            here, grad, factor, offset = (apart(one[i]) for one in (rows, given, a, b))
            plain, times = add(grad, here, factor, offset)
            w = weight.to(kind)
            first = (w * plain).unflatten(0, (groups, -1)).sum(1) / count
            second = (w * times).unflatten(0, (groups, -1)).sum(1) / count
            second = rstd[i] * (second - mean[i] * first)
            p = -rstd[i].square() * second
            q = -rstd[i] * first - mean[i] * p
            p, q = p.repeat_interleave(each), q.repeat_interleave(each)
            results.append(finish(grad, here, factor, offset, p, q))
        return from_rows(torch.stack(results), x.shape), None, None, None


def each_sample(run: Callable[..., Tensor], rows: Tensor, *columns: Tensor) -> Tensor:
    """A function of rows for every sample of the batch."""
    results = [run(*(apart(one[i]) for one in (rows, *columns))) for i in range(len(rows))]
    return results[0][None] if len(results) == 1 else torch.stack(results)


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
