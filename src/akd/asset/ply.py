"""Meshes in PLY, ASCII or binary. A Gaussian cloud in PLY goes to `akd.asset.splat_ply`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float, Integer

from akd.asset import splat_ply
from akd.asset.asset import Asset, AssetError, Budget, Image, Material, Mesh
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder
from akd.asset.ply_elements import Columns, Header, Lists, parse_header, read_elements
from akd.asset.surface import (
    build_part,
    fan_triangles,
    linear_colours,
    load_texture,
    mesh_asset,
    naming_file,
    read_bytes,
)

_UV_NAMES = (("texture_u", "texture_v"), ("s", "t"), ("u", "v"))
_COLOUR_NAMES = (("red", "green", "blue"), ("diffuse_red", "diffuse_green", "diffuse_blue"))


def read(path: Path) -> Asset:
    """Read a PLY file: a mesh, or a Gaussian cloud where its vertices are Gaussians.

    Raises `AssetError` where there is no surface in it.
    """
    with naming_file(path):
        data = memoryview(read_bytes(path, growth=6))
        header = parse_header(data)
        if splat_ply.is_splat(header):
            return splat_ply.from_elements(path, header, data)
        return _read_mesh(path, header, data)


def _read_mesh(path: Path, header: Header, data: memoryview) -> Asset:
    problems = ProblemLog()
    elements = read_elements(header, data)
    vertex = elements.get("vertex", {})
    positions = _stack(vertex, ("x", "y", "z"))
    if positions is None or len(positions) == 0:
        raise AssetError("PLY must have vertices with x, y and z, got none")
    face = elements.get("face", {})
    polygons = face.get("vertex_indices", face.get("vertex_index"))
    if not isinstance(polygons, Lists) or len(polygons.counts) == 0:
        raise AssetError(
            f"PLY must have faces, got {len(positions)} points and none: akd needs a surface"
        )
    normals = _stack(vertex, ("nx", "ny", "nz"))
    colours = _colours(vertex)
    uv = next((found for names in _UV_NAMES if (found := _stack(vertex, names)) is not None), None)
    if (short := int((polygons.counts < 3).sum())) > 0:
        problems.warn("face", f"{short} faces have fewer than 3 corners", "leaves them out")
    faces = fan_triangles(polygons.counts, polygons.values)
    if len(faces) and (faces.min() < 0 or faces.max() >= len(positions)):
        raise AssetError(f"PLY: faces must name one of the {len(positions)} vertices")
    wedges = face.get("texcoord")
    if isinstance(wedges, Lists) and np.array_equal(wedges.counts, 2 * polygons.counts):
        faces, source, uv = _split_at_seams(polygons, wedges)
        positions = positions[source]
        normals = None if normals is None else normals[source]
        colours = None if colours is None else colours[source]
    if colours is None and "red" in face:
        problems.note("face", "has colours of its own", "paints none: vertex colours are read")
    image = _texture(path, header, problems) if uv is not None else None
    part = build_part(
        "face",
        problems,
        positions=positions,
        faces=faces,
        material=None if image is None else 0,
        normals=normals,
        uv=uv,
        colours=colours,
    )
    if part is None:
        raise AssetError("PLY must have faces, got none that can be used")
    return mesh_asset(
        path, "ply", [Mesh(path.stem, (part,))], problems=problems.all(),
        materials=() if image is None else (Material(path.stem, image=0),),
        images=() if image is None else (image,),
    )  # fmt: skip


def _stack(columns: Columns, names: tuple[str, ...]) -> np.ndarray | None:
    """Some columns side by side, or None where one of them is missing."""
    found = [columns.get(name) for name in names]
    if not all(isinstance(column, np.ndarray) for column in found):
        return None
    return np.stack([column for column in found if isinstance(column, np.ndarray)], axis=1)


def _colours(vertex: Columns) -> Float[np.ndarray, "V 4"] | None:
    """Vertex colours, which PLY keeps in sRGB, as linear RGBA."""
    for names in _COLOUR_NAMES:
        for wanted in ((*names, "alpha"), names):
            if (found := _stack(vertex, wanted)) is not None:
                return linear_colours(found)
    return None


def _split_at_seams(
    polygons: Lists, wedges: Lists
) -> tuple[Integer[np.ndarray, "F 3"], Integer[np.ndarray, "V"], Float[np.ndarray, "V 2"]]:
    """Give every corner with a texture coordinate of its own a vertex of its own.

    Returns the faces, which old vertex each new one was, and the coordinates.
    """
    uv = wedges.values.reshape(-1, 2).astype(np.float32)
    keys = np.empty((len(uv), 3), dtype=np.int64)
    keys[:, 0] = polygons.values
    keys[:, 1:] = (uv + 0.0).view(np.int32)
    _, first, corner = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    faces = fan_triangles(polygons.counts, corner.reshape(-1))
    return faces, polygons.values[first].astype(np.int64), uv[first]


def _texture(path: Path, header: Header, problems: ProblemLog) -> Image | None:
    """The image that a `TextureFile` comment names."""
    for comment in header.comments:
        if comment.lower().startswith("texturefile"):
            name = comment[len("texturefile") :].strip()
            return load_texture(
                AssetFolder(path.parent, Budget()), name, "comment TextureFile", problems
            )
    return None
