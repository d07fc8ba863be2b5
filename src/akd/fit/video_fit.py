"""`fit_video`: a motion whose rendering looks like a video.

Search the camera's direction and the limbs, optimise a few starts together, keep the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.base.observer import Observer
from akd.fit.cameras import cameras_of
from akd.fit.candidate import Candidate
from akd.fit.evidence import Evidence
from akd.fit.graph import graph_step
from akd.fit.limb_starts import SIDED
from akd.fit.losses import (
    LossTerm,
    evaluate,
    pose_regulariser,
    sagittal_regulariser,
    smoothness,
)
from akd.fit.observation import Observation
from akd.fit.photometric import photometric_loss, pyramid
from akd.fit.quality import FitQuality, assess_fit, disagreement
from akd.fit.settings import FitSettings
from akd.fit.starts import make_starts
from akd.fit.view_search import neutral_middle
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import PosedFrames, pose_together
from akd.rig.control import ControlPose
from akd.scene.compose import render_body
from akd.scene.coverage import narrowed
from akd.scene.stage import Stage
from akd.splat.camera import Camera

_GREY = 0.5
"""What both the video's body and the rendered one are laid over."""
_TINT = (0.5, 2.0)
"""By how much light may brighten or darken the video's colours."""
_CAMERA_RATE = 1.0
"""Learning rate of cameras against that of the motion."""
_WARM_UP = 8
"""Iterations in which the learning rate rises: Adam's first steps are of full length in every
coordinate, whatever the gradient, and would throw away what the search found."""
_TOGETHER = 8
"""Frames that are rendered at once where no gradient is needed."""


@dataclass(frozen=True)
class VideoFit:
    """What was fitted to the observations of one moment of time."""

    curves: ControlCurves
    cameras: tuple[Camera, ...]
    """For images of the observations' sizes."""
    quality: FitQuality
    residuals: dict[str, float]
    """Of every start by its name, at half the size, when it was compared last."""
    history: list[dict[str, float]]


def fit_video(
    stage: Stage,
    observations: Sequence[Observation],
    *,
    fps: float,
    settings: FitSettings | None = None,
    losses: Sequence[LossTerm] = (),
    judge: Callable[[ControlPose], float] | None = None,
    observer: Observer | None = None,
) -> VideoFit:
    """Fit a character's joints to synchronised videos of it.

    Args:
        stage: The character, in the style that the video shows it in.
        observations: One for each camera, all of as many frames.
        fps: Frames a second.
        settings: Sizes, iterations and weights.
        losses: Terms beside the images, smoothness and the pose regulariser.
        judge: Log-odds that poses are implausible, for the stated quality.
        observer: Told about every iteration; may cancel.

    Returns:
        The motion, the cameras, and how well they explain the video.
    """
    settings, observer = settings or FitSettings(), observer or Observer()
    if len({len(o) for o in observations}) != 1:
        raise ValueError("views must have as many frames as each other")
    device = stage.cloud.means.device
    full = [o.cropped().resized(settings.size).to(device) for o in observations]
    half = [o.resized(max(32, settings.size // 2)) for o in full]
    observer.begin("search")
    # Limbs are thin: they are searched in all pixels, which costs little more.
    starts, rivalry = make_starts(stage, full, settings, fps=fps)
    candidates = [start.resized(half) for start in starts]
    weights = (settings.smooth, settings.rest, settings.sagittal)
    functions = (smoothness, pose_regulariser, sagittal_regulariser)
    terms = [
        LossTerm(function.__name__, weight, function, batched=True, capturable=True)
        for weight, function in zip(weights, functions, strict=True)
    ]
    terms += losses
    history: list[dict[str, float]] = []
    late = settings.iterations // 3
    rounds = max(0, len(candidates) - 1).bit_length() if settings.trial else 0
    total = rounds * settings.trial + settings.iterations

    def step(values: dict[str, float]) -> None:
        history.append(values)
        observer.step(len(history), total, values)

    observer.begin("fit")
    residuals, ambiguity = {}, 0.0
    for number in range(rounds):
        away = optimise(
            stage, candidates, half, terms, settings, iterations=settings.trial, step=step
        )
        residuals |= {c.name: value for c, value in zip(candidates, away, strict=True)}
        if number == 0:
            ambiguity = disagreement(torch.stack([_joints(stage, c) for c in candidates]), away)
        candidates = better_half(candidates, away)
    candidates = candidates if rounds else candidates[:1]
    early = settings.iterations - late
    away = optimise(stage, candidates, half, terms, settings, iterations=early, step=step)
    if len(candidates) > 1:
        residuals |= {c.name: value for c, value in zip(candidates, away, strict=True)}
    # At half the size, legs that turn back may look more like the video than legs that pass.
    candidates = [candidate.resized(full) for candidate in candidates]
    away = optimise(stage, candidates, full, terms, settings, iterations=late, step=step, rate=0.4)
    best = candidates[away.index(min(away))]
    quality = _assess(stage, best, full, settings, ambiguity, rivalry)
    if judge is not None:
        with torch.no_grad():
            quality = replace(quality, implausible=judge(best.curves.controls()))
    return VideoFit(
        best.curves,
        best.resized(observations).plain_cameras(),
        quality,
        residuals,
        history,
    )


def better_half(candidates: Sequence[Candidate], away: Sequence[float]) -> list[Candidate]:
    """The half of the candidates that leaves less of the video, and the best one with the sides of
    a gait or, if that is in front, the best one without."""
    ranked = [candidates[k] for k in sorted(range(len(away)), key=away.__getitem__)]
    kept = ranked[: (len(ranked) + 1) // 2]
    rivals = [c for c in ranked if (SIDED in c.name) != (SIDED in ranked[0].name)]
    if not rivals or any(candidate is rivals[0] for candidate in kept):
        return kept
    return [*kept[: max(1, len(kept) - 1)], rivals[0]]


def optimise(
    stage: Stage,
    candidates: Sequence[Candidate],
    observations: Sequence[Observation],
    terms: Sequence[LossTerm],
    settings: FitSettings,
    *,
    iterations: int,
    rate: float = 1.0,
    step: Callable[[dict[str, float]], None] | None = None,
) -> list[float]:
    """Optimise each candidate until it looks like the observations. Returns what is left.

    All are rendered together; none depends on the others.
    """
    fastest = rate * settings.learning_rate
    tensors = [t for c in candidates for t in c.tensors()]
    groups = [{"params": tensors, "share": 1.0}]
    if settings.solve_camera:
        cameras = [t for c in candidates for t in c.camera_tensors()]
        groups += [{"params": cameras, "share": _CAMERA_RATE}] if cameras else []
        tensors = [*tensors, *cameras]
    optimiser = torch.optim.Adam(groups, lr=fastest, betas=(0.9, 0.99))
    count, curves = len(candidates), [c.curves for c in candidates]
    wanted = [pyramid(_target(o, settings).expand(count, -1, -1, -1, -1)) for o in observations]
    evidence = [Evidence.of(stage, candidates, k, o) for k, o in enumerate(observations)]
    plain_cameras = candidates[0].plain_cameras()
    exponents = [_exponent(stage, curves[0], camera) for camera in plain_cameras]
    anchored = [(k, c.anchor) for k, c in enumerate(candidates) if c.anchor is not None]

    def compare(*, progress: float) -> list[Tensor | None]:
        posed = pose_together(curves, stage)
        parts, video = [], None
        for k, observation in enumerate(observations):
            image = _rendered(stage, candidates, k, posed, observation, settings, exponents[k])
            parts.append(photometric_loss(image, wanted[k]))
            if (seen := evidence[k]) is not None:
                camera = cameras_of([c.cameras[k] for c in candidates], len(observation))
                parts.append(settings.evidence * seen.loss(stage, posed, camera))
            video = image if video is None else video
        difference = torch.stack(parts).mean(0)
        assert video is not None
        others = evaluate(terms, stage, curves, posed, video[..., :3], progress)
        losses = torch.stack([difference, *others.values()]).sum(0)
        total = losses.sum()
        # Not among the losses that candidates are compared by: the others do not pay for it.
        for number, anchor in anchored:
            assert posed.controls is not None
            away = posed.controls.angles[number] - anchor.to(posed.controls.angles)
            total = total + settings.anchor * away.square().mean().to(total)
        gradients = torch.autograd.grad(total, tensors, allow_unused=True)
        return [torch.stack((losses, difference)).detach(), *gradients]

    plain = all(seen is None for seen in evidence)
    run = graph_step(compare, stage, curves, terms, capture=plain)
    left = [float("inf")] * count
    for iteration in range(iterations):
        now = min(1.0, (iteration + 1) / _WARM_UP) * (1.0 - 0.9 * iteration / iterations)
        for group in optimiser.param_groups:
            group["lr"] = group["share"] * fastest * now
        values, *gradients = run(progress=iteration / iterations)
        for tensor, gradient in zip(tensors, gradients, strict=True):
            tensor.grad = gradient
        optimiser.step()
        assert values is not None
        left, differences = values.tolist()
        if step is not None:
            step({"loss": min(left), "difference": min(differences)})
    return left


def _target(observation: Observation, settings: FitSettings) -> Float[Tensor, "T H W 4"]:
    mask = observation.masks[..., None]
    over = observation.frames * mask + _GREY * (1.0 - mask)
    return torch.cat((settings.colour**0.5 * over, settings.silhouette**0.5 * mask), dim=-1)


def _rendered(
    stage: Stage,
    candidates: Sequence[Candidate],
    k: int,
    posed: PosedFrames,
    observation: Observation,
    settings: FitSettings,
    exponent: float,
) -> Float[Tensor, "K T H W 4"]:
    """All candidates as one observation sees them: tinted colours over grey, and coverage."""
    colour, transmittance = _seen(stage, candidates, k, posed, len(observation), exponent)
    if settings.colour > 0.0:
        colour = colour * _tint(colour.detach(), transmittance.detach(), observation)
    over = colour + _GREY * transmittance[..., None]
    parts = (
        settings.colour**0.5 * over,
        settings.silhouette**0.5 * (1.0 - transmittance[..., None]),
    )
    return torch.cat(parts, dim=-1)


@torch.no_grad()
def _exponent(stage: Stage, curves: ControlCurves, camera: Camera) -> float:
    """What brings the coverage of splats to that of the surface, as one camera sees it."""
    pose = camera.camera_from_world
    where = neutral_middle(stage).to(pose) + curves.controls().translation.to(pose)
    depth = (where * pose[:, 2, :3]).sum(-1) + pose[:, 2, 3]
    scale = camera.focal.mean() / depth.median().clamp_min(1e-6)
    return stage.coverage_exponent(float(scale))


def _seen(
    stage: Stage,
    candidates: Sequence[Candidate],
    k: int,
    posed: PosedFrames,
    frames: int,
    exponent: float,
) -> tuple[Float[Tensor, "K T H W 3"], Float[Tensor, "K T H W"]]:
    """Premultiplied colours and transmittance."""
    camera = cameras_of([c.cameras[k] for c in candidates], frames)
    seen = render_body(
        stage.cloud, posed.transforms.flatten(0, 1), camera, settings=stage.scene,
        bone_colours=stage.bone_colours, renderer=stage.renderer, check=False,
        clips=len(candidates),
    )  # fmt: skip
    shape = (len(candidates), frames)
    colour, transmittance = narrowed(seen.colour, seen.transmittance, exponent)
    return colour.unflatten(0, shape), transmittance.unflatten(0, shape)


def _tint(
    colour: Float[Tensor, "K T H W 3"],
    transmittance: Float[Tensor, "K T H W"],
    observation: Observation,
) -> Float[Tensor, "K T 1 1 3"]:
    """What the light of each frame makes of the colours, where both bodies are."""
    both = ((1.0 - transmittance) * observation.masks)[..., None]
    mean = (both * observation.frames).sum((2, 3), keepdim=True)
    own = (observation.masks[..., None] * colour).sum((2, 3), keepdim=True)
    return ((mean + 1e-3) / (own + 1e-3)).clamp(*_TINT)


@torch.no_grad()
def show_fit(
    stage: Stage, transforms: Float[Tensor, "T B 4 4"], camera: Camera
) -> tuple[Float[Tensor, "T H W 3"], Float[Tensor, "T H W"]]:
    """Premultiplied colours and transmittance of a body, some frames at a time."""
    colours, lights = [], []
    camera = camera.expand(len(transforms)).to(transforms.device)
    for first in range(0, len(transforms), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        seen = render_body(
            stage.cloud, transforms[some], camera[some], settings=stage.scene,
            bone_colours=stage.bone_colours, renderer=stage.renderer, check=False,
        )  # fmt: skip
        colours.append(seen.colour)
        lights.append(seen.transmittance)
    return torch.cat(colours), torch.cat(lights)


@torch.no_grad()
def show_over(
    stage: Stage, curves: ControlCurves, camera: Camera, observation: Observation
) -> Float[Tensor, "T H W 3"]:
    """The fitted body over the video's background, which is grey where the video's body hides it:
    what the fit leaves uncovered shows. On the CPU."""
    exponent = _exponent(stage, curves, camera)
    seen = narrowed(*show_fit(stage, curves.pose(stage).transforms, camera), exponent)
    colour, transmittance = (x.cpu() for x in seen)
    mask = observation.masks.cpu()[..., None]
    behind = observation.frames.cpu() * (1.0 - mask) + _GREY * mask
    return (colour + transmittance[..., None] * behind).clamp(0, 1)


@torch.no_grad()
def _joints(stage: Stage, candidate: Candidate) -> Float[Tensor, "T J 3"]:
    """Joints as the first camera sees them: in its frame, from the root, in body heights."""
    rig = stage.rig
    # The rig is on the CPU, whatever device the character is rendered on.
    world = rig.world(candidate.curves.controls().to("cpu"))[:, [rig.root, *rig.joints], :3, 3]
    rotation = candidate.plain_cameras()[0].camera_from_world[0, :3, :3].cpu()
    return (world - world[:, :1]) @ rotation.T / stage.character.height


def _assess(
    stage: Stage,
    best: Candidate,
    observations: Sequence[Observation],
    settings: FitSettings,
    ambiguity: float,
    rivalry: float,
) -> FitQuality:
    """How well the fit explains the observations, at the size that was compared."""
    transforms = pose_together([best.curves], stage).transforms[0].detach()
    coverage, differences = [], []
    for observation, camera in zip(observations, best.plain_cameras(), strict=True):
        exponent = _exponent(stage, best.curves, camera)
        colour, transmittance = narrowed(*show_fit(stage, transforms, camera), exponent)
        colour = colour * _tint(colour[None], transmittance[None], observation)[0]
        coverage.append(1.0 - transmittance)
        both = ((1.0 - transmittance) * observation.masks > 0.9)[..., None].expand_as(colour)
        if bool(both.any()):
            differences.append(float((colour - observation.frames)[both].square().mean().sqrt()))
    compared = settings.colour > 0.0 and bool(differences)
    colour = sum(differences) / len(differences) if compared else None
    return assess_fit(coverage, [o.masks for o in observations], colour, ambiguity, rivalry)
