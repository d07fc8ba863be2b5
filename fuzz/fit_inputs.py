"""Harnesses of what `akd fit` is given besides an asset."""

from __future__ import annotations

import importlib
import io
import json
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from akd.asset.asset import AssetError
from akd.fit.inputs import read_camera, read_maps, read_masks, read_tracks
from akd.fit.sequence import read_sequence
from akd.scene.footage import Footage, read_footage
from akd.scene.video import Video
from fuzz.harness import FOLDER, Harness, file_parser

_FOOTAGE = Footage(torch.zeros(2, 24, 32, 3, dtype=torch.uint8), None, 12.0, ())
_IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")


def _video() -> Harness:
    drawn = Video(torch.rand(3, 16, 16, 3, generator=torch.Generator().manual_seed(0)), 8.0)
    seeds = [
        drawn.write(FOLDER / f"seed{suffix}").read_bytes() for suffix in (".mp4", ".gif", ".webp")
    ]
    parse = file_parser("a.mp4", read_footage, ValueError)
    return Harness(parse, (".gif", ".webp"), tuple(seeds), inputs_a_process=50_000)


def _camera() -> Harness:
    about = {"width": 64, "height": 48, "centre": [32.0, 24.0]}
    pose = np.eye(4).tolist()
    seeds = (
        {"camera_from_world": pose, "field_of_view": 60, **about},
        {"camera_from_world": [pose, pose], "focal": [50.0, 51.0], **about},
    )
    parse = file_parser("camera.json", partial(read_camera, footage=_FOOTAGE), ValueError)
    return Harness(parse, seeds=tuple(json.dumps(seed).encode() for seed in seeds))


def npz(**arrays: np.ndarray) -> tuple[bytes, bytes]:
    """A file of arrays, stored, where mutations reach the values, and compressed."""
    files = io.BytesIO(), io.BytesIO()
    np.savez(files[0], **arrays)
    np.savez_compressed(files[1], **arrays)
    return files[0].getvalue(), files[1].getvalue()


def _tracks() -> Harness:
    parse = file_parser("a.npz", partial(read_tracks, footage=_FOOTAGE, size=None), ValueError)
    seed = npz(
        points=np.zeros((2, 3, 2), np.float32), visible=np.ones((2, 3), bool), size=np.array((8, 6))
    )
    return Harness(parse, seeds=seed)


def _maps(name: str, channels: int) -> Harness:
    parse = file_parser("a.npz", partial(read_maps, footage=_FOOTAGE, name=name), ValueError)
    seed = npz(**{name: np.zeros((2, 4, 5, channels), np.float32)})
    return Harness(parse, seeds=seed)


def _mask() -> Harness:
    folder = FOLDER / "masks"
    folder.mkdir(exist_ok=True)
    white = Video(torch.ones(1, 4, 4, 3), 8.0).write_strip(folder / "0.png").read_bytes()

    def parse(data: bytes) -> None:
        (folder / "1.png").write_bytes(data)
        try:
            read_masks(folder, _FOOTAGE)
        except ValueError as error:
            assert str(error).startswith(str(folder / "1.png")), error
            assert "\n" not in str(error), error

    return Harness(parse, _IMAGES, (white,))


def _points() -> Harness:
    importlib.import_module("trimesh")  # the first broken PLY would
    folder = FOLDER / "points"
    folder.mkdir(exist_ok=True)
    head = "ply\nformat ascii 1.0\nelement vertex 3\n" + "".join(
        f"property float {axis}\n" for axis in "xyz"
    )
    cloud = f"{head}end_header\n0 0 0\n1 0 0\n0 1 0\n".encode()
    (folder / "0.ply").write_bytes(cloud)

    def parse(data: bytes) -> None:
        (folder / "1.ply").write_bytes(data)
        try:
            read_sequence(folder)
        except (AssetError, ValueError) as error:
            assert str(error).startswith(str(folder)), error
            assert "\n" not in str(error), error

    return Harness(parse, (".ply",), (cloud,))


HARNESSES: dict[str, Callable[[], Harness]] = {
    "video": _video,
    "camera": _camera,
    "tracks": _tracks,
    "depth": partial(_maps, "depth", 1),
    "normals": partial(_maps, "normals", 3),
    "mask": _mask,
    "points": _points,
}
