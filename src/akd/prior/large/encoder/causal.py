"""Causal convolutions of the encoders, with fewer copies of their frames.

diffusers joins the frames before a chunk with the chunk, pads, convolves, and cuts off what the
next chunk needs; each of these is a copy of the largest tensors there are, and another one on the
way back. Here the joint is made once and padding is the convolution's own; on the way back the
frames' gradient is cut out of one tensor, to which the next chunk's is added in place. Values and
gradients are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import get_gradient_edge

from akd.prior.large.encoder.convolve import (
    Shape,
    chunk_gradient,
    convolve,
    fill_channels,
    join_frames,
)
from akd.prior.large.encoder.normed import two_steps
from akd.prior.large.settings import Convolutions

MOST_NUMBERS = 2**31
"""cuDNN counts in 32 bits: tensors of more numbers go the way diffusers goes, in pieces."""


class CausalConvolution(torch.autograd.Function):
    """Frames that came before, a chunk, and its convolution."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, before: Tensor | None, weight: Tensor, bias: Tensor | None,
        shape: Shape, black: bool,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """Output, and the frames to hand on. Without frames before, these are black or the first
        one repeated."""
        count = weight.shape[2] - 1
        if before is None:
            edge = x[:, :, :1].expand(-1, -1, count, -1, -1)
            before = torch.zeros_like(edge) if black else edge
            ctx.first = "black" if black else "repeated"
        else:
            ctx.first = ""
        whole = join_frames((before, x), weight)
        ctx.save_for_backward(weight)
        ctx.like, ctx.shape, ctx.count = whole.shape, shape, count
        ctx.set_materialize_grads(False)
        handed_on = whole[:, :, whole.shape[2] - count :].clone()
        return convolve(whole, weight, bias, shape), handed_on

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        """Gradients of the chunk and of the frames before it."""
        of_output, of_handed_on = gradients
        (weight,) = ctx.saved_tensors
        own, edge = chunk_gradient(
            of_output, of_handed_on, ctx.like, weight, ctx.shape, count=ctx.count, first=ctx.first
        )
        return own, edge, None, None, None, None


def freeze_cogvideox(module: Any, way: Convolutions) -> None:
    """Swap the arithmetic of one of CogVideoX's causal convolutions, if it is an ordinary one."""
    shape = Shape.of(module.conv, way)
    if module.pad_mode != "replicate" and module.time_kernel_size > 1 and shape.is_dense():
        plain = module.forward
        module.causal_shape = shape
        module.forward = partial(cogvideox_causal, module, shape, plain)


def cogvideox_causal(
    module: Any, shape: Shape, plain: Any, inputs: Tensor, conv_cache: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """One chunk, given and handing on the frames that the convolution remembers."""
    if inputs.numel() * 2 > MOST_NUMBERS:
        return plain(inputs, conv_cache)
    weight, bias = module.conv.weight, module.conv.bias
    x = fill_channels(inputs, weight.shape[1] - inputs.shape[1])
    return CausalConvolution.apply(x, conv_cache, weight, bias, shape, False)  # pyright: ignore[reportReturnType]


class RecomputedBlock(torch.autograd.Function):
    """A function of several tensors that keeps only these, and is recomputed for its gradient."""

    @staticmethod
    def forward(
        ctx: Any, function: Callable[..., tuple[Tensor, ...]], *given: Tensor | None
    ) -> tuple[Tensor, ...]:
        """function(*given)."""
        ctx.save_for_backward(*given)
        ctx.function = function
        ctx.set_materialize_grads(False)
        with torch.no_grad():
            return function(*given)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        """Gradients of what was given."""
        given: list[Any] = [None if one is None else one.detach() for one in ctx.saved_tensors]
        wanted = [i for i, need in enumerate(ctx.needs_input_grad[1:]) if need]
        for i in wanted:
            given[i].requires_grad_()
        with torch.enable_grad():
            # What the function gives is not needed again, only where it came from.
            edges = [get_gradient_edge(result) for result in ctx.function(*given)]
        pairs = [(e, g) for e, g in zip(edges, gradients, strict=True) if g is not None]
        del gradients
        found = torch.autograd.grad(
            [edge for edge, _ in pairs], [given[i] for i in wanted],
            [gradient for _, gradient in pairs], allow_unused=True,
        )  # fmt: skip
        all_of_them: list[Tensor | None] = [None] * len(given)
        for i, gradient in zip(wanted, found, strict=True):
            all_of_them[i] = gradient
        return None, *all_of_them


def swap_block(module: Any, *, again: bool) -> None:
    """Swap the arithmetic of one of CogVideoX's residual blocks.

    `again` makes it keep its inputs alone and recompute the rest in the backward pass.
    """
    if module.in_channels != module.out_channels and module.use_conv_shortcut:
        return  # its shortcut hands frames on as well; no published model has one
    if not hasattr(module, "plain_forward"):
        module.plain_forward = module.forward
    module.is_recomputed = again
    whole = partial(residual_block, module)
    module.forward = partial(recomputed_block, whole) if again else whole


CACHES = ("conv1", "conv2")
"""Of a residual block."""


def residual_block(
    module: Any, inputs: Tensor, temb: Any = None, zq: Any = None, conv_cache: Any = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """A residual block of CogVideoX's encoder, which has neither `temb` nor `zq`."""
    found = None
    if temb is None and zq is None and inputs.numel() * 2 <= MOST_NUMBERS:
        convolutions = (module.conv1, module.conv2)
        layers = [
            (norm, conv.conv, getattr(conv, "causal_shape", None))
            for norm, conv in zip((module.norm1, module.norm2), convolutions, strict=True)
        ]
        same = module.in_channels == module.out_channels
        found = two_steps(
            layers, inputs, (lambda x: x) if same else module.conv_shortcut,
            [(conv_cache or {}).get(name) for name in CACHES], black=False,
        )  # fmt: skip
    if found is None:
        return module.plain_forward(inputs, temb, zq, conv_cache)
    return found[0], dict(zip(CACHES, found[1], strict=True))


def recomputed_block(
    plain: Any, inputs: Tensor, temb: Any = None, zq: Any = None, conv_cache: Any = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """The same, recomputed in the backward pass."""
    assert temb is None
    assert zq is None

    def run(x: Tensor, *caches: Tensor | None) -> tuple[Tensor, ...]:
        output, handed_on = plain(x, None, None, dict(zip(CACHES, caches, strict=True)))
        return output, *(handed_on[name] for name in CACHES)

    given = [None if conv_cache is None else conv_cache.get(name) for name in CACHES]
    output, *handed_on = RecomputedBlock.apply(run, inputs, *given)  # pyright: ignore[reportGeneralTypeIssues]
    return output, dict(zip(CACHES, handed_on, strict=True))


class HalvedFrames(torch.autograd.Function):
    """Means of pairs of frames (but for an odd first one), with a black row and column at the end.

    Channels are last throughout: `pad` of five dimensions would put them first again.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, halve: bool) -> Tensor:
        """Images [B * t, C, H + 1, W + 1] of x [B, C, T, H, W]; all frames if not to `halve`."""
        batch, channels, count, height, width = x.shape
        ctx.like, ctx.halve = x.shape, halve
        odd = count % 2 if halve else count
        frames = x.movedim(1, -1)
        made = odd + (count - odd) // 2
        result = x.new_empty(batch, made, height + 1, width + 1, channels)
        result[:, :, height:] = 0.0
        result[:, :, :, width:] = 0.0
        inside = result[:, :, :height, :width]
        inside[:, :odd] = frames[:, :odd]
        torch.add(frames[:, odd::2], frames[:, odd + 1 :: 2], out=inside[:, odd:])
        inside[:, odd:] *= 0.5
        return result.flatten(0, 1).movedim(-1, 1)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of x."""
        batch, channels, count, height, width = ctx.like
        odd = count % 2 if ctx.halve else count
        given = gradients[0].movedim(1, -1).unflatten(0, (batch, -1))[:, :, :height, :width]
        result = given.new_empty(batch, count, height, width, channels)
        result[:, :odd] = given[:, :odd]
        half = given[:, odd:] * 0.5
        result[:, odd::2] = half
        result[:, odd + 1 :: 2] = half
        return result.movedim(-1, 1), None


def downsample(module: Any, x: Tensor) -> Tensor:
    """CogVideoX's halving: frames in pairs, then every other pixel."""
    images: Any = HalvedFrames.apply(x, bool(module.compress_time) and x.shape[2] > 1)
    images = module.conv(images)
    return images.movedim(1, -1).unflatten(0, (x.shape[0], -1)).movedim(-1, 1)
