"""`Candidate`: a motion and the cameras that see it, while it is fitted; and how it begins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.cameras import FitCamera, SolvedCamera
from akd.fit.observation import Observation
from akd.fit.settings import FitSettings
from akd.fit.view_search import ViewGuess, focal_of, neutral_middle
from akd.math import davenport, quaternion
from akd.math.least_squares import least_squares
from akd.motion.feet import leg_length
from akd.motion.parameters import ControlCurves
from akd.motion.parametrization import MotionStart
from akd.motion.settings import Spline
from akd.rig.control import ControlPose
from akd.scene.follow import smooth_path
from akd.scene.stage import Stage
from akd.splat.camera import Camera

_SMOOTH = 1.5
"""Frames over which the first path of the root is smoothed: it was found in whole pixels."""


@dataclass(frozen=True)
class Candidate:
    """A motion and the cameras that see it."""

    curves: ControlCurves
    cameras: tuple[FitCamera, ...]
    """One for each observation."""
    name: str
    """How it began, for a person to read."""
    anchor: Float[Tensor, "T D 3"] | None = None
    """The joint angles that the regressor read, which the fit is held to; None: it is not."""

    def tensors(self) -> list[Tensor]:
        """What an optimiser changes of the motion."""
        return self.curves.tensors()

    def camera_tensors(self) -> list[Tensor]:
        """What it changes of the cameras."""
        return [c.values for c in self.cameras if isinstance(c, SolvedCamera)]

    def plain_cameras(self) -> tuple[Camera, ...]:
        """The cameras as they are now, without gradient."""
        return tuple(c.camera() if isinstance(c, SolvedCamera) else c for c in self.cameras)

    def resized(self, observations: Sequence[Observation]) -> Candidate:
        """The same, sharing its tensors, for images of other sizes."""
        cameras = tuple(
            c.of(o) if isinstance(c, SolvedCamera) else _given(o)
            for c, o in zip(self.cameras, observations, strict=True)
        )
        return replace(self, cameras=cameras)


def _given(observation: Observation) -> Camera:
    assert observation.camera is not None
    return observation.camera


def make_candidate(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    angles: Float[Tensor, "T D 3"],
    settings: FitSettings,
    fps: float,
    name: str,
    rotation: Float[Tensor, "T 3"] | None = None,
) -> Candidate:
    """A motion with these angles, its root turned by `rotation` and seen where the guesses say."""
    cameras = tuple(
        _camera(stage, observation, guess)
        for observation, guess in zip(observations, guesses, strict=True)
    )
    frames = len(observations[0])
    character, rig = stage.character, stage.rig
    start = MotionStart(rig, frames, fps, leg_length(character, rig))
    knots = max(4, math.ceil(frames / settings.frames_per_knot))
    curves = Spline(knots=knots, free_root=True).begin(start, stage)
    yaw = _heading(stage, cameras[0], guesses[0])
    path = _path(stage, observations, guesses, cameras, yaw)
    rotation = path.new_zeros(frames, 3) if rotation is None else rotation.to(path, copy=True)
    rotation[:, 0] += yaw
    curves.set_controls(ControlPose(path, rotation, angles.to(path)))
    return Candidate(curves, cameras, name)


def _camera(stage: Stage, observation: Observation, guess: ViewGuess) -> FitCamera:
    if observation.camera is not None:
        return observation.camera
    width, height = observation.whole
    middle, places = neutral_middle(stage), guess.places
    if observation.window is not None:
        places = places + observation.window.corners
    place = places.median(0).values
    return SolvedCamera.start(
        observation=observation, azimuth=guess.azimuth, elevation=guess.elevation,
        axes=stage.rig.root_axes.to(middle), anchor=middle,
        place=(float(place[0] - 0.5 * width) / height, float(place[1] - 0.5 * height) / height),
        distance=guess.distance(focal_of(observation)),
    )  # fmt: skip


def _heading(stage: Stage, camera: FitCamera, guess: ViewGuess) -> float:
    """The body's yaw at which the camera sees it from where the guess says."""
    if isinstance(camera, SolvedCamera):
        return 0.0
    _, left, forward = stage.rig.root_axes.unbind(0)
    away = -camera.camera_from_world[0, 2, :3].cpu()
    return math.atan2(float(away @ left), float(away @ forward)) - guess.azimuth


def _path(
    stage: Stage,
    observations: Sequence[Observation],
    guesses: Sequence[ViewGuess],
    cameras: Sequence[FitCamera],
    yaw: float,
) -> Float[Tensor, "T 3"]:
    """Translation of the root at which the neutral body is seen where the guesses have it.

    Where views disagree, or where one view leaves the distance open, it is the least-squares
    solution.
    """
    frames = len(observations[0])
    rows, values = [], []
    for observation, guess, own in zip(observations, guesses, cameras, strict=True):
        camera = own.camera() if isinstance(own, SolvedCamera) else own
        camera = camera.expand(frames)
        pose, distance = camera.camera_from_world, guess.distance(focal_of(observation))
        seen = (guess.places.to(pose) - camera.centre) / camera.focal
        across = pose[:, :2, :3] - seen[..., None] * pose[:, 2:3, :3]
        rows += [across, 0.1 * pose[:, 2:3, :3]]
        values += [
            seen * pose[:, 2:3, 3] - pose[:, :2, 3],
            0.1 * (distance - pose[:, 2:3, 3]),
        ]
    middles = least_squares(torch.cat(rows, 1), torch.cat(values, 1)[..., None])
    middle = neutral_middle(stage)
    pivot = stage.rig.root_pivot.to(middle) + middle.new_tensor((0.0, stage.lift, 0.0))
    turned = davenport.to_quaternion(
        stage.rig.root_axes.to(middle), middle.new_tensor((yaw, 0.0, 0.0))
    )
    at_rest = pivot + quaternion.rotate(turned, middle - pivot)
    return smooth_path(middles[..., 0] - at_rest, _SMOOTH)
