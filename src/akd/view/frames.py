"""`ClipFrames`: a clip at the viewer's frame rate, posed when a frame is first asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.motion.motion import Motion
from akd.rig.skin import skin_covariances, skin_points
from akd.scene.follow import PRESETS, SIDE, View, follow, smooth_path
from akd.view.looks import Looks

FPS = 30.0
_CACHE = 64_000_000
"""Bytes of posed points that are kept for a clip."""


def distance_to_fit(
    away: Float[np.ndarray, "3"], row: Float[np.ndarray, "3"], *, opening: float, aspect: float
) -> Float[np.ndarray, "3"]:
    """From the middle of a row of bodies to an eye that sees all of them.

    Args:
        away: From one body to an eye that sees it fill a square image, metres.
        row: From the first body to the last, metres.
        opening: Vertical field of view, radians.
        aspect: Width of the image by its height.
    """
    distance = float(np.linalg.norm(away))
    ahead = away / distance
    right = np.cross((0.0, 1.0, 0.0), ahead)
    right /= np.linalg.norm(right)
    slope = math.tan(0.5 * opening)
    wide = (slope * distance + 0.5 * abs(float(row @ right))) / (slope * aspect)
    # The near end of the row is closer than its middle.
    return ahead * (max(distance, wide) + 0.5 * abs(float(row @ ahead)))


def height_on_screen(aspect: float) -> float:
    """How far above the centre of the image `distance_to_fit` allows a body, in halves of its
    height. On a phone, whose panel covers the lower half, that is in the middle of the upper one.
    """
    return min(0.5, max(0.0, 1.0 - aspect))


@dataclass(frozen=True)
class ClipFrames:
    """Poses of a clip, `FPS` a second."""

    looks: Looks
    motion: Motion
    """Resampled."""
    world: Float[Tensor, "T J 4 4"]
    """world_from_joint, metres."""
    _points: dict[int, Float[np.ndarray, "U 3"]] = field(default_factory=dict)

    @classmethod
    def of(cls, looks: Looks, motion: Motion) -> ClipFrames:
        """Resample a clip."""
        frames = motion.resample(FPS)
        return cls(looks, frames, frames.world())

    def __len__(self) -> int:
        return len(self.world)

    @property
    def seconds(self) -> float:
        """Length of the clip."""
        return (len(self) - 1) / FPS

    def frame(self, seconds: float) -> int:
        """The frame shown at a time; the last one is held."""
        return min(max(round(seconds * FPS), 0), len(self) - 1)

    def points(self, frame: int) -> Float[np.ndarray, "U 3"]:
        """Points of the surface, metres, world."""
        surface = self.looks.surface
        if surface is None:
            return np.zeros((0, 3), np.float32)
        found = self._points.get(frame)
        if found is None:
            found = surface.pose(self.world[frame])
            if found.nbytes * len(self) <= _CACHE:
                self._points[frame] = found
        return found

    def joints(self, frame: int) -> Float[np.ndarray, "J 3"]:
        """Positions of the joints, metres, world."""
        return self.world[frame, :, :3, 3].numpy(force=True)

    def bones(self, frame: int) -> Float[np.ndarray, "N 2 3"]:
        """Ends of the body's bones, metres, world."""
        parents = self.looks.character.anatomy.body.parents
        pairs = [(p, j) for j, p in parents.items() if p >= 0]
        return self.joints(frame)[np.array(pairs, dtype=np.int64).reshape(-1, 2)]

    def gaussians(
        self, frame: int
    ) -> tuple[Float[np.ndarray, "N 3"], Float[np.ndarray, "N 3 3"]] | None:
        """Means (metres, world) and covariances of the surface's Gaussians."""
        cloud, mesh = self.looks.cloud, self.looks.character.mesh
        if cloud is None or mesh is None:
            return None
        bones = mesh.skin.bone_transforms(self.world[frame])
        means = skin_points(bones, cloud.means, cloud.bones, cloud.weights)
        spread = skin_covariances(bones, cloud.covariances(), cloud.bones, cloud.weights)
        return means.numpy(force=True), spread.numpy(force=True)

    @cached_property
    def path(self) -> Float[np.ndarray, "T 3"]:
        """Where the root goes, smoothed: what a following camera keeps in its centre."""
        root = self.world[:, self.looks.character.control_rig.root, :3, 3]
        return smooth_path(root, 6.0).numpy(force=True)

    def prior_camera(self, frame: int) -> tuple[np.ndarray, np.ndarray, float]:
        """Eye, target and vertical opening (radians) of the view that priors are shown."""
        return self._camera(SIDE, frame)

    def camera_from(self, view: str, frame: int) -> tuple[np.ndarray, np.ndarray, float]:
        """The same from a preset view: side, three-quarter or front."""
        return self._camera(PRESETS[view], frame)

    def _camera(self, view: View, frame: int) -> tuple[np.ndarray, np.ndarray, float]:
        character = self.looks.character
        shown = self.points(frame) if self.looks.surface is not None else self.joints(frame)
        corners = torch.from_numpy(np.stack((shown.min(0), shown.max(0))))
        radius = 0.5 * max(float((corners[1] - corners[0]).norm()), 1e-6)
        camera = follow(
            corners[:1], corners[1:], view, forward=character.forward, width=640, height=640,
            radius=radius,
        )  # fmt: skip
        matrix = camera.camera_from_world[0].double()
        eye = -(matrix[:3, :3].T @ matrix[:3, 3]).numpy()
        return eye, corners.mean(0).double().numpy(), view.field_of_view
