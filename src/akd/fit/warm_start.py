"""Warm start: sample videos from the prior, fit the joints to each, and keep the best fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.observer import Observer
from akd.fit.losses import Feet, LossState, LossTerm, evaluate, while_unsure
from akd.fit.phase_search import search_phases
from akd.fit.photometric import chroma, photometric_loss, pyramid
from akd.fit.settings import WarmStartSettings
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionParameters
from akd.prior.protocol import VideoPrior
from akd.prior.sample import sample_latents
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage

VideoScore = Callable[[Float[Tensor, "K T H W 3"]], Float[Tensor, "K"]]
"""How well each video shows the action that was asked for, 0..1."""
_DIFFERENCE = 20.0
"""Weight of the photometric difference against a video's score."""


def sample_videos(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    settings: WarmStartSettings,
    *,
    generator: torch.Generator,
) -> Float[Tensor, "K T H W 3"]:
    """Videos of this character doing what the prompt says."""
    with torch.no_grad():
        still = stage.neutral.expand(prior.frames, -1, -1, -1)
        video, image = stage.show(still, torch.zeros(prior.frames, 3))
        condition = prior.condition(
            prompt, reference_image=image if prior.takes_reference_image else None
        )
        shape = (settings.samples, *prior.encode(video[None]).shape[1:])
        noise = torch.randn(shape, generator=generator).to(prior.device)
        latents = sample_latents(
            prior, [condition] * settings.samples, noise, steps=settings.steps,
            scale=settings.guidance,
        )  # fmt: skip
        return prior.decode(latents).clamp(0.0, 1.0)


def fit_finalists(
    stage: Stage,
    videos: Float[Tensor, "K T H W 3"],
    begin: Callable[[Float[Tensor, "T H W 3"]], MotionParameters],
    terms: Sequence[LossTerm],
    settings: WarmStartSettings,
    *,
    score: VideoScore | None = None,
    observer: Observer | None = None,
) -> list[MotionParameters]:
    """Parameters fitted to one video each, the best fits first.

    Every video is fitted for a while. A fit is ranked by how well its rendering shows the action
    and by how near it came to the video. The best `settings.finalists` are fitted on, more slowly.

    Args:
        stage: Where the character performs.
        videos: Frames, sRGB 0..1.
        begin: Makes the starting parameters for a video.
        terms: Losses beside the photometric difference.
        settings: How long, and how many are kept.
        score: How well a video shows the action; the fit alone decides if left out.
        observer: Told about every iteration.
    """
    observer = observer or Observer()
    trials = settings.trial if len(videos) > 1 else 0
    count = min(settings.finalists, len(videos))
    total = trials * len(videos) + settings.iterations * count
    done = 0

    def step(values: dict[str, float]) -> None:
        nonlocal done
        done += 1
        observer.step(done, total, values)

    if trials:
        tried = [begin(video) for video in videos]
        ranks = []
        for trial, video in zip(tried, videos, strict=True):
            away = fit_to_video(stage, trial, video, terms, settings, iterations=trials, step=step)
            shown = 0.0 if score is None else float(score(_rendered(stage, trial)[None])[0])
            ranks.append(shown - _DIFFERENCE * away)
        best = _best(torch.tensor(ranks), count)
        found = [tried[k] for k in best]
    else:
        best = _best(torch.zeros(len(videos)) if score is None else score(videos), count)
        found = [begin(videos[k]) for k in best]
    for k, parameters in zip(best, found, strict=True):
        fit_to_video(
            stage, parameters, videos[k], terms, settings, iterations=settings.iterations,
            refine=bool(trials), step=step,
        )  # fmt: skip
    return found


def _best(values: Float[Tensor, "K"], count: int) -> list[int]:
    """Indices of the highest values, the highest first; of equal ones the first."""
    return values.argsort(descending=True, stable=True)[:count].tolist()


@torch.no_grad()
def _rendered(stage: Stage, parameters: MotionParameters) -> Float[Tensor, "T H W 3"]:
    posed = parameters.pose(stage)
    return stage.show(posed.transforms, posed.path)[0]


def fit_to_video(
    stage: Stage,
    parameters: MotionParameters,
    target: Float[Tensor, "T H W 3"],
    terms: Sequence[LossTerm],
    settings: WarmStartSettings,
    *,
    iterations: int,
    refine: bool = False,
    step: Callable[[dict[str, float]], None] | None = None,
) -> float:
    """Optimise the parameters until the rendering looks like the video. Returns the difference.

    A first fit searches each limb's phase, and weighs the foot terms low, because which feet stand
    is not settled yet. `refine` is for parameters that are near already: a quarter of the learning
    rate, full weights.
    """
    fastest = settings.learning_rate * (0.25 if refine else 1.0)
    terms = list(terms) if refine else while_unsure(terms)
    target = target.to(stage.cloud.means.device)
    optimiser = torch.optim.Adam(parameters.tensors(), lr=fastest, betas=(0.9, 0.99))
    # In the style `roles` every limb has a hue: brightness carries only ground and shading.
    by_hue = stage.scene.style is SceneStyle.ROLES
    look = chroma if by_hue else torch.clone
    curves = parameters if isinstance(parameters, ControlCurves) else None
    if curves is not None and by_hue and settings.phase_search and not refine:
        search_phases(stage, curves, target)
    wanted = pyramid(look(target))
    last = float("inf")
    for iteration in range(iterations):
        for group in optimiser.param_groups:
            group["lr"] = fastest * (1.0 - 0.9 * iteration / iterations)
        posed = parameters.pose(stage)
        video, _ = stage.show(posed.transforms, posed.path)
        difference = photometric_loss(look(video), wanted)
        state = LossState(stage, parameters, posed, video, iteration / iterations)
        others = evaluate(terms, state)
        loss = settings.weight * difference.to("cpu") + torch.stack(list(others.values())).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        last = float(difference.detach())
        if settings.speed_from_feet and (iteration + 1) % max(1, iterations // 3) == 0:
            match_speed(stage, curves)
        if step is not None:
            step({"loss": float(loss.detach()), "difference": last})
    return last


@torch.no_grad()
def match_speed(stage: Stage, curves: ControlCurves | None) -> None:
    """Set the body's speed to that at which its stance feet move back under it."""
    if curves is None or not stage.soles:
        return
    posed = curves.pose(stage)
    assert posed.controls is not None
    feet = Feet.of(stage, posed.controls, posed.transforms, curves)
    step = feet.speed()
    if step is not None and step > 0.0:
        curves.set_speed(step * curves.fps)
