"""`Observation`: a video of the character from one camera, and what is known about it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as nn
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.splat.camera import Camera

_ROOM = 1.3
"""Size of a crop, in sizes of the largest box around the character: a limb of the fit that sticks
out must be seen."""
_WORTH = 0.8
"""Crops of more than this share of the image are not made."""


@dataclass(frozen=True)
class PointTracks:
    """2D points followed through a video."""

    points: Float[Tensor, "T P 2"]
    """Pixels from the top left corner of the frames."""
    visible: Bool[Tensor, "T P"]


@dataclass(frozen=True)
class Window:
    """Crops of the frames of a video, all of one size."""

    whole: tuple[float, float]
    """Width and height of the frames before they were cropped, pixels of the crops."""
    corners: Float[Tensor, "T 2"]
    """Where the crops' top left corners are in the whole frames, pixels of the crops."""


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
    window: Window | None = None
    """Where a crop lies in the whole image; None: this is the whole image."""

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

    @property
    def whole(self) -> tuple[float, float]:
        """Width and height of the whole image, pixels of the frames."""
        return self.size if self.window is None else self.window.whole

    def cropped(self) -> Observation:
        """The same with the frames cropped to a window that follows the character.

        A body that crosses the image covers few of its pixels. The camera's centre moves with the
        window, so nothing else changes.
        """
        boxes = _boxes(self.masks)
        if boxes is None or self.window is not None:
            return self
        low, high = boxes.unbind(1)
        whole = low.new_tensor(self.size)
        sides = torch.minimum((_ROOM * (high - low).amax(0)).ceil(), whole)
        if float(sides.prod()) > _WORTH * float(whole.prod()):
            return self
        corners = (0.5 * (low + high - sides)).round().clamp_min(0.0)
        corners = torch.minimum(corners, whole - sides)
        width, height = sides.long().tolist()

        def crop(images: Tensor) -> Tensor:
            places = zip(images, corners.long().tolist(), strict=True)
            return torch.stack([one[y : y + height, x : x + width] for one, (x, y) in places])

        camera, tracks = self.camera, self.tracks
        if camera is not None:
            camera = camera.expand(len(self))
            camera = Camera(
                camera.camera_from_world, camera.focal, camera.centre - corners.to(camera.centre),
                width, height,
            )  # fmt: skip
        if tracks is not None:
            tracks = replace(tracks, points=tracks.points - corners[:, None].to(tracks.points))
        return replace(
            self, frames=crop(self.frames), masks=crop(self.masks), camera=camera, tracks=tracks,
            depth=None if self.depth is None else crop(self.depth),
            normals=None if self.normals is None else crop(self.normals),
            window=Window(self.size, corners),
        )  # fmt: skip

    def at(self, frames: Int[Tensor, "F"]) -> Observation:
        """Images and masks of some of the frames, without what else is known of them."""
        where = frames.to(self.masks.device)
        camera, window = self.camera, self.window
        if camera is not None and len(camera) > 1:
            camera = camera[where]
        if window is not None:
            window = replace(window, corners=window.corners[where])
        return Observation(
            self.frames[where], self.masks[where], camera, self.azimuth, window=window
        )

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
        window = self.window
        if window is not None:
            corners = window.corners * window.corners.new_tensor((x, y))
            window = Window((window.whole[0] * x, window.whole[1] * y), corners)
        return replace(
            self, frames=_reduce(self.frames.movedim(-1, 1), small).movedim(1, -1),
            masks=_reduce(self.masks[:, None], small)[:, 0], camera=camera, tracks=tracks,
            depth=depth, normals=normals, window=window,
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
        window = self.window
        if window is not None:
            window = replace(window, corners=window.corners.to(device))
        return replace(self, tracks=tracks, window=window, **moved)


def _boxes(masks: Float[Tensor, "T H W"]) -> Float[Tensor, "T 2 2"] | None:
    """Lowest and highest x and y of each mask; an empty one has the box of the frame before it, or
    of the first that is not. None: all are empty."""
    solid = masks > 0.5
    seen = solid.any(2).any(1).nonzero().flatten().tolist()
    if not seen:
        return None
    boxes = []
    for frame in range(len(masks)):
        near = max((k for k in seen if k <= frame), default=seen[0])
        sides = [solid[near].any(axis).nonzero().flatten() for axis in (0, 1)]
        boxes.append([[float(x[0]) for x in sides], [float(x[-1]) + 1.0 for x in sides]])
    return masks.new_tensor(boxes)


def _reduce(images: Float[Tensor, "T c H W"], size: tuple[int, int]) -> Float[Tensor, "T c h w"]:
    return nn.interpolate(images, size, mode="bilinear", antialias=True)
