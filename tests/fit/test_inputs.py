"""Files beside a video: cameras, tracks, maps and masks, read or refused in one line."""

import json
import math

import numpy as np
import pytest
import torch

from akd.fit.inputs import read_camera, read_maps, read_masks, read_tracks, write_camera
from akd.scene.footage import Footage

FRAMES, HEIGHT, WIDTH = 3, 24, 32


@pytest.fixture
def footage() -> Footage:
    return Footage(torch.zeros(FRAMES, HEIGHT, WIDTH, 3, dtype=torch.uint8), None, 12.0, ())


def poses(count: int) -> list:
    """A camera that moves to the right."""
    found = torch.eye(4).repeat(count, 1, 1)
    found[:, 0, 3] = -torch.arange(count)
    found[:, 2, 3] = 3.0
    return found.tolist()


def test_a_moving_camera_is_read_at_the_size_of_the_frames(tmp_path, footage):
    path = tmp_path / "camera.json"
    value = {"camera_from_world": poses(FRAMES), "width": 320, "height": 240, "field_of_view": 90}
    path.write_text(json.dumps(value))
    camera = read_camera(path, footage)
    assert len(camera) == FRAMES
    assert (camera.width, camera.height) == (WIDTH, HEIGHT)
    assert camera.camera_from_world[:, 0, 3].tolist() == [0.0, -1.0, -2.0]
    assert float(camera.focal[2, 1]) == pytest.approx(0.5 * HEIGHT / math.tan(math.pi / 4))
    path.write_text(json.dumps(write_camera(camera)))
    again = read_camera(path, footage)
    torch.testing.assert_close(again.focal, camera.focal)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"camera_from_world": poses(2)}, "must have 1 pose or 3, got 2"),
        ({"width": 240}, "not the shape of the video's frames"),
        ({"width": 0}, "width and height must be from 1"),
        ({"field_of_view": 200}, "field_of_view must be"),
        ({"camera_from_world": [[1.0, 0.0]]}, "is not a camera"),
    ],
)
def test_cameras_that_cannot_be_used_are_one_line(tmp_path, footage, change, said):
    value = {"camera_from_world": poses(1), "width": 320, "height": 240, "field_of_view": 40}
    (tmp_path / "camera.json").write_text(json.dumps(value | change))
    with pytest.raises(ValueError, match=said) as caught:
        read_camera(tmp_path / "camera.json", footage)
    assert "\n" not in str(caught.value)


def test_depth_and_normal_maps_are_resized(tmp_path, footage):
    path = tmp_path / "maps.npz"
    depth = np.full((FRAMES, 12, 16), 2.0)
    depth[:, 0, 0] = np.nan
    normals = np.tile(np.array((0.0, 0.0, -1.0)), (FRAMES, 48, 64, 1))
    np.savez(path, depth=depth, normals=normals)
    found = read_maps(path, footage, name="depth")
    assert found.shape == (FRAMES, HEIGHT, WIDTH, 1)
    assert bool(found[0, 0, 0].isnan().all())
    assert float(found[0, -1, -1, 0]) == 2.0
    assert read_maps(path, footage, name="normals").shape == (FRAMES, HEIGHT, WIDTH, 3)


def test_maps_that_cannot_be_used_are_one_line(tmp_path, footage):
    path = tmp_path / "maps.npz"
    np.savez(path, depth=np.zeros((FRAMES + 1, 4, 4)), normals=np.zeros((FRAMES, 4, 4)))
    with pytest.raises(ValueError, match="depth must have 3 frames of 1 channels"):
        read_maps(path, footage, name="depth")
    with pytest.raises(ValueError, match="normals must have 3 frames of 3 channels"):
        read_maps(path, footage, name="normals")
    np.savez(path, other=np.zeros(3))
    with pytest.raises(ValueError, match="must hold an array `depth`"):
        read_maps(path, footage, name="depth")
    path.write_bytes(b"not an archive")
    with pytest.raises(ValueError, match="cannot be read as npz"):
        read_maps(path, footage, name="depth")


def test_tracks_follow_the_size_that_they_were_made_in(tmp_path, footage):
    path = tmp_path / "tracks.npz"
    points = np.full((FRAMES, 2, 2), 100.0)
    points[1, 1] = np.nan
    np.savez(path, points=points, size=np.array((320, 240)))
    found = read_tracks(path, footage, size=None)
    assert found.points[0, 0].tolist() == [10.0, 10.0]
    assert found.visible.tolist() == [[True, True], [True, False], [True, True]]
    np.savez(path, points=points[:2])
    with pytest.raises(ValueError, match=r"points must be \[3, P, 2\]"):
        read_tracks(path, footage, size=None)


def test_a_folder_of_masks_has_one_image_a_frame(tmp_path, footage):
    image = pytest.importorskip("PIL.Image")
    for number in range(FRAMES):
        image.new("L", (2 * WIDTH, 2 * HEIGHT), 255).save(tmp_path / f"{number}.png")
    assert read_masks(tmp_path, footage).shape == (FRAMES, HEIGHT, WIDTH)
    (tmp_path / "0.png").unlink()
    with pytest.raises(ValueError, match="must hold 3 images, one per frame, got 2"):
        read_masks(tmp_path, footage)
