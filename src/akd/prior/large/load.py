"""From a plan to a prior: the weights are read here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from akd.base.process_group import ProcessGroup
from akd.prior.large.context import divide_context
from akd.prior.large.encoder.frozen import freeze
from akd.prior.large.families.base import Parts
from akd.prior.large.folder import PipelineFolder, find_class
from akd.prior.large.plan import Plan, motion_folder
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.quantise import blocks_of, quantise
from akd.prior.large.settings import LargeSettings, Recompute
from akd.prior.large.spread import spread_devices, spread_network


def load_planned(plan: Plan, *, cache: Path | None = None) -> PriorDiffusers:
    """Read the weights of a prior that was looked at."""
    folder, settings, device = plan.folder, plan.settings, plan.device
    if settings.context_parallel:
        _, device = ProcessGroup.join(device)  # each process has a GPU of its own
    networks = [load_network(folder, name, settings, device) for name in plan.networks]
    if settings.context_parallel:
        divide_context(networks, device)
    vae = load_autoencoder(folder, settings, device)
    parts = Parts(plan.label, networks, vae, plan.schedule, settings, plan.size, folder.index)
    return PriorDiffusers(plan.label, plan.kind(parts), folder, device=device, cache=cache)


def part(folder: PipelineFolder, name: str, dtype: torch.dtype) -> Any:
    """One of a pipeline's modules, frozen, in main memory."""
    kind = find_class("diffusers", folder.class_name(name), str(folder.path))
    folder.weights(name)
    module = kind.from_pretrained(
        folder.path / name, torch_dtype=dtype, local_files_only=True, use_safetensors=True
    )
    return module.eval().requires_grad_(False)


def load_network(
    folder: PipelineFolder, name: str, settings: LargeSettings, device: torch.device
) -> Any:
    """A network as the settings wish."""
    dtype = getattr(torch, settings.precision)
    module = part(folder, name, dtype)
    if folder.class_name(name) == "UNet2DConditionModel":
        module = with_motion(module, folder, dtype)
    return prepare_network(module, settings, device)


def with_motion(unet: Any, folder: PipelineFolder, dtype: torch.dtype) -> Any:
    """An image model joined with motion modules."""
    motion, whole = (
        find_class("diffusers", name, str(folder.path))
        for name in ("MotionAdapter", "UNetMotionModel")
    )
    adapter = motion.from_pretrained(motion_folder(folder), torch_dtype=dtype, use_safetensors=True)
    joined = whole.from_unet2d(unet, adapter)
    # diffusers' own `to` warns of a cast; both halves have this precision already.
    torch.nn.Module.to(joined, dtype)
    return joined.eval().requires_grad_(False)


def prepare_network(module: Any, settings: LargeSettings, device: torch.device) -> Any:
    """Quantised, on its device, compiled: as the settings wish."""
    quantise(module, settings.weights, device)
    if settings.offload:
        module.enable_group_offload(
            onload_device=device, offload_type="leaf_level", use_stream=True
        )
    elif settings.spread > 1:
        spread_network(module, spread_devices(device, settings.spread))
    else:
        module.to(device)
    if settings.compile:
        for block in blocks_of(module):
            block.compile(dynamic=False)
    return module


def load_autoencoder(folder: PipelineFolder, settings: LargeSettings, device: torch.device) -> Any:
    """The autoencoder, its encoder's layers frozen where the settings wish."""
    vae = part(folder, "vae", getattr(torch, settings.precision)).to(device)
    return prepare_autoencoder(vae, settings)


def prepare_autoencoder(vae: Any, settings: LargeSettings) -> Any:
    """Frozen layers, their order of pixels, compiled norms: as the settings wish."""
    if settings.frozen_kernels:
        # The fused norms see pixels as rows, which costs a copy unless channels come last.
        fused = "compiled" if settings.compile else "eager" if settings.channels_last else ""
        freeze(
            vae.encoder,
            fused=fused,
            channels_last=settings.channels_last,
            convolutions=settings.convolutions,
            blocks=settings.recompute is Recompute.BLOCKS,
        )
    return vae
