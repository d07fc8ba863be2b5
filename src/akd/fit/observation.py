"""`Observation`: a video of the character from one camera, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as nn
from jaxtyping import Bool, Float
from torch import Tensor

from akd.splat.camera import Camera


@dataclass(frozen=True)
class PointTracks:
    """2D points followed through a video."""

    points: Float[Tensor, "T P 2"]
    """Pixels from the top left corner of the frames."""
    visible: Bool[Tensor, "T P"]


@dataclass(frozen=True)
class Observation:
    """Frames of one camera with masks of the character, all of one size."""

    frames: Float[Tensor, "T H W 3"]
    """sRGB 0..1."""
    masks: Float[Tensor, "T H W"]
    """1 where the character is."""
    camera: Camera | None = None
    """One for all frames or one a frame, for images of this size; None: to be solved for."""
    azimuth: float | None = None
    """Where the camera stands, radians from the way the character faces at the start towards its
    left; None: to be searched for."""
    tracks: PointTracks | None = None
    depth: Float[Tensor, "T H W"] | None = None
    """Distance along the view, up to a factor and an offset for each frame; NaN: unknown."""
    normals: Float[Tensor, "T H W 3"] | None = None
    """Unit vectors in the camera's frame: x right, y down, z away from the camera."""

    def __post_init__(self) -> None:
        count, height, width = self.masks.shape
        if count < 2:
            raise ValueError(f"a motion needs at least 2 frames, got {count}")
        if self.frames.shape[:3] != self.masks.shape:
            raise ValueError(
                f"masks must match the frames: {tuple(self.masks.shape)} against "
                f"{tuple(self.frames.shape[:3])}"
            )
        camera = self.camera
        if camera is not None and (camera.width, camera.height) != (width, height):
            raise ValueError(
                f"camera must make images of {width} x {height}, got "
                f"{camera.width} x {camera.height}"
            )
        if camera is not None and len(camera) not in (1, count):
            raise ValueError(
                f"camera must have one pose, or one for each of {count} frames, got {len(camera)}"
            )

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        return self.masks.shape[2], self.masks.shape[1]

    def resized(self, longest: int) -> Observation:
        """The same at another size; `longest` is that of the longer side. Never larger."""
        width, height = self.size
        part = longest / max(width, height)
        if part >= 1.0:
            return self
        small = (max(1, round(height * part)), max(1, round(width * part)))
        x, y = small[1] / width, small[0] / height
        camera, tracks = self.camera, self.tracks
        if camera is not None:
            factor = camera.focal.new_tensor((x, y))
            camera = Camera(
                camera.camera_from_world, camera.focal * factor, camera.centre * factor,
                small[1], small[0],
            )  # fmt: skip
        if tracks is not None:
            tracks = replace(tracks, points=tracks.points * tracks.points.new_tensor((x, y)))
        depth = None
        if self.depth is not None:
            depth = nn.interpolate(self.depth[:, None], small, mode="nearest")[:, 0]
        normals = None
        if self.normals is not None:
            normals = nn.interpolate(self.normals.movedim(-1, 1), small, mode="nearest")
            normals = normals.movedim(1, -1)
        return replace(
            self, frames=_reduce(self.frames.movedim(-1, 1), small).movedim(1, -1),
            masks=_reduce(self.masks[:, None], small)[:, 0], camera=camera, tracks=tracks,
            depth=depth, normals=normals,
        )  # fmt: skip

    def to(self, device: torch.device | str) -> Observation:
        """Move to a device."""
        moved = {
            name: None if value is None else value.to(device)
            for name in ("frames", "masks", "camera", "depth", "normals")
            for value in (getattr(self, name),)
        }
        tracks = self.tracks
        if tracks is not None:
            tracks = PointTracks(tracks.points.to(device), tracks.visible.to(device))
        return replace(self, tracks=tracks, **moved)


def _reduce(images: Float[Tensor, "T c H W"], size: tuple[int, int]) -> Float[Tensor, "T c h w"]:
    return nn.interpolate(images, size, mode="bilinear", antialias=True)
