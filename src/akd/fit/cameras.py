"""Cameras of a fit: given, or fixed and solved for together with the motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.observation import Observation
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
    whole: tuple[float, float]
    """Width and height of the image that the frames are crops of, pixels."""
    corners: Float[Tensor, "T 2"] | None
    """Where the crops are in it; None: they are the image."""
    focal: float
    """Focal length to start with, in heights of the whole image."""
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
        observation: Observation,
        azimuth: float,
        elevation: float,
        axes: Float[Tensor, "3 3"],
        anchor: Float[Tensor, "3"],
        place: tuple[float, float],
        distance: float,
        field_of_view: float = FIELD_OF_VIEW,
    ) -> SolvedCamera:
        """A camera that sees the anchor at `place` (heights of the whole image from its centre,
        right and down) from `distance` metres."""
        values = torch.tensor((0.0, 0.0, *place, math.log(distance)), device=axes.device)
        focal = 0.5 / math.tan(0.5 * field_of_view)
        values.requires_grad_()
        seen = _seen_in(observation)
        return cls(**seen, focal=focal, azimuth=azimuth, elevation=elevation, axes=axes,
                   anchor=anchor, values=values)  # fmt: skip

    def of(self, observation: Observation) -> SolvedCamera:
        """The same camera, with the same values to optimise, for images of another size."""
        return replace(self, **_seen_in(observation))

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
        centre = constant((0.5 * self.whole[0], 0.5 * self.whole[1]), top)[None]
        if self.corners is not None:
            centre = centre - self.corners
        frames = len(centre)
        return Camera(
            torch.cat((top, bottom[None])).expand(frames, 4, 4),
            top.new_full((frames, 2), self.focal * self.whole[1]),
            centre,
            self.width,
            self.height,
        )


def _seen_in(observation: Observation) -> dict[str, Any]:
    """What a camera must know of the images that it makes."""
    width, height = observation.size
    window = observation.window
    corners = None if window is None else window.corners
    return {"width": width, "height": height, "whole": observation.whole, "corners": corners}


FitCamera = SolvedCamera | Camera
"""A camera to solve for, or a given one."""


def cameras_of(candidates: Sequence[FitCamera], frames: int) -> Camera:
    """The cameras of several candidates, `frames` of each, one after the other; differentiable."""
    found = [c.zoomed() if isinstance(c, SolvedCamera) else c for c in candidates]
    return Camera.join([c.expand(frames) for c in found])
