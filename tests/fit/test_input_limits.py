"""Files beside a video are read within limits, or refused in one line that names them."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from akd.fit.inputs import read_camera, read_maps, read_masks, read_tracks
from akd.scene.footage import Footage

FOOTAGE = Footage(torch.zeros(3, 24, 32, 3, dtype=torch.uint8), None, 12.0, ())


def refused(read, path, *words: str, **options) -> None:
    with pytest.raises(ValueError) as caught:
        read(path, FOOTAGE, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"width": float("inf")}, "is not a camera"),
        ({"width": 0}, "width and height must be from 1 to 65536"),
        ({"width": 10**30}, "width and height must be from 1 to 65536"),
        ({"field_of_view": 180}, "field_of_view must be from 0 to 180"),
        ({"camera_from_world": [1.0, 2.0]}, "is not a camera"),
        ({"camera_from_world": np.eye(4).tolist() * 2}, "must have 1 pose or 3, got 2"),
        ({"height": 32}, "is not the shape of the video's frames"),
        ({"focal": "x"}, "is not a camera"),
    ],
)
def test_cameras_that_cannot_be_used(tmp_path, change, said):
    path = tmp_path / "camera.json"
    good = {"camera_from_world": np.eye(4).tolist(), "width": 64, "height": 48, "field_of_view": 60}
    path.write_text(json.dumps(good))
    assert read_camera(path, FOOTAGE).width == 32
    path.write_text(json.dumps({**good, **change}))
    refused(read_camera, path, said)


def test_a_camera_file_that_is_no_json_or_too_large(tmp_path, monkeypatch):
    path = tmp_path / "camera.json"
    refused(read_camera, path, "No such file")
    path.write_text("{")
    refused(read_camera, path, "cannot be read as JSON")
    monkeypatch.setattr("akd.base.files._LARGEST_JSON", 1 << 20)
    path.write_bytes(b" " * ((1 << 20) + 1))
    refused(read_camera, path, "must be at most 1 MiB")


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({}, "must hold an array `points`"),
        ({"points": np.zeros((2, 5, 2))}, "points must be [3, P, 2], got [2, 5, 2]"),
        ({"points": np.zeros((3, 5000, 2))}, "must hold at most 4096 points, got 5000"),
        ({"points": np.full((3, 5, 2), "x")}, "points must be of numbers"),
        ({"points": np.zeros((3, 5, 2)), "visible": np.ones((3, 4))}, "visible must be [3, 5]"),
        ({"points": np.zeros((3, 5, 2)), "size": np.zeros(2)}, "size must be a width and a height"),
        ({"points": np.zeros((3, 5, 2)), "size": np.ones(3)}, "size must be a width and a height"),
    ],
)
def test_tracks_that_cannot_be_used(tmp_path, arrays, said):
    path = tmp_path / "tracks.npz"
    np.savez(path, **arrays)
    refused(read_tracks, path, said, size=None)


def test_tracks_are_scaled_to_the_footage(tmp_path):
    path = tmp_path / "tracks.npz"
    points = np.full((3, 2, 2), 10.0)
    points[1, 1] = np.nan
    np.savez(path, points=points, size=np.array((64, 48)))
    tracks = read_tracks(path, FOOTAGE, size=None)
    assert tracks.points[0].tolist() == [[5.0, 5.0], [5.0, 5.0]]
    assert tracks.visible.tolist() == [[True, True], [True, False], [True, True]]


def test_maps_that_cannot_be_used(tmp_path):
    path = tmp_path / "maps.npz"
    refused(read_maps, path, "No such file", name="depth")
    path.write_bytes(b"PK\3\4 broken")
    refused(read_maps, path, "cannot be read as npz", name="depth")
    np.savez(path, depth=np.zeros((3, 4, 4, 3)))
    refused(read_maps, path, "must have 3 frames of 1 channels", name="depth")
    assert read_maps_of(path, np.zeros((3, 4, 4))).shape == (3, 24, 32, 1)


def read_maps_of(path, depth):
    np.savez(path, depth=depth)
    return read_maps(path, FOOTAGE, name="depth")


def test_masks_are_grey_images_of_any_size(tmp_path):
    pixels = np.zeros((48, 64, 3), np.uint8)
    pixels[:, :32] = 255
    for name in ("1.png", "2.png", "3.png"):
        Image.fromarray(pixels).save(tmp_path / name)
    masks = read_masks(tmp_path, FOOTAGE)
    assert masks.shape == (3, 24, 32)
    assert masks[0, 0].tolist() == [1.0] * 16 + [0.0] * 16
    (tmp_path / "2.png").write_bytes(b"no image")
    with pytest.raises(ValueError, match=r"2\.png: .*cannot be read as an image"):
        read_masks(tmp_path, FOOTAGE)
    (tmp_path / "2.png").unlink()
    refused(read_masks, tmp_path, "must hold 3 images, one per frame, got 2")
