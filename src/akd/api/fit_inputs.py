"""What `fit` is given, read and checked: videos, views, masks and maps become observations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor

from akd.fit.inputs import read_camera, read_maps, read_masks, read_tracks
from akd.fit.masks import FoundMasks, find_masks
from akd.fit.observation import Observation
from akd.fit.segment import segment
from akd.fit.sequence import PointSequence
from akd.rig.character import Character
from akd.scene.follow import PRESETS, THREE_QUARTER, follow
from akd.scene.footage import Footage, read_footage

_TALL = 1.4
"""A sequence whose first frame is taller or lower than the character by this is in other units."""
_DIRECTIONS = {
    **{name: view.azimuth for name, view in PRESETS.items()},
    "back": math.pi,
    "left": 0.5 * math.pi,
    "right": -0.5 * math.pi,
}


@dataclass(frozen=True)
class ViewFiles:
    """One video for each view, and the files beside it."""

    videos: tuple[Path | Tensor, ...]
    azimuths: tuple[float | None, ...]
    split: bool
    """One video shows all views side by side."""
    masks: tuple[Path | Tensor | None, ...]
    cameras: tuple[Path | None, ...]
    segmentation: Path | None
    tracks: Path | None
    depth: Path | None
    normals: Path | None

    @classmethod
    def of(
        cls,
        video: str | Path | Tensor | Sequence[str | Path],
        views: Sequence[str] = (),
        *,
        masks: str | Path | Tensor | None = None,
        segmentation: str | Path | None = None,
        camera: str | Path | None = None,
        tracks: str | Path | None = None,
        depth: str | Path | None = None,
        normals: str | Path | None = None,
    ) -> ViewFiles:
        """Check that all files are there and that their numbers agree."""
        if isinstance(video, Tensor):
            videos: tuple[Path | Tensor, ...] = (video,)
        elif isinstance(video, str | Path):
            videos = (Path(video),)
        else:
            videos = tuple(Path(one) for one in video)
        azimuths = tuple(read_direction(view) for view in views) or (None,) * len(videos)
        if len(videos) not in (1, len(azimuths)):
            raise ValueError(
                f"views must be one for each of {len(videos)} videos, got {len(azimuths)}"
            )
        count = len(azimuths)

        def several(
            given: str | Path | Tensor | None, name: str
        ) -> tuple[Path | Tensor | None, ...]:
            if given is None or isinstance(given, Tensor):
                return (given,) * count
            found = tuple(Path(part) for part in str(given).split(","))
            if len(found) not in (1, count) or (name == "camera" and len(found) != count):
                raise ValueError(f"{name} must be one for each of {count} views, got {len(found)}")
            for path in found:
                if not path.exists():
                    raise ValueError(f"{name}: {path}: there is no such file or folder")
            return found * (count if len(found) == 1 else 1)

        single = {"tracks": tracks, "depth": depth, "normals": normals}
        for name, path in {**single, "segmentation": segmentation}.items():
            if path is not None and not Path(path).exists():
                raise ValueError(f"{name}: {path}: there is no such file or folder")
            if path is not None and name in single and count > 1:
                raise ValueError(f"{name} is for a single view")
        cameras = several(camera, "camera")
        return cls(
            videos, azimuths, len(videos) < count, several(masks, "masks"),
            tuple(None if c is None else Path(str(c)) for c in cameras),
            *(None if p is None else Path(p) for p in (segmentation, tracks, depth, normals)),
        )  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """Observations of the same moments of time."""

    observations: tuple[Observation, ...]
    fps: float
    name: str
    notes: tuple[str, ...]


def read_direction(view: str) -> float:
    """Radians from the way the character faces towards its left."""
    if view in _DIRECTIONS:
        return _DIRECTIONS[view]
    try:
        degrees = float(view)
    except ValueError:
        degrees = math.nan
    if not math.isfinite(degrees):
        known = ", ".join(_DIRECTIONS)
        raise ValueError(f"views must be out of {known}, or degrees, got {view!r}")
    return math.radians(degrees)


def observe(
    files: ViewFiles,
    *,
    start: float | None,
    end: float | None,
    fps: float | None,
    device: torch.device,
) -> Seen:
    """Read everything. Raises `ValueError` for what cannot be used."""
    footages = [_footage(video, start=start, end=end, fps=fps) for video in files.videos]
    if files.split:
        footages = _split(footages[0], len(files.azimuths))
    rate = footages[0].fps
    if any(abs(other.fps - rate) > 0.02 * rate for other in footages):
        raise ValueError("views must have one frame rate: choose one with --fps")
    frames = min(len(footage) for footage in footages)
    notes = [note for footage in footages for note in footage.notes]
    if max(len(footage) for footage in footages) > frames + 1:
        notes.append(f"the views are of different length: the first {frames} frames are fitted")
    observations = []
    for k, whole in enumerate(footages):
        found = _masks(files, k, whole, device)
        notes.append(found.note())
        given = files.cameras[k]
        camera = None if given is None else read_camera(given, whole)
        depth = None if files.depth is None else read_maps(files.depth, whole, name="depth")
        normals = None if files.normals is None else read_maps(files.normals, whole, name="normals")
        observation = Observation(
            whole.images(), found.masks, camera, files.azimuths[k],
            None if files.tracks is None else read_tracks(files.tracks, whole, size=None),
            None if depth is None else depth[..., 0], normals,
        )  # fmt: skip
        observations.append(_cut(observation, frames))
    video = files.videos[0]
    name = "video" if isinstance(video, Tensor) else video.stem
    notes.append(
        "camera: as given" if files.cameras[0] is not None else "camera: solved for, standing still"
    )
    return Seen(tuple(observations), rate, name, tuple(notes))


def _footage(
    video: Path | Tensor, *, start: float | None, end: float | None, fps: float | None
) -> Footage:
    if not isinstance(video, Tensor):
        return read_footage(video, start=start, end=end, fps=fps)
    if fps is None:
        raise ValueError("fps must be given with frames")
    if video.ndim != 4 or video.shape[3] != 3 or len(video) < 2:
        raise ValueError(f"video must be [T, H, W, 3] with T >= 2, got {list(video.shape)}")
    return Footage((255.0 * video.clamp(0, 1)).round().byte().cpu(), None, fps, ())


def _split(footage: Footage, count: int) -> list[Footage]:
    """Views that stand side by side in one image."""
    width = footage.frames.shape[2] // count
    if width < 8:
        raise ValueError(f"views: {count} do not fit into {footage.frames.shape[2]} pixels")
    parts = [slice(k * width, (k + 1) * width) for k in range(count)]
    return [
        replace(
            footage,
            frames=footage.frames[:, :, part],
            alpha=None if footage.alpha is None else footage.alpha[:, :, part],
        )
        for part in parts
    ]


def _masks(files: ViewFiles, k: int, footage: Footage, device: torch.device) -> FoundMasks:
    given = files.masks[k]
    if isinstance(given, Tensor):
        return FoundMasks(given.float().cpu(), "given", 1.0)
    if given is not None:
        whole = footage
        if files.split and len({str(path) for path in files.masks}) == 1:
            count, size = len(files.azimuths), footage.frames.shape
            wide = footage.frames.new_zeros(size[0], size[1], size[2] * count, 3)
            masks = read_masks(given, replace(whole, frames=wide))
            return FoundMasks(masks[:, :, k * size[2] : (k + 1) * size[2]], "given", 1.0)
        return FoundMasks(read_masks(given, whole), "given", 1.0)
    if (opacity := footage.opacity()) is not None:
        return FoundMasks(opacity, "alpha channel", 1.0)
    if files.segmentation is not None:
        return segment(footage.images(), files.segmentation, device=device)
    return find_masks(footage.images())


def _cut(observation: Observation, frames: int) -> Observation:
    """The first frames."""
    if len(observation) == frames:
        return observation
    camera, tracks = observation.camera, observation.tracks
    return replace(
        observation, frames=observation.frames[:frames], masks=observation.masks[:frames],
        camera=camera[slice(frames)] if camera is not None and len(camera) > 1 else camera,
        tracks=None if tracks is None else replace(
            tracks, points=tracks.points[:frames], visible=tracks.visible[:frames]
        ),
        depth=None if observation.depth is None else observation.depth[:frames],
        normals=None if observation.normals is None else observation.normals[:frames],
    )  # fmt: skip


def points_in_metres(
    sequence: PointSequence, character: Character
) -> tuple[list[Float[Tensor, "N 3"]], str]:
    """The sequence's points as large as the character, Y up, and what was assumed of its units.

    A sequence is in the units of the character's file, in metres, or in units of its own; in that
    case its first frame is as tall as the character.
    """
    turned = replace(character.units, metres_per_unit=1.0)
    frames = [turned.points_in(torch.from_numpy(points)).float() for points in sequence.frames]
    low, high = (frames[0][:, 1].quantile(share) for share in (0.01, 0.99))
    extent = float(high - low)
    if not extent > 0.0:
        raise ValueError(f"{sequence.first}: must have an extent along up, got {extent:g}")
    own = character.units.metres_per_unit
    for scale, said in ((own, "in the units of the character's file"), (1.0, "in metres")):
        if 1.0 / _TALL < scale * extent / character.height < _TALL:
            return [scale * points for points in frames], f"units: {said}"
    scale = character.height / extent
    return (
        [scale * points for points in frames],
        f"units: unknown; the first frame is taken to be {character.height:.2f} m tall",
    )


def draw_points(points: Sequence[Float[Tensor, "N 3"]], forward: Float[Tensor, "3"]) -> Observation:
    """Images of points, for the eye, from a camera that stands still."""
    size = 256
    everything = torch.cat(list(points))
    low, high = (everything.quantile(share, dim=0, keepdim=True) for share in (0.005, 0.995))
    camera = follow(low, high, THREE_QUARTER, forward=forward, width=size, height=size)
    pose = camera.camera_from_world[0]
    masks = torch.zeros(len(points), size, size)
    for mask, own in zip(masks, points, strict=True):
        seen = own @ pose[:3, :3].T + pose[:3, 3]
        pixels = camera.focal[0] * seen[:, :2] / seen[:, 2:].clamp_min(1e-6) + camera.centre[0]
        inside = ((pixels >= 0) & (pixels < size)).all(1) & (seen[:, 2] > 0)
        column, row = pixels[inside].long().unbind(1)
        mask[row, column] = 1.0
    frames = torch.lerp(torch.tensor(0.95), torch.tensor(0.25), masks)[..., None]
    return Observation(frames.expand(-1, -1, -1, 3).contiguous(), masks, camera)
