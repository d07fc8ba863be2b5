"""How much memory a prior needs, estimated before any is allocated.

What the encoder keeps for its gradient is not guessed: one chunk runs on PyTorch's `meta` device,
which has shapes and no data, and what autograd keeps there is counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from akd.prior.large.encoder.chain import Caches
from akd.prior.large.encoder.frozen import freeze
from akd.prior.large.encoder.vae import patched, plan
from akd.prior.large.errors import MemoryTooSmall
from akd.prior.large.families.base import VideoSize
from akd.prior.large.folder import PipelineFolder, find_class
from akd.prior.large.settings import LargeSettings, Recompute, Weights

GIB = 2**30


@dataclass(frozen=True)
class Need:
    """GiB on the device."""

    weights: float
    """Network and autoencoder."""
    encoding: float
    """Most that encoding with its gradient takes besides."""
    kept: float
    """The part of it that the encoder keeps until the backward pass."""
    prediction: float
    """Most that one guided prediction takes besides weights and what the encoder keeps."""
    words: float = 0.0
    """The text encoder, for the moment it is there."""
    loading: float = 0.0
    """The largest part as it is read, in main memory."""

    @property
    def total(self) -> float:
        """GiB at the fullest moment, with a tenth for fragments and workspaces."""
        most = max(self.encoding, self.kept + self.prediction, self.words)
        return 1.1 * (self.weights + most)

    def __str__(self) -> str:
        return (
            f"{self.total:.1f} GiB ({self.weights:.1f} weights, {self.encoding:.1f} encoding, "
            f"{self.prediction:.1f} prediction)"
        )


def memory_needed(
    folder: PipelineFolder, networks: Sequence[str], size: VideoSize, settings: LargeSettings
) -> Need:
    """Memory that a pipeline needs at a size; `networks` are its parts that predict."""
    bytes_each = 4 if settings.precision == "float32" else 2
    eighth = settings.weights is not Weights.FULL
    count = sum(folder.parameters(name) for name in networks)
    held = 0 if settings.offload else count * (1 if eighth else bytes_each) / settings.spread
    words = folder.parameters("text_encoder") * bytes_each
    vae_config = folder.config("vae")
    vae = empty_module(folder, "vae")
    # diffusers' own `to` warns of a cast that is of no consequence to shapes.
    torch.nn.Module.to(vae, getattr(torch, settings.precision))
    kept, encoding = encoder_bytes(vae, size, settings)
    return Need(
        weights=(held + folder.parameters("vae") * bytes_each) / GIB,
        encoding=encoding / GIB,
        kept=kept / GIB,
        prediction=prediction_bytes(folder.config(networks[0]), vae_config, size, settings) / GIB,
        words=words / GIB,
        loading=max(words, *(folder.parameters(name) * bytes_each for name in networks)) / GIB,
    )


def empty_module(folder: PipelineFolder, name: str) -> Any:
    """A part of a pipeline with shapes and no numbers."""
    kind = find_class("diffusers", folder.class_name(name), str(folder.path))
    with torch.device("meta"):
        module = kind.from_config(folder.config(name))
    return module.requires_grad_(False)


def encoder_bytes(vae: Any, size: VideoSize, settings: LargeSettings) -> tuple[int, int]:
    """Bytes kept between forward and backward, and bytes at the fullest moment."""
    if settings.frozen_kernels:
        freeze(vae.encoder, blocks=settings.recompute is Recompute.BLOCKS)
    dtype = next(vae.parameters()).dtype
    video = torch.empty(1, 3, size.frames, size.height, size.width, device="meta", dtype=dtype)
    pixels = patched(vae, video)
    step, chunks = plan(vae, size.frames, 8)
    weights = {id(parameter) for parameter in vae.parameters()}
    seen: dict[int, Tensor] = {}

    def note(tensor: Tensor) -> Tensor:
        # Views of one tensor count once.
        base = tensor if tensor._base is None else tensor._base
        if id(base) not in weights:
            seen[id(base)] = base
        return tensor

    # Where the first chunk is the longest it stands for all, else the second.
    lengths = [end - begin for begin, end in chunks]
    chosen = 0 if lengths[0] == max(lengths) else 1
    caches: Caches | None = None
    output = pixels
    for begin, end in chunks[: chosen + 1]:
        seen.clear()
        part = pixels[:, :, begin:end].clone().requires_grad_()
        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            output, caches = step(part, caches)
    graph = sum(tensor.nbytes for tensor in seen.values())
    widest = max((tensor.nbytes for tensor in seen.values()), default=output.nbytes)
    passed_on = sum(cache.nbytes for cache in caches or () if cache is not None)
    inputs = 2 * pixels.nbytes
    # A layer at work holds its input, its output, both with their past, and a gradient.
    working = 5 * widest
    if any(getattr(module, "is_recomputed", False) for module in vae.encoder.modules()):
        # A recomputed block keeps the inputs of its two norms.
        working += 2 * widest
    match settings.recompute:
        case Recompute.NOTHING:
            share = lengths[chosen] / size.frames
            kept = int(graph / share) + inputs
            return kept, kept + working
        case Recompute.CHUNKS | Recompute.BLOCKS:
            boundaries = 0 if settings.caches_on_cpu else len(chunks) - 1
            kept = boundaries * passed_on + inputs
            # Frames handed on: those given, their gradient, and the gradient that is given.
            return kept, kept + graph + 3 * passed_on + working


def prediction_bytes(
    network: dict[str, Any], vae: dict[str, Any], size: VideoSize, settings: LargeSettings
) -> int:
    """Bytes of one guided prediction: a dozen activations of the widest block, without a graph."""
    width = int(network.get("num_attention_heads") or 8) * int(
        network.get("attention_head_dim") or 64
    )
    tokens = token_count(network, vae, size)
    rows = 2 if settings.together else 1
    wide = int(network.get("ffn_dim") or 4 * width)
    each = 4 if settings.precision == "float32" else 2
    return rows * tokens * (10 * width + 2 * wide) * each


def token_count(network: dict[str, Any], vae: dict[str, Any], size: VideoSize) -> int:
    """Tokens of a video, by the compression of the autoencoder and the network's patches."""
    space = vae.get("scale_factor_spatial") or vae.get("spatial_compression_ratio")
    if space is None:
        levels = len(vae["block_out_channels"]) - 1
        space = 32 if "spatio_temporal_scaling" in vae else 2**levels
    time = vae.get("scale_factor_temporal") or vae.get("temporal_compression_ratio")
    time = int(time or (8 if "spatio_temporal_scaling" in vae else 1))
    patch = network.get("patch_size") or 1
    side = int(patch[-1]) if isinstance(patch, list | tuple) else int(patch)
    frames = (size.frames - 1) // time + 1
    return frames * (size.height // space // side) * (size.width // space // side)


def check_memory(need: Need, device: torch.device, what: str) -> None:
    """One clear error where the device has less than is needed."""
    free = free_gib(device)
    if need.total > free:
        raise MemoryTooSmall(
            f"{what} needs {need} on {device}, which has {free:.1f} GiB free; use the lean "
            f"settings, a smaller size, or another model"
        )
    if device.type == "cuda":
        # Weights pass through main memory, one part after the other.
        free = free_gib(torch.device("cpu"))
        if need.loading > free:
            raise MemoryTooSmall(
                f"{what} needs {need.loading:.1f} GiB of main memory while it is loaded, "
                f"{free:.1f} GiB are free"
            )


def free_gib(device: torch.device) -> float:
    """GiB free on a device; in main memory, what can be had without swapping."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] / GIB
    facts = Path("/proc/meminfo")
    if facts.is_file():
        for line in facts.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024 / GIB
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / GIB
