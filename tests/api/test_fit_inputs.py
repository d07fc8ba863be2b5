"""Videos of every kind become observations, within a limit of memory."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch

from akd.api.fit_inputs import ViewFiles, observe, read_direction

av = pytest.importorskip("av")

WIDE = """
import resource, sys, torch
from akd.api.fit_inputs import ViewFiles, observe
for path in sys.argv[1:]:
    seen = observe(ViewFiles.of(path), start=None, end=None, fps=None, device=torch.device("cpu"))
    print(len(seen.observations[0]), *seen.observations[0].size)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def write(path, frames, *, codec="mjpeg", pix_fmt="yuvj420p", rate=10):
    """A video of images [H, W, c]."""
    with av.open(str(path), "w") as container:
        stream = None
        for image in frames:
            if stream is None:
                stream = container.add_stream(codec, rate=rate)
                stream.height, stream.width, stream.pix_fmt = *image.shape[:2], pix_fmt
            layout = "rgba" if image.shape[2] == 4 else "rgb24"
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format=layout)
            container.mux(stream.encode(frame))
        assert stream is not None
        container.mux(stream.encode())
    return path


def walkers(count, height, width, *, left=0.25):
    """A dark box that moves a little before a plain background."""
    for k in range(count):
        image = np.full((height, width, 3), 200, dtype=np.uint8)
        x = round(width * left) + (k % 10) * width // 100
        image[height // 4 : height // 2, x : x + width // 5] = 30
        yield image


def seen_in(files: ViewFiles):
    return observe(files, start=None, end=None, fps=None, device=torch.device("cpu"))


def test_two_views_in_one_image_are_separated(tmp_path):
    halves = zip(walkers(4, 64, 48), walkers(4, 64, 48, left=0.5), strict=True)
    path = write(tmp_path / "two.avi", (np.concatenate(pair, axis=1) for pair in halves))
    seen = seen_in(ViewFiles.of(path, ["side", "front"]))
    assert [o.size for o in seen.observations] == [(48, 64), (48, 64)]
    assert seen.observations[0].azimuth != seen.observations[1].azimuth
    columns = [float((o.masks[0] > 0.5).any(0).nonzero().min()) for o in seen.observations]
    assert columns == pytest.approx([12, 24], abs=2)


def test_masks_of_two_views_in_one_image_are_separated_too(tmp_path):
    halves = list(zip(walkers(4, 64, 48), walkers(4, 64, 48, left=0.5), strict=True))
    wide = [np.concatenate(pair, axis=1) for pair in halves]
    video = write(tmp_path / "two.avi", wide)
    masks = write(tmp_path / "masks.avi", (255 * (image < 100).astype(np.uint8) for image in wide))
    seen = seen_in(ViewFiles.of(video, ["side", "front"], masks=masks))
    columns = [float((o.masks[0] > 0.5).any(0).nonzero().min()) for o in seen.observations]
    assert columns == pytest.approx([12, 24], abs=2)
    assert "masks: given, confidence 1.00" in seen.notes


def test_an_alpha_channel_is_the_mask(tmp_path):
    images = []
    for image in walkers(3, 32, 48):
        alpha = np.where(image[..., :1] < 100, 255, 0).astype(np.uint8)
        images.append(np.concatenate((image, alpha), axis=2))
    path = write(tmp_path / "a.mov", images, codec="png", pix_fmt="rgba")
    seen = seen_in(ViewFiles.of(path))
    assert "masks: alpha channel, confidence 1.00" in seen.notes
    assert float(seen.observations[0].masks[0].sum()) == 8 * 9


def test_options_that_do_not_go_together_are_refused(tmp_path):
    path = write(tmp_path / "a.avi", walkers(3, 32, 48))
    with pytest.raises(ValueError, match="depth is for a single view"):
        ViewFiles.of(path, ["side", "front"], depth=path)
    with pytest.raises(ValueError, match="camera must be one for each of 2 views, got 1"):
        ViewFiles.of(path, ["side", "front"], camera=path)
    with pytest.raises(ValueError, match="there is no such file"):
        ViewFiles.of(path, tracks=tmp_path / "none.npz")


@pytest.mark.parametrize("view", ["sideways", "nan", "inf", ""])
def test_views_that_are_no_directions_are_refused(view):
    with pytest.raises(ValueError, match=f"views must be out of .*, or degrees, got {view!r}"):
        read_direction(view)
    assert read_direction("180") == pytest.approx(math.pi)


@pytest.mark.slow
def test_8k_and_long_videos_stay_within_memory(tmp_path):
    wide = write(tmp_path / "8k.avi", walkers(3, 4320, 7680))
    long = write(tmp_path / "long.avi", walkers(300, 512, 512), rate=30)
    command = [sys.executable, "-c", WIDE, str(wide), str(long)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    first, second, kibibytes = said.stdout.splitlines()
    assert first.split() == ["3", "512", "288"]
    count, width, height = map(int, second.split())
    assert (count, width) == (300, height)
    assert 256 < width < 400
    assert int(kibibytes) < 2.5 * 2**20
