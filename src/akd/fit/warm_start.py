"""A start that already moves: sample videos from the prior, choose one, fit the joints to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.distill.settings import DistillSettings
from akd.fit import losses
from akd.fit.phase_search import search_phases
from akd.fit.photometric import chroma, photometric_loss, pyramid
from akd.motion.parameters import MotionParameters
from akd.prior.protocol import VideoPrior
from akd.prior.sample import sample_latents
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage

Judge = Callable[[Float[Tensor, "K T H W 3"]], Float[Tensor, "K"]]
"""Says of each video how well it shows what was asked for."""
Report = Callable[[int, int, dict[str, float]], None]
_GUESSED = 0.2
"""Part of the weights on feet while it is not known yet which of them stand."""
_NEARNESS = 20.0
"""How much a difference of the pictures counts against what a judge says, which is 0..1."""


def sample_videos_of(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    settings: DistillSettings,
    *,
    generator: torch.Generator,
) -> Float[Tensor, "K T H W 3"]:
    """A few videos of this character doing what the prompt says."""
    warm = settings.warm_start
    with torch.no_grad():
        still = stage.neutral.expand(prior.frames, -1, -1, -1)
        video, picture = stage.show(still, torch.zeros(prior.frames, 3))
        condition = prior.condition(prompt, reference=picture if prior.takes_reference else None)
        shape = (warm.samples, *prior.encode(video[None]).shape[1:])
        noise = torch.randn(shape, generator=generator).to(prior.device)
        latents = sample_latents(
            prior, [condition] * warm.samples, noise, steps=warm.steps, scale=warm.guidance
        )
        return prior.decode(latents).clamp(0.0, 1.0)


def fit_finalists(
    stage: Stage,
    videos: Float[Tensor, "K T H W 3"],
    begin: Callable[[Float[Tensor, "T H W 3"]], MotionParameters],
    settings: DistillSettings,
    *,
    judge: Judge | None = None,
    report: Report | None = None,
) -> list[MotionParameters]:
    """Motion parameters fitted to one of the videos each, the best fits first.

    `begin` makes the unknowns to start with for a video. All of them are fitted for a while; what
    has come of each is judged by how well it shows what was asked for and how near it came. As
    many of the best as there are to be finalists are fitted on.
    """
    warm = settings.warm_start
    trials = warm.trial if len(videos) > 1 else 0
    count = min(warm.finalists, len(videos))
    total = trials * len(videos) + warm.iterations * count
    done = 0

    def step(parts: dict[str, float]) -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(done, total, parts)

    if trials:
        tried = [begin(video) for video in videos]
        values = []
        for trial, video in zip(tried, videos, strict=True):
            away = fit_to_video(stage, trial, video, settings, iterations=trials, report=step)
            likeness = 0.0 if judge is None else float(judge(_seen(stage, trial)[None])[0])
            values.append(likeness - _NEARNESS * away)
        best = _best(torch.tensor(values), count)
        found = [tried[k] for k in best]
    else:
        best = _best(torch.zeros(len(videos)) if judge is None else judge(videos), count)
        found = [begin(videos[k]) for k in best]
    for k, unknowns in zip(best, found, strict=True):
        fit_to_video(
            stage, unknowns, videos[k], settings, iterations=warm.iterations, report=step,
            guess=not trials, slowly=bool(trials),
        )  # fmt: skip
    return found


def _best(values: Float[Tensor, "K"], count: int) -> list[int]:
    """Places of the highest values, the highest first; of equal ones the first."""
    return values.argsort(descending=True, stable=True)[:count].tolist()


@torch.no_grad()
def _seen(stage: Stage, unknowns: MotionParameters) -> Float[Tensor, "T H W 3"]:
    """What the stage's camera sees."""
    controls = unknowns.controls()
    return stage.show(stage.bones(controls), controls.translation)[0]


def fit_to_video(
    stage: Stage,
    unknowns: MotionParameters,
    target: Float[Tensor, "T H W 3"],
    settings: DistillSettings,
    *,
    iterations: int,
    guess: bool = True,
    slowly: bool = False,
    report: Callable[[dict[str, float]], None] | None = None,
) -> float:
    """Change the unknowns until the character looks like the video. Returns the last difference.

    `guess` looks for the swing of every limb first; `slowly` is for what is already near. While it
    is not, which feet stand is a guess as well, and they are asked for little.
    """
    warm, weights = settings.warm_start, settings.losses
    fastest = warm.learning_rate * (0.25 if slowly else 1.0)
    if not slowly:
        weights = replace(
            weights, support=_GUESSED * weights.support, skate=_GUESSED * weights.skate
        )
    optimiser = torch.optim.Adam(unknowns.leaves(), lr=fastest, betas=(0.9, 0.99))
    # A model that sees roles gives every limb a hue: the rest is left out.
    by_hue = stage.scene.style is SceneStyle.ROLES
    look = chroma if by_hue else torch.clone
    if by_hue and guess:
        search_phases(stage, unknowns, target)
    wanted = pyramid(look(target))
    last = float("inf")
    for iteration in range(iterations):
        for group in optimiser.param_groups:
            group["lr"] = fastest * (1.0 - 0.9 * iteration / iterations)
        controls = unknowns.controls()
        bones = stage.bones(controls)
        video, _ = stage.show(bones, controls.translation)
        difference = photometric_loss(look(video), wanted)
        others = losses.regularisers(stage, unknowns, controls, bones, weights)
        loss = warm.weight * difference.to("cpu") + torch.stack(list(others.values())).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        last = float(difference.detach())
        if warm.speed_from_feet and (iteration + 1) % max(1, iterations // 3) == 0:
            match_speed(stage, unknowns)
        if report is not None:
            report({"loss": float(loss.detach()), "difference": last})
    return last


@torch.no_grad()
def match_speed(stage: Stage, unknowns: MotionParameters) -> None:
    """Let the body go as fast as its standing feet move back under it."""
    if not stage.soles:
        return
    controls = unknowns.controls()
    feet = losses.Feet.of(stage, controls, stage.bones(controls), unknowns)
    step = feet.speed()
    if step is not None and step > 0.0:
        unknowns.set_speed(step * unknowns.fps)
