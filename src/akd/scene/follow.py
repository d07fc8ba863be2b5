"""Cameras that follow the asset: presets, random ones, and the smoothed path they look along."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import constant
from akd.rig.skin import skin_points
from akd.splat.camera import Camera
from akd.splat.cloud import SplatCloud

_Numbers = TypeVar("_Numbers", float, Tensor)


@dataclass(frozen=True)
class View:
    """A direction to look from, as seen from the character."""

    azimuth: float
    """Radians from the way the character faces, towards its left."""
    elevation: float
    """Radians above the horizon."""
    zoom: float = 1.0
    """1: the body's bounding sphere just fits the shorter side of the image."""
    field_of_view: float = math.radians(35.0)
    """Vertical opening, radians."""


SIDE = View(azimuth=math.radians(90.0), elevation=math.radians(10.0))
THREE_QUARTER = View(azimuth=math.radians(50.0), elevation=math.radians(15.0))
FRONT = View(azimuth=0.0, elevation=math.radians(10.0))
SMOOTH = 6.0
"""Frames that a camera's path is smoothed over."""
_TOUCHES = 1e-4
"""Sizes of a box from its side at which a point touches it."""
PRESETS: dict[str, View] = {"side": SIDE, "three-quarter": THREE_QUARTER, "front": FRONT}


@dataclass(frozen=True)
class ViewBounds:
    """Where random views lie. Angles in radians."""

    azimuth: tuple[float, float] = (math.radians(30.0), math.radians(150.0))
    elevation: tuple[float, float] = (math.radians(5.0), math.radians(25.0))
    zoom: tuple[float, float] = (0.85, 1.05)


def random_view(generator: torch.Generator, bounds: ViewBounds | None = None) -> View:
    """A view within bounds, from the character's left or right."""
    bounds = bounds or ViewBounds()
    draws = torch.rand(4, generator=generator).tolist()

    def between(limits: tuple[float, float], u: float) -> float:
        return limits[0] + (limits[1] - limits[0]) * u

    azimuth = between(bounds.azimuth, draws[0])
    return replace(
        SIDE,
        azimuth=-azimuth if draws[3] < 0.5 else azimuth,
        elevation=between(bounds.elevation, draws[1]),
        zoom=between(bounds.zoom, draws[2]),
    )


@torch.no_grad()
def bounding_boxes(
    cloud: SplatCloud, world_from_mesh: Float[Tensor, "T B 4 4"]
) -> tuple[Float[Tensor, "T 3"], Float[Tensor, "T 3"]]:
    """Lowest and highest corner of the deformed cloud in each frame, world, metres. No gradient."""
    boxes = [(points.amin(1), points.amax(1)) for points in _skinned(cloud, world_from_mesh)]
    low, high = (torch.cat(corners) for corners in zip(*boxes, strict=True))
    return low, high


def box_middles(
    cloud: SplatCloud, world_from_mesh: Float[Tensor, "T B 4 4"]
) -> Float[Tensor, "T 3"]:
    """Centres of the bounding boxes, world, metres; differentiable in the transforms.

    A box moves with the six points that touch it, so only these are skinned with a gradient.
    """
    exact, touching = [], []
    with torch.no_grad():
        for points in _skinned(cloud, world_from_mesh):
            low, high = points.amin(1, keepdim=True), points.amax(1, keepdim=True)
            exact.append(0.5 * (low + high).squeeze(1))
            # The first of several that touch it, not whichever rounding puts in front.
            slack = _TOUCHES * (high - low)
            sides = points <= low + slack, points >= high - slack
            touching.append(torch.stack([side.byte().argmax(1) for side in sides], dim=1))
    rows = torch.cat(touching).flatten()
    frames, count = world_from_mesh.shape[:2]
    # All frames' bones in one list: each point follows those of its own frame.
    first = count * torch.arange(frames, device=rows.device).repeat_interleave(6)
    points = skin_points(
        world_from_mesh.flatten(0, 1), cloud.means[rows], first[:, None] + cloud.bones[rows],
        cloud.weights[rows],
    )  # fmt: skip
    middles = points.view(frames, 2, 3, 3).diagonal(dim1=-2, dim2=-1).mean(1)
    return torch.cat(exact) + (middles - middles.detach())


def _skinned(
    cloud: SplatCloud, world_from_mesh: Float[Tensor, "T B 4 4"]
) -> Iterator[Float[Tensor, "t N 3"]]:
    """Points of the deformed cloud, some frames at a time. Raises `ValueError` without any."""
    if len(cloud) == 0:
        raise ValueError("an empty cloud has no bounding box to follow")
    for bones in world_from_mesh.split(max(1, 1_000_000 // len(cloud))):
        yield skin_points(bones, cloud.means, cloud.bones, cloud.weights)


def smooth_path(path: Float[Tensor, "*k T D"], frames: float) -> Float[Tensor, "*k T D"]:
    """Paths with what happens within about `frames` frames smoothed away.

    A line is fitted around each frame with Gaussian weights, so that steady travel stays as it is,
    also at the ends.
    """
    count = path.shape[-2]
    if frames <= 0.0 or count < 3:
        return path
    t = torch.arange(count, dtype=path.dtype, device=path.device)
    offset = t[None] - t[:, None]
    weight = torch.exp(-0.5 * (offset / frames) ** 2)
    s0, s1 = weight.sum(1), (weight * offset).sum(1)
    s2 = (weight * offset**2).sum(1)
    # Value at offset 0 of the weighted least-squares line.
    fit = weight * (s2[:, None] - s1[:, None] * offset) / (s0 * s2 - s1**2)[:, None]
    return fit @ path


def follow(
    low: Float[Tensor, "T 3"],
    high: Float[Tensor, "T 3"],
    view: View,
    *,
    forward: Float[Tensor, "3"],
    width: int,
    height: int,
    radius: float | None = None,
    turn: float = 0.0,
) -> Camera:
    """Cameras that keep the smoothed centre of the bounding box in the middle of the image.

    `low` and `high` are the boxes' corners (world, metres), `forward` the way the character faces,
    `radius` is that of the body, by default the largest box's.
    `turn` is how far the camera goes round the character over all frames, radians.
    """
    centre = smooth_path(0.5 * (low + high), SMOOTH)
    if radius is None:
        radius = float((0.5 * (high - low)).norm(dim=-1).amax())
    steps = torch.arange(len(low), dtype=torch.float64, device=centre.device)
    azimuth = (view.azimuth + turn / len(low) * steps).to(centre)
    return look_from(
        azimuth, centre, view, forward=forward, width=width, height=height, radius=radius
    )


def look_from(
    azimuth: Float[Tensor, "T"],
    centre: Float[Tensor, "T 3"],
    view: View,
    *,
    forward: Float[Tensor, "3"],
    width: int,
    height: int,
    radius: float,
    check: bool = True,
) -> Camera:
    """Cameras that see a body of this radius round `centre`, each from its own azimuth.

    `azimuth` replaces that of the view, radians. See `Camera.look_at` for `check`.
    """
    if not radius > 0.0:
        raise ValueError(f"radius must be above zero, got {radius}")
    away = directions(azimuth, view.elevation, forward=forward)
    distance = fitting_distance(radius, view.zoom, view.field_of_view, (width, height))
    camera = Camera.look_at(
        centre + distance * away, centre,
        width=width, height=height, field_of_view=view.field_of_view, check=check,
    )  # fmt: skip
    return replace(camera, fixed_rotation=not azimuth.requires_grad)


def directions(
    azimuth: Float[Tensor, "*b"],
    elevation: Float[Tensor, "*#b"] | float,
    *,
    forward: Float[Tensor, "3"],
) -> Float[Tensor, "*b 3"]:
    """Unit vectors from a character towards its cameras; angles are those of a `View`."""
    ahead = forward * constant((1.0, 0.0, 1.0), forward)
    ahead = (ahead / ahead.norm().clamp_min(1e-9)).to(azimuth)
    up = constant((0.0, 1.0, 0.0), ahead)
    left = torch.linalg.cross(up, ahead)
    level = azimuth.cos()[..., None] * ahead + azimuth.sin()[..., None] * left
    if isinstance(elevation, Tensor):
        return elevation.cos()[..., None] * level + elevation.sin()[..., None] * up
    return math.cos(elevation) * level + math.sin(elevation) * up


def fitting_distance(
    radius: _Numbers, zoom: _Numbers, field_of_view: float, size: tuple[int, int]
) -> _Numbers:
    """Metres from which a body of a radius fits the shorter side of an image of `size`."""
    narrow = math.tan(0.5 * field_of_view) * min(1.0, size[0] / size[1])
    return radius / (zoom * math.sin(math.atan(narrow)))
