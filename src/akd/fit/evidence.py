"""Point tracks, depth maps and normal maps as losses on points of the surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as nn
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.cameras import cameras_of
from akd.fit.candidate import Candidate
from akd.fit.observation import Observation
from akd.motion.parametrization import PosedFrames, pose_together
from akd.rig.skin import skin_points
from akd.scene.stage import Stage
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud

_POINTS = 600
"""Points of the surface that are compared with depth and normal maps."""
_NEAR = 0.03
"""A track belongs to a point of the surface within this distance, in image heights."""
_SOFT = 0.02
"""Differences beyond this count linearly: image heights, or shares of the body's depth."""


@dataclass(frozen=True)
class Evidence:
    """What a video says beside its colours, for the candidates of a fit."""

    observation: Observation
    points: SplatCloud
    """Some of the surface."""
    tracked: Int[Tensor, "K P"]
    """The point of the cloud that each track follows in each candidate; -1: none."""

    @classmethod
    @torch.no_grad()
    def of(
        cls, stage: Stage, candidates: Sequence[Candidate], view: int, observation: Observation
    ) -> Evidence | None:
        """What there is; None where there is nothing.

        A track is attached to the foremost point of the surface that is seen where it begins.
        """
        if all(x is None for x in (observation.tracks, observation.depth, observation.normals)):
            return None
        cloud = stage.cloud
        step = max(1, len(cloud) // _POINTS)
        points = cloud[torch.arange(0, len(cloud), step, device=cloud.means.device)]
        tracked = torch.zeros(len(candidates), 0, dtype=torch.long, device=cloud.means.device)
        if (tracks := observation.tracks) is not None:
            transforms = pose_together([c.curves for c in candidates], stage).transforms
            camera = cameras_of([c.cameras[view] for c in candidates], len(observation))
            where = skin_points(transforms.flatten(0, 1), cloud.means, cloud.bones, cloud.weights)
            pixels, depths = _project(where, camera)
            shape = transforms.shape[:2]
            first = tracks.visible.int().argmax(0)
            seen = pixels.unflatten(0, shape)[:, first]
            deep = depths.unflatten(0, shape)[:, first]
            start = tracks.points[first, torch.arange(len(first))]
            apart = (seen - start[:, None]).norm(dim=-1) / observation.size[1]
            far = (apart > _NEAR) | ~tracks.visible.any(0)[:, None]
            tracked = deep.masked_fill(far, float("inf")).argmin(-1)
            tracked = tracked.masked_fill(far.all(-1), -1)
        return cls(observation, points, tracked)

    def loss(self, stage: Stage, posed: PosedFrames, camera: Camera) -> Float[Tensor, "K"]:
        """Robust mean differences of all that there is."""
        total = posed.transforms.new_zeros(len(posed.transforms))
        if self.observation.tracks is not None:
            total = total + self._track_loss(stage, posed, camera)
        if self.observation.depth is not None or self.observation.normals is not None:
            total = total + self._map_loss(posed, camera, stage.character.height)
        return total

    def _track_loss(self, stage: Stage, posed: PosedFrames, camera: Camera) -> Tensor:
        tracks, cloud, losses = self.observation.tracks, stage.cloud, []
        assert tracks is not None
        frames = len(self.observation)
        for k, tracked in enumerate(self.tracked):
            found = (tracked >= 0).nonzero().squeeze(1)
            rows = tracked[found]
            where = skin_points(
                posed.transforms[k], cloud.means[rows], cloud.bones[rows], cloud.weights[rows]
            )
            pixels, _ = _project(where, camera[torch.arange(k * frames, (k + 1) * frames)])
            away = (pixels - tracks.points[:, found]).norm(dim=-1) / self.observation.size[1]
            seen = tracks.visible[:, found]
            losses.append((seen * _robust(away)).sum() / seen.sum().clamp_min(1))
        return torch.stack(losses)

    def _map_loss(self, posed: PosedFrames, camera: Camera, height: float) -> Tensor:
        """Depth and normals at the points of the surface that face the camera."""
        observation, points = self.observation, self.points
        bones = posed.transforms.flatten(0, 1)
        shape = posed.transforms.shape[:2]
        where = skin_points(bones, points.means, points.bones, points.weights)
        pixels, depths = _project(where, camera)
        facing = _normals(points, bones, camera)
        width, high = observation.size
        grid = 2.0 * pixels / pixels.new_tensor((width, high)) - 1.0
        towards = facing[..., 2] < -0.2
        inside = (grid.abs() < 1.0).all(-1) & towards
        loss = bones.new_zeros(shape[0])
        if observation.depth is not None:
            maps = observation.depth.nan_to_num(0.0)[:, None].repeat(shape[0], 1, 1, 1)
            known = observation.depth.isfinite()[:, None].to(maps).repeat(shape[0], 1, 1, 1)
            given = nn.grid_sample(maps, grid[:, None].detach(), align_corners=False)[:, 0, 0]
            sure = (
                nn.grid_sample(known, grid[:, None].detach(), align_corners=False)[:, 0, 0] > 0.99
            )
            weight = (inside & sure).to(depths)
            given = _aligned(given, depths.detach(), weight)
            loss = loss + _mean(_robust((depths - given) / height), weight, shape)
        if observation.normals is not None:
            maps = observation.normals.movedim(-1, 1).repeat(shape[0], 1, 1, 1)
            given = nn.grid_sample(maps, grid[:, None].detach(), align_corners=False)[:, :, 0]
            given = nn.normalize(given.movedim(1, -1), dim=-1)
            off = 1.0 - (given * facing).sum(-1)
            loss = loss + 0.1 * _mean(off, inside.to(off), shape)
        return loss


def _project(
    points: Float[Tensor, "F N 3"], camera: Camera
) -> tuple[Float[Tensor, "F N 2"], Float[Tensor, "F N"]]:
    """Pixels and depths of points in the world; differentiable."""
    pose = camera.camera_from_world.to(points)
    seen = points @ pose[:, :3, :3].mT + pose[:, None, :3, 3]
    depth = seen[..., 2].clamp_min(1e-6)
    pixels = camera.focal[:, None] * seen[..., :2] / depth[..., None] + camera.centre[:, None]
    return pixels, seen[..., 2]


def _normals(points: SplatCloud, bones: Tensor, camera: Camera) -> Float[Tensor, "F N 3"]:
    """Normals of the surface in the camera's frame."""
    assert points.normals is not None
    tips = points.means + 1e-3 * points.normals
    ends = [skin_points(bones, at, points.bones, points.weights) for at in (points.means, tips)]
    pose = camera.camera_from_world.to(bones)
    return nn.normalize((ends[1] - ends[0]) @ pose[:, :3, :3].mT, dim=-1)


def _robust(away: Tensor) -> Tensor:
    """Square near zero, linear beyond; in units of the input."""
    return ((away / _SOFT).square() + 1.0).sqrt().sub(1.0) * _SOFT


def _aligned(given: Tensor, wanted: Tensor, weight: Tensor) -> Tensor:
    """Given depths, scaled and shifted frame by frame to come nearest to wanted ones."""
    total = weight.sum(1, keepdim=True).clamp_min(1e-6)
    a, b = ((weight * x).sum(1, keepdim=True) / total for x in (given, wanted))
    slope = (weight * (given - a) * (wanted - b)).sum(1, keepdim=True)
    slope = slope / (weight * (given - a).square()).sum(1, keepdim=True).clamp_min(1e-9)
    return slope * (given - a) + b


def _mean(values: Tensor, weight: Tensor, shape: Sequence[int]) -> Tensor:
    total = (values * weight).sum(1) / weight.sum(1).clamp_min(1.0)
    return total.unflatten(0, tuple(shape)).mean(1)
