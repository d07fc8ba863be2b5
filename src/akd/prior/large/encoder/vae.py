"""Encoding videos with diffusers' autoencoders, in chunks of frames, differentiably.

Chunks are the model's own where its norms look across frames (CogVideoX: 8 frames, the first chunk
takes the odd ones too); where they do not (Wan, LTX-Video, frame-wise ones) a chunk may have any
length its compression in time allows, and the result is that of one long chunk. In either case it
is what `vae.encode` of diffusers gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jaxtyping import Float
from torch import Tensor

from akd.prior.large.encoder.chain import Caches, Step, run_chain
from akd.prior.large.encoder.vae_ltx import ltx_step
from akd.prior.large.errors import PriorError
from akd.prior.large.settings import LargeSettings, Recompute


def encode_moments(
    vae: Any, video: Float[Tensor, "B 3 T H W"], settings: LargeSettings, *, chunk: int = 8
) -> Float[Tensor, "B C t h w"]:
    """Mean and log variance (stacked over channels) of the latents of videos in -1..1.

    `chunk` is in frames, and only a wish: it is rounded to what the model allows.
    """
    frames = video.shape[2]
    step, chunks = plan(vae, frames, chunk)
    pixels = patched(vae, video)
    moments = run_chain(
        step,
        pixels,
        chunks,
        recompute=settings.recompute is not Recompute.NOTHING,
        caches_on_cpu=settings.caches_on_cpu,
    )
    quantised = getattr(vae, "quant_conv", None)
    if quantised is not None and type(vae).__name__ != "AutoencoderKL":
        moments = quantised(moments)
    return moments


def plan(vae: Any, frames: int, chunk: int) -> tuple[Step, list[tuple[int, int]]]:
    """How one chunk is encoded, and which chunks there are."""
    match type(vae).__name__:
        case "AutoencoderKLCogVideoX":
            own = int(getattr(vae, "num_sample_frames_batch_size", 8))
            return cogvideox_step(vae), list(own_chunks(frames, own))
        case "AutoencoderKLWan":
            return wan_step(vae), list(chunks_after_first(frames, chunk, 4))
        case "AutoencoderKLLTXVideo":
            times = int(vae.temporal_compression_ratio)
            return ltx_step(vae.encoder), list(chunks_after_first(frames, chunk, times))
        case "AutoencoderKL":
            ends = range(0, frames, max(chunk, 1))
            return frame_step(vae), [(i, min(i + max(chunk, 1), frames)) for i in ends]
        case other:
            raise PriorError(f"vae must be one of CogVideoX, Wan, LTX-Video or KL, got {other}")


def patched(vae: Any, video: Tensor) -> Tensor:
    """Pixels as the encoder takes them: Wan 2.2 stacks 2 x 2 of them into channels."""
    size = vae.config.get("patch_size") if type(vae).__name__ == "AutoencoderKLWan" else None
    if size is None or size == 1:
        return video
    batch, channels, frames, height, width = video.shape
    blocks = video.reshape(batch, channels, frames, height // size, size, width // size, size)
    # Wan's order of channels: colour, column in the patch, row in the patch.
    return blocks.permute(0, 1, 6, 4, 2, 3, 5).flatten(1, 3)


def own_chunks(frames: int, length: int) -> Iterator[tuple[int, int]]:
    """Chunks of a fixed length; the first one also takes the remainder."""
    count, odd = max(frames // length, 1), frames % length
    for i in range(count):
        begin = length * i + (0 if i == 0 else odd)
        yield begin, min(length * (i + 1) + odd, frames)


def chunks_after_first(frames: int, wish: int, unit: int) -> Iterator[tuple[int, int]]:
    """One frame, then chunks of a multiple of `unit` frames: as these models count time."""
    if frames % unit != 1 and unit > 1:
        raise PriorError(f"frames must be a multiple of {unit} plus one, got {frames}")
    yield 0, 1
    length = max(wish // unit, 1) * unit
    for begin in range(1, frames, length):
        yield begin, min(begin + length, frames)


def flatten(tree: Any) -> Iterator[Tensor | None]:
    """Tensors in nested dictionaries, by order of keys."""
    if isinstance(tree, dict):
        for key in sorted(tree):
            yield from flatten(tree[key])
    else:
        yield tree


def unflatten(tree: Any, leaves: Iterator[Tensor | None]) -> Any:
    """The same nesting with other tensors."""
    if isinstance(tree, dict):
        return {key: unflatten(tree[key], leaves) for key in sorted(tree)}
    return next(leaves)


def cogvideox_step(vae: Any) -> Step:
    """One chunk through CogVideoX's encoder, whose convolutions remember two frames each."""
    shape: list[Any] = []

    def step(chunk: Tensor, caches: Caches | None) -> tuple[Tensor, Caches]:
        given = None if caches is None else unflatten(shape[0], iter(caches))
        output, handed_on = vae.encoder(chunk, conv_cache=given)
        if not shape:
            shape.append({key: structure(value) for key, value in handed_on.items()})
        return output, list(flatten(handed_on))

    return step


def structure(tree: Any) -> Any:
    """The nesting alone: no tensor is kept alive."""
    return {key: structure(tree[key]) for key in tree} if isinstance(tree, dict) else None


def wan_step(vae: Any) -> Step:
    """One chunk through Wan's encoder, which writes its caches into a list."""
    from diffusers.models.autoencoders.autoencoder_kl_wan import WanCausalConv3d

    count = sum(isinstance(module, WanCausalConv3d) for module in vae.encoder.modules())

    def step(chunk: Tensor, caches: Caches | None) -> tuple[Tensor, Caches]:
        held: Caches = [None] * count if caches is None else list(caches)
        output = vae.encoder(chunk, feat_cache=held, feat_idx=[0])
        return output, held

    return step


def frame_step(vae: Any) -> Step:
    """Frames through an image autoencoder, which has no caches."""

    def step(chunk: Tensor, caches: Caches | None) -> tuple[Tensor, Caches]:
        del caches
        batch = chunk.shape[0]
        images = vae.encoder(chunk.transpose(1, 2).flatten(0, 1))
        if vae.quant_conv is not None:
            images = vae.quant_conv(images)
        return images.unflatten(0, (batch, -1)).transpose(1, 2), []

    return step


def mean_of(moments: Float[Tensor, "B C t h w"]) -> Tensor:
    """The latents' mean: the mode of the posterior, which is what a gradient should follow."""
    return moments.chunk(2, dim=1)[0]
