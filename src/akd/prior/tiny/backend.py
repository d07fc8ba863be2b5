"""Which rasterizer makes the training videos: the first that gives the right picture here."""

from __future__ import annotations

import time

import torch

from akd.prior.tiny.creatures import Actor
from akd.prior.tiny.film import film_actor
from akd.prior.tiny.settings import CameraSettings, TinySettings
from akd.splat.render import Rasterizer

TOLERANCE = 4.0
"""Mean difference from the torch twin's picture that is let pass, of 255."""


def choose_rasterizer(actor: Actor, tiny: TinySettings, device: torch.device) -> Rasterizer:
    """Film the actor with each rasterizer and compare with the plain torch one on the CPU.

    Says on the terminal what was found. The plain torch one is always right, and slow.
    """
    few = actor.cloud[torch.arange(0, len(actor.cloud), 4)]
    small = Actor(
        actor.species, actor.seed, actor.plan, actor.height, actor.root, few, actor.bone_colours,
        actor.neutral, actor.actions, actor.manners, actor.clips,
    )  # fmt: skip
    one = TinySettings(frames=2, width=tiny.width, height=tiny.height, fps=tiny.fps)

    def film(rasterizer: Rasterizer, where: torch.device | str) -> torch.Tensor:
        footage = film_actor(
            small.to(where), 2, generator=torch.Generator().manual_seed(3), tiny=one,
            cameras=CameraSettings(), clips=[1, 2], rasterizer=rasterizer,
        )  # fmt: skip
        return torch.cat((footage.videos.flatten(0, 1), footage.references)).cpu().float()

    truth = film("twin", "cpu")
    choices: list[Rasterizer] = ["warp", "gsplat"] if device.type == "cuda" else ["warp"]
    for rasterizer in choices:
        started = time.perf_counter()
        try:
            off = float((film(rasterizer, device) - truth).abs().mean())
        except Exception as error:  # whatever is wrong with it, the next one may do
            print(f"rasterizer {rasterizer}: {type(error).__name__}: {error}", flush=True)
            continue
        seconds = time.perf_counter() - started
        print(
            f"rasterizer {rasterizer}: off by {off:.3f} of 255 (allowed {TOLERANCE:g}), "
            f"{seconds:.1f} s with compilation", flush=True,
        )  # fmt: skip
        if off <= TOLERANCE:
            return rasterizer
    print("rasterizer twin: the plain one, slow", flush=True)
    return "twin"
