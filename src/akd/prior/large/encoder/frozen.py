"""Layers whose weights never change, and so keep nothing for the gradient of their weights.

PyTorch's convolution keeps its input for the gradient of its weights even where none is asked for,
a norm keeps its input, and the activation behind it keeps the norm's output. Here a convolution
keeps only its weights, and norm and activation together keep one tensor. Values and gradients with
respect to the input are the same.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn

from akd.prior.large.encoder.causal import (
    RecomputedBlock,
    downsample,
    freeze_cogvideox,
    swap_block,
)
from akd.prior.large.encoder.causal_wan import freeze_wan, swap_wan
from akd.prior.large.encoder.convolve import FrozenConvolution, Shape, fill_channels
from akd.prior.large.encoder.norms import NormSilu, norm_of
from akd.prior.large.settings import Convolutions


class NormAct(nn.Module):
    """A norm and the SiLU behind it, keeping one tensor.

    `fused`: "" for the norm's own arithmetic, "eager" for that of `norms`, or "compiled".
    """

    def __init__(self, norm: nn.Module, *, fused: str = "") -> None:
        super().__init__()
        self.norm = norm
        self.fused = fused

    def plain(self, x: Tensor) -> tuple[Tensor]:
        """The norm's own arithmetic."""
        return (nn.functional.silu(self.norm(x)),)

    def forward(self, x: Tensor) -> Tensor:
        """SiLU(norm(x))."""
        norm = norm_of(self.norm, self.fused)
        if norm is not None:
            return NormSilu.apply(x, norm)  # pyright: ignore[reportReturnType]
        (result,) = RecomputedBlock.apply(self.plain, x)  # pyright: ignore[reportGeneralTypeIssues]
        return result


def freeze(
    encoder: nn.Module,
    *,
    fused: str = "",
    channels_last: bool = False,
    convolutions: Convolutions = Convolutions.PLAIN,
    blocks: bool = False,
) -> None:
    """Make the convolutions and the norms with SiLU of a video encoder frozen, in place.

    `fused` is how norms are computed: see `norm_of`; `blocks` asks for residual blocks that are
    recomputed in the backward pass.
    """
    encoder.requires_grad_(False)
    for module in list(encoder.modules()):
        if isinstance(module, nn.Conv2d | nn.Conv3d) and module.padding_mode == "zeros":
            freeze_convolution(module, channels_last=channels_last, way=convolutions)
        merge_norms(module, fused=fused)
        match type(module).__name__:
            case "CogVideoXCausalConv3d":
                freeze_cogvideox(module, convolutions)
            case "CogVideoXResnetBlock3D":
                swap_block(module, again=blocks)
            case "CogVideoXDownsample3D":
                module.forward = partial(downsample, module)  # pyright: ignore[reportAttributeAccessIssue]
            case "WanCausalConv3d":
                freeze_wan(module, convolutions)
            case _:
                swap_wan(module)


def freeze_convolution(
    module: nn.Conv2d | nn.Conv3d, *, channels_last: bool, way: Convolutions
) -> None:
    """Swap the arithmetic of one convolution."""
    if channels_last:
        weight = module.weight.data
        # Tensor cores take channels by eights: a video's three are filled up with zeros.
        weight = fill_channels(weight, -weight.shape[1] % 8 if module.groups == 1 else 0)
        order = torch.channels_last_3d if weight.dim() == 5 else torch.channels_last
        module.weight.data = weight.contiguous(memory_format=order)
    module._conv_forward = partial(frozen_forward, Shape.of(module, way))  # pyright: ignore[reportAttributeAccessIssue]


def frozen_forward(shape: Shape, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Forward pass of a convolution whose weights take no gradient."""
    x = fill_channels(x, weight.shape[1] * shape.groups - x.shape[1])
    return FrozenConvolution.apply(x, weight, bias, shape)  # pyright: ignore[reportReturnType]


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
