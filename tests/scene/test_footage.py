"""Videos of all kinds are read within limits, or refused in one line."""

import time as clock
from fractions import Fraction

import numpy as np
import pytest
import torch

from akd.scene import video
from akd.scene.footage import MOST_FRAMES, read_footage
from akd.scene.video import Video

av = pytest.importorskip("av")


def write(path, times, *, size=(32, 24), rate=30, codec="libx264", pix_fmt="yuv420p", turned=0):
    """A video with a grey level of 10 more in every frame, shown at `times` (milliseconds)."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, pix_fmt
        stream.codec_context.time_base = Fraction(1, 1000)
        if turned:
            stream.set_display_rotation(turned)
        for i, time in enumerate(times):
            channels = 4 if "a" in pix_fmt[3:] else 3
            image = np.full((size[1], size[0], channels), min(10 * i, 250), dtype=np.uint8)
            image[: size[1] // 2, : size[0] // 2] = 255
            if channels == 4:
                image[..., 3] = np.where(np.arange(size[0]) < size[0] // 2, 255, 0)
            frame = av.VideoFrame.from_ndarray(image, format="rgba" if channels == 4 else "rgb24")
            frame.pts, frame.time_base = time, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def test_a_part_of_a_video_is_read(tmp_path):
    path = write(tmp_path / "a.mp4", range(0, 1000, 100), rate=10)
    whole = read_footage(path)
    assert whole.frames.shape == (10, 24, 32, 3)
    assert whole.fps == pytest.approx(10.0, rel=0.02)
    assert whole.alpha is None
    part = read_footage(path, start=0.3, end=0.65)
    assert len(part) == 4
    assert abs(int(part.frames[0, -1, -1, 0]) - 30) < 8


def test_large_frames_are_reduced(tmp_path):
    path = write(tmp_path / "a.mp4", (0, 100, 200), size=(640, 320), rate=10)
    assert read_footage(path, longest=64).frames.shape == (3, 32, 64, 3)


def test_a_variable_frame_rate_becomes_a_fixed_one(tmp_path):
    path = write(tmp_path / "a.mkv", (0, 100, 200, 500, 600, 700), rate=10)
    found = read_footage(path)
    assert len(found) == 8
    assert "variable frame rate" in found.notes[0]
    levels = found.frames[:, -1, -1, 0].int().tolist()
    assert levels[2] == pytest.approx(levels[3], abs=4)


@pytest.mark.parametrize(("turned", "corner"), [(90, (-1, 0)), (180, (-1, -1)), (-90, (0, -1))])
def test_the_rotation_that_phones_store_is_applied(tmp_path, turned, corner):
    path = write(tmp_path / "a.mp4", (0, 100, 200), rate=10, turned=turned)
    found = read_footage(path)
    assert found.frames.shape[1:3] == ((32, 24) if abs(turned) == 90 else (24, 32))
    # The bright quarter is at the top left of the frames as they are stored.
    assert int(found.frames[0, *corner, 0]) > 200
    opposite = tuple(-1 - side for side in corner)
    assert int(found.frames[0, *opposite, 0]) < 50


def test_of_20_minutes_a_part_is_read_and_the_whole_is_refused(tmp_path):
    path = write(
        tmp_path / "long.mp4", range(0, 1_200_000, 500), size=(16, 16), rate=2, codec="mpeg4"
    )
    with pytest.raises(ValueError, match=r"1200.0 s at 2 frames per second are too long"):
        read_footage(path)
    part = read_footage(path, start=600.0, end=605.0)
    assert len(part) == 11
    assert part.fps == pytest.approx(2.0, rel=0.02)


def test_an_alpha_channel_is_kept(tmp_path):
    path = write(tmp_path / "a.mov", (0, 100, 200), rate=10, codec="png", pix_fmt="rgba")
    opacity = read_footage(path).opacity()
    assert opacity is not None
    assert float(opacity[0, 0, 0]) == 1.0
    assert float(opacity[0, 0, -1]) == 0.0


def test_what_cannot_be_fitted_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="no such file"):
        read_footage(tmp_path / "none.mp4")
    (tmp_path / "broken.mp4").write_bytes(b"not a video" * 50)
    with pytest.raises(ValueError, match="cannot be read as a video"):
        read_footage(tmp_path / "broken.mp4")
    gif = Video(torch.zeros(2, 8, 8, 3), 8.0).write(tmp_path / "wide.gif")
    data = gif.read_bytes()
    gif.write_bytes(data[:6] + (9000).to_bytes(2, "little") + data[8:])
    with pytest.raises(ValueError, match="at most 8192 pixels a side, got 9000 x 8"):
        read_footage(gif)
    one = write(tmp_path / "one.mp4", (0,), rate=10)
    with pytest.raises(ValueError, match="at least 2 frames, got 1"):
        read_footage(one)
    path = write(tmp_path / "a.mp4", (0, 100, 200), rate=10)
    with pytest.raises(ValueError, match="end must be after start"):
        read_footage(path, start=2.0, end=1.0)
    with pytest.raises(ValueError, match="start must be before its end"):
        read_footage(path, start=100.0)
    long = write(tmp_path / "long.mp4", range(0, 100 * MOST_FRAMES + 500, 100), rate=10)
    with pytest.raises(ValueError, match=r"choose a part with --start and --end"):
        read_footage(long)


@pytest.mark.slow
def test_gigabytes_without_a_frame_are_searched_for_some_seconds(tmp_path, monkeypatch):
    """20 GB take a minute; a hole in a file takes no room on the disk."""
    monkeypatch.setattr(video, "_SEARCH_SECONDS", 1.0)
    path = tmp_path / "hole.gif"
    with path.open("wb") as file:
        file.truncate(20 << 30)
    before = clock.process_time()
    with pytest.raises(ValueError, match=r"hole\.gif: cannot be read as a video"):
        read_footage(path)
    assert clock.process_time() - before < 10.0


def test_titles_in_another_encoding_do_not_matter(tmp_path):
    path = write(tmp_path / "a.mkv", (0, 100, 200), rate=10)
    path.write_bytes(path.read_bytes().replace(b"ENCODER", b"\xff\xfeCODER"))
    assert len(read_footage(path)) == 3


def test_an_unknown_codec_is_one_line(tmp_path):
    path = write(tmp_path / "a.mp4", (0, 100, 200), rate=10)
    path.write_bytes(path.read_bytes().replace(b"avc1", b"zzzz"))
    for read in (read_footage, Video.read):
        with pytest.raises(ValueError, match=r"a\.mp4: its video is of an unknown codec"):
            read(path)


def test_audio_alone_is_refused(tmp_path):
    path = tmp_path / "sound.wav"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        sound = np.zeros((1, 800), dtype=np.int16)
        frame = av.AudioFrame.from_ndarray(sound, format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode())
    with pytest.raises(ValueError, match="has no video in it, got audio"):
        read_footage(path)
