"""Sequences of meshes or point clouds: a folder with one file a frame, or one animated GLB."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import Asset, AssetError, MeshPart
from akd.asset.ply_elements import parse_header, read_elements
from akd.asset.read import find_format, read_asset
from akd.asset.surface import naming_file, read_bytes
from akd.base.files import list_files
from akd.motion.clip import motion_from_clip
from akd.rig.bind import skeleton_of
from akd.rig.character import load_character
from akd.rig.skin import skin_points
from akd.scene.footage import MOST_FRAMES

SUFFIXES = (".glb", ".gltf", ".ply", ".obj", ".stl", ".off")
MOST_POINTS = 3000
"""Points of a frame that are kept, evenly drawn."""
_MOST_PARTS = 1000
"""Parts that a file shows: each takes `MOST_POINTS` while the frame is read."""
_FPS = 24.0

Points = Float[np.ndarray, "N 3"]


@dataclass(frozen=True)
class PointSequence:
    """Points on a moving surface, frame by frame."""

    frames: tuple[Points, ...]
    """In the files' units and axes."""
    fps: float
    first: Path
    """A file with the surface of the first frame, for `akd rig`."""
    name: str


def is_sequence(path: Path) -> bool:
    """Whether a path is a sequence of geometry and not a video."""
    return path.is_dir() or path.suffix.lower() in (".glb", ".gltf")


def read_sequence(path: Path, *, fps: float | None = None) -> PointSequence:
    """Read points of every frame.

    Args:
        path: A folder of GLB, PLY, OBJ, STL or OFF files in the order of their numbers, or a GLB
            whose clip moves vertices (morph targets), nodes or bones.
        fps: Frames a second; 24 if left out, which an animated GLB is sampled at.

    Raises:
        ValueError: There are too few or too many frames, or nothing moves.
        AssetError: A file cannot be read.
    """
    rate = fps or _FPS
    if not path.is_dir():
        return PointSequence(tuple(_animated(path, rate)), rate, path, path.stem)
    files = sorted(list_files(path, SUFFIXES), key=_number)
    if not 2 <= len(files) <= MOST_FRAMES:
        raise ValueError(
            f"{path}: must hold from 2 to {MOST_FRAMES} files of geometry, got {len(files)}"
        )
    return PointSequence(tuple(_points_of(file) for file in files), rate, files[0], path.name)


def _number(path: Path) -> list[tuple[int, int | str]]:
    """Names with numbers in them in the order of the numbers."""
    parts = re.split(r"(\d+)", path.stem)
    return [(0, int(part)) if part.isdigit() else (1, part) for part in parts]


def _points_of(path: Path) -> Points:
    """Points on the surface of a file, or the points of a PLY that has no faces."""
    if find_format(path) == "ply":
        with naming_file(path):
            data = memoryview(read_bytes(path, growth=6))
            vertex = read_elements(header := parse_header(data), data).get("vertex", {})
        columns = [vertex.get(axis) for axis in "xyz"]
        has_faces = any(e.name == "face" and e.count for e in header.elements)
        if not has_faces and all(isinstance(column, np.ndarray) for column in columns):
            return _thinned(np.stack([np.asarray(c, dtype=np.float64) for c in columns], axis=1))
    asset = read_asset(path)
    if asset.splats is not None:
        return _thinned(np.asarray(asset.splats.means, dtype=np.float64))
    world = skeleton_of(asset).forward(skeleton_of(asset).rest).double().numpy()
    found = [
        sample_surface(_moved(part.positions, world[n]), part.faces, MOST_POINTS)
        for n, part in _shown_parts(asset)
    ]
    if not found:
        raise AssetError(f"{path}: has no points")
    return _thinned(np.concatenate(found))


def _animated(path: Path, fps: float) -> list[Points]:
    """Points of an animated file at every frame; the same points of the surface all along."""
    asset = read_asset(path)
    if not asset.clips:
        raise ValueError(f"{path}: must hold a clip that moves it, got none")
    character = load_character(asset, height=None)
    motion = motion_from_clip(character, asset.clips[0]).resample(fps)
    if not 2 <= len(motion) <= MOST_FRAMES:
        raise ValueError(f"{path}: must have from 2 to {MOST_FRAMES} frames, got {len(motion)}")
    if asset.skins and character.mesh is not None:
        mesh = character.mesh
        places = mesh.skin.bone_transforms(motion.world())
        step = max(1, len(mesh.vertices) // MOST_POINTS)
        moved = skin_points(
            places, mesh.vertices[::step], mesh.skin.bones[::step], mesh.skin.weights[::step]
        )
        return list(character.units.points_out(moved).double().numpy())
    # In the file's own units: vertices of a mesh without bones are not in metres.
    raw = skeleton_of(asset)
    placed = raw.forward(character.units.pose_out(motion.pose.to(dtype=torch.float64)))
    return _morphed(asset, placed, motion.morphs)


def _morphed(
    asset: Asset, world: Float[Tensor, "T J 4 4"], morphs: Mapping[int, Float[Tensor, "T M"]]
) -> list[Points]:
    """Vertices of meshes whose morph targets are blended over time."""
    frames: list[list[Points]] = [[] for _ in range(len(world))]
    shown = _shown_parts(asset)
    step = max(1, sum(len(part.positions) for _, part in shown) // MOST_POINTS)
    for n, part in shown:
        rest = np.asarray(part.positions[::step], dtype=np.float64)
        for t, placed in enumerate(world[:, n]):
            moved = rest
            if part.morphs is not None and n in morphs:
                weights = morphs[n][t].double().numpy()
                moved = rest + np.tensordot(weights, part.morphs[:, ::step], axes=1)
            frames[t].append(_moved(moved, placed.numpy()))
    return [np.concatenate(parts) for parts in frames]


def _shown_parts(asset: Asset) -> list[tuple[int, MeshPart]]:
    """Parts of meshes, with the index of the node that shows each. A mesh may be shown often."""
    shown = [
        (n, part)
        for n, node in enumerate(asset.nodes)
        if node.mesh is not None
        for part in asset.meshes[node.mesh].parts
    ]
    if len(shown) > _MOST_PARTS:
        raise AssetError(f"{asset.path}: must show at most {_MOST_PARTS} parts, got {len(shown)}")
    return shown


def sample_surface(vertices: Float[np.ndarray, "V 3"], faces: np.ndarray, count: int) -> Points:
    """Points spread evenly over triangles; the vertices themselves where there are none."""
    if not len(faces):
        return vertices
    corners = vertices[np.asarray(faces, dtype=np.int64)]
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    )
    if not area.sum() > 0.0:
        return vertices
    draw = np.random.default_rng(0)
    chosen = draw.choice(len(faces), size=count, p=area / area.sum())
    u, v = np.sqrt(draw.random(count)), draw.random(count)
    weights = np.stack((1.0 - u, u * (1.0 - v), u * v), axis=1)
    return np.einsum("nk,nkc->nc", weights, corners[chosen])


def _moved(points: np.ndarray, matrix: np.ndarray) -> Points:
    return np.asarray(points, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def _thinned(points: Float[np.ndarray, "P 3"]) -> Points:
    """At most `MOST_POINTS` of the finite points."""
    points = points[np.isfinite(points).all(1)]
    if len(points) <= MOST_POINTS:
        return points
    return points[np.random.default_rng(0).choice(len(points), MOST_POINTS, replace=False)]
