"""The poses that the motion regressor reads in a video of any camera: one start of a fit.

The regressor was trained on videos of one kind: so many square frames at the pace of the body, in
the style `roles`, by a camera that follows it. A video is resampled to that, read in pieces where
it is longer, and the poses are spread over its frames again.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.fit.limb_search import LimbTarget, weighted
from akd.fit.observation import Observation
from akd.fit.regressor.regressor import MotionRegressor, find_regressor
from akd.fit.settings import FitSettings
from akd.fit.view_search import (
    ViewGuess,
    canvas_camera,
    canvas_scale,
    neutral_middle,
    onto_canvas,
)
from akd.motion.feet import leg_length
from akd.prior.tiny.settings import CameraSettings, TinySettings
from akd.rig.control import ControlPose
from akd.rig.skin import skin_points
from akd.scene.compose import render_body
from akd.scene.coverage import narrowed
from akd.scene.follow import SMOOTH, View, smooth_path
from akd.scene.ground import hit_ground, paint_ground
from akd.scene.settings import SceneSettings, SceneStyle, ShadowSettings
from akd.scene.shadow import cast_shadow
from akd.scene.stage import Stage

_BEYOND = math.radians(20.0)
"""How far beyond the azimuths that the regressor was trained on a video is still read."""
_ZOOM = 1.06
"""The training videos' cameras just see the body's bounding sphere, the stage's leave this room."""
_TOGETHER = 24
"""Frames that are rendered at once."""


def regressor_for(stage: Stage, settings: FitSettings) -> MotionRegressor | None:
    """The regressor, if it is asked for, installed, and reads videos of such a character."""
    if not settings.regressor or stage.scene.style is not SceneStyle.ROLES or stage.undulates:
        return None
    return find_regressor(device=stage.cloud.means.device)


def is_readable(guess: ViewGuess) -> bool:
    """Whether the regressor was trained on videos from about there."""
    low, high = CameraSettings().azimuth
    return low - _BEYOND <= abs(math.remainder(guess.azimuth, math.tau)) <= high + _BEYOND


@torch.no_grad()
def read_motion(
    stage: Stage,
    observation: Observation,
    guess: ViewGuess,
    regressor: MotionRegressor,
    *,
    fps: float,
) -> ControlPose:
    """What the regressor reads, seen from where the guess says.

    Args:
        stage: The character in the style `roles`.
        observation: The video and its masks.
        guess: Where the camera stands, and where the body is seen.
        regressor: The network.
        fps: Frames a second of the video.

    Returns:
        Root rotation and joint angles in every frame, on the CPU; the root's translation is zero:
        the video says more of it than a network that sees a camera follow the body.
    """
    settings = regressor.settings
    at = sampled_frames(
        len(observation), fps, TinySettings().rate(leg_length(stage.character, stage.rig)),
        least=settings.frames,
    )  # fmt: skip
    own = _as_trained(stage, guess, settings.size)
    body = _followed(own, observation, guess, at)
    starts = piece_starts(len(at), settings.frames)
    ground = _ground(own).movedim(-1, 1)
    frames = (body[:, :3] + (1.0 - body[:, 3:]) * ground).movedim(1, -1)
    pieces = torch.stack([frames[first : first + settings.frames] for first in starts])
    poses = regressor(own, pieces)
    rotation = _joined([pose.root_rotation for pose in poses], starts, len(at))
    angles = _joined([pose.angles for pose in poses], starts, len(at))
    return ControlPose(
        torch.zeros(len(observation), 3), _spread(rotation, at, len(observation)),
        _spread(angles, at, len(observation)),
    )  # fmt: skip


def sampled_frames(count: int, fps: float, rate: float, *, least: int) -> Float[Tensor, "S"]:
    """Which of `count` frames are looked at, as fractions of frames: `rate` a second, or more of a
    video that is shorter than `least` of them."""
    some = max(least, math.floor((count - 1) / fps * rate) + 1)
    return torch.linspace(0.0, count - 1.0, some)


def piece_starts(count: int, size: int) -> list[int]:
    """Where pieces of `size` frames begin that cover `count` frames and overlap by half or more."""
    pieces = 1 if count <= size else 1 + math.ceil((count - size) / (size / 2))
    return torch.linspace(0, count - size, pieces).round().long().tolist()


def _as_trained(stage: Stage, guess: ViewGuess, size: int) -> Stage:
    """The stage as the regressor's training videos show characters, seen from the same side."""
    return replace(
        stage,
        scene=SceneSettings(style=SceneStyle.ROLES, shadow=ShadowSettings(cells=48)),
        size=(size, size), view=View(guess.azimuth, guess.elevation, zoom=_ZOOM),
    )  # fmt: skip


def _followed(
    stage: Stage, observation: Observation, guess: ViewGuess, at: Float[Tensor, "S"]
) -> Float[Tensor, "S 4 N N"]:
    """The body as a camera that follows it sees it: premultiplied colours, and the masks."""
    camera, side = stage.neutral_camera, stage.size[0]
    pose = camera.camera_from_world[0]
    depth = pose[2, :3] @ neutral_middle(stage) + pose[2, 3]
    factor = float(camera.focal[0, 1] / depth) / guess.scale
    nearest = at.round().long().to(observation.masks.device)
    places, corners = guess.places, torch.zeros_like(guess.places)
    if observation.window is not None:
        corners = observation.window.corners.to(places)
    path = smooth_path((places + corners)[nearest], SMOOTH) - corners[nearest]
    masks = observation.masks[nearest][:, None]
    colours = observation.frames[nearest].movedim(-1, 1) * masks
    return onto_canvas(torch.cat((colours, masks), 1), path, factor, side=side)


def _ground(stage: Stage) -> Float[Tensor, "1 N N 3"]:
    """The stage's ground with the shadow of the neutral pose: training videos have a shadow, and a
    body that is cut out of a video has none."""
    cloud, camera, height = stage.cloud, stage.neutral_camera, stage.character.height
    assert stage.scene.ground is not None
    assert stage.scene.shadow is not None
    bones = stage.neutral[None].to(cloud.means)
    points = skin_points(bones, cloud.means, cloud.bones, cloud.weights)
    hits = hit_ground(camera)
    shade = cast_shadow(hits.points, points, stage.scene.shadow, body_height=height)
    return paint_ground(camera, stage.scene.ground, body_height=height, shade=shade, hits=hits)


def _joined(
    pieces: list[Float[Tensor, "N *d"]], starts: list[int], count: int
) -> Float[Tensor, "S *d"]:
    """Pieces that overlap, mixed: each counts less towards its ends, where it knows less."""
    size = len(pieces[0])
    weight = torch.minimum(torch.arange(size) + 1, size - torch.arange(size)).float()
    total = torch.zeros(count)
    mixed = pieces[0].new_zeros(count, *pieces[0].shape[1:])
    for piece, first in zip(pieces, starts, strict=True):
        total[first : first + size] += weight
        mixed[first : first + size] += weight.view(-1, *[1] * (piece.ndim - 1)) * piece
    return mixed / total.view(-1, *[1] * (mixed.ndim - 1))


def _spread(
    values: Float[Tensor, "S *d"], at: Float[Tensor, "S"], count: int
) -> Float[Tensor, "T *d"]:
    """Values at every frame, between those of the frames that were looked at."""
    place = torch.arange(count) * (len(at) - 1) / max(1, count - 1)
    low: Int[Tensor, "T"] = place.floor().long().clamp_max(len(at) - 2)
    part = (place - low).view(-1, *[1] * (values.ndim - 1))
    return values[low] * (1.0 - part) + values[low + 1] * part


@torch.no_grad()
def pose_images(stage: Stage, pose: ControlPose, target: LimbTarget) -> Float[Tensor, "T 4 N N"]:
    """The body in every frame's pose, as `LimbTarget.image`."""
    camera = canvas_camera(stage, target.azimuth, target.elevation, target.distance)
    exponent, device = stage.coverage_exponent(canvas_scale(stage)), stage.cloud.means.device
    bones = stage.transforms(pose.to(device))
    images = []
    for some in bones.split(_TOGETHER):
        seen = render_body(
            stage.cloud, some, camera, settings=stage.scene, bone_colours=stage.bone_colours,
            renderer=stage.renderer, check=False, clips=len(some),
        )  # fmt: skip
        colour, transmittance = narrowed(seen.colour, seen.transmittance, exponent)
        images.append(weighted(colour.movedim(-1, 1), transmittance[:, None], target.colour))
    return torch.cat(images)
