"""Matrices of a frozen network in 8 bits."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from akd.prior.large.settings import Weights

EIGHT_BITS = torch.float8_e4m3fn
LARGEST = 448.0
"""The largest number of float8_e4m3fn."""


class LinearFp8(nn.Module):
    """A linear layer whose matrix is kept in 8-bit floats, one scale an output row.

    Where `multiply` is set and the GPU can, inputs are brought to 8 bits too, one scale a row,
    and multiplied so; else the matrix is brought back to the input's precision.
    """

    eighths: Tensor
    scale: Tensor
    bias: Tensor | None

    def __init__(self, layer: nn.Linear, *, multiply: bool) -> None:
        super().__init__()
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.multiply = multiply
        eighths, scale = to_eight_bits(layer.weight.detach())
        self.register_buffer("eighths", eighths)
        self.register_buffer("scale", scale)
        bias = None if layer.bias is None else layer.bias.detach()
        self.register_buffer("bias", bias)

    @property
    def weight(self) -> Tensor:
        """The matrix in full: some layers ask for its type."""
        return self.restored(torch.float32 if self.bias is None else self.bias.dtype)

    def restored(self, dtype: torch.dtype) -> Tensor:
        """The matrix brought back."""
        return (self.eighths.to(torch.float32) * self.scale).to(dtype)

    def forward(self, x: Float[Tensor, "*B I"]) -> Float[Tensor, "*B O"]:
        """x W^T + bias."""
        rows = x.numel() // self.in_features
        if not (self.multiply and rows >= 16 and x.is_cuda and x.dtype == torch.bfloat16):
            return nn.functional.linear(x, self.restored(x.dtype), self.bias)
        inputs, scale = to_eight_bits(x.reshape(rows, self.in_features))
        result = torch._scaled_mm(  # pyright: ignore[reportPrivateImportUsage]
            inputs, self.eighths.t(), scale_a=scale, scale_b=self.scale.t(),
            out_dtype=x.dtype, use_fast_accum=True,
        )  # fmt: skip
        if self.bias is not None:
            result = result + self.bias
        return result.reshape(*x.shape[:-1], self.out_features)


def to_eight_bits(
    matrix: Float[Tensor, "R C"],
) -> tuple[Float[Tensor, "R C"], Float[Tensor, "R 1"]]:
    """8-bit floats and the scale of each row, so that the product restores the matrix."""
    largest = matrix.abs().amax(dim=1, keepdim=True).float()
    scale = (largest / LARGEST).clamp_min(1e-12)
    return (matrix.float() / scale).clamp(-LARGEST, LARGEST).to(EIGHT_BITS), scale


def can_multiply_fp8(device: torch.device) -> bool:
    """Whether the device multiplies 8-bit floats (CUDA, compute capability 8.9 or more)."""
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 9)


def quantise(network: nn.Module, weights: Weights, device: torch.device) -> int:
    """Bring the matrices of a network's blocks to 8 bits, in place; how many were."""
    match weights:
        case Weights.FULL:
            return 0
        case Weights.FP8 | Weights.FP8_STORED:
            multiply = weights is Weights.FP8 and can_multiply_fp8(device)
            return replace_linears(network, multiply=multiply)


def replace_linears(network: nn.Module, *, multiply: bool) -> int:
    """Swap every linear layer inside the network's blocks; sizes must be multiples of 16."""
    count = 0
    for block in blocks_of(network):
        for parent in list(block.modules()):
            for name, layer in list(parent.named_children()):
                if type(layer) is not nn.Linear:
                    continue
                if layer.in_features % 16 or layer.out_features % 16:
                    continue
                setattr(parent, name, LinearFp8(layer, multiply=multiply))
                count += 1
    return count


def blocks_of(network: Any) -> list[nn.Module]:
    """The blocks that a network repeats: all of its depth but the first and last layers."""
    for name in ("transformer_blocks", "blocks"):
        blocks = getattr(network, name, None)
        if isinstance(blocks, nn.ModuleList):
            return list(blocks)
    named = (getattr(network, name, None) for name in ("down_blocks", "mid_block", "up_blocks"))
    found = [blocks for blocks in named if isinstance(blocks, nn.Module)]
    return found or [network]
