"""Layers whose weights never change, and so keep nothing for the gradient of their weights.

PyTorch's convolution keeps its input for the gradient of its weights even where none is asked for,
a norm keeps its input, and the activation behind it keeps the norm's output. Here a convolution
keeps only its weights, and norm and activation together keep one tensor. Values and gradients with
respect to the input are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from akd.prior.large.fused import ChannelNormSilu, GroupNormSilu


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


class NormAct(nn.Module):
    """A norm and the SiLU behind it, keeping one tensor.

    `fused`: "" for the norm's own arithmetic, "eager" for that of `fused.py`, or "compiled".
    """

    def __init__(self, norm: nn.Module, *, fused: str = "") -> None:
        super().__init__()
        self.norm = norm
        self.fused = fused

    def plain(self, x: Tensor) -> Tensor:
        """The norm's own arithmetic."""
        return nn.functional.silu(self.norm(x))

    def forward(self, x: Tensor) -> Tensor:
        """SiLU(norm(x))."""
        norm: Any = self.norm
        if self.fused and isinstance(norm, nn.GroupNorm) and norm.affine:
            options = (norm.num_groups, norm.eps, self.fused == "compiled")
            return GroupNormSilu.apply(x, norm.weight, norm.bias, options)  # pyright: ignore[reportReturnType]
        if self.fused and type(norm).__name__ == "WanRMS_norm":
            options = (
                float(norm.scale),  # pyright: ignore[reportArgumentType]
                self.fused == "compiled",
            )
            return ChannelNormSilu.apply(x, norm.gamma, options)  # pyright: ignore[reportReturnType]
        return Recomputed.apply(x, self.plain)  # pyright: ignore[reportReturnType]


def freeze(encoder: nn.Module, *, fused: str = "", channels_last: bool = False) -> None:
    """Make the convolutions and the norms with SiLU of a video encoder frozen, in place.

    `fused` is how norms are worked out: see `NormAct`.
    """
    encoder.requires_grad_(False)
    for module in list(encoder.modules()):
        if isinstance(module, nn.Conv2d | nn.Conv3d) and module.padding_mode == "zeros":
            freeze_convolution(module, channels_last=channels_last)
        merge_norms(module, fused=fused)


def freeze_convolution(module: nn.Conv2d | nn.Conv3d, *, channels_last: bool) -> None:
    """Swap the arithmetic of one convolution."""
    missing = 0
    if channels_last:
        weight = module.weight.data
        # Tensor cores take channels by eights: a video's three are filled up with zeros.
        missing = -weight.shape[1] % 8 if module.groups == 1 else 0
        weight = fill_channels(weight, missing)
        order = torch.channels_last_3d if weight.dim() == 5 else torch.channels_last
        module.weight.data = weight.contiguous(memory_format=order)
    module._conv_forward = partial(frozen_forward, module, missing)  # pyright: ignore[reportAttributeAccessIssue]


def fill_channels(x: Tensor, missing: int) -> Tensor:
    """`missing` more channels of zeros."""
    if missing == 0:
        return x
    return nn.functional.pad(x, (*(0, 0) * (x.dim() - 2), 0, missing))


def frozen_forward(
    module: nn.Conv2d | nn.Conv3d, missing: int, x: Tensor, weight: Tensor, bias: Tensor | None
) -> Tensor:
    """What a frozen convolution does instead of its own arithmetic."""
    options = (module.stride, module.padding, module.dilation, module.groups)
    x = fill_channels(x, missing)
    return FrozenConvolution.apply(x, weight, bias, options)  # pyright: ignore[reportReturnType]


def merge_norms(module: nn.Module, *, fused: str) -> None:
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
            setattr(module, name, NormAct(norm, fused=fused))
        setattr(module, act, nn.Identity())
