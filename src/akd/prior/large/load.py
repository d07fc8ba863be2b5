"""From a name or a folder to a prior; everything that can be wrong is said before work starts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from akd.prior.large.catalogue import Entry, find
from akd.prior.large.errors import PriorError
from akd.prior.large.families.base import Parts, VideoSize
from akd.prior.large.families.choose import choose_family
from akd.prior.large.folder import PipelineFolder, find_class, open_folder
from akd.prior.large.frozen import freeze
from akd.prior.large.memory import check_memory, memory_needed
from akd.prior.large.prior import PriorDiffusers
from akd.prior.large.quantise import blocks_of, quantise
from akd.prior.large.schedulers import Schedule, read_schedule, schedule_of
from akd.prior.large.settings import LargeSettings
from akd.prior.large.taehv import load_tiny_encoder


def load_prior(
    name: str | Path,
    *,
    settings: LargeSettings | None = None,
    device: torch.device | str = "cpu",
    frames: int | None = None,
    height: int | None = None,
    width: int | None = None,
    fps: float | None = None,
    download: bool = False,
    cache: Path | None = None,
) -> PriorDiffusers:
    """A large prior by name (see `catalogue`), hub id, or local folder.

    Sizes left out are the model's own. `cache` is where embeddings of prompts are kept. Nothing is
    fetched unless `download` is set.
    """
    device, settings = torch.device(device), settings or LargeSettings()
    label, folder = locate(name, download=download)
    kind = choose_family(folder)
    network = "unet" if folder.has("unet") else "transformer"
    schedule = motion_schedule() if folder.adapter else read_schedule(folder.path)
    own = kind.own_size(folder.config(network), folder.config("vae"))
    size = VideoSize(frames or own.frames, height or own.height, width or own.width, fps or own.fps)
    tiny = None if settings.tiny_encoder is None else load_tiny_encoder(settings.tiny_encoder)
    check_device(device, settings)
    folder.weights("text_encoder")
    check_memory(memory_needed(folder, network, size, settings), device, label)
    networks = load_networks(folder, network, settings, device)
    vae = load_autoencoder(folder, settings, device)
    parts = Parts(label, networks, vae, schedule, settings, size, folder.index)
    family = kind(parts)
    if tiny is not None:
        tiny = tiny.to(device, parts.dtype)
        latents = vae.config.get("latent_channels") or vae.config.get("z_dim")
        if tiny.channels != latents:
            raise PriorError(
                f"{settings.tiny_encoder}: makes {tiny.channels} channels, {label} has {latents}"
            )
    return PriorDiffusers(label, family, folder, device=device, tiny=tiny, cache=cache)


def locate(name: str | Path, *, download: bool) -> tuple[str, PipelineFolder]:
    """A model's label and folder."""
    path = Path(name)
    if path.is_dir() or isinstance(name, Path) or str(name).startswith((".", "/", "~")):
        path = path.expanduser()
        return path.name, open_folder(path)
    entry = find(str(name))
    folder = open_folder(hub_folder(entry, entry.hub, download=download))
    if entry.adapter is not None:
        folder = replace(folder, adapter=hub_folder(entry, entry.adapter, download=download))
    return entry.name, folder


def hub_folder(entry: Entry, repository: str, *, download: bool) -> Path:
    """The local copy of a repository on the hub."""
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    if download:
        root = Path(constants.HF_HUB_CACHE)
        root.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(root).free / 2**30
        # Some repositories hold float32: room for twice the size in bfloat16.
        if free < 2.0 * entry.download_gib:
            raise PriorError(
                f"{entry.name} needs up to {2.0 * entry.download_gib:.0f} GiB on disk, {root} has "
                f"{free:.1f} GiB free"
            )
        wanted = ["*.json", "*.safetensors", "*.txt", "*.model"]
        return Path(snapshot_download(repository, allow_patterns=wanted))
    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except LocalEntryNotFoundError:
        raise PriorError(
            f"{entry.name}: its weights are not on this machine ({entry.download_gib:.1f} GiB or "
            f"more on disk, {entry.weights_gib:.1f} GiB held while it runs); fetch them with "
            f"`hf download {repository}`, or pass a folder"
        ) from None


def motion_schedule() -> Schedule:
    """The schedule AnimateDiff's motion modules were trained with; their base model's differs."""
    kind = find_class("diffusers", "DDIMScheduler", "animatediff")
    scheduler = kind(beta_start=0.00085, beta_end=0.012, beta_schedule="linear", clip_sample=False)
    return schedule_of(scheduler, "animatediff")


def check_device(device: torch.device, settings: LargeSettings) -> None:
    """Settings that the device cannot follow."""
    if device.type == "cuda" and not torch.cuda.is_available():
        raise PriorError(f"device {device} was asked for, but there is no CUDA device")
    if settings.offload and device.type != "cuda":
        raise PriorError(f"offload needs a CUDA device, got {device}")


def part(folder: PipelineFolder, name: str, dtype: torch.dtype, *, at: Path | None = None) -> Any:
    """One of a pipeline's modules, frozen, in main memory."""
    kind = find_class("diffusers", folder.class_name(name), str(folder.path))
    folder.weights(name)
    module = kind.from_pretrained(
        at or folder.path / name, torch_dtype=dtype, local_files_only=True, use_safetensors=True
    )
    return module.eval().requires_grad_(False)


def load_networks(
    folder: PipelineFolder, network: str, settings: LargeSettings, device: torch.device
) -> list[Any]:
    """The network, or both of them, as the settings wish."""
    dtype = getattr(torch, settings.precision)
    names = [network] + ([f"{network}_2"] if folder.has(f"{network}_2") else [])
    networks = []
    for name in names:
        module = part(folder, name, dtype)
        if folder.class_name(name) == "UNet2DConditionModel":
            module = with_motion(module, folder, dtype)
        networks.append(prepare_network(module, settings, device))
    return networks


def with_motion(unet: Any, folder: PipelineFolder, dtype: torch.dtype) -> Any:
    """A picture model joined with motion modules."""
    own = folder.path / "motion_adapter"
    place = folder.adapter or (own if own.is_dir() else None)
    if place is None:
        raise PriorError(f"{folder.path}: a picture model needs a motion_adapter, there is none")
    motion, whole = (
        find_class("diffusers", name, str(folder.path))
        for name in ("MotionAdapter", "UNetMotionModel")
    )
    adapter = motion.from_pretrained(place, torch_dtype=dtype, use_safetensors=True)
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
        freeze(vae.encoder, fused=fused, channels_last=settings.channels_last)
    return vae
