"""Chooses the rasterizer and device of the training videos: the first that renders correctly."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from akd.prior.tiny.actor import Actor
from akd.prior.tiny.film import film_actor
from akd.prior.tiny.settings import CameraSettings, TinySettings
from akd.splat.render import Rasterizer

TOLERANCE = 1.0
"""Largest mean difference from the reference rasterizer, of 255."""


@dataclass(frozen=True)
class Studio:
    """Where videos are made: a rasterizer on a device."""

    rasterizer: Rasterizer = "warp"
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    def __str__(self) -> str:
        return f"{self.rasterizer} on {self.device}"


def choose_studio(actor: Actor, tiny: TinySettings, device: torch.device) -> Studio:
    """Film an actor in each studio and compare with the plain torch rasterizer on the CPU.

    Says on the terminal what was found. On a GPU ours comes first, then gsplat; rendering on the
    CPU is what remains where neither works.
    """
    few = actor.cloud[torch.arange(0, len(actor.cloud), 4)]
    small = replace(actor, cloud=few)
    two = replace(tiny, frames=2, patch_frames=2)

    def film(studio: Studio) -> Tensor:
        footage = film_actor(
            small.to(studio.device), 2, generator=torch.Generator().manual_seed(3), tiny=two,
            cameras=CameraSettings(), clips=[0, len(actor.actions) - 1],
            rasterizer=studio.rasterizer,
        )  # fmt: skip
        return torch.cat((footage.videos.flatten(0, 1), footage.reference_images)).cpu().float()

    truth = film(Studio("reference"))
    choices = [Studio("warp")]
    if device.type == "cuda":
        choices = [Studio("warp", device), Studio("gsplat", device), *choices]
    for studio in choices:
        started = time.perf_counter()
        try:
            off = float((film(studio) - truth).abs().mean())
        except Exception as error:  # whatever is wrong with it, the next one may do
            print(f"{studio}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            continue
        seconds = time.perf_counter() - started
        print(
            f"{studio}: off by {off:.3f} of 255 (allowed {TOLERANCE:g}), {seconds:.1f} s with "
            f"compilation", flush=True,
        )  # fmt: skip
        if off <= TOLERANCE:
            return studio
    raise RuntimeError("no rasterizer renders correctly on this machine")
