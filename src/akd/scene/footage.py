"""`read_footage`: frames of any video file, at a fixed rate, within limits of time and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from akd.scene.video import open_video, video_stream

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

MOST_FRAMES = 300
"""Frames that are kept of a video."""
HIGHEST_FPS = 30.0
_MOST_PIXELS = 8192
"""Along either side of a frame that is decoded."""
_MOST_TOTAL = 32_000_000
"""Pixels of all frames together: with the copies that a fit makes as floats, about 2 GiB."""
_UNEVEN = 0.2
"""Spread of the times between frames, as a share of their median, of a variable frame rate."""


@dataclass(frozen=True)
class Footage:
    """Frames of a video at a fixed rate."""

    frames: UInt8[Tensor, "T H W 3"]
    """sRGB."""
    alpha: UInt8[Tensor, "T H W"] | None
    """Opacity, where the file has it and it is not the same everywhere."""
    fps: float
    notes: tuple[str, ...]
    """Changes that were made to the video, for a person to read."""

    def __len__(self) -> int:
        return len(self.frames)

    def images(self) -> Float[Tensor, "T H W 3"]:
        """Frames, sRGB 0..1."""
        return self.frames.float() / 255.0

    def opacity(self) -> Float[Tensor, "T H W"] | None:
        """Opacity 0..1, where there is any."""
        return None if self.alpha is None else self.alpha.float() / 255.0


def read_footage(
    path: Path | str,
    *,
    start: float | None = None,
    end: float | None = None,
    fps: float | None = None,
    longest: int = 512,
) -> Footage:
    """Decode part of a video, reduced while it is decoded.

    Frames are taken at even times by their time stamps, so that a variable frame rate becomes a
    fixed one; the rotation that phones store is applied.

    Args:
        path: A video file.
        start: Seconds at which to begin.
        end: Seconds at which to stop.
        fps: Frames per second; by default those of the video, at most 30.
        longest: Pixels of the longer side, at most; fewer in long videos.

    Raises:
        ValueError: There is no video in the file, it is damaged, or the part is too long.
    """
    from av.error import FFmpegError

    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file")
    if start is not None and end is not None and not end > start:
        raise ValueError(f"end must be after start, got {start:g} to {end:g}")
    try:
        with open_video(path) as container:
            stream = video_stream(path, container)
            if max(stream.width, stream.height) > _MOST_PIXELS:
                raise ValueError(
                    f"{path}: frames must have at most {_MOST_PIXELS} pixels a side, got "
                    f"{stream.width} x {stream.height}"
                )
            count = _count_frames(path, container, stream, start, end, fps)
            most = longest, _MOST_TOTAL / count
            times, images = _decode(path, container, stream, start or 0.0, end, fps, most)
    except FFmpegError as error:
        raise ValueError(f"{path}: cannot be read as a video: {error.strerror}") from None
    if len(images) < 2:
        raise ValueError(f"{path}: a motion needs at least 2 frames, got {len(images)}")
    return _evenly(times, images, fps)


def _count_frames(
    path: Path,
    container: InputContainer,
    stream: VideoStream,
    start: float | None,
    end: float | None,
    fps: float | None,
) -> int:
    """Frames to expect, at most. Refuses a part that is too long before it is decoded, where the
    file says how long it is."""
    if container.duration is None:
        return MOST_FRAMES
    seconds = container.duration / 1e6
    if start is not None and start >= seconds:
        raise ValueError(f"{path}: start must be before its end at {seconds:.1f} s, got {start:g}")
    rate = fps or min(float(stream.average_rate or HIGHEST_FPS), HIGHEST_FPS)
    part = min(seconds, end or seconds) - (start or 0.0)
    if part * rate > MOST_FRAMES + 1:
        raise _too_long(path, part, rate)
    return min(MOST_FRAMES, max(2, math.ceil(part * rate)))


def _too_long(path: Path, seconds: float, rate: float) -> ValueError:
    return ValueError(
        f"{path}: {seconds:.1f} s at {rate:.3g} frames per second are too long: at most "
        f"{MOST_FRAMES} frames ({MOST_FRAMES / rate:.0f} s) are fitted; choose a part with --start "
        f"and --end"
    )


def _decode(
    path: Path,
    container: InputContainer,
    stream: VideoStream,
    start: float,
    end: float | None,
    fps: float | None,
    most: tuple[int, float],
) -> tuple[list[float], list[UInt8[np.ndarray, "H W c"]]]:
    """Time stamps and reduced images of the part; RGB, or RGBA where there is an alpha channel.

    `most` is the longer side and the area of an image, pixels.
    """
    if start > 0.0:
        container.seek(int(start * 1e6), backward=True)
    times: list[float] = []
    images: list[np.ndarray] = []
    nominal = float(stream.average_rate or 24)
    origin = stream.start_time
    first = 0.0 if origin is None or stream.time_base is None else float(origin * stream.time_base)
    least = 0.9 / (fps or HIGHEST_FPS)
    for frame in container.decode(stream):
        time = len(times) / nominal if frame.time is None else frame.time - first
        if time < start - 1e-6 or (times and time <= times[-1]):
            continue
        if end is not None and time > end:
            break
        if times and time - times[-1] < 0.5 * least:
            continue  # faster than what is kept
        if len(images) > 2 * MOST_FRAMES:
            raise _too_long(path, time - start, len(images) / max(time - start, 1e-9))
        width, height = frame.width, frame.height
        part = min(1.0, most[0] / max(width, height), math.sqrt(most[1] / (width * height)))
        has_alpha = any(c.is_alpha for c in frame.format.components)
        small = frame.reformat(
            width=max(2, round(width * part)), height=max(2, round(height * part)),
            format="rgba" if has_alpha else "rgb24",
        )  # fmt: skip
        # FFmpeg's angle is counterclockwise, as numpy's is.
        image = np.rot90(small.to_ndarray(), round(frame.rotation / 90.0))
        if images and image.shape != images[0].shape:
            raise ValueError(f"{path}: frames must be of one size, got {image.shape[:2]} as well")
        times.append(time)
        images.append(np.ascontiguousarray(image))
    return times, images


def _evenly(times: list[float], images: list[np.ndarray], fps: float | None) -> Footage:
    """The frames nearest to even times."""
    notes = []
    gaps = [b - a for a, b in pairwise(times)]
    usual = median(gaps)
    rate = fps or min(1.0 / usual, HIGHEST_FPS)
    if max(abs(gap - usual) for gap in gaps) > max(_UNEVEN * usual, 2e-3):
        notes.append(f"variable frame rate: resampled to {rate:.3g} frames per second")
    count = min(MOST_FRAMES, int((times[-1] - times[0]) * rate + 1e-6) + 1)
    wanted = times[0] + np.arange(max(count, 2)) / rate
    after = np.searchsorted(times, wanted).clip(1, len(times) - 1)
    known = np.asarray(times)
    nearest = np.where(wanted - known[after - 1] < known[after] - wanted, after - 1, after)
    stack = np.stack([images[i] for i in nearest])
    alpha = None
    if stack.shape[-1] == 4 and int(stack[..., 3].min()) < int(stack[..., 3].max()):
        alpha = torch.from_numpy(stack[..., 3].copy())
    frames = torch.from_numpy(stack[..., :3].copy())
    return Footage(frames, alpha, rate, tuple(notes))
