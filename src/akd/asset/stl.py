"""Meshes in STL, ASCII or binary.

STL lists triangles by the positions of their corners and nothing else. Corners at exactly the same
place are taken to be one vertex, so that the surface hangs together.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Asset, AssetError, Mesh, MeshPart
from akd.asset.gltf.fields import clean_text
from akd.asset.gltf.problems import ProblemLog
from akd.asset.surface import build_part, mesh_asset, naming_file, read_bytes
from akd.asset.trimesh_bridge import call_trimesh, named_geometry

_HEADER, _TRIANGLE = 84, 50
_MOST_SOLIDS = 2_000


def read(path: Path) -> Asset:
    """Read an STL file, one node a solid. Raises `AssetError` where it holds no triangle."""
    with naming_file(path):
        return _read(path, read_bytes(path, growth=11))


def _read(path: Path, data: bytes) -> Asset:
    from trimesh.exchange.stl import load_stl

    problems = ProblemLog()
    data = _clean_ascii(data) if _is_ascii(data) else _fit_binary(data, problems)
    meshes: list[Mesh] = []
    for name, loaded in named_geometry(call_trimesh("STL", load_stl, io.BytesIO(data))).items():
        # trimesh makes up a name for a solid that has none.
        is_named = not re.fullmatch(r"(?:geometry_\d+)?", name.strip())
        label = clean_text(name.strip() if is_named else path.stem)
        part = _part(f"solid {label!r}", loaded["vertices"], problems)
        if part is not None:
            meshes.append(Mesh(label, (part,)))
    if not meshes:
        raise AssetError("STL must hold triangles, got none")
    return mesh_asset(path, "stl", meshes, problems=problems.all())


def _is_ascii(data: bytes) -> bool:
    """Whether this is text: binary files, too, may begin with `solid`."""
    if not data[:512].lstrip().lower().startswith(b"solid"):
        return False
    declared = int.from_bytes(data[80:_HEADER], "little")
    return len(data) != _HEADER + declared * _TRIANGLE and b"\0" not in data[:1024]


def _clean_ascii(data: bytes) -> bytes:
    if data.lower().count(b"endsolid") > _MOST_SOLIDS:
        raise AssetError(f"STL must hold at most {_MOST_SOLIDS} solids, got more")
    if not re.search(rb"endsolid", data, re.IGNORECASE):
        # A file that was cut short: what is whole of it is still there.
        end = data.lower().rfind(b"endfacet")
        data = data[: max(end, 0)] + b"endfacet\nendsolid\n" if end >= 0 else data
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _fit_binary(data: bytes, problems: ProblemLog) -> bytes:
    """The bytes that the header's count asks for: trimesh takes exactly those."""
    if len(data) < _HEADER:
        raise AssetError(f"STL must be text or at least {_HEADER} bytes, got {len(data)}")
    declared = int.from_bytes(data[80:_HEADER], "little")
    held = (len(data) - _HEADER) // _TRIANGLE
    if declared > held:
        raise AssetError(f"STL declares {declared} triangles and holds {held}")
    size = _HEADER + declared * _TRIANGLE
    if size < len(data):
        extra = f"{len(data) - size} bytes follow the {declared} triangles it declares"
        problems.warn("STL", extra, "leaves them out")
    return data[:size]


def _part(where: str, vertices: Any, problems: ProblemLog) -> MeshPart | None:
    with np.errstate(over="ignore", invalid="ignore"):
        corners = np.asarray(vertices).astype(np.float32) + np.float32(0.0)  # no -0
    positions, index = _merge(corners)
    return build_part(where, problems, positions=positions, faces=index.reshape(-1, 3))


def _merge(corners: Float[np.ndarray, "C 3"]) -> tuple[np.ndarray, np.ndarray]:
    """Distinct positions in order of first use, and which of them each corner is."""
    rows = np.ascontiguousarray(corners).view(np.dtype((np.void, 12))).reshape(-1)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return corners[first[order]], rank[inverse.reshape(-1)]
