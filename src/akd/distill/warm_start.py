"""A start that already moves: sample videos from the prior, choose one, fit the joints to it."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from akd.distill import losses
from akd.distill.settings import DistillSettings
from akd.distill.stage import Stage
from akd.distill.unknowns import Unknowns
from akd.fit.photometric import photometric_loss, pyramid
from akd.prior.protocol import VideoPrior
from akd.prior.sample import sample_latents

Judge = Callable[[Float[Tensor, "K T H W 3"]], Float[Tensor, "K"]]
"""Says of each video how well it shows what was asked for."""
_PHOTOMETRIC = 20.0


def sample_target(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    unknowns: Unknowns,
    settings: DistillSettings,
    *,
    generator: torch.Generator,
    judge: Judge | None = None,
) -> Float[Tensor, "T H W 3"]:
    """The best of a few videos of this character doing what the prompt says."""
    warm = settings.warm_start
    with torch.no_grad():
        controls = unknowns.controls()
        video, picture = stage.show(stage.bones(controls), controls.translation)
        condition = prior.condition(prompt, reference=picture if prior.takes_reference else None)
        shape = (warm.samples, *prior.encode(video[None]).shape[1:])
        noise = torch.randn(shape, generator=generator).to(prior.device)
        latents = sample_latents(
            prior, [condition] * warm.samples, noise, steps=warm.steps, scale=warm.guidance
        )
        videos = prior.decode(latents).clamp(0.0, 1.0)
        best = 0 if judge is None else int(judge(videos).argmax())
    return videos[best]


def fit_to_video(
    stage: Stage,
    unknowns: Unknowns,
    target: Float[Tensor, "T H W 3"],
    settings: DistillSettings,
    *,
    report: Callable[[int, int, dict[str, float]], None] | None = None,
) -> float:
    """Change the unknowns until the character looks like the video. Returns the last difference."""
    warm = settings.warm_start
    optimiser = torch.optim.Adam(unknowns.leaves(), lr=warm.learning_rate, betas=(0.9, 0.99))
    wanted = pyramid(target)
    last = float("inf")
    for iteration in range(warm.iterations):
        controls = unknowns.controls()
        bones = stage.bones(controls)
        video, _ = stage.show(bones, controls.translation)
        difference = photometric_loss(video, wanted)
        loss = (
            _PHOTOMETRIC * difference
            + settings.losses.smooth
            * losses.smoothness(controls, leg_length=unknowns.leg_length).to(difference)
            + settings.losses.ground
            * losses.depth(stage.cloud, bones, body_height=stage.character.height)
            + settings.losses.rest * losses.departure(controls).to(difference)
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        last = float(difference.detach())
        if report is not None:
            report(
                iteration + 1, warm.iterations, {"loss": float(loss.detach()), "difference": last}
            )
    return last
