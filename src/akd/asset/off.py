"""Meshes in OFF, with vertex colours where the file is COFF."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Asset, AssetError, Mesh
from akd.asset.gltf.problems import ProblemLog
from akd.asset.surface import build_part, linear_colours, mesh_asset, naming_file, read_bytes
from akd.asset.trimesh_bridge import call_trimesh, named_geometry, triangles

_HEADER = re.compile(r"\s*((?:ST)?(C?)(N?)OFF)(?![A-Za-z])(?!\s*BINARY)", re.IGNORECASE)


def read(path: Path) -> Asset:
    """Read an OFF file. Raises `AssetError` where it holds no surface."""
    with naming_file(path):
        return _read(path, read_bytes(path, growth=40))


def _read(path: Path, data: bytes) -> Asset:
    from trimesh.exchange.off import load_off

    problems = ProblemLog()
    text = re.sub(r"#[^\r\n]*", "", data.decode("utf-8-sig", errors="replace"))
    head = _HEADER.match(text)
    if head is None:
        raise AssetError("OFF must be text and start with OFF, COFF, NOFF, CNOFF or STOFF")
    lines = [line for line in (raw.strip() for raw in text[head.end() :].splitlines()) if line]
    vertices = _check_counts(lines)
    # trimesh reads the positions and faces of every one of these variants, and drops the rest.
    body = io.StringIO("\n".join(("OFF", *lines)))
    found = named_geometry(call_trimesh("OFF", load_off, body))
    if not found:
        raise AssetError(f"OFF must have faces, got {vertices} points and none that can be used")
    mesh = next(iter(found.values()))
    part = build_part(
        "OFF",
        problems,
        positions=np.asarray(mesh["vertices"]),
        faces=triangles(mesh["faces"]),
        colours=_colours(lines[1 : vertices + 1], 6 if head[3] else 3, problems)
        if head[2]
        else None,
    )
    if part is None:
        raise AssetError("OFF must have faces, got none that can be used")
    return mesh_asset(path, "off", [Mesh(path.stem, (part,))], problems=problems.all())


def _check_counts(lines: list[str]) -> int:
    """The number of vertices, having made sure that the file has as many lines as it says."""
    words = lines[0].split()[:2] if lines else []
    if len(words) < 2 or not all(w.isascii() and w.isdigit() and len(w) < 16 for w in words):
        raise AssetError("OFF must state its numbers of vertices and faces after its first word")
    vertices, faces = int(words[0]), int(words[1])
    if vertices + faces > len(lines) - 1:
        raise AssetError(
            f"OFF declares {vertices} vertices and {faces} faces and holds {len(lines) - 1} lines"
        )
    if vertices == 0:
        raise AssetError("OFF must have vertices, got none")
    return vertices


def _colours(lines: list[str], first: int, problems: ProblemLog) -> Float[np.ndarray, "V 4"] | None:
    """The colours that come after `first` numbers of a vertex: 0..255, or 0..1 where below."""
    words = [line.split()[first : first + 4] for line in lines]
    width = min(len(row) for row in words)
    try:
        values = np.array([row[:width] for row in words], dtype=np.float64)
    except ValueError:
        values = np.zeros((len(words), 0))
    if values.shape[1] < 3:
        problems.warn("COFF", "has vertices without a colour", "paints none")
        return None
    is_byte = bool((values > 1.0).any()) or not any("." in w for row in words for w in row)
    return linear_colours(values / 255.0 if is_byte else values)
