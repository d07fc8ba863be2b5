from pathlib import Path

import numpy as np
import pytest

from akd.asset import off
from akd.asset.asset import Asset, AssetError
from tests.asset.fuzzing import check_fuzzed

HOUSE = b"""OFF
# a square and a roof
5 2 0
0 0 0
1 0 0
1 1 0
0 1 0
0.5 2 0   # the top
4 0 1 2 3
3 3 2 4 255 0 0
"""
COLOURED = b"""COFF
3 1 0
0 0 0 255 0 0 255
1 0 0 0 188 0 128
1 1 0 0 0 0 0
3 0 1 2
"""


def read(tmp_path: Path, data: bytes) -> Asset:
    path = tmp_path / "house.off"
    path.write_bytes(data)
    return off.read(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d,
        lambda d: d.replace(b"\n", b"\r\n"),
        lambda d: d.replace(b"OFF\n", b"OFF "),
        lambda d: d.replace(b"OFF\n# a square and a roof\n", b"  OFF"),
        lambda d: d.replace(b"\n", b"\n\n"),
    ],
)
def test_polygons_become_triangles(tmp_path: Path, change) -> None:
    asset = read(tmp_path, change(HOUSE))
    (part,) = asset.meshes[0].parts
    assert len(part.positions) == 5
    corners = {frozenset(face) for face in part.faces.tolist()}
    assert corners == {frozenset((0, 1, 2)), frozenset((0, 2, 3)), frozenset((2, 3, 4))}
    assert [n.name for n in asset.nodes] == ["house"]
    assert asset.scene_roots == (0,)
    assert part.colours is None


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d,
        lambda d: d.replace(b"255 0 0 255", b"1. 0 0 1").replace(b"0 188 0 128", b"0 .737 0 .5"),
        lambda d: (
            d.replace(b"COFF", b"CNOFF")
            .replace(b"255 0 0 255", b"0 0 1 255 0 0 255")
            .replace(b"0 188 0 128", b"0 0 1 0 188 0 128")
            .replace(b"1 1 0 0 0 0 0", b"1 1 0 0 0 1 0 0 0 0")
        ),
    ],
    ids=["bytes", "fractions", "with normals"],
)
def test_vertex_colours(tmp_path: Path, change) -> None:
    (part,) = read(tmp_path, change(COLOURED)).meshes[0].parts
    np.testing.assert_array_equal(part.positions, ((0, 0, 0), (1, 0, 0), (1, 1, 0)))
    expected = ((1, 0, 0, 1), (0, 0.5, 0, 0.5), (0, 0, 0, 0))
    np.testing.assert_allclose(part.colours, expected, atol=4e-3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "OFF must be text and start with OFF, COFF, NOFF, CNOFF or STOFF"),
        (b"4OFF\n1 1 0\n", "OFF must be text and start with OFF, COFF, NOFF, CNOFF or STOFF"),
        (b"OFF BINARY\n", "OFF must be text and start with OFF, COFF, NOFF, CNOFF or STOFF"),
        (b"OFF\n", "OFF must state its numbers of vertices and faces after its first word"),
        (HOUSE.replace(b"5 2 0", b"999999999 2 0"),
         "OFF declares 999999999 vertices and 2 faces and holds 7 lines"),
        (HOUSE.replace(b"5 2 0", b"5 0 0"),
         "OFF must have faces, got 5 points and none that can be used"),
        (HOUSE.replace(b"3 2 4 255", b"3 2 9 255"),
         "not a readable OFF file: OFF file has a face index outside the range of its vertices"),
    ],
)  # fmt: skip
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(AssetError) as error:
        read(tmp_path, data)
    assert str(error.value) == f"{tmp_path / 'house.off'}: {message}"


@pytest.mark.slow
@pytest.mark.parametrize("data", [HOUSE, COLOURED], ids=["plain", "coloured"])
def test_fuzzed(tmp_path: Path, data: bytes) -> None:
    check_fuzzed(off.read, tmp_path / "a.off", data)


def test_real_files(shared_assets: Path) -> None:
    for name in ("comments", "whitespace"):
        asset = off.read(shared_assets / "robustness" / "trimesh" / f"{name}.off")
        assert (asset.vertex_count, asset.face_count) == (8, 12)
