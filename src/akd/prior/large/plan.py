"""Checks of a large prior before any weights are read: files, size, memory."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from akd.prior.large.catalogue import Entry, find
from akd.prior.large.errors import PriorError
from akd.prior.large.families.animatediff import FamilyAnimateDiff
from akd.prior.large.families.base import Family, Parts, VideoSize
from akd.prior.large.families.cogvideox import FamilyCogVideoX
from akd.prior.large.families.ltx import FamilyLtx
from akd.prior.large.families.wan import FamilyWan
from akd.prior.large.folder import PipelineFolder, find_class, open_folder
from akd.prior.large.memory import Need, check_memory, empty_module, free_gib, memory_needed
from akd.prior.large.schedulers import Schedule, read_schedule, schedule_of
from akd.prior.large.settings import LargeSettings
from akd.prior.large.spread import spread_devices
from akd.prior.source import PriorSource, user_path


@dataclass(frozen=True)
class Plan:
    """A prior that can be loaded: all its files are there, and it fits."""

    label: str
    folder: PipelineFolder
    kind: type[Family]
    networks: tuple[str, ...]
    """Parts of the pipeline that predict: one, or two for Wan 2.2 A14B."""
    schedule: Schedule
    size: VideoSize
    settings: LargeSettings
    device: torch.device
    need: Need

    def __str__(self) -> str:
        size = self.size
        return (
            f"{self.label}: {size.frames} x {size.height} x {size.width} at {size.fps:g} fps; "
            f"needs {self.need} of the {free_gib(self.device):.1f} GiB free on {self.device}"
        )


def plan_prior(
    source: PriorSource,
    *,
    settings: LargeSettings | None = None,
    device: torch.device | str = "cpu",
) -> Plan:
    """Check files, sizes, scheduler and memory. Raises `PriorError` for what is wrong."""
    device, settings = torch.device(device), settings or LargeSettings()
    label, folder = locate(source)
    kind = choose_family(folder)
    network = "unet" if folder.has("unet") else "transformer"
    networks = (network, f"{network}_2") if folder.has(f"{network}_2") else (network,)
    schedule = motion_schedule() if folder.adapter else read_schedule(folder.path)
    own = kind.own_size(folder.config(network), folder.config("vae"))
    size = VideoSize(
        source.frames or own.frames, source.height or own.height, source.width or own.width,
        source.fps or own.fps,
    )  # fmt: skip
    check_device(device, settings)
    for part in ("tokenizer", "text_encoder"):
        find_class("transformers", folder.class_name(part), str(folder.path))
    for part in (*networks, "vae", "text_encoder"):
        folder.weights(part)
    if folder.class_name(network) == "UNet2DConditionModel":
        motion_folder(folder)
    check_rules(label, folder, kind, networks, schedule, size, settings)
    need = memory_needed(folder, networks, size, settings)
    check_memory(need, device, label)
    return Plan(label, folder, kind, networks, schedule, size, settings, device, need)


def choose_family(folder: PipelineFolder) -> type[Family]:
    """The family whose pipeline wrote the folder."""
    match folder.pipeline:
        case (
            "CogVideoXPipeline" | "CogVideoXImageToVideoPipeline" | "CogVideoXVideoToVideoPipeline"
        ):
            return FamilyCogVideoX
        case "WanPipeline" | "WanImageToVideoPipeline":
            return FamilyWan
        case "LTXPipeline" | "LTXImageToVideoPipeline" | "LTXConditionPipeline":
            return FamilyLtx
        case "AnimateDiffPipeline":
            return FamilyAnimateDiff
        case "StableDiffusionPipeline" if folder.adapter is not None:
            return FamilyAnimateDiff
        case other:
            raise PriorError(
                f"{folder.path}: pipeline {other} is not known; CogVideoX, Wan, LTX-Video and "
                f"AnimateDiff are"
            )


def locate(source: PriorSource) -> tuple[str, PipelineFolder]:
    """A model's label and folder."""
    name, weights, download = source.name, source.weights, source.download
    path = user_path(name)
    if path.is_dir() or isinstance(name, Path) or str(name).startswith((".", "/", "~")):
        if weights is not None:
            raise PriorError(f"{name}: is a folder itself, so that weights must be left out")
        return path.name, open_folder(path)
    entry = find(str(name))
    if weights is not None:
        folder = open_folder(user_path(weights))
        if folder.pipeline == "StableDiffusionPipeline" and entry.adapter is not None:
            adapter = hub_folder(entry, entry.adapter, download=download)
            folder = replace(folder, adapter=adapter)
        return entry.name, folder
    folder = open_folder(hub_folder(entry, entry.hub, download=download))
    if entry.adapter is not None:
        folder = replace(folder, adapter=hub_folder(entry, entry.adapter, download=download))
    return entry.name, folder


def hub_folder(entry: Entry, repository: str, *, download: bool) -> Path:
    """The local copy of a repository on the hub."""
    try:
        from huggingface_hub import constants, snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ImportError:
        raise PriorError(
            f"{entry.name}: large priors need diffusers, which is not installed: pip install "
            f"diffusers transformers accelerate sentencepiece"
        ) from None

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


def motion_folder(folder: PipelineFolder) -> Path:
    """Where the motion modules of an image model are."""
    own = folder.path / "motion_adapter"
    place = folder.adapter or (own if own.is_dir() else None)
    if place is None:
        raise PriorError(f"{folder.path}: an image model needs a motion_adapter, there is none")
    return place


def check_device(device: torch.device, settings: LargeSettings) -> None:
    """Raise `PriorError` for settings that the device does not support."""
    last = spread_devices(device, settings.spread)[-1]
    if device.type == "cuda" and (last.index or 0) >= torch.cuda.device_count():
        raise PriorError(
            f"device {last} was asked for, but there are {torch.cuda.device_count()} CUDA devices"
        )
    if settings.offload and device.type != "cuda":
        raise PriorError(f"offload needs a CUDA device, got {device}")


def check_rules(
    label: str,
    folder: PipelineFolder,
    kind: type[Family],
    networks: tuple[str, ...],
    schedule: Schedule,
    size: VideoSize,
    settings: LargeSettings,
) -> None:
    """The family's own rules about versions and sizes, on modules with shapes and no numbers."""
    empty: list[Any] = [empty_module(folder, name) for name in networks]
    vae = empty_module(folder, "vae")
    kind(Parts(label, empty, vae, schedule, settings, size, folder.index))
