"""A neural deformation field in place of the skeleton: what the paper compares itself with.

`DeformationField` is a `Parametrization`. Every Gaussian gets a bone of its own, so that renderer,
camera, prior and score are exactly those of the skeleton; what is optimised are the weights of a
network from (x, y, z, t) to a displacement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from scipy.spatial import KDTree
from torch import Tensor

from akd.distill.settings import DistillSettings
from akd.fit.losses import LossState, LossTerm, ground_depth
from akd.fit.settings import LossSettings
from akd.metrics.shape import shape_change
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart, PosedFrames
from akd.motion.smooth import laplacian
from akd.rig.skin import blend_transforms, skin_points
from akd.scene.roles import splat_role_colours
from akd.scene.stage import Stage
from benchmarks.distill_parts import all_steps, distilled_steps

LEARNING_RATE = 1e-3
GRADIENT_CLIP = 1.0
_WIDTH, _LAYERS = 64, 3
_SPACE_BANDS, _TIME_BANDS = 4, 3
"""Waves of the encoding: the shortest in space is an eighth of the body, in time a quarter of the
clip, which is as fast as anything that the tiny prior's creatures do."""


@dataclass(frozen=True)
class DeformationField:
    """Displacements of the Gaussians by a network, on the starting path of the skeleton."""

    seed: int = 0
    """Of the network's first weights."""

    def prepare(self, stage: Stage) -> Stage:
        """The same cloud, camera and colours with a bone for each Gaussian."""
        cloud, device = stage.cloud, stage.cloud.means.device
        own = replace(
            cloud,
            bones=torch.arange(len(cloud), device=device)[:, None],
            weights=torch.ones(len(cloud), 1, device=device),
        )
        blended = blend_transforms(stage.neutral.to(device), cloud.bones, cloud.weights)
        last = blended.new_tensor((0.0, 0.0, 0.0, 1.0)).expand(len(cloud), 1, 4)
        return replace(
            stage,
            cloud=own,
            neutral=torch.cat((blended, last), 1),
            bone_colours=splat_role_colours(cloud, stage.bone_colours),
        )

    def begin(self, start: MotionStart, stage: Stage) -> FieldParameters:
        """A network that displaces nothing yet."""
        points = points_at(stage, stage.neutral[None])[0]
        with torch.no_grad():
            path = ControlCurves.start(start).controls().translation
        return FieldParameters(DisplacementNetwork(points, seed=self.seed), path.to(points))


@dataclass(frozen=True)
class FieldParameters:
    """`MotionParameters` of a deformation field."""

    network: DisplacementNetwork
    path: Float[Tensor, "T 3"]
    """Of the body, metres: straight on at the starting speed."""

    def tensors(self) -> list[Tensor]:
        """The weights of the network."""
        return list(self.network.parameters())

    def values(self) -> dict[str, Tensor]:
        """The weights by name, copied."""
        return {name: value.clone() for name, value in self.network.state_dict().items()}

    def with_values(self, values: Mapping[str, Tensor]) -> FieldParameters:
        """The same body and path with other weights."""
        network = deepcopy(self.network)
        network.load_state_dict(values)
        return replace(self, network=network)

    def pose(self, stage: Stage) -> PosedFrames:
        """The Gaussians in their neutral places, displaced and carried along the path."""
        phase = torch.linspace(-1.0, 1.0, len(self.path), device=self.path.device)
        moved = self.network(phase) + self.path[:, None]
        shift = torch.nn.functional.pad(moved[..., None], (3, 0, 0, 1))
        return PosedFrames(stage.neutral + shift, self.path)


class DisplacementNetwork(torch.nn.Module):
    """Displacements of points over time, relative to a body that moves without deforming."""

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

        No further than half of the body's extent: a Gaussian that leaves the image gets no
        gradient that would bring it back.
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


def field_settings(settings: DistillSettings, *, fitted: bool) -> DistillSettings:
    """As many steps for a field as a skeleton has with these settings.

    All of them distil, or with `fitted` as many as do for the skeleton; the others are a fit to the
    sample that recogniser A rates highest.
    """
    settings = replace(settings, learning_rate=LEARNING_RATE, gradient_clip=GRADIENT_CLIP)
    steps, distilled = all_steps(settings), distilled_steps(settings)
    warm = settings.warm_start
    if not fitted:
        return replace(settings, iterations=steps, warm_start=replace(warm, samples=0))
    fit = replace(
        warm, trial=0, finalists=1, iterations=steps - distilled, learning_rate=LEARNING_RATE
    )  # fmt: skip
    return replace(settings, iterations=distilled, warm_start=fit)


def field_losses(weights: LossSettings) -> list[LossTerm]:
    """Smoothness and the ground, weighted as for a skeleton."""
    return [
        LossTerm("smooth", weights.smooth, smoothness),
        LossTerm("ground", weights.ground, ground_depth),
    ]


def smoothness(state: LossState) -> Tensor:
    """Mean absolute second difference of the displacements over time, in half body extents."""
    assert isinstance(state.parameters, FieldParameters)
    moved = state.transforms[..., :3, 3] - state.posed.path[:, None]
    return laplacian(moved / state.parameters.network.reach).abs().mean()


def points_at(stage: Stage, transforms: Float[Tensor, "T B 4 4"]) -> Float[Tensor, "T N 3"]:
    """Centres of the Gaussians, world, metres."""
    cloud = stage.cloud
    return skin_points(transforms.to(cloud.means), cloud.means, cloud.bones, cloud.weights)


def neighbour_edges(points: Float[Tensor, "V 3"], *, count: int = 6) -> Int[Tensor, "E 2"]:
    """Edges between near points, for a cloud that has no triangles."""
    count = min(count, len(points) - 1)
    if count < 1:
        return torch.zeros(0, 2, dtype=torch.long)
    places = points.numpy(force=True)
    _, near = KDTree(places).query(places, k=count + 1)
    ends = torch.as_tensor(near)[:, 1:].reshape(-1)
    starts = torch.arange(len(points)).repeat_interleave(count)
    return torch.unique(torch.stack((starts, ends), dim=1).sort(dim=1).values, dim=0)


@torch.no_grad()
def cloud_measures(
    stage: Stage, transforms: Float[Tensor, "T B 4 4"], path: Float[Tensor, "T 3"]
) -> dict[str, float]:
    """Of the Gaussians, alike for skeletons and fields: `shape`, how much distances to neighbours
    change (mean, fraction); `swing`, how far they go relative to the body (mean, body heights)."""
    moving = points_at(stage, transforms).cpu()
    still = points_at(stage, stage.neutral[None])[0].cpu()
    relative = moving - path.cpu()[:, None]
    extent = (relative.amax(0) - relative.amin(0)).norm(dim=-1).mean()
    return {
        "shape": shape_change(moving, still, neighbour_edges(still)),
        "swing": float(extent) / stage.character.height,
    }
