"""Shared by readers: files, images, triangles from polygons, and validated mesh parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from jaxtyping import Float, Integer, Shaped, UInt8

from akd.asset.asset import (
    Asset,
    AssetError,
    Budget,
    Image,
    Material,
    Mesh,
    MeshPart,
    Node,
    Problem,
)
from akd.asset.gltf.fields import clean_text
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder, read_regular_file
from akd.asset.image import decode_image, image_size, sniff_mime_type
from akd.asset.srgb import to_linear


@contextmanager
def naming_file(path: Path) -> Iterator[None]:
    """Put the file's path before the message of an `AssetError`."""
    try:
        yield
    except AssetError as error:
        raise AssetError(f"{path}: {error}") from error


def read_bytes(path: Path, *, growth: int) -> bytes:
    """The bytes of a file that takes `growth` times its size in memory while it is parsed."""
    data = read_regular_file(path, "", "file")
    Budget().charge(growth * len(data), f"{len(data) >> 20} MiB")
    return data


def read_image(path: Path) -> UInt8[np.ndarray, "H W 4"]:
    """The pixels of an image file as RGBA. Raises `AssetError`, which names the file."""
    with naming_file(path):
        return decode_image(Image(path.name, "", read_regular_file(path, "", "image")))


def fan_triangles(
    counts: Integer[np.ndarray, "P"], corners: Shaped[np.ndarray, "C"]
) -> Shaped[np.ndarray, "F 3"]:
    """Cut polygons into triangles that all share the polygon's first corner.

    `counts` are the numbers of corners of the polygons, `corners` those corners one after another.
    Polygons of fewer than three corners give nothing.
    """
    counts = counts.astype(np.int64)
    first = np.cumsum(counts) - counts
    triangles = np.maximum(counts - 2, 0)
    apex = np.repeat(first, triangles)
    before = np.repeat(np.cumsum(triangles) - triangles, triangles)
    step = np.arange(int(triangles.sum())) - before
    return corners[np.stack((apex, apex + step + 1, apex + step + 2), axis=1)]


def build_part(
    where: str,
    problems: ProblemLog,
    *,
    positions: Shaped[np.ndarray, "V 3"],
    faces: Integer[np.ndarray, "F 3"],
    material: int | None = None,
    normals: Shaped[np.ndarray, "V 3"] | None = None,
    uv: Shaped[np.ndarray, "V 2"] | None = None,
    colours: Float[np.ndarray, "V 4"] | None = None,
) -> MeshPart | None:
    """Return a part of float32 arrays whose faces and vertices can be used, or None if none can.

    `uv` runs upwards, as these formats have it, and is turned over. Vertices that are not finite
    go, with the faces on them. Raises `AssetError` where a face names a vertex that is not there.
    """
    if len(faces) and (faces.min() < 0 or faces.max() >= len(positions)):
        wrong = faces.min() if faces.min() < 0 else faces.max()
        raise AssetError(
            f"{where}: faces must name one of the {len(positions)} vertices, got {wrong}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        positions = positions.astype(np.float32)
        good = np.asarray(np.isfinite(positions).all(axis=1))
        if normals is not None:
            normals = normals.astype(np.float32)
            normals = normals if np.isfinite(normals).all() else None
        if uv is not None:
            uv = np.stack((uv[:, 0], 1.0 - uv[:, 1]), axis=1).astype(np.float32)
            uv = np.where(np.isfinite(uv), uv, np.float32(0.0))
        if colours is not None:
            colours = np.nan_to_num(colours.astype(np.float32), nan=1.0).clip(0.0, 1.0)
    if not good.all():
        kept = good[faces].all(axis=1)
        lost = len(faces) - int(kept.sum())
        problems.warn(
            where,
            f"{int((~good).sum())} vertices are not finite",
            f"leaves them and {lost} faces out",
        )
        faces = (np.cumsum(good) - 1)[faces[kept]]
        positions = positions[good]
        normals = None if normals is None else normals[good]
        uv = None if uv is None else uv[good]
        colours = None if colours is None else colours[good]
    if len(faces) == 0:
        return None
    return MeshPart(
        positions=positions,
        faces=faces.astype(np.uint32),
        material=material,
        normals=normals,
        uv=uv,
        colours=colours,
    )


def linear_colours(colours: Shaped[np.ndarray, "V K"]) -> Float[np.ndarray, "V 4"]:
    """Linear RGBA in 0..1 of sRGB colours with or without alpha.

    Integers run to the end of their type (or to 255 where that is wider than a byte and nothing
    exceeds it), floats to one.
    """
    rgba = np.ones((len(colours), 4), dtype=np.float32)
    width = min(colours.shape[1], 4)
    values = colours[:, :width]
    if np.issubdtype(values.dtype, np.integer):
        largest = int(values.max(initial=0))
        values = values / (255.0 if largest <= 255 else float(np.iinfo(values.dtype).max))
    rgba[:, :width] = np.nan_to_num(values.astype(np.float64), nan=1.0).clip(0.0, 1.0)
    rgba[:, :3] = to_linear(rgba[:, :3])
    return rgba


def load_texture(
    folder: AssetFolder, reference: str, where: str, problems: ProblemLog
) -> Image | None:
    """Return the image that a file names, or None and a problem where it cannot be had.

    The name may carry options before it, as in MTL, and a path of somebody else's machine: then
    the file of that name beside the asset is taken.
    """
    last_words = _endings(reference)
    for name in (*last_words, *(w.replace("\\", "/").rsplit("/", 1)[-1] for w in last_words)):
        try:
            data = folder.load(name, where=where)
            width, height = image_size(data)
            folder.budget.charge_pixels(width * height)
        except AssetError:
            continue
        kind = sniff_mime_type(data) or "application/octet-stream"
        return Image(name=name, mime_type=kind, data=data)
    problems.warn(
        where, f"there is no readable image {reference[:60]!r} beside the file", "paints none"
    )
    return None


def _endings(text: str) -> Sequence[str]:
    """The text, and while it starts with an option, what is left as words are taken off it."""
    words = text.split()
    if not text.strip().startswith("-"):
        return (text.strip(),)
    return tuple(" ".join(words[i:]) for i in range(1, min(len(words), 20)))


def mesh_asset(
    path: Path,
    format: str,
    meshes: Sequence[Mesh],
    *,
    materials: Sequence[Material] = (),
    images: Sequence[Image] = (),
    problems: Sequence[Problem] = (),
) -> Asset:
    """Meshes without a skeleton, each on a root node of its name at the origin."""
    nodes = tuple(
        Node(clean_text(m.name), -1, np.zeros(3), np.array((1.0, 0, 0, 0)), np.ones(3), mesh=k)
        for k, m in enumerate(meshes)
    )
    return Asset(
        path, format, nodes, tuple(meshes), materials=tuple(materials),
        images=tuple(images), problems=tuple(problems), scene_roots=tuple(range(len(meshes))),
    )  # fmt: skip
