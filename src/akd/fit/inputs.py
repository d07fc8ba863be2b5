"""Files beside a video: masks, a camera, point tracks, depth and normal maps.

Every reader raises a `ValueError` that names the file, the rule and the value.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError
from akd.asset.surface import read_image
from akd.base.files import DamagedFile, list_files, read_arrays, read_json
from akd.fit.observation import PointTracks
from akd.scene.footage import Footage, read_footage
from akd.splat.camera import Camera

_IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
_MOST_TRACKS = 4096
"""Points that are followed: each is compared with every Gaussian."""


def read_masks(path: Path, footage: Footage) -> Float[Tensor, "T H W"]:
    """Masks from a folder of images (white is the character, one a frame, by name) or a video."""
    count, height, width = footage.frames.shape[:3]
    if path.is_dir():
        files = list_files(path, _IMAGES)
        if len(files) != count:
            raise ValueError(f"{path}: must hold {count} images, one per frame, got {len(files)}")
        masks = torch.stack([_mask(file, height, width) for file in files])
    else:
        video = read_footage(path, fps=footage.fps, longest=max(height, width))
        if abs(len(video) - count) > 1:
            raise ValueError(f"{path}: must have {count} frames, got {len(video)}")
        masks = video.images().mean(-1)
        masks = masks[torch.arange(count).clamp_max(len(masks) - 1)]
        masks = torch.nn.functional.interpolate(masks[:, None], (height, width), mode="area")[:, 0]
    if not bool((masks > 0.5).any()):
        raise ValueError(f"{path}: must show the character in white, got black alone")
    return masks


def read_camera(path: Path, footage: Footage) -> Camera:
    """A camera, one for all frames or one a frame, for images of the footage's size.

    JSON with `camera_from_world` (4 x 4 or a list of them; x right, y down, z away from the camera;
    metres, y of the world up), `width` and `height` of its images, and either `focal` (pixels, a
    number or [x, y]) or `field_of_view` (vertical, degrees); `centre` in pixels is optional.
    """
    try:
        value = read_json(path)
        pose = torch.tensor(value["camera_from_world"], dtype=torch.float32).reshape(-1, 4, 4)
        width, height = int(value["width"]), int(value["height"])
        if not 1 <= min(width, height) <= max(width, height) <= 65_536:
            raise ValueError(f"width and height must be from 1 to 65536, got {width} x {height}")
        if "focal" in value:
            focal = torch.tensor(value["focal"], dtype=torch.float32).expand(2)
        else:
            opening = math.radians(float(value["field_of_view"]))
            if not 0.0 < opening < math.pi:
                raise ValueError(f"field_of_view must be from 0 to 180, got {opening:g} rad")
            focal = torch.full((2,), 0.5 * height / math.tan(0.5 * opening))
        centre = torch.tensor(value.get("centre", (0.5 * width, 0.5 * height))).float()
        frames, size = len(pose), footage.frames.shape[1:3]
        if frames not in (1, len(footage)):
            raise ValueError(f"must have 1 pose or {len(footage)}, got {frames}")
        if abs(width / height - size[1] / size[0]) > 0.02 * width / height:
            raise ValueError(f"{width} x {height} is not the shape of the video's frames")
        factor = torch.tensor((size[1] / width, size[0] / height))
        camera = Camera(
            pose, (focal * factor).expand(frames, 2), (centre * factor).expand(frames, 2),
            size[1], size[0],
        )  # fmt: skip
        camera.check()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    except DamagedFile:
        raise
    except (ArithmeticError, KeyError, TypeError, ValueError, RuntimeError) as error:
        said = f"lacks {error}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise ValueError(f"{path}: is not a camera: {said[:160]}") from None
    return camera


def write_camera(camera: Camera) -> dict[str, object]:
    """A camera as the JSON values that `read_camera` reads."""
    return {
        "camera_from_world": camera.camera_from_world.tolist(),
        "focal": camera.focal[0].tolist(),
        "centre": camera.centre[0].tolist(),
        "width": camera.width,
        "height": camera.height,
    }


def read_tracks(path: Path, footage: Footage, *, size: tuple[int, int] | None) -> PointTracks:
    """Point tracks from an npz: `points` [T, P, 2] in pixels, `visible` [T, P] if not always.

    `size` is the width and height in which the points were tracked, if not the footage's.
    """
    arrays = _arrays(path, "points", "visible", "size")
    if "points" not in arrays:
        raise ValueError(f"{path}: must hold an array `points` [frames, points, 2]")
    points = arrays["points"]
    if points.ndim != 3 or points.shape[0] != len(footage) or points.shape[2] != 2:
        raise ValueError(f"{path}: points must be [{len(footage)}, P, 2], got {list(points.shape)}")
    if points.shape[1] > _MOST_TRACKS:
        raise ValueError(f"{path}: must hold at most {_MOST_TRACKS} points, got {points.shape[1]}")
    seen = arrays.get("visible")
    visible = torch.ones(points.shape[:2], dtype=torch.bool) if seen is None else seen.bool()
    if visible.shape != points.shape[:2]:
        raise ValueError(f"{path}: visible must be {list(points.shape[:2])}")
    visible = visible & points.isfinite().all(-1)
    if size is None and "size" in arrays:
        given = arrays["size"].flatten().tolist()
        if len(given) != 2 or not all(1.0 <= side <= 65_536.0 for side in given):
            raise ValueError(f"{path}: size must be a width and a height in pixels, got {given}")
        size = int(given[0]), int(given[1])
    if size is not None:
        height, width = footage.frames.shape[1:3]
        points = points * points.new_tensor((width / size[0], height / size[1]))
    return PointTracks(points.nan_to_num(0.0), visible)


def read_maps(path: Path, footage: Footage, *, name: str) -> Float[Tensor, "T H W c"]:
    """Depth (`depth` [T, h, w]) or normal maps (`normals` [T, h, w, 3]) from an npz file."""
    arrays = _arrays(path, name)
    channels = 3 if name == "normals" else 1
    if name not in arrays:
        raise ValueError(f"{path}: must hold an array `{name}`")
    maps = arrays[name]
    if channels == 1 and maps.ndim == 3:
        maps = maps[..., None]
    if maps.ndim != 4 or maps.shape[0] != len(footage) or maps.shape[3] != channels:
        raise ValueError(
            f"{path}: {name} must have {len(footage)} frames of {channels} channels, got "
            f"{list(maps.shape)}"
        )
    height, width = footage.frames.shape[1:3]
    resized = torch.nn.functional.interpolate(maps.movedim(-1, 1), (height, width), mode="nearest")
    return resized.movedim(1, -1)


def _mask(path: Path, height: int, width: int) -> Float[Tensor, "H W"]:
    """An image's grey values 0..1, resized."""
    try:
        grey = read_image(path)[..., :3].mean(-1, dtype=np.float32) / 255.0
    except AssetError as error:
        raise ValueError(str(error)) from None
    pixels = torch.from_numpy(grey)[None, None]
    return torch.nn.functional.interpolate(pixels, (height, width), mode="area")[0, 0]


def _arrays(path: Path, *names: str) -> dict[str, Tensor]:
    """Those of the arrays that a file holds, as single floats."""
    found = {}
    try:
        for name, array in read_arrays(path, names).items():
            if array.dtype.kind not in "biuf":
                raise ValueError(f"{path}: {name} must be of numbers, got {array.dtype}")
            found[name] = torch.from_numpy(array.astype(np.float32))
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from None
    return found
