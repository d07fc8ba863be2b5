"""Convolutions with frozen weights: ways to compute them, and which one is the fastest.

The gradient of the input of a convolution with stride one is itself a convolution, with the weights
turned round, whose kernels may be faster than those for the gradient as such. And a convolution
over frames is one over images whose channels are those of neighbouring frames, side by side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from akd.prior.large.settings import Convolutions

Way = Callable[[], Tensor]


@dataclass(frozen=True)
class Shape:
    """How a convolution steps over its input."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int = 1
    way: Convolutions = Convolutions.PLAIN

    @classmethod
    def of(cls, module: nn.Conv2d | nn.Conv3d, way: Convolutions) -> Shape:
        """That of a layer."""
        return cls(
            tuple(module.stride),
            tuple(int(size) for size in module.padding),
            tuple(module.dilation),
            module.groups,
            way,
        )

    def is_dense(self) -> bool:
        """Whether every step is one and all channels meet."""
        return self.groups == 1 and all(n == 1 for n in (*self.stride, *self.dilation))


class FrozenConvolution(torch.autograd.Function):
    """A convolution that is differentiable with respect to its input only."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, shape: Shape) -> Tensor:
        """`shape`: how it steps over x."""
        ctx.save_for_backward(weight)
        ctx.like, ctx.shape = x.shape, shape
        return convolve(x, weight, bias, shape)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of the input."""
        (weight,) = ctx.saved_tensors
        return input_gradient(gradients[0], ctx.like, weight, ctx.shape), None, None, None


def fill_channels(x: Tensor, missing: int) -> Tensor:
    """`missing` more channels of zeros."""
    if missing == 0:
        return x
    return nn.functional.pad(x, (*(0, 0) * (x.dim() - 2), 0, missing))


def convolve(x: Tensor, weight: Tensor, bias: Tensor | None, shape: Shape) -> Tensor:
    """The convolution of x [B, C, *S] with weight [O, C, *K]."""
    ways: dict[str, Way] = {"direct": partial(direct, x, weight, bias, shape)}
    if can_stack(weight, shape):
        ways["frames"] = partial(by_frames, x, weight, bias, shape)
    return run(ways, "frames" if shape.way is Convolutions.FRAMES else "direct", x, weight, shape)


def input_gradient(gradient: Tensor, like: torch.Size, weight: Tensor, shape: Shape) -> Tensor:
    """The gradient of the input, whose shape is `like`, from that of the output."""
    ways: dict[str, Way] = {"direct": partial(plain_gradient, gradient, like, weight, shape)}
    wish = "direct"
    kernel = weight.shape[2:]
    if shape.way is not Convolutions.PLAIN and shape.is_dense():
        back = tuple(k - 1 - p for k, p in zip(kernel, shape.padding, strict=True))
        if all(size >= 0 for size in back):
            other, turn = replace(shape, padding=back), partial(turned, weight)
            ways["turned"] = lambda: direct(gradient, turn(), None, other)
            wish = "turned"
            if can_stack(weight, shape):
                ways["turned frames"] = lambda: by_frames(gradient, turn(), None, other)
                wish = "turned frames" if shape.way is Convolutions.FRAMES else wish
    return run(ways, wish, gradient, weight, shape)


def chunk_gradient(
    of_output: Tensor | None,
    of_handed_on: Tensor | None,
    like: torch.Size,
    weight: Tensor,
    shape: Shape,
    *,
    count: int,
    first: str,
) -> tuple[Tensor, Tensor | None]:
    """Gradients of a chunk of frames and of the `count` ones before it, which were convolved
    together (`like`) and the last `count` of which were handed on.

    `first` is empty where there were frames before; else what stood in for them, "black" or
    "repeated" (the chunk's first frame), and they have no gradient of their own.
    """
    if of_output is not None:
        whole = input_gradient(of_output, like, weight, shape)
    else:
        assert of_handed_on is not None
        whole = of_handed_on.new_zeros(like)
    if of_handed_on is not None:
        whole[:, :, whole.shape[2] - count :] += of_handed_on
    edge, own = whole[:, :, :count], whole[:, :, count:]
    if first == "repeated":
        own[:, :, :1] += edge.sum(2, keepdim=True)
    # A view would keep all of the gradient alive as long as these few frames.
    return own, None if first else edge.clone()


def can_stack(weight: Tensor, shape: Shape) -> bool:
    """Whether frames can be laid side by side."""
    return weight.dim() == 5 and weight.shape[2] > 1 and shape.is_dense()


def direct(x: Tensor, weight: Tensor, bias: Tensor | None, shape: Shape) -> Tensor:
    """PyTorch's own."""
    nothing = [0] * len(shape.stride)
    return torch.ops.aten.convolution(
        x, weight, bias, shape.stride, shape.padding, shape.dilation, False, nothing, shape.groups
    )


def plain_gradient(gradient: Tensor, like: torch.Size, weight: Tensor, shape: Shape) -> Tensor:
    """PyTorch's own gradient of the input."""
    # Only the input's shape matters for the gradient of the input.
    shape_only = gradient.new_empty(1).expand(like)
    return torch.ops.aten.convolution_backward(
        gradient, shape_only, weight, None, shape.stride, shape.padding, shape.dilation, False,
        [0] * len(shape.stride), shape.groups, [True, False, False],
    )[0]  # fmt: skip


def order_of(weight: Tensor) -> torch.memory_format:
    """The order of pixels and channels in memory that a convolution with these weights works in."""
    order = torch.channels_last_3d if weight.dim() == 5 else torch.channels_last
    return order if weight.is_contiguous(memory_format=order) else torch.contiguous_format


def join_frames(parts: Sequence[Tensor], weight: Tensor) -> Tensor:
    """Frames [B, C, t, H, W] one after the other, in the order in memory that the weights ask for.

    `torch.cat` of tensors in different orders gives up channels-last, and the convolution then
    turns all of it round again, which takes longer than the convolution itself.
    """
    order = order_of(weight)
    alike = [part.contiguous(memory_format=order) for part in parts]
    return torch.cat(alike, dim=2) if len(alike) > 1 else alike[0]


def turned(weight: Tensor) -> Tensor:
    """Weights [C, O, *K] whose convolution is the gradient of that with weights [O, C, *K]."""
    axes = tuple(range(2, weight.dim()))
    return weight.transpose(0, 1).flip(axes).contiguous(memory_format=order_of(weight))


def by_frames(x: Tensor, weight: Tensor, bias: Tensor | None, shape: Shape) -> Tensor:
    """A convolution over frames as one over images with the channels of neighbouring frames."""
    depth, outputs = weight.shape[2], weight.shape[0]
    beside = side_by_side(x, depth, shape.padding[0])
    flat = weight.transpose(1, 2).reshape(outputs, -1, *weight.shape[3:])
    flat = flat.contiguous(memory_format=torch.channels_last)
    image = Shape(shape.stride[1:], shape.padding[1:], shape.dilation[1:])
    result = direct(beside, flat, bias, image)
    return result.unflatten(0, (x.shape[0], -1)).transpose(1, 2)


def side_by_side(x: Tensor, depth: int, padding: int) -> Tensor:
    """Images [B * t, depth * C, H, W], channels last: each with the frames that follow it.

    `padding` black frames are taken to be before and behind x [B, C, T, H, W].
    """
    batch, channels, count, height, width = x.shape
    frames = x.permute(0, 2, 3, 4, 1)
    made = count + 2 * padding - depth + 1
    result = x.new_empty(batch, made, height, width, depth, channels)
    for place in range(depth):
        shift = place - padding
        begin, end = min(max(0, -shift), made), max(min(made, count - shift), 0)
        here = result[..., place, :]
        here[:, :begin] = 0.0
        here[:, end:] = 0.0
        here[:, begin:end] = frames[:, begin + shift : end + shift]
    return result.flatten(4).flatten(0, 1).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class Choice:
    """The fastest way for one size, and the time of each."""

    way: str
    milliseconds: dict[str, float]
    seconds: float
    """That it took to find out."""


PLANS = 5
"""Number of cuDNN plans tried per convolution, in cuDNN's own order of preference."""
PATIENCE = 45.0
"""Seconds after which cuDNN's first plan is taken for every further size."""
choices: dict[tuple, Choice] = {}
"""By what is convolved; filled as sizes come up."""


def run(ways: dict[str, Way], wish: str, x: Tensor, weight: Tensor, shape: Shape) -> Tensor:
    """One of several ways to the same result: the wished one, or the fastest on this GPU."""
    if shape.way is not Convolutions.FASTEST or not x.is_cuda:
        return ways[wish if wish in ways else "direct"]()
    key = (tuple(ways), tuple(x.shape), x.stride(), tuple(weight.shape), x.dtype, shape, x.device)
    if key not in choices:
        choices[key] = find_fastest(ways)
    return ways[choices[key].way]()


def find_fastest(ways: dict[str, Way]) -> Choice:
    """Try each way, cuDNN's own search on, and time it. One that fails is left out."""
    cudnn: Any = torch.backends.cudnn
    start = time.perf_counter()
    before = cudnn.benchmark, cudnn.benchmark_limit
    patient = sum(choice.seconds for choice in choices.values()) < PATIENCE
    cudnn.benchmark, cudnn.benchmark_limit = patient, PLANS
    times: dict[str, float] = {}
    try:
        for name, way in ways.items():
            try:
                way()
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                way()
                way()
                end.record()
                end.synchronize()
                times[name] = begin.elapsed_time(end) / 2
            except RuntimeError:  # out of memory, or no kernel for it
                continue
    finally:
        cudnn.benchmark, cudnn.benchmark_limit = before
    best = min(times, key=lambda name: times[name]) if times else "direct"
    return Choice(best, times, time.perf_counter() - start)
