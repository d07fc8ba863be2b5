"""A neural deformation field in place of the skeleton: what the paper compares itself with.

Every Gaussian is a bone of its own, so that renderer, camera, prior and score are exactly those of
the skeleton; what is searched for are the weights of a network from (x, y, z, t) to a displacement.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from akd.distill.score import score_gradient, score_loss
from akd.distill.settings import DistillSettings
from akd.fit import losses
from akd.fit.photometric import chroma, photometric_loss, pyramid
from akd.metrics.action import SCENE, VIEWS
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.shape import neighbour_edges, shape_change
from akd.motion.smooth import laplacian
from akd.prior.protocol import VideoPrior
from akd.rig.skin import blend_transforms, skin_points
from akd.scene.compose import render_scene
from akd.scene.follow import bounding_boxes, follow
from akd.scene.roles import splat_role_colours
from akd.scene.stage import Stage

LEARNING_RATE = 1e-3
LARGEST_GRADIENT = 1.0
_WIDTH, _LAYERS = 64, 3
_SPACE_BANDS, _TIME_BANDS = 4, 3
"""Waves of the encoding: the shortest in space is an eighth of the body, in time a quarter of the
clip, which is as fast as anything that the tiny prior's creatures do."""


class DeformationField(torch.nn.Module):
    """Displacements of points over time, relative to a body that travels without moving."""

    def __init__(self, points: Float[Tensor, "N 3"], *, seed: int) -> None:
        super().__init__()
        low, high = points.amin(0), points.amax(0)
        self.middle, self.reach = 0.5 * (low + high), 0.5 * float((high - low).amax())
        self.points = points
        inputs = 2 * (3 * _SPACE_BANDS + _TIME_BANDS) + 4
        sizes = [inputs, *[_WIDTH] * _LAYERS]
        layers: list[torch.nn.Module] = []
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            for a, b in pairwise(sizes):
                layers += [torch.nn.Linear(a, b), torch.nn.SiLU()]
            last = torch.nn.Linear(_WIDTH, 3)
        torch.nn.init.zeros_(last.weight)  # nothing moves at first
        torch.nn.init.zeros_(last.bias)
        self.network = torch.nn.Sequential(*layers, last).to(points.device)

    def forward(self, phase: Float[Tensor, "T"]) -> Float[Tensor, "T N 3"]:
        """Displacements, metres, at times from -1 (the first frame) to 1 (the last).

        No further than half of the body's extent: what is free to leave the picture does so, and
        is never seen again.
        """
        places = (self.points - self.middle) / self.reach
        where = torch.cat((places, _encoded(places, _SPACE_BANDS)), -1)
        when = torch.cat((phase[:, None], _encoded(phase[:, None], _TIME_BANDS)), -1)
        frames, count = len(phase), len(places)
        rows = torch.cat(
            (where.expand(frames, -1, -1), when[:, None].expand(-1, count, -1)), -1
        )  # fmt: skip
        return self.reach * torch.tanh(self.network(rows))


def _encoded(values: Float[Tensor, "N C"], bands: int) -> Float[Tensor, "N E"]:
    """Sines and cosines of ever shorter waves; the longest spans -1..1."""
    angles = math.pi * values[:, None] * 2.0 ** torch.arange(bands, device=values.device)[:, None]
    return torch.cat((angles.sin(), angles.cos()), -1).flatten(1)


@dataclass(frozen=True)
class FieldStage:
    """The stage of a character on which every Gaussian moves by itself."""

    stage: Stage
    path: Float[Tensor, "T 3"]
    """Of the body, metres: straight on at the starting speed."""

    @classmethod
    def of(cls, stage: Stage, path: Float[Tensor, "T 3"]) -> FieldStage:
        """The same cloud, camera and colours with a bone a Gaussian."""
        cloud, device = stage.cloud, stage.cloud.means.device
        phi = blend_transforms(stage.neutral.to(device), cloud.bones, cloud.weights)
        last = phi.new_tensor((0.0, 0.0, 0.0, 1.0)).expand(len(cloud), 1, 4)
        own = replace(
            cloud,
            bones=torch.arange(len(cloud), device=device)[:, None],
            weights=torch.ones(len(cloud), 1, device=device),
        )
        colours = splat_role_colours(cloud, stage.bone_colours)
        alone = replace(
            stage, cloud=own, neutral=torch.cat((phi, last), 1), bone_colours=colours
        )  # fmt: skip
        return cls(alone, path)

    @property
    def points(self) -> Float[Tensor, "N 3"]:
        """Centres of the Gaussians in the neutral pose, world, metres."""
        return points_at(self.stage, self.stage.neutral[None])[0]

    def bones(self, displacement: Float[Tensor, "T N 3"]) -> Float[Tensor, "T N 4 4"]:
        """Transforms of the Gaussians: the neutral ones, displaced and carried along the path."""
        moved = displacement + self.path.to(displacement)[:, None]
        shift = torch.nn.functional.pad(moved[..., None], (3, 0, 0, 1))
        return self.stage.neutral + shift


def points_at(stage: Stage, bones: Float[Tensor, "T B 4 4"]) -> Float[Tensor, "T N 3"]:
    """Centres of the Gaussians, world, metres."""
    cloud = stage.cloud
    return skin_points(bones.to(cloud.means), cloud.means, cloud.bones, cloud.weights)


def search_field(
    scene: FieldStage,
    field: DeformationField,
    prior: VideoPrior,
    prompt: str,
    settings: DistillSettings,
    *,
    iterations: int,
    generator: torch.Generator,
    target: Float[Tensor, "T H W 3"] | None = None,
) -> None:
    """Change the field until the prior finds the video likely or, where there is a `target`, until
    it looks like that one. Smoothness and ground weigh as they do for a skeleton."""
    stage, weights = scene.stage, settings.losses
    optimiser = torch.optim.Adam(field.parameters(), lr=LEARNING_RATE, betas=(0.9, 0.99))
    phase = torch.linspace(-1.0, 1.0, prior.frames, device=scene.points.device)
    wanted = None if target is None else pyramid(chroma(target.to(prior.device)))
    height = stage.character.height
    for iteration in range(iterations):
        displacement = field(phase)
        bones = scene.bones(displacement)
        jitter = 0.0 if wanted is not None else settings.camera_jitter
        turn = jitter * (2.0 * float(torch.rand((), generator=generator)) - 1.0)
        video, picture = stage.show(bones, scene.path, turn=turn)
        if wanted is not None:
            loss = settings.warm_start.weight * photometric_loss(chroma(video), wanted)
        else:
            reference = picture if prior.takes_reference else None
            latents = prior.encode(video[None])
            gradient = score_gradient(
                prior, latents, prior.condition(prompt, reference=reference), settings.score,
                progress=iteration / iterations, generator=generator,
            )  # fmt: skip
            loss = weights.score * score_loss(latents, gradient)
        loss = loss + weights.smooth * laplacian(displacement / field.reach).abs().mean()
        loss = loss + weights.ground * losses.depth(stage.cloud, bones, body_height=height)
        if not bool(loss.isfinite()):
            raise ArithmeticError(f"iteration {iteration}: the loss is {float(loss)}")
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(field.parameters(), LARGEST_GRADIENT)
        optimiser.step()


@torch.no_grad()
def film_cloud(
    recogniser: Recogniser, stage: Stage, bones: Float[Tensor, "T B 4 4"]
) -> Float[Tensor, "K T S S 3"]:
    """Videos as a recogniser wants them, from all of its views, as `film_for` makes them."""
    size = recogniser.settings.size
    device = stage.cloud.means.device
    low, high = bounding_boxes(stage.cloud, bones.to(device))
    videos = []
    for view in VIEWS:
        camera = follow(
            low.cpu(), high.cpu(), view, forward=stage.character.forward, width=size, height=size
        ).to(device)
        videos.append(
            render_scene(
                stage.cloud, bones.to(device), camera, settings=SCENE,
                body_height=stage.character.height, bone_colours=stage.bone_colours,
            )
        )  # fmt: skip
    return torch.stack(videos).cpu()


@torch.no_grad()
def cloud_measures(
    stage: Stage, bones: Float[Tensor, "T B 4 4"], path: Float[Tensor, "T 3"]
) -> dict[str, float]:
    """Of the Gaussians, alike for skeletons and fields: `shape`, how much distances to neighbours
    change (mean, fraction); `swing`, how far they go relative to the body (mean, body heights)."""
    moving = points_at(stage, bones).cpu()
    still = points_at(stage, stage.neutral[None].to(bones))[0].cpu()
    relative = moving - path.detach().cpu()[:, None]
    extent = (relative.amax(0) - relative.amin(0)).norm(dim=-1).mean()
    return {
        "shape": shape_change(moving, still, neighbour_edges(still)),
        "swing": float(extent) / stage.character.height,
    }
