"""Functions over rows for norm and SiLU: few passes over memory, forward and backward.

Pixels are rows and channels columns, which is how channels-last tensors lie in memory. They are
plain PyTorch, and short so that a compiler makes one kernel of each; shapes stay open, so that each
is compiled once.
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


def write_affine(out: Tensor, x: Float[Tensor, "R C"], a: Tensor, b: Tensor) -> None:
    """SiLU(a x + b) into `out`, one a and b a column."""
    y = x.to(a.dtype) * a + b
    out.copy_(y * torch.sigmoid(y))


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


def stacked(samples: list[Tensor]) -> Tensor:
    """Samples as one batch; of a single one no copy is made."""
    return samples[0][None] if len(samples) == 1 else torch.stack(samples)


def write_channel(out: Tensor, x: Float[Tensor, "R C"], gamma: Tensor, shift: Tensor) -> None:
    """SiLU of rows (x + shift) brought to unit length, times gamma, into `out`."""
    values = x.to(gamma.dtype) + shift
    length = values.square().sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    y = values / length * gamma
    out.copy_(y * torch.sigmoid(y))


def channel_gradient(
    gradient: Float[Tensor, "R C"], x: Float[Tensor, "R C"], gamma: Tensor, shift: Tensor
) -> Float[Tensor, "R C"]:
    """Gradient of the rows: that of the unit vector, less its part along the vector."""
    values = x.to(gamma.dtype) + shift
    length = values.square().sum(1, keepdim=True).sqrt().clamp_min(1e-12)
    unit = values / length
    slope = silu_slope(gradient, unit * gamma) * gamma
    along = (slope * unit).sum(1, keepdim=True)
    return ((slope - unit * along) / length).to(x.dtype)
