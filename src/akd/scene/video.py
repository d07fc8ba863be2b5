"""`Video`: frames and their rate, and the files they can become."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from akd.base.files import replace_atomically, write_atomically

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

_MOST_BYTES = 256 << 20
"""Of the frames that `Video.read` keeps, at three bytes per pixel."""
_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,gif,apng,webp,mpeg,mpegts,mpegvideo,flv,ogg,asf,"
    "h264,hevc,ivf,wav,mp3,flac,aac,image2,png_pipe,jpeg_pipe"
)
"""No playlists: they would open other files."""
_SEARCH_SECONDS = 20.0
"""On the clock, to open a file and to find each next frame: gigabytes without any are searched."""


@dataclass(frozen=True)
class Video:
    """Frames [T, H, W, 3] and frames per second."""

    frames: Float[Tensor, "T H W 3"] | UInt8[Tensor, "T H W 3"]
    """sRGB, 0..1, or 0..255 in bytes, which take a quarter of the memory."""
    fps: float

    def __post_init__(self) -> None:
        if not self.fps > 0:
            raise ValueError(f"fps must be above zero, got {self.fps}")
        if self.frames.shape[0] == 0 or min(self.frames.shape[1:3]) == 0:
            raise ValueError(
                f"a video needs at least one frame of one pixel, got {tuple(self.frames.shape)}"
            )

    def __len__(self) -> int:
        return self.frames.shape[0]

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self) / self.fps

    def bytes(self) -> UInt8[np.ndarray, "T H W 3"]:
        """Frames as 8-bit images; what is not finite becomes black."""
        return to_bytes(self.frames.detach()).cpu().numpy()

    def write(self, path: Path | str, *, crf: int = 18) -> Path:
        """Write an .mp4, .gif, .webp or .png (a strip of frames) by the path's suffix."""
        path = Path(path)
        match path.suffix.lower():
            case ".mp4":
                return self.write_mp4(path, crf=crf)
            case ".gif":
                return self.write_gif(path)
            case ".webp":
                return self.write_webp(path)
            case ".png":
                return self.write_strip(path)
            case other:
                known = ".mp4, .gif, .webp or .png"
                raise ValueError(f"a video can become {known}, got {other!r} ({path})")

    def write_mp4(self, path: Path | str, *, crf: int = 18) -> Path:
        """Write H.264 in yuv420p, which every player and browser shows.

        Odd sizes get one more column or row, a copy of the last. `crf` is the quality: 0 is
        lossless, 18 cannot be told from it, 28 is small.
        """
        import av

        path = Path(path)
        frames = self.bytes()
        height, width = frames.shape[1:3]
        # Without "bitexact" the file would hold the time at which it was written.
        options = {"fflags": "+bitexact"}
        with (
            replace_atomically(path) as temporary,
            av.open(str(temporary), "w", format="mp4", container_options=options) as container,
        ):
            rate = Fraction(self.fps).limit_denominator(1001)
            stream = container.add_stream("libx264", rate=rate)
            stream.width, stream.height = width + width % 2, height + height % 2
            stream.pix_fmt = "yuv420p"
            # One thread, and no macroblock tree (which reads uninitialised memory): the same frames
            # give the same file every time.
            stream.options = {
                "crf": str(crf), "preset": "medium", "threads": "1", "x264-params": "mbtree=0",
            }  # fmt: skip
            for image in frames:
                even = np.pad(image, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
                container.mux(stream.encode(av.VideoFrame.from_ndarray(even, format="rgb24")))
            container.mux(stream.encode())
        return path

    def write_gif(self, path: Path | str) -> Path:
        """Write an endlessly repeating GIF; its clock ticks in hundredths of a second."""
        return self._write_images(path, "GIF", [10 * max(t, 2) for t in self._ticks(100.0)])

    def write_webp(self, path: Path | str) -> Path:
        """Write an endlessly repeating WebP; its clock ticks in milliseconds."""
        return self._write_images(path, "WEBP", self._ticks(1000.0))

    def _ticks(self, rate: float) -> list[int]:
        """How long each frame is shown, by a clock of this rate."""
        ends = [round(rate * i / self.fps) for i in range(len(self) + 1)]
        return [end - start for start, end in pairwise(ends)]

    def _write_images(self, path: Path | str, kind: str, duration: list[int]) -> Path:
        from PIL import Image

        path, (first, *rest) = Path(path), map(Image.fromarray, self.bytes())
        with write_atomically(path) as file:
            first.save(
                file, kind, save_all=True, append_images=rest, loop=0, duration=duration, quality=85
            )
        return path

    def write_strip(self, path: Path | str, *, count: int = 6, stacked: bool = False) -> Path:
        """Write a PNG of up to `count` frames, evenly taken from first to last, side by side or
        `stacked`."""
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        chosen = np.linspace(0, len(self) - 1, min(count, len(self))).round().astype(int)
        return write_image(path, torch.cat(list(self.frames[chosen]), dim=0 if stacked else 1))

    @classmethod
    def read(cls, path: Path | str) -> Video:
        """Read a video file's frames. Raises `ValueError` for none, too many or damaged ones."""
        from av.error import FFmpegError

        path, images, size = Path(path), [], 0
        try:
            with open_video(path) as container:
                stream = video_stream(path, container)
                fps = float(stream.average_rate or 24)
                for frame in container.decode(stream):
                    size += 3 * frame.width * frame.height
                    if size > _MOST_BYTES:
                        raise ValueError(f"{path}: must be at most {_MOST_BYTES >> 20} MiB of RGB")
                    images.append(frame.to_ndarray(format="rgb24"))
                    if images[-1].shape != images[0].shape:
                        raise ValueError(f"{path}: frames must be of one size")
        except FFmpegError as error:
            raise ValueError(f"{path}: cannot be read as a video: {error.strerror}") from None
        if not images:
            raise ValueError(f"{path}: must hold at least one frame, got none")
        return cls(torch.from_numpy(np.stack(images)).float() / 255.0, fps)


def write_image(path: Path | str, image: Float[Tensor, "H W 3"] | UInt8[Tensor, "H W 3"]) -> Path:
    """Write a PNG."""
    from PIL import Image

    path = Path(path)
    with write_atomically(path) as file:
        Image.fromarray(to_bytes(image.detach()).cpu().numpy()).save(file, "PNG")
    return path


def to_bytes(frames: Float[Tensor, "*shape"] | UInt8[Tensor, "*shape"]) -> UInt8[Tensor, "*shape"]:
    """sRGB 0..1 as 0..255; what is not finite becomes black, bytes stay what they are."""
    if frames.dtype == torch.uint8:
        return frames
    finite = torch.nan_to_num(frames.float(), 0.0, 1.0, 0.0)
    return (finite.clamp_(0.0, 1.0) * 255.0).add_(0.5).to(torch.uint8)


def open_video(path: Path) -> InputContainer:
    """Open a video file for decoding: no other file and no network. Raises `FFmpegError`."""
    import av

    options = {"protocol_whitelist": "file", "format_whitelist": _FORMATS}
    # Titles and comments in another encoding than UTF-8 do not matter.
    return av.open(str(path), options=options, metadata_errors="replace", timeout=_SEARCH_SECONDS)


def video_stream(path: Path, container: InputContainer) -> VideoStream:
    """The first video stream. Raises `ValueError` where none can be decoded."""
    if not container.streams.video:
        kinds = ", ".join(sorted({s.type for s in container.streams})) or "nothing"
        raise ValueError(f"{path}: has no video in it, got {kinds}")
    stream = container.streams.video[0]
    if stream.codec_context is None:
        raise ValueError(f"{path}: its video is of an unknown codec")
    return stream
