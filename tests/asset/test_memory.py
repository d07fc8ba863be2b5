"""A large file costs little more memory than its own size."""

import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

MEASURE = """
import re, sys
from pathlib import Path
import numpy, scipy.spatial
from akd.asset.read import read_asset

def peak():
    # Not ru_maxrss: a process that is just begun inherits that from whoever began it.
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) * 1024

before = peak()
asset = read_asset(sys.argv[1])
assert asset.problems == (), asset.problems
print(peak() - before, asset.vertex_count, asset.face_count)
"""


def write_large_glb(path: Path, *, megabytes: int, layout: str) -> tuple[int, int]:
    """Write a skinned grid of about that size, in chunks; return its vertices and faces.

    `interleaved`: one stream of 44 bytes a vertex. `separate`: one view an attribute, with weights
    in bytes. Both have uint16 indices, so the grid is cut into parts of 60,000 vertices.
    """
    columns, rows = 300, 200
    count = columns * rows
    grid = np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), -1).reshape(-1, 2)
    corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.concatenate(
        (
            np.stack((corner, corner + 1, corner + columns), -1),
            np.stack((corner + 1, corner + columns + 1, corner + columns), -1),
        )
    ).astype("<u2")
    fields = [
        ("POSITION", "<f4", 3, 5126, "VEC3"),
        ("TEXCOORD_0", "<f4", 2, 5126, "VEC2"),
        ("JOINTS_0", "<u1", 4, 5121, "VEC4"),
        ("WEIGHTS_0", *(("<f4", 4, 5126) if layout == "interleaved" else ("<u1", 4, 5121)), "VEC4"),
    ]
    vertex = np.zeros(count, [(name, kind, (n,)) for name, kind, n, _, _ in fields])
    vertex["POSITION"][:, :2], vertex["TEXCOORD_0"] = grid, grid
    vertex["WEIGHTS_0"][:, 0] = 1 if layout == "interleaved" else 255
    document: dict = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0, "skin": 0}, {}],
        "skins": [{"joints": [1]}],
        "scenes": [{"nodes": [0, 1]}],
        "accessors": [],
        "bufferViews": [],
    }
    pieces: list[bytes] = []
    offset = 0

    def view(data: bytes, **entry: int) -> int:
        nonlocal offset
        view = {"buffer": 0, "byteOffset": offset, "byteLength": len(data), **entry}
        document["bufferViews"].append(view)
        pieces.append(data)
        offset += len(data)
        return len(document["bufferViews"]) - 1

    def accessor(**entry: object) -> int:
        document["accessors"].append(entry)
        return len(document["accessors"]) - 1

    primitives = []
    while offset < megabytes * 2**20:
        attributes = {}
        if layout == "interleaved":
            shared = view(vertex.tobytes(), byteStride=vertex.itemsize)
        for name, _, _, code, kind in fields:
            if layout == "interleaved":
                place: dict = {"bufferView": shared, "byteOffset": vertex.dtype.fields[name][1]}  # pyright: ignore
            else:
                place = {"bufferView": view(vertex[name].tobytes())}
            if name == "WEIGHTS_0" and code == 5121:
                place["normalized"] = True
            attributes[name] = accessor(componentType=code, count=count, type=kind, **place)
        indices = view(faces.tobytes())
        order = accessor(bufferView=indices, componentType=5123, count=faces.size, type="SCALAR")
        primitives.append({"attributes": attributes, "indices": order})
    document["meshes"] = [{"primitives": primitives}]
    document["buffers"] = [{"byteLength": offset}]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    with path.open("wb") as file:
        file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + offset))
        file.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
        file.write(struct.pack("<II", offset, 0x004E4942))
        file.writelines(pieces)
    return count * len(primitives), len(faces) * len(primitives)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["interleaved", "separate"])
def test_a_glb_of_100_megabytes_opens_in_three_times_its_size(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "large.glb"
    vertices, faces = write_large_glb(path, megabytes=100, layout=layout)
    size = path.stat().st_size
    assert size >= 100 * 2**20
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    grown, read_vertices, read_faces = map(int, result.stdout.split())
    assert (read_vertices, read_faces) == (vertices, faces)
    assert grown <= 3 * size, f"{grown / size:.2f} times the file's size"
    # It cannot be less than the file itself, or nothing was measured.
    assert grown > 0.9 * size
