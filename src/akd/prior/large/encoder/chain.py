"""A video encoded chunk by chunk, each chunk handing caches to the next, with the exact gradient.

The gradient runs back through the caches too: what the last frames of one chunk hand to the next
is part of the function. Where chunks are recomputed, forward keeps the caches between them alone,
in main memory if so wished; backward takes the chunks from last to first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.graph import get_gradient_edge

Caches = list[Tensor | None]
Step = Callable[[Tensor, Caches | None], tuple[Tensor, Caches]]
"""(chunk [B, C, t, H, W], caches of the chunk before or None) to (output, caches)."""


def run_chain(
    step: Step,
    video: Float[Tensor, "B C T H W"],
    chunks: Sequence[tuple[int, int]],
    *,
    recompute: bool,
    caches_on_cpu: bool = False,
) -> Tensor:
    """`step` over the chunks (first frame, one past the last), outputs joined along time."""
    if recompute and video.requires_grad and torch.is_grad_enabled():
        return Chain.apply(video, step, tuple(chunks), caches_on_cpu)  # pyright: ignore[reportReturnType]
    outputs, caches = [], None
    for begin, end in chunks:
        output, caches = step(video[:, :, begin:end], caches)
        outputs.append(output)
    return torch.cat(outputs, dim=2)


class Chain(torch.autograd.Function):
    """Chunks forward without a graph; chunks backward from last to first, each recomputed."""

    @staticmethod
    def forward(
        ctx: Any, video: Tensor, step: Step, chunks: Sequence[tuple[int, int]], on_cpu: bool
    ) -> Tensor:
        """Outputs, and between chunks the caches put aside."""
        ctx.save_for_backward(video)
        ctx.step, ctx.chunks, ctx.kept = step, chunks, []
        outputs: list[Tensor] = []
        caches: Caches | None = None
        with torch.no_grad():
            for begin, end in chunks:
                ctx.kept.append(put_aside(caches, on_cpu=on_cpu))
                output, caches = step(video[:, :, begin:end], caches)
                outputs.append(output)
        ctx.lengths = [output.shape[2] for output in outputs]
        return torch.cat(outputs, dim=2)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Gradient of the video."""
        (video,) = ctx.saved_tensors
        pieces = list(gradients[0].split(ctx.lengths, dim=2))
        result = torch.zeros_like(video)
        from_next: Caches = []
        for begin, end in reversed(ctx.chunks):
            chunk = video[:, :, begin:end].detach()
            caches = bring_back(ctx.kept.pop(), video.device)
            found, from_next = backward_step(ctx.step, chunk, caches, pieces.pop(), from_next)
            if found is not None:
                result[:, :, begin:end] = found
        return result, None, None, None


def backward_step(
    step: Step, chunk: Tensor, caches: Caches | None, of_output: Tensor, of_caches: Caches
) -> tuple[Tensor | None, Caches]:
    """Gradients of a chunk and of the caches it was given, from those of what it gave.

    Of what the chunk gives only the way back is kept: caches are as large as the chunk's own graph.
    """
    chunk.requires_grad_()
    with torch.enable_grad():
        output, handed_on = step(chunk, caches)
    pairs = [(get_gradient_edge(output), of_output)]
    # What the chunk handed on may be part of its input, and may not have been used.
    for cache, gradient in zip(handed_on, of_caches, strict=False):
        if cache is not None and gradient is not None and cache.requires_grad:
            pairs.append((get_gradient_edge(cache), gradient))
    del output, handed_on
    of_chunk, *rest = torch.autograd.grad(
        [edge for edge, _ in pairs],
        [chunk, *(c for c in caches or () if c is not None)],
        [gradient for _, gradient in pairs],
        allow_unused=True,
    )
    of_given = iter(rest)
    return of_chunk, [None if c is None else next(of_given) for c in caches or ()]


def put_aside(caches: Caches | None, *, on_cpu: bool) -> Caches | None:
    """The caches, copied to main memory (pinned, without waiting) where so wished."""
    if caches is None or not on_cpu:
        return caches
    return [None if cache is None else to_main_memory(cache) for cache in caches]


def to_main_memory(cache: Tensor) -> Tensor:
    """A copy in main memory; from a GPU into pinned memory."""
    if cache.device.type != "cuda":
        return cache.cpu()
    held = torch.empty(cache.shape, dtype=cache.dtype, pin_memory=True)
    return held.copy_(cache, non_blocking=True)


def bring_back(caches: Caches | None, device: torch.device) -> Caches | None:
    """The caches on the device, as tensors that a gradient is asked of."""
    if caches is None:
        return None
    return [
        None if c is None else c.to(device, non_blocking=True).detach().requires_grad_()
        for c in caches
    ]
