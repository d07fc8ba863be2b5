"""Cameras of a fit: given, or fixed and solved for together with the motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant
from akd.splat.camera import Camera

FIELD_OF_VIEW = math.radians(35.0)
"""Vertical opening that a solved camera starts with."""
_FOCAL_RANGE = 0.5
"""How far the logarithm of the focal length may go from where it starts."""
_ELEVATION_RANGE = math.radians(20.0)


@dataclass(frozen=True)
class SolvedCamera:
    """A camera that stands still and has no roll."""

    width: int
    height: int
    focal: float
    """Focal length to start with, in image heights."""
    azimuth: float
    """Radians from the world's forward towards left. It stays: the body's heading is free."""
    elevation: float
    """Radians above the horizon, to start with."""
    axes: Float[Tensor, "3 3"]
    """The world's up, left and forward, as rows."""
    anchor: Float[Tensor, "3"]
    """Point of the world, near the body."""
    values: Float[Tensor, "5"]
    """To be optimised: change of log focal length and of elevation, before they are bounded; where
    the anchor is seen, right and down in image heights from the centre; log of its distance."""

    @classmethod
    def start(
        cls,
        *,
        size: tuple[int, int],
        azimuth: float,
        elevation: float,
        axes: Float[Tensor, "3 3"],
        anchor: Float[Tensor, "3"],
        place: tuple[float, float],
        distance: float,
        field_of_view: float = FIELD_OF_VIEW,
    ) -> SolvedCamera:
        """A camera that sees the anchor at `place` (image heights from the centre, right and down)
        from `distance` metres."""
        values = torch.tensor((0.0, 0.0, *place, math.log(distance)), device=axes.device)
        focal = 0.5 / math.tan(0.5 * field_of_view)
        return cls(*size, focal, azimuth, elevation, axes, anchor, values.requires_grad_())

    def resized(self, size: tuple[int, int]) -> SolvedCamera:
        """The same camera, with the same values to optimise, for images of another size."""
        return replace(self, width=size[0], height=size[1])

    def parts(self) -> tuple[Tensor, Tensor]:
        """Elevation in radians, and the factor on the starting focal length."""
        values = self.values
        elevation = self.elevation + _ELEVATION_RANGE * torch.tanh(values[1] / _ELEVATION_RANGE)
        return elevation, torch.exp(_FOCAL_RANGE * torch.tanh(values[0] / _FOCAL_RANGE))

    def camera(self) -> Camera:
        """The camera as it is now, without gradient."""
        with torch.no_grad():
            zoomed = self.zoomed()
            _, zoom = self.parts()
            pose = zoomed.camera_from_world.clone()
            pose[:, :2] /= zoom
            return replace(zoomed, camera_from_world=pose, focal=zoomed.focal * zoom)

    def zoomed(self) -> Camera:
        """The camera with its zoom in the pose: x and y of the camera's frame are stretched.

        The rasterizer gives gradients to poses and not to focal lengths.
        """
        elevation, zoom = self.parts()
        up, left, forward = self.axes.unbind(0)
        level = math.cos(self.azimuth) * forward + math.sin(self.azimuth) * left
        away = elevation.cos() * level + elevation.sin() * up
        z = -away
        x = torch.linalg.cross(-level, up)
        y = torch.linalg.cross(z, x)
        rotation = torch.stack((x, y, z))
        distance = self.values[4].exp()
        seen = torch.stack((self.values[2], self.values[3])) / (self.focal * zoom)
        place = distance * torch.cat((seen, seen.new_ones(1)))
        translation = place - rotation @ self.anchor
        stretch = torch.cat((zoom.expand(2), zoom.new_ones(1)))
        top = stretch[:, None] * torch.cat((rotation, translation[:, None]), dim=1)
        bottom = constant((0.0, 0.0, 0.0, 1.0), top)
        pixels = self.focal * self.height
        return Camera(
            torch.cat((top, bottom[None]))[None],
            top.new_full((1, 2), pixels),
            constant((0.5 * self.width, 0.5 * self.height), top)[None],
            self.width,
            self.height,
        )


FitCamera = SolvedCamera | Camera
"""A camera to solve for, or a given one."""


def cameras_of(candidates: Sequence[FitCamera], frames: int) -> Camera:
    """The cameras of several candidates, `frames` of each, one after the other; differentiable."""
    found = [c.zoomed() if isinstance(c, SolvedCamera) else c for c in candidates]
    return Camera.join([c.expand(frames) for c in found])
