"""Layers whose weights never change, and so keep nothing for the gradient of their weights.

PyTorch's convolution keeps its input for the gradient of its weights even where none is asked for,
a norm keeps its input, and the activation behind it keeps the norm's output. Here a convolution
keeps only its weights, and norm and activation together keep one tensor. Values and gradients with
respect to the input are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn


class FrozenConvolution(torch.autograd.Function):
    """A convolution that is differentiable with respect to its input only."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, options: Any) -> Tensor:
        """`options`: stride, padding, dilation, groups."""
        stride, padding, dilation, groups = options
        ctx.save_for_backward(weight)
        ctx.shape, ctx.options = x.shape, options
        zero = [0] * len(stride)
        return torch.ops.aten.convolution(
            x, weight, bias, stride, padding, dilation, False, zero, groups
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of the input."""
        (gradient,) = gradients
        (weight,) = ctx.saved_tensors
        stride, padding, dilation, groups = ctx.options
        # Only the input's shape matters for the gradient of the input.
        shape_only = gradient.new_empty(1).expand(ctx.shape)
        result = torch.ops.aten.convolution_backward(
            gradient, shape_only, weight, None, stride, padding, dilation, False,
            [0] * len(stride), groups, [True, False, False],
        )  # fmt: skip
        return result[0], None, None, None


class Recomputed(torch.autograd.Function):
    """A function of one tensor that keeps this tensor alone, and is worked out again."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """function(x)."""
        ctx.save_for_backward(x)
        ctx.function = function
        with torch.no_grad():
            return function(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x."""
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            result = ctx.function(x)
        return torch.autograd.grad(result, x, gradients)[0], None


def group_norm_silu(
    x: Float[Tensor, "N C *S"], weight: Tensor, bias: Tensor, groups: int, eps: float
) -> Float[Tensor, "N C *S"]:
    """SiLU of a group norm, in one expression that a compiler can fuse."""
    split = x.unflatten(1, (groups, -1)).float()
    variance, mean = torch.var_mean(
        split, dim=tuple(range(2, split.dim())), correction=0, keepdim=True
    )
    normal = ((split - mean) * torch.rsqrt(variance + eps)).flatten(1, 2)
    columns = (1, -1, *(1,) * (x.dim() - 2))
    y = normal * weight.float().reshape(columns) + bias.float().reshape(columns)
    return (y * torch.sigmoid(y)).to(x.dtype)


def channel_norm_silu(
    x: Float[Tensor, "N C *S"], gamma: Tensor, scale: float
) -> Float[Tensor, "N C *S"]:
    """SiLU of x brought to unit length over its channels, times scale and gamma."""
    wide = x.float()
    length = torch.linalg.vector_norm(wide, dim=1, keepdim=True).clamp_min(1e-12)
    y = wide / length * scale * gamma.float()
    return (y * torch.sigmoid(y)).to(x.dtype)


@cache
def compiled(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function compiled once for all shapes."""
    return torch.compile(function, dynamic=True)


class NormAct(nn.Module):
    """A norm and the SiLU behind it, keeping one tensor."""

    def __init__(self, norm: nn.Module, *, compile: bool) -> None:
        super().__init__()
        self.norm = norm
        self.compile_it = compile

    def plain(self, x: Tensor) -> Tensor:
        """The norm's own arithmetic."""
        return nn.functional.silu(self.norm(x))

    def forward(self, x: Tensor) -> Tensor:
        """SiLU(norm(x))."""
        norm: Any = self.norm
        if self.compile_it and isinstance(norm, nn.GroupNorm):
            run = compiled(group_norm_silu)
            return run(x, norm.weight, norm.bias, norm.num_groups, norm.eps)
        if self.compile_it and type(norm).__name__ == "WanRMS_norm":
            return compiled(channel_norm_silu)(x, norm.gamma, float(norm.scale))
        return Recomputed.apply(x, self.plain)  # pyright: ignore[reportReturnType]


def freeze(encoder: nn.Module, *, compile: bool = False, channels_last: bool = False) -> None:
    """Make the convolutions and the norms with SiLU of a video encoder frozen, in place."""
    encoder.requires_grad_(False)
    for module in list(encoder.modules()):
        if isinstance(module, nn.Conv2d | nn.Conv3d) and module.padding_mode == "zeros":
            freeze_convolution(module, channels_last=channels_last)
        merge_norms(module, compile=compile)


def freeze_convolution(module: nn.Conv2d | nn.Conv3d, *, channels_last: bool) -> None:
    """Swap the arithmetic of one convolution."""
    if channels_last:
        deep = module.weight.dim() == 5
        order = torch.channels_last_3d if deep else torch.channels_last
        module.weight.data = module.weight.data.contiguous(memory_format=order)
    module._conv_forward = partial(frozen_forward, module)  # pyright: ignore[reportAttributeAccessIssue]


def frozen_forward(
    module: nn.Conv2d | nn.Conv3d, x: Tensor, weight: Tensor, bias: Tensor | None
) -> Tensor:
    """What a frozen convolution does instead of its own arithmetic."""
    options = (module.stride, module.padding, module.dilation, module.groups)
    return FrozenConvolution.apply(x, weight, bias, options)  # pyright: ignore[reportReturnType]


def merge_norms(module: nn.Module, *, compile: bool) -> None:
    """Merge norms with the activation that follows them, where this module has such pairs."""
    pairs = (
        ("nonlinearity", ("norm1", "norm2")),  # residual layers
        ("nonlinearity", ("norm_out",)),  # Wan's encoder
        ("conv_act", ("norm_out",)),  # CogVideoX's and LTX-Video's encoders
    )
    for act, names in pairs:
        norms = [getattr(module, name, None) for name in names]
        activation = getattr(module, act, None)
        if not isinstance(activation, nn.SiLU) or not all(isinstance(n, nn.Module) for n in norms):
            continue
        if getattr(module, "temb_proj", None) is not None:
            continue
        if getattr(module, "scale_shift_table", None) is not None:
            continue
        for name, norm in zip(names, norms, strict=True):
            assert isinstance(norm, nn.Module)
            setattr(module, name, NormAct(norm, compile=compile))
        setattr(module, act, nn.Identity())
