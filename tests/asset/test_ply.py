import struct
from pathlib import Path

import numpy as np
import pytest

from akd.asset import ply
from akd.asset.asset import Asset, AssetError
from tests.asset.fuzzing import check_fuzzed
from tests.asset.gltf_builder import png

PNG = png()
CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 2, 0))
FACES = ((0, 1, 2, 3), (3, 2, 4))
HEAD = """ply
format {format} 1.0
comment TextureFile skin.png
element vertex 5
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
property float s
property float t
element face 2
property list uchar int vertex_indices
end_header
"""


def ascii_ply() -> bytes:
    rows = [f"{x} {y} {z} 255 188 0 {x} {y}" for x, y, z in CORNERS]
    rows += [" ".join(map(str, (len(f), *f))) for f in FACES]
    return (HEAD.format(format="ascii") + "\n".join(rows) + "\n").encode()


def binary_ply(order: str) -> bytes:
    name = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    rows = [struct.pack(f"{order}3f3B2f", x, y, z, 255, 188, 0, x, y) for x, y, z in CORNERS]
    rows += [struct.pack(f"{order}B{len(f)}i", len(f), *f) for f in FACES]
    return HEAD.format(format=name).encode() + b"".join(rows)


def read(tmp_path: Path, data: bytes) -> Asset:
    path = tmp_path / "mesh.ply"
    path.write_bytes(data)
    return ply.read(path)


@pytest.mark.parametrize(
    "data",
    [
        ascii_ply(),
        binary_ply("<"),
        binary_ply(">"),
        ascii_ply().replace(b"\n", b"\r\n"),
        binary_ply("<").replace(b"vertex_indices", b"vertex_index"),
    ],
    ids=["ascii", "little", "big", "crlf", "vertex_index"],
)
def test_polygons_colours_and_texture(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "skin.png").write_bytes(PNG)
    asset = read(tmp_path, data)
    (part,) = asset.meshes[0].parts
    np.testing.assert_array_equal(part.positions, np.array(CORNERS, np.float32))
    np.testing.assert_array_equal(part.faces, ((0, 1, 2), (0, 2, 3), (3, 2, 4)))
    # 188/255 in sRGB is half the light.
    np.testing.assert_allclose(part.colours, ((1, 0.5, 0, 1),) * 5, atol=3e-3)
    np.testing.assert_allclose(part.uv[:, 1], (1, 1, 0, 0, -1))
    assert part.material == 0
    assert asset.materials[0].image == 0
    assert asset.images[0].mime_type == "image/png"
    assert bytes(asset.images[0].data) == PNG
    assert asset.nodes[0].mesh == 0
    assert asset.scene_roots == (0,)
    assert asset.problems == ()


def test_texture_outside_the_folder_is_not_read(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for name in (b"../secret.png", str(tmp_path / "secret.png").encode(), b"http://host/x.png"):
        asset = read(inner, ascii_ply().replace(b"skin.png", name))
        assert asset.images == ()
        assert [p.where for p in asset.problems] == ["comment TextureFile"]


def test_texture_coordinates_of_corners_split_vertices(tmp_path: Path) -> None:
    text = """ply
format ascii 1.0
element vertex 4
property float x
property float y
property float z
element face 2
property list uchar int vertex_indices
property list uchar float texcoord
end_header
0 0 0
1 0 0
1 1 0
0 1 0
3 0 1 2 6 0 0 1 0 1 1
3 0 2 3 6 0.5 0.5 1 1 0 1
"""
    (part,) = read(tmp_path, text.encode()).meshes[0].parts
    # Corner 0 has two texture coordinates, corner 2 one: five vertices.
    assert len(part.positions) == 5
    corners = part.positions[part.faces].tolist()
    assert corners == [[[0, 0, 0], [1, 0, 0], [1, 1, 0]], [[0, 0, 0], [1, 1, 0], [0, 1, 0]]]
    np.testing.assert_allclose(part.uv[part.faces[1]], ((0.5, 0.5), (1, 0), (0, 0)))


def test_vertices_that_are_not_finite_go_with_their_faces(tmp_path: Path) -> None:
    asset = read(tmp_path, ascii_ply().replace(b"\n0.5 2 0 ", b"\nnan 2 0 "))
    (part,) = asset.meshes[0].parts
    assert len(part.positions) == 4
    assert len(part.faces) == 2
    assert asset.problems[-1].what == "1 vertices are not finite"
    assert asset.problems[-1].action == "leaves them and 1 faces out"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: b"", "PLY must start with 'ply' and have a header that ends with 'end_header'"),
        (lambda d: d.replace(b"ascii", b"utf8"),
         "PLY: the header cannot have the line 'format utf8 1.0'"),
        (lambda d: d.replace(b"vertex 5", b"vertex 999999999999"),
         "PLY: element 'vertex' must fit into the file, got 999999999999 rows of at least 16 bytes "
         "where 122 are left"),
        (lambda d: d.replace(b"face 2", b"face 3"),
         "PLY: element 'face' must have 3 rows, the file ends before"),
        (lambda d: d.replace(b"face 2", b"face 0"),
         "PLY must have faces, got 5 points and none: akd needs a surface"),
        (lambda d: d.replace(b"3 3 2 4", b"3 3 2 9"), "PLY: faces must name one of the 5 vertices"),
        (lambda d: d.replace(b"3 3 2 4", b"3 3 -2 4"),
         "PLY: faces must name one of the 5 vertices"),
        (lambda d: d.replace(b"4 0 1 2 3", b"4 0 1 x 3"),
         "PLY: the rows must be numbers, got something else"),
        (lambda d: d.replace(b"property float s", b"property float x"),
         "PLY: the properties of element 'vertex' repeat a name"),
    ],
)  # fmt: skip
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, change, message: str) -> None:
    with pytest.raises(AssetError) as error:
        read(tmp_path, change(ascii_ply()))
    assert str(error.value) == f"{tmp_path / 'mesh.ply'}: {message}"


def test_lying_binary_counts_are_refused(tmp_path: Path) -> None:
    lie = binary_ply("<").replace(b"vertex 5", b"vertex 400000000")
    with pytest.raises(AssetError, match="must fit into the file, got 400000000 rows"):
        read(tmp_path, lie)
    # A list that claims 255 corners.
    data = bytearray(binary_ply("<"))
    data[-13] = 255
    with pytest.raises(AssetError, match="the file ends before"):
        read(tmp_path, bytes(data))


@pytest.mark.parametrize("data", [ascii_ply(), binary_ply("<")], ids=["ascii", "binary"])
def test_fuzzed(tmp_path: Path, data: bytes) -> None:
    check_fuzzed(ply.read, tmp_path / "a.ply", data)


def test_real_files(shared_assets: Path) -> None:
    folder = shared_assets / "robustness" / "trimesh"
    assert ply.read(folder / "tet.ply").face_count == 4
    assert ply.read(folder / "metadata.ply").face_count == 2
    mirror = ply.read(folder / "mirror.ply")
    assert (mirror.vertex_count, mirror.face_count) == (143, 286)
    for path in sorted(folder.glob("points_*.ply")):
        with pytest.raises(AssetError, match="points and none: akd needs a surface"):
            ply.read(path)
    with pytest.raises(AssetError, match="must have vertices"):
        ply.read(folder / "empty.ply")
