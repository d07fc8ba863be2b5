"""A tiny autoencoder's encoder (TAEHV): approximate latents, for a fraction of the work.

The published ones are by Ollin Boer Bohan (MIT). Off unless a file is given: its latents are close
to the model's own, and its gradient is not the model's own either.
"""

from __future__ import annotations

import re
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from akd.prior.large.errors import PriorError


class MemoryBlock(nn.Module):
    """Three convolutions over a frame and the one before it, added to the frame."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.conv = nn.ModuleList(convolution(weights, f"conv.{i}.") for i in (0, 2, 4))
        self.skip = convolution(weights, "skip.") if "skip.weight" in weights else None

    def forward(self, x: Tensor, batch: int) -> Tensor:
        """x [B * T, C, H, W]."""
        frames = x.unflatten(0, (batch, -1))
        before = torch.cat((torch.zeros_like(frames[:, :1]), frames[:, :-1]), dim=1).flatten(0, 1)
        y = torch.cat((x, before), dim=1)
        for conv in self.conv:
            y = conv(y) if conv is self.conv[-1] else functional.relu(conv(y))
        return functional.relu(y + (x if self.skip is None else self.skip(x)))


class Pool(nn.Module):
    """Joins neighbouring frames into one."""

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.conv = convolution(weights, "conv.")
        self.stride = self.conv.in_channels // self.conv.out_channels

    def forward(self, x: Tensor) -> Tensor:
        """x [B * T, C, H, W] to [B * T / stride, C, H, W]."""
        return self.conv(x.reshape(-1, self.stride * x.shape[1], *x.shape[2:]))


class TinyEncoder(nn.Module):
    """The encoder, its layers read off the names and shapes in the weight file."""

    def __init__(self, weights: dict[str, Tensor], *, where: str) -> None:
        super().__init__()
        numbers = sorted({int(m[1]) for k in weights if (m := re.match(r"encoder\.(\d+)\.", k))})
        if len(numbers) < 2:
            raise PriorError(f"{where}: holds no TAEHV encoder (weights encoder.0... and so on)")
        layers: list[nn.Module] = []
        for number in numbers:
            prefix = f"encoder.{number}."
            own = {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)}
            layers.append(layer(own))
        self.layers = nn.ModuleList(layers)
        first, last = layers[0], layers[-1]
        if not isinstance(first, nn.Conv2d) or not isinstance(last, nn.Conv2d):
            raise PriorError(f"{where}: a TAEHV encoder begins and ends with a convolution")
        self.patch = round((first.in_channels / 3) ** 0.5)
        self.channels = last.out_channels
        pools = [one.stride for one in layers if isinstance(one, Pool)]
        self.time = int(torch.tensor(pools).prod()) if pools else 1
        halved = sum(isinstance(one, nn.Conv2d) and one.stride == (2, 2) for one in layers)
        self.space = self.patch * 2**halved

    def encode(self, video: Float[Tensor, "B 3 T H W"]) -> Float[Tensor, "B t C h w"]:
        """Approximate normalised latents of videos in 0..1."""
        batch, _, frames, _, _ = video.shape
        x = video.transpose(1, 2)
        short = -frames % self.time
        x = torch.cat((x, x[:, -1:].expand(-1, short, -1, -1, -1)), dim=1).flatten(0, 1)
        x = functional.pixel_unshuffle(x, self.patch)
        for number, one in enumerate(self.layers):
            x = one(x, batch) if isinstance(one, MemoryBlock) else one(x)
            if number == 0:
                x = functional.relu(x)
        return x.unflatten(0, (batch, -1))


def layer(weights: dict[str, Tensor]) -> nn.Module:
    """A layer by the names of its weights."""
    if "conv.0.weight" in weights:
        return MemoryBlock(weights)
    if "conv.weight" in weights:
        return Pool(weights)
    # Those without a bias halve the image; the first and the last have one.
    stride = 1 if "bias" in weights else 2
    return convolution(weights, "", stride=stride)


def convolution(weights: dict[str, Tensor], prefix: str, *, stride: int = 1) -> nn.Conv2d:
    """A convolution with given weights."""
    weight, bias = weights[f"{prefix}weight"], weights.get(f"{prefix}bias")
    outputs, inputs, kernel, _ = weight.shape
    conv = nn.Conv2d(
        inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=bias is not None
    )
    conv.weight.data = weight
    if bias is not None:
        conv.bias.data = bias  # pyright: ignore[reportOptionalMemberAccess]
    return conv.requires_grad_(False)


def load_tiny_encoder(path: Path) -> TinyEncoder:
    """Read a TAEHV's safetensors file; a .pth can run code and is refused."""
    from safetensors.torch import load_file

    if path.suffix != ".safetensors":
        raise PriorError(f"{path}: tiny_encoder must be a .safetensors file")
    if not path.is_file():
        raise PriorError(f"{path}: there is no such file")
    return TinyEncoder(load_file(path), where=str(path))
