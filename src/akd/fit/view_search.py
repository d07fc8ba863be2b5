"""Where the camera stands and where the body is seen: silhouettes of the neutral pose, compared.

The silhouette is rendered from many directions and moved over every mask by a Fourier transform.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as nn
from jaxtyping import Float
from torch import Tensor

from akd.fit.cameras import FIELD_OF_VIEW
from akd.fit.observation import Observation
from akd.scene.follow import View, follow
from akd.scene.stage import Stage
from akd.splat.camera import Camera
from akd.splat.render import Rendering

CANVAS = 64
"""Side of the images in which silhouettes are compared, pixels."""
_FILLS = 0.75
"""Share of the canvas that the neutral body's longest extent fills: limbs swing beyond it."""
_AZIMUTHS = 16
_MOST = 4
"""Directions that are kept, before their mirror images."""
ELEVATIONS = tuple(math.radians(degrees) for degrees in (3.0, 12.0, 24.0))
_SCALES = (0.85, 0.92, 1.0, 1.08, 1.17)
"""Tried around the scale at which areas agree, for the best directions."""
_FRAMES = 4
"""Frames that directions are compared in."""
APART = math.radians(30.0)
"""Two directions that differ by less are one: it is refined."""
STEP = math.pi / _AZIMUTHS
"""Half the distance between directions."""


@dataclass(frozen=True, eq=False)
class ViewGuess:
    """A direction to look from, and where the body is seen from there."""

    azimuth: float
    """Radians from the way the character faces towards its left."""
    elevation: float
    """Radians above the horizon."""
    scale: float
    """Pixels of the frames for each metre at the body."""
    places: Float[Tensor, "T 2"]
    """Where the middle of the neutral body is seen, pixels."""
    overlap: float
    """Intersection over union with the masks, mean over frames."""

    def distance(self, focal: float) -> float:
        """Metres from the camera, for a focal length in pixels."""
        return focal / self.scale

    def located(
        self, stage: Stage, observation: Observation, silhouettes: Float[Tensor, "#T N N"]
    ) -> ViewGuess:
        """The guess with the places at which silhouettes overlap the masks of all frames best."""
        factor = canvas_scale(stage) / self.scale
        places, overlap = locate(observation.masks, silhouettes, factor)
        return replace(self, places=places, overlap=float(overlap.mean()))


def canvas_scale(stage: Stage) -> float:
    """Pixels of the canvas for each metre at the body."""
    low, high = stage.neutral_box
    return _FILLS * CANVAS / float((high - low).norm())


def neutral_middle(stage: Stage) -> Float[Tensor, "3"]:
    """Middle of the neutral body's bounding box, metres."""
    low, high = stage.neutral_box
    return (0.5 * (low + high))[0].to(stage.cloud.means)


def canvas_camera(stage: Stage, azimuth: float, elevation: float, distance: float) -> Camera:
    """A camera at a distance that sees the middle of the neutral body in a canvas's centre."""
    middle = neutral_middle(stage)
    opening = 2.0 * math.atan(0.5 * CANVAS / (canvas_scale(stage) * distance))
    view = View(azimuth, elevation, field_of_view=opening)
    # `follow` stands off so that a sphere of this radius fills the image.
    radius = distance * math.sin(math.atan(math.tan(0.5 * opening)))
    forward = stage.character.forward.to(middle)
    return follow(
        middle[None], middle[None], view, forward=forward, width=CANVAS, height=CANVAS,
        radius=radius,
    )  # fmt: skip


def onto_canvas(
    images: Float[Tensor, "T c H W"],
    places: Float[Tensor, "T 2"],
    factor: float,
    *,
    side: int = CANVAS,
) -> Float[Tensor, "T c N N"]:
    """Crops around places, `factor` pixels of the canvas for each of the images; zero outside."""
    height, width = images.shape[-2:]
    small = max(1, round(height * factor)), max(1, round(width * factor))
    if factor < 1.0:
        images = nn.interpolate(images, small, mode="bilinear", antialias=True)
    steps = (torch.arange(side, device=images.device) + 0.5 - 0.5 * side) / factor
    x = 2.0 * (places[:, :1] + steps) / width - 1.0
    y = 2.0 * (places[:, 1:] + steps) / height - 1.0
    shape = (len(images), side, side)
    grid = torch.stack((x[:, None, :].expand(shape), y[:, :, None].expand(shape)), dim=-1)
    return nn.grid_sample(images, grid, align_corners=False, padding_mode="zeros")


def locate(
    masks: Float[Tensor, "T H W"], silhouettes: Float[Tensor, "#T N N"], factor: float
) -> tuple[Float[Tensor, "T 2"], Float[Tensor, "T"]]:
    """Where a silhouette overlaps each mask best (its centre, pixels), and how well, 0..1."""
    height, width = masks.shape[1:]
    small = max(1, round(height * factor)), max(1, round(width * factor))
    scaled = nn.interpolate(
        masks[:, None], small, mode="bilinear", antialias=factor < 1.0, align_corners=False
    )[:, 0]
    # Whole pixels: soft edges, multiplied, would count as a difference.
    scaled, silhouettes = ((x > 0.5).float() for x in (scaled, silhouettes))
    padded = tuple(side + CANVAS for side in small)
    seen = torch.fft.rfft2(scaled, s=padded)
    looked_for = torch.fft.rfft2(silhouettes, s=padded)
    common = torch.fft.irfft2(seen * looked_for.conj(), s=padded).clamp_min(0.0)
    union = scaled.sum((1, 2))[:, None, None] + silhouettes.sum((1, 2))[:, None, None] - common
    overlap = common / union.clamp_min(1e-6)
    best, where = overlap.flatten(1).max(1)
    row, column = where // padded[1], where % padded[1]
    # Shifts beyond the image are negative ones.
    row = torch.where(row >= small[0], row - padded[0], row)
    column = torch.where(column >= small[1], column - padded[1], column)
    x = (column + 0.5 * CANVAS) * width / small[1]
    y = (row + 0.5 * CANVAS) * height / small[0]
    return torch.stack((x, y), dim=1), best


@torch.no_grad()
def search_views(
    stage: Stage,
    observation: Observation,
    *,
    elevations: Sequence[float] | None = None,
) -> list[ViewGuess]:
    """Directions to look from that fit the outlines, the best ones first, and their mirror images.

    Args:
        stage: The character.
        observation: Masks; a given azimuth, or a given camera's elevation, is kept.
        elevations: Those to try, radians; `ELEVATIONS` if left out.
    """
    if observation.azimuth is not None:
        azimuths = [observation.azimuth]
    else:
        azimuths = [2.0 * math.pi * k / _AZIMUTHS for k in range(_AZIMUTHS)]
    chosen = torch.linspace(0, len(observation) - 1, min(_FRAMES, len(observation))).round().long()
    masks = observation.masks[chosen.to(observation.masks.device)]
    found = [
        _guess(stage, observation, masks, azimuth, elevation)
        for azimuth in azimuths
        for elevation in elevations or ELEVATIONS
    ]
    best: list[ViewGuess] = []
    for guess in sorted(found, key=lambda guess: guess.overlap, reverse=True):
        if all(angle_between(guess.azimuth, other.azimuth) > APART for other in best):
            best.append(guess)
    chosen_ways = {guess.azimuth: guess.elevation for guess in best[:_MOST]}
    if len(azimuths) > 1:
        # A body that is alike left and right has the same outline from `a` and 180 degrees - `a`.
        for azimuth, elevation in list(chosen_ways.items())[:2]:
            if all(angle_between(math.pi - azimuth, a) > APART for a in chosen_ways):
                chosen_ways[math.pi - azimuth] = elevation
    return [
        look_from(stage, observation, azimuth, elevation)
        for azimuth, elevation in chosen_ways.items()
    ]


def look_from(
    stage: Stage, observation: Observation, azimuth: float, elevation: float
) -> ViewGuess:
    """The best scale for one direction, and the places in all frames."""
    chosen = torch.linspace(0, len(observation) - 1, min(_FRAMES, len(observation))).round().long()
    masks = observation.masks[chosen.to(observation.masks.device)]
    guess = _guess(stage, observation, masks, azimuth, elevation, _SCALES)
    still = neutral_silhouette(stage, azimuth, elevation, guess.distance(focal_of(observation)))
    return guess.located(stage, observation, still)


def silhouette(rendering: Rendering) -> Float[Tensor, "T H W"]:
    """How much of each pixel a body covers."""
    return 1.0 - rendering.transmittance


def focal_of(observation: Observation) -> float:
    """Focal length in pixels: the given one, or the usual one to start with."""
    if observation.camera is not None:
        return float(observation.camera.focal.mean())
    return 0.5 * observation.whole[1] / math.tan(0.5 * FIELD_OF_VIEW)


def neutral_silhouette(
    stage: Stage, azimuth: float, elevation: float, distance: float
) -> Float[Tensor, "1 N N"]:
    """The neutral pose on a canvas."""
    camera = canvas_camera(stage, azimuth, elevation, distance)
    bones = stage.neutral[None].to(stage.cloud.means)
    seen = silhouette(stage.renderer.render(stage.cloud, bones, camera, check=False))
    return seen.pow(stage.coverage_exponent(canvas_scale(stage)))


def _guess(
    stage: Stage,
    observation: Observation,
    masks: Float[Tensor, "F H W"],
    azimuth: float,
    elevation: float,
    scales: Sequence[float] = (1.0,),
) -> ViewGuess:
    """The best scale and places for one direction, in some of the frames."""
    area = float(masks.sum((1, 2)).median())
    focal, unit = focal_of(observation), canvas_scale(stage)
    # Perspective depends on the distance, which follows from how large the body is seen.
    rough = max(1.0, math.sqrt(area)) * unit / (_FILLS * CANVAS)
    still = neutral_silhouette(stage, azimuth, elevation, focal / rough)
    scale = unit * math.sqrt(max(area, 1.0) / max(float(still.sum()), 1e-6))
    found = []
    for part in scales:
        places, overlap = locate(masks, still, unit / (part * scale))
        found.append(ViewGuess(azimuth, elevation, part * scale, places, float(overlap.mean())))
    return max(found, key=lambda guess: guess.overlap)


def angle_between(a: float, b: float) -> float:
    """Between two directions, radians."""
    return abs((a - b + math.pi) % (2.0 * math.pi) - math.pi)
