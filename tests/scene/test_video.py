"""Videos written are videos read, and nothing half-written is left behind."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
import torch
from PIL import Image

from akd.scene.video import Video


def make_video(frames: int = 9, height: int = 35, width: int = 49, fps: float = 12.5) -> Video:
    y = torch.linspace(0.0, 1.0, height)[None, :, None]
    x = torch.linspace(0.0, 1.0, width)[None, None, :]
    t = torch.linspace(0.0, 1.0, frames)[:, None, None]
    channels = ((x + 0 * y + 0 * t), (y + 0 * x + 0 * t), (t + 0 * x + 0 * y))
    return Video(torch.stack(channels, dim=-1), fps)


def test_mp4_is_h264_that_players_show_and_reads_back(tmp_path: Path) -> None:
    video = make_video()
    path = video.write(tmp_path / "deep" / "video.mp4", crf=8)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        assert (stream.width, stream.height) == (50, 36)
        assert float(stream.average_rate) == 12.5
    back = Video.read(path)
    assert len(back) == 9
    assert back.fps == 12.5
    assert float((back.frames[:, :35, :49] - video.frames).abs().mean()) < 0.02
    assert [p.name for p in path.parent.iterdir()] == ["video.mp4"]


def test_the_same_video_gives_the_same_file(tmp_path: Path) -> None:
    one = make_video().write_mp4(tmp_path / "a.mp4").read_bytes()
    assert one == make_video().write_mp4(tmp_path / "b.mp4").read_bytes()


def test_gif_keeps_frames_and_time(tmp_path: Path) -> None:
    path = make_video().write(tmp_path / "video.gif")
    with Image.open(path) as gif:
        assert gif.n_frames == 9
        assert gif.size == (49, 35)
        total = 0
        for k in range(9):
            gif.seek(k)
            total += gif.info["duration"]
    assert total == 720  # 9 frames at 12.5 a second, milliseconds


def test_strip_is_first_to_last_side_by_side(tmp_path: Path) -> None:
    video = make_video()
    path = video.write_strip(tmp_path / "strip.png", count=3)
    strip = np.asarray(Image.open(path))
    assert strip.shape == (35, 147, 3)
    pictures = video.bytes()
    chosen = [pictures[0], pictures[4], pictures[8]]
    assert np.array_equal(strip, np.concatenate(chosen, axis=1))
    path = video.write_strip(tmp_path / "stacked.png", count=3, stacked=True)
    assert np.array_equal(np.asarray(Image.open(path)), np.concatenate(chosen, axis=0))


def test_values_out_of_range_are_cut_and_nan_is_black() -> None:
    frames = torch.tensor([[[[-1.0, 0.5, 2.0]], [[float("nan"), 1.0, 0.0]]]])
    assert Video(frames, 1.0).bytes()[0, :, 0].tolist() == [[0, 128, 255], [0, 255, 0]]


def test_bad_videos_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="fps must be above zero, got 0"):
        Video(torch.zeros(1, 2, 2, 3), 0.0)
    with pytest.raises(ValueError, match="at least one frame of one pixel"):
        Video(torch.zeros(0, 2, 2, 3), 8.0)
    with pytest.raises(ValueError, match=r"\.webp or \.png, got '\.avi'"):
        make_video().write(tmp_path / "video.avi")


def test_a_failure_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("disk full")

    monkeypatch.setattr(Image.Image, "save", broken)
    with pytest.raises(RuntimeError, match="disk full"):
        make_video().write_gif(tmp_path / "video.gif")
    assert list(tmp_path.iterdir()) == []


def test_playlists_are_not_followed(tmp_path):
    Video(torch.zeros(2, 16, 16, 3), 8.0).write_mp4(tmp_path / "a.mp4")
    listed = tmp_path / "a.ffconcat"
    listed.write_text("ffconcat version 1.0\nfile a.mp4\n")
    with pytest.raises(ValueError, match="cannot be read as a video"):
        Video.read(listed)


def test_frames_are_read_within_a_limit(tmp_path, monkeypatch):
    path = Video(torch.zeros(4, 16, 16, 3), 8.0).write_mp4(tmp_path / "a.mp4")
    assert len(Video.read(path)) == 4
    monkeypatch.setattr("akd.scene.video._MOST_BYTES", 3 * 16 * 16 * 3)
    with pytest.raises(ValueError, match="must be at most 0 MiB of RGB"):
        Video.read(path)
