"""Warm start: sample videos from the prior, fit the joints to each, and keep the best fits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import fmean

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.observer import Observer
from akd.fit.first_guess import regress, set_first_guess
from akd.fit.graph import graph_step
from akd.fit.losses import Feet, LossTerm, evaluate, while_unsure
from akd.fit.photometric import chroma, halved, photometric_loss, pyramid
from akd.fit.regressor.regressor import MotionRegressor
from akd.fit.settings import WarmStartSettings
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionParameters, pose_together
from akd.motion.undulation import slip
from akd.prior.protocol import KnownFrames, VideoPrior, with_known
from akd.prior.sample import sample_latents
from akd.scene.settings import SceneStyle
from akd.scene.stage import Stage

VideoScore = Callable[[Float[Tensor, "K T H W 3"]], Float[Tensor, "K"]]
"""How well each video shows the action that was asked for, 0..1."""
_DIFFERENCE = 20.0
"""Weight of the photometric difference against a video's score."""
_AROUND = (-0.5, 0.5, math.pi - 0.5, math.pi + 0.5)
"""Turns of the camera, radians, from which two fits to one video are compared: seen as in the
video, a limb that reaches towards the camera looks like one that hangs."""
_CHAIN = 0.2
"""Factor on the learning rate for an undulating body: steps add up along its chain of joints."""


def sample_videos(
    stage: Stage,
    prior: VideoPrior,
    prompt: str,
    settings: WarmStartSettings,
    *,
    generator: torch.Generator,
    sampled: Float[Tensor, "N T H W 3"] | None = None,
    known: KnownFrames | None = None,
) -> Float[Tensor, "K T H W 3"]:
    """Videos of this character doing what the prompt says, on the CPU.

    The first is sampled alone and the others in one batch, so that the one video of a preview, if
    it is given as `sampled`, is that of a full run. All hold the `known` frames.
    """
    count = settings.samples
    with torch.no_grad():
        still = stage.neutral.expand(prior.frames, -1, -1, -1)
        video = stage.show(still)
        image = stage.reference_images()[0] if prior.takes_reference_image else None
        condition = with_known(prior, prior.condition(prompt, reference_image=image), known)
        shape = prior.encode(video[None]).shape[1:]
        noise = torch.stack([torch.randn(shape, generator=generator) for _ in range(count)])
        videos = [] if sampled is None else [sampled]
        for rows in (slice(0 if sampled is None else len(sampled), 1), slice(1, count)):
            if not len(noise[rows]):
                continue
            latents = sample_latents(
                prior, [condition] * len(noise[rows]), noise[rows].to(prior.device),
                steps=settings.steps, spacing=settings.spacing, scale=settings.guidance,
            )  # fmt: skip
            videos.append(prior.decode(latents).clamp(0.0, 1.0).cpu())
    return torch.cat(videos)


def fit_finalists(
    stage: Stage,
    videos: Float[Tensor, "K T H W 3"],
    begin: Callable[[Float[Tensor, "T H W 3"]], MotionParameters],
    terms: Sequence[LossTerm],
    settings: WarmStartSettings,
    *,
    score: VideoScore | None = None,
    regressor: MotionRegressor | None = None,
    observer: Observer | None = None,
) -> list[MotionParameters]:
    """Parameters fitted to one video each, the best fits first.

    All videos are fitted for a while, in one batch. A fit is ranked by how well its rendering shows
    the action and by how near it came to the video. The best `settings.finalists` are fitted on,
    more slowly. In actions that are no gaits, each video is fitted from what the search finds and
    from what the regressor sees, and the better fit of the two counts: how alike the starts look
    says little about that.

    Args:
        stage: Where the character performs.
        videos: Frames, sRGB 0..1.
        begin: Makes the starting parameters for a video.
        terms: Losses beside the photometric difference.
        settings: How long, and how many are kept.
        score: How well a video shows the action; the fit alone decides if left out.
        regressor: Where it is given, fits start from the motion that it sees in each video.
        observer: Told about every iteration.
    """
    observer = observer or Observer()
    tried = [begin(video) for video in videos] if settings.trial else []
    both = bool(tried) and _has_two_starts(stage, tried, settings, regressor)
    trials = settings.trial if both or len(videos) > 1 else 0
    count = min(settings.finalists, len(videos))
    total = trials + settings.iterations
    done, held = 0, None

    def step(values: dict[str, float]) -> None:
        nonlocal done
        done += 1
        observer.step(done, total, values)

    if trials:
        begins = None
        if both:
            begins = [False] * len(tried) + [True] * len(tried)
            tried += [begin(video) for video in videos]
        away = fit_to_videos(
            stage, tried, videos.repeat(len(tried) // len(videos), 1, 1, 1, 1), terms, settings,
            iterations=trials, half_size=True, regressor=regressor, begins=begins, step=step,
        )  # fmt: skip
        shown = torch.zeros(len(tried))
        if score is not None:
            seen = [score(_rendered(stage, tried, t)) for t in (_AROUND if both else (0.0,))]
            shown = torch.stack(seen).mean(0).cpu()
        values, starts = (shown - _DIFFERENCE * torch.tensor(away)).view(-1, len(videos)).max(0)
        best = _best(values, count)
        held = [bool(starts[k]) for k in best] if both else None
        found = [tried[k + len(videos) * int(starts[k])] for k in best]
    else:
        best = _best(torch.zeros(len(videos)) if score is None else score(videos), count)
        found = [tried[k] if tried else begin(videos[k]) for k in best]
    fit_to_videos(
        stage, found, videos[best], terms, settings, iterations=settings.iterations,
        refine=bool(trials), regressor=regressor, begins=held, step=step,
    )  # fmt: skip
    return found


def _has_two_starts(
    stage: Stage,
    candidates: Sequence[MotionParameters],
    settings: WarmStartSettings,
    regressor: MotionRegressor | None,
) -> bool:
    """Whether a search and a regressor both say where a fit begins, of an action that is no gait:
    a video shows the cycle of a gait several times, so that either start leads there."""
    return (
        regressor is not None
        and settings.phase_search
        and stage.scene.style is SceneStyle.ROLES
        and not stage.undulates
        and all(isinstance(c, ControlCurves) and c.period is None for c in candidates)
    )


def _best(values: Float[Tensor, "K"], count: int) -> list[int]:
    """Indices of the highest values, the highest first; of equal ones the first."""
    return values.argsort(descending=True, stable=True)[:count].tolist()


@torch.no_grad()
def _rendered(
    stage: Stage, candidates: Sequence[MotionParameters], turn: float
) -> Float[Tensor, "K T H W 3"]:
    """Videos of the candidates by a camera that is turned round them, radians."""
    posed = pose_together(candidates, stage)
    return stage.show(posed.transforms, turns=[turn] * len(candidates))


def fit_to_videos(
    stage: Stage,
    candidates: Sequence[MotionParameters],
    targets: Float[Tensor, "K T H W 3"],
    terms: Sequence[LossTerm],
    settings: WarmStartSettings,
    *,
    iterations: int,
    refine: bool = False,
    half_size: bool = False,
    regressor: MotionRegressor | None = None,
    begins: Sequence[bool] | None = None,
    step: Callable[[dict[str, float]], None] | None = None,
) -> list[float]:
    """Optimise each candidate until its rendering looks like its video. Returns the differences.

    All are rendered together; none depends on the others. A first fit begins with
    `set_first_guess`, which is given `begins`, and weighs the foot terms low, because which feet
    stand is not settled yet.
    `refine` is for parameters that are near already: a quarter of the learning rate, full weights.
    Those that `begins` names are held to where they are.
    `half_size` compares images of half the resolution. Where limbs have hues, only these are
    compared, in front of a ground that stays still.
    """
    fastest = settings.learning_rate * (0.25 if refine else 1.0)
    if stage.undulates:
        fastest *= _CHAIN
    # An undulating body has no feet to be unsure of.
    terms = list(terms) if refine or stage.undulates else while_unsure(terms)
    targets = targets.to(stage.cloud.means.device)
    tensors = [value for candidate in candidates for value in candidate.tensors()]
    optimiser = torch.optim.Adam(tensors, lr=fastest, betas=(0.9, 0.99))
    # In the style `roles` every limb has a hue: brightness carries only ground and shading. But a
    # spine is grey, and of an undulating body it is half of what moves.
    by_hue = stage.scene.style is SceneStyle.ROLES
    look = chroma if by_hue and not stage.undulates else torch.clone
    curves = [c for c in candidates if isinstance(c, ControlCurves)]
    anchor = None
    if by_hue and not refine:
        regressed = regress(stage, candidates, targets, regressor)
        taken = set_first_guess(
            stage, candidates, targets, settings, look=look, regressed=regressed, begins=begins
        )
        if regressed is not None:
            anchor = _anchor(regressed.curves, taken, stage, certainty=regressed.certainty)
    elif begins is not None:
        anchor = _anchor(curves, begins, stage)
    if half_size:
        stage, targets = halved(stage, targets)
    wanted = pyramid(look(targets))
    turns = targets.new_zeros(len(candidates), dtype=torch.float64)
    last = [math.inf] * len(candidates)

    def compare(*, progress: float) -> list[Tensor | None]:
        posed = pose_together(candidates, stage)
        if by_hue:
            video = stage.show_body(posed.transforms)
        else:
            video = stage.show(posed.transforms, turns=turns)
        difference = photometric_loss(look(video), wanted)
        others = evaluate(terms, stage, candidates, posed, video, progress)
        losses = torch.stack([settings.weight * difference, *others.values()]).sum(0)
        if anchor is not None:
            assert posed.controls is not None
            angles, held = anchor
            away = (held * (posed.controls.angles - angles).square().mean(-1)).mean((-2, -1))
            losses = losses + settings.anchor * away.to(losses)
        gradients = torch.autograd.grad(losses.sum(), tensors, allow_unused=True)
        return [torch.stack((losses, difference)).detach(), *gradients]

    run = graph_step(compare, stage, candidates, terms)
    for iteration in range(iterations):
        for group in optimiser.param_groups:
            group["lr"] = fastest * (1.0 - 0.9 * iteration / iterations)
        values, *gradients = run(progress=iteration / iterations)
        for tensor, gradient in zip(tensors, gradients, strict=True):
            tensor.grad = gradient
        optimiser.step()
        assert values is not None
        if step is not None:
            total, last = values.tolist()
            step({"loss": fmean(total), "difference": fmean(last)})
        elif iteration == iterations - 1:  # a GPU is not waited for in between
            last = values[1].tolist()
        if settings.speed_from_feet and (iteration + 1) % max(1, iterations // 3) == 0:
            match_speeds(stage, curves)
    return last


@torch.no_grad()
def _anchor(
    expected: Sequence[ControlCurves],
    begins: Sequence[bool],
    stage: Stage,
    *,
    certainty: Float[Tensor, "K T D"] | None = None,
) -> tuple[Float[Tensor, "K T D 3"], Float[Tensor, "K T D"]]:
    """The joint angles that a regressor sees, and how strongly each fit is held to them.

    Those are held that begin with them, but no gaits, of which a video shows the cycle several
    times; each angle by its `certainty`, alike if that is left out."""
    controls = pose_together(expected, stage).controls
    assert controls is not None
    held = [
        float(seen and curves.period is None) for seen, curves in zip(begins, expected, strict=True)
    ]
    weights = controls.angles.new_tensor(held)[:, None, None].expand(controls.angles.shape[:-1])
    if certainty is not None:
        weights = weights * certainty.to(weights)
    return controls.angles.detach(), weights


@torch.no_grad()
def least_slip(curves: ControlCurves) -> float | None:
    """How far an undulating body must go from frame to frame to slip sideways least, metres."""
    pose = curves.controls().to("cpu")
    moved, across = slip(curves.rig, pose)
    _, left, forward = curves.rig.root_axes.to(moved)
    yaw = 0.5 * (pose.root_rotation[1:, :1] + pose.root_rotation[:-1, :1])
    ahead = (yaw.cos() * forward + yaw.sin() * left)[:, None]
    # Sideways, a bone moves by what the travel adds and by what the body's bending does.
    added = (ahead * across).sum(-1)
    bending = (moved * across).sum(-1) - curves.current_speed() / curves.fps * added
    total = float(added.square().sum())
    return -float((added * bending).sum()) / total if total > 1e-9 else None


@torch.no_grad()
def match_speeds(stage: Stage, candidates: Sequence[ControlCurves]) -> None:
    """Set each body's speed to that at which its stance feet move back under it; of a body that
    undulates over the ground, to that at which it slips sideways least."""
    moving = [curves for curves in candidates if curves.on_feet and curves.speed > 0.0]
    if not moving:
        return
    if stage.soles:
        posed = pose_together(moving, stage)
        assert posed.controls is not None
        steps = Feet.of(stage, posed.controls, posed.transforms, moving[0]).speeds()
    else:
        steps = [least_slip(curves) for curves in moving]
    for curves, step in zip(moving, steps, strict=True):
        if step is not None and step > 0.0:
            curves.set_speed(step * curves.fps)
