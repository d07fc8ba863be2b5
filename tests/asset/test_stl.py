import struct
from pathlib import Path

import numpy as np
import pytest

from akd.asset import stl
from akd.asset.asset import Asset, AssetError
from tests.asset.fuzzing import check_fuzzed

TRIANGLES = (((0, 0, 0), (1, 0, 0), (0, 1, 0)), ((0, 0, 0), (0, 1, 0), (0, 0, 1)))


def ascii_stl(name: str = "shell") -> bytes:
    lines = [f"solid {name}"]
    for triangle in TRIANGLES:
        lines += ["facet normal 0 0 1", "outer loop"]
        lines += [f"vertex {x} {y} {z}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    return "\n".join((*lines, f"endsolid {name}", "")).encode()


def binary_stl(head: bytes = b"made by hand") -> bytes:
    rows = b"".join(
        struct.pack("<12fH", 0, 0, 1, *(c for corner in t for c in corner), 0) for t in TRIANGLES
    )
    return head.ljust(80, b"\0") + struct.pack("<I", len(TRIANGLES)) + rows


def read(tmp_path: Path, data: bytes) -> Asset:
    path = tmp_path / "part.stl"
    path.write_bytes(data)
    return stl.read(path)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (ascii_stl(), "shell"),
        (ascii_stl().replace(b"\n", b"\r\n"), "shell"),
        (ascii_stl("").upper(), "part"),
        (binary_stl(), "part"),
        (binary_stl(b"solid but binary"), "part"),
        (ascii_stl()[: -len("endsolid shell\n")], "shell"),
    ],
    ids=["ascii", "crlf", "upper case", "binary", "binary that says solid", "without its end"],
)
def test_triangles_share_vertices(tmp_path: Path, data: bytes, name: str) -> None:
    asset = read(tmp_path, data)
    (part,) = asset.meshes[0].parts
    assert len(part.positions) == 4
    np.testing.assert_array_equal(part.positions[part.faces], np.array(TRIANGLES, np.float32))
    assert [n.name for n in asset.nodes] == [name]
    assert asset.problems == ()


def test_several_solids(tmp_path: Path) -> None:
    asset = read(tmp_path, ascii_stl("a") + ascii_stl("b"))
    assert [n.name for n in asset.nodes] == ["a", "b"]
    assert asset.scene_roots == (0, 1)
    assert asset.face_count == 4


def test_bytes_after_the_end_are_reported(tmp_path: Path) -> None:
    asset = read(tmp_path, binary_stl() + b"trailing")
    assert asset.face_count == 2
    assert [p.what for p in asset.problems] == ["8 bytes follow the 2 triangles it declares"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "STL must be text or at least 84 bytes, got 0"),
        (binary_stl()[:80] + b"\xff\xff\xff\xff" + binary_stl()[84:],
         "STL declares 4294967295 triangles and holds 2"),
        (binary_stl()[:-1], "STL declares 2 triangles and holds 1"),
        (b"solid a\nendsolid a\n", "STL must hold triangles, got none"),
        (b"solid a\nendsolid a\n" * 2_001, "STL must hold at most 2000 solids, got more"),
        (ascii_stl().replace(b"vertex 1 0 0", b"vertex 1 0"),
         "not a readable STL file: incorrect number of vertices"),
    ],
)  # fmt: skip
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(AssetError) as error:
        read(tmp_path, data)
    assert str(error.value) == f"{tmp_path / 'part.stl'}: {message}"


@pytest.mark.slow
@pytest.mark.parametrize("data", [ascii_stl(), binary_stl()], ids=["ascii", "binary"])
def test_fuzzed(tmp_path: Path, data: bytes) -> None:
    check_fuzzed(stl.read, tmp_path / "a.stl", data)


def test_real_files(shared_assets: Path) -> None:
    folder = shared_assets / "robustness" / "trimesh"
    cube = stl.read(folder / "7_8ths_cube.stl")
    assert (cube.vertex_count, cube.face_count) == (14, 24)
    assert {n.name for n in stl.read(folder / "multibody.stl").nodes} == {"bodyA", "bodyB"}
    with pytest.raises(AssetError, match="STL must hold triangles, got none"):
        stl.read(folder / "empty.stl")


def test_names_lose_escape_sequences(tmp_path: Path) -> None:
    path = tmp_path / "a.stl"
    path.write_bytes(ascii_stl("shell\x1b[31m"))
    asset = stl.read(path)
    assert asset.nodes[0].name == asset.meshes[0].name
    assert asset.meshes[0].name.isprintable()
