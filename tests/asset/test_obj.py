from pathlib import Path

import numpy as np
import pytest

from akd.asset import obj
from akd.asset.asset import Asset, AssetError
from tests.asset.fuzzing import check_fuzzed

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde"
PNG += b"\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82"
MTL = b"""
newmtl red
Kd 0.8 0.1 0.2
d 0.5
newmtl skin one
Kd 1 1 1
map_Kd -clamp on skin one.png
"""
TWO = b"""mtllib two.mtl
v 0 0 0
v 1 0 0
v 1 1 0
v 0 1 0
vt 0 0
vt 1 0.25
vt 1 1
vt 0 1
o square
usemtl skin one
f 1/1 2/2 3/3 4/4
o tent
v 0 0 1
usemtl red
f 1 2 5
usemtl skin one
f 2/1 3/2 5/3
"""


def read(tmp_path: Path, data: bytes, *, mtl: bytes | None = MTL) -> Asset:
    path = tmp_path / "two.obj"
    path.write_bytes(data)
    if mtl is not None:
        (tmp_path / "two.mtl").write_bytes(mtl)
        (tmp_path / "skin one.png").write_bytes(PNG)
    return obj.read(path)


def corners(part) -> list:
    return part.positions[part.faces].tolist()


def test_objects_materials_and_texture(tmp_path: Path) -> None:
    asset = read(tmp_path, TWO)
    assert [n.name for n in asset.nodes] == ["square", "tent"]
    assert [n.mesh for n in asset.nodes] == [0, 1]
    assert asset.scene_roots == (0, 1)
    square, tent = asset.meshes
    (quad,) = square.parts
    assert corners(quad) == [
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        [[0, 0, 0], [1, 1, 0], [0, 1, 0]],
    ]
    # v runs downwards.
    np.testing.assert_allclose(quad.uv[quad.faces[0]], ((0, 1), (1, 0.75), (1, 0)))
    names = [asset.materials[p.material].name for p in tent.parts]
    assert names == ["skin one", "red"]
    assert corners(tent.parts[1]) == [[[0, 0, 0], [1, 0, 0], [0, 0, 1]]]
    materials = {m.name: m for m in asset.materials}
    assert materials["red"].base_colour == pytest.approx((0.8, 0.1, 0.2, 0.5))
    assert materials["red"].image is None
    assert materials["skin one"].image == 0
    assert materials["skin one"].wrap == ("clamp", "clamp")
    (image,) = asset.images
    assert (image.mime_type, bytes(image.data)) == ("image/png", PNG)
    assert asset.problems == ()


def test_a_texture_by_somebody_elses_path_is_found_beside_the_file(tmp_path: Path) -> None:
    mtl = MTL.replace(b"-clamp on skin one.png", b"C:\\art\\skin one.png")
    asset = read(tmp_path, TWO, mtl=mtl)
    assert len(asset.images) == 1
    assert asset.problems == ()


@pytest.mark.parametrize("name", ["../secret.png", "{outside}/secret.png", "http://host/a.png"])
def test_nothing_outside_the_folder_is_read(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.png").write_bytes(PNG)
    (tmp_path / "secret.mtl").write_bytes(MTL)
    name = name.format(outside=tmp_path)
    asset = read(inner, TWO, mtl=MTL.replace(b"-clamp on skin one.png", name.encode()))
    assert asset.images == ()
    assert "there is no readable image" in asset.problems[0].what
    asset = read(inner, TWO.replace(b"two.mtl", b"../secret.mtl"))
    assert asset.materials == ()
    (inner / "link.png").symlink_to(tmp_path / "secret.png")
    asset = read(inner, TWO, mtl=MTL.replace(b"-clamp on skin one.png", b"link.png"))
    assert asset.images == ()


def test_missing_materials_are_reported(tmp_path: Path) -> None:
    asset = read(tmp_path, TWO, mtl=None)
    assert asset.face_count == 4
    assert [p.what for p in asset.problems] == [
        "there is no 'two.mtl' beside the file",
        "material 'skin one' is not defined",
        "material 'red' is not defined",
    ]


def test_indices_that_count_backwards(tmp_path: Path) -> None:
    """They count from the last vertex read so far, not from the last in the file."""
    data = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nf -3 -2 -1\nv 0 0 5\nv 1 0 5\nv 1 1 5\nf -3 -2 -1\n"
    (part,) = read(tmp_path, data).meshes[0].parts
    assert corners(part) == [
        [[0, 0, 0], [1, 0, 0], [1, 1, 0]],
        [[0, 0, 5], [1, 0, 5], [1, 1, 5]],
    ]


def test_vertex_colours_and_normals(tmp_path: Path) -> None:
    data = b"v 0 0 0 1 0 0\nv 1 0 0 0 0.735357 0\nv 1 1 0 0 0 0\nvn 0 0 1\nf 1//1 2//1 3//1\n"
    (part,) = read(tmp_path, data).meshes[0].parts
    np.testing.assert_allclose(part.normals, ((0, 0, 1),) * 3)
    order = part.faces[0]
    np.testing.assert_allclose(
        part.colours[order], ((1, 0, 0, 1), (0, 0.5, 0, 1), (0, 0, 0, 1)), atol=1e-5
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.replace(b"\n", b"\r\n"),
        lambda d: d.replace(b"\n", b"\r"),
        lambda d: d.replace(b"f 1/1", b"  f\t1/1"),
        lambda d: d.replace(b"4/4", b"4/4 # a comment"),
        lambda d: d.replace(b"2/2 3/3", b"2/2 \\\n 3/3"),
        lambda d: d.replace(b"usemtl red", b"g usemtl f 1 2 3\ns off\nusemtl red"),
        lambda d: b"\xef\xbb\xbf# made by hand \xff\n" + d,
    ],
    ids=["crlf", "cr", "indented", "comment", "continued", "group", "byte-order mark"],
)
def test_layout_does_not_matter(tmp_path: Path, change) -> None:
    expected, asset = read(tmp_path, TWO), read(tmp_path, change(TWO))
    assert [[corners(p) for p in m.parts] for m in asset.meshes] == [
        [corners(p) for p in m.parts] for m in expected.meshes
    ]
    assert asset.problems == ()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "OBJ must have faces, got 0 vertices and none that can be used"),
        (b"v 0 0 0\nv 1 0 0\n", "OBJ must have faces, got 2 vertices and none that can be used"),
        (b"v 0 0 0\nv 1 0 0\nf 0 1 2\n", "OBJ: faces must count vertices from 1, got 0"),
        (b"v 0 0 0\nf -1 -2 -1\n", "OBJ: a face counts back past the first, got -2"),
    ],
)
def test_unusable_files_are_refused_in_one_line(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(AssetError) as error:
        read(tmp_path, data)
    assert str(error.value) == f"{tmp_path / 'two.obj'}: {message}"


@pytest.mark.parametrize("face", [b"f 1 2 9", b"f 1 2 three", b"f 1 2 99999999999999999999"])
def test_faces_on_missing_vertices_are_refused(tmp_path: Path, face: bytes) -> None:
    with pytest.raises(AssetError, match="not a readable OBJ file: ") as error:
        read(tmp_path, b"v 0 0 0\nv 1 0 0\nv 1 1 0\n" + face + b"\n")
    assert "\n" not in str(error.value)


def test_fuzzed(tmp_path: Path) -> None:
    (tmp_path / "two.mtl").write_bytes(MTL)
    (tmp_path / "skin one.png").write_bytes(PNG)
    check_fuzzed(obj.read, tmp_path / "a.obj", TWO)


@pytest.mark.slow
def test_fuzzed_materials(tmp_path: Path) -> None:
    (tmp_path / "skin one.png").write_bytes(PNG)
    path = tmp_path / "two.obj"
    path.write_bytes(TWO)

    def read_with(mtl: Path) -> Asset:
        (tmp_path / "two.mtl").write_bytes(mtl.read_bytes())
        return obj.read(path)

    check_fuzzed(read_with, tmp_path / "fuzzed.mtl", MTL)


@pytest.mark.slow
def test_real_files(shared_assets: Path) -> None:
    paths = sorted(p for p in shared_assets.rglob("*.obj") if "robustness" not in p.parts)
    assert len(paths) == 12
    for path in paths:
        asset = obj.read(path)
        lines = path.read_text().splitlines()
        sizes = [len(line.split()) - 1 for line in lines if line.startswith("f ")]
        assert asset.face_count == sum(n - 2 for n in sizes)
        written = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
        used = {
            int(w.split("/")[0]) - 1 for li in lines if li.startswith("f ") for w in li.split()[1:]
        }
        (part,) = asset.meshes[0].parts
        expected = np.unique(written[sorted(used)].astype(np.float32), axis=0)
        np.testing.assert_array_equal(np.unique(part.positions, axis=0), expected)
    for path in sorted((shared_assets / "robustness" / "trimesh").glob("*.obj")):
        if path.stem in ("empty", "face_in_group_name"):
            with pytest.raises(AssetError, match="OBJ must have faces"):
                obj.read(path)
        else:
            assert obj.read(path).face_count > 0
    names = [n.name for n in obj.read(shared_assets / "robustness/trimesh/two_objects.obj").nodes]
    assert names == ["cube", "tetra"]


def test_names_lose_escape_sequences(tmp_path: Path) -> None:
    path = tmp_path / "a.obj"
    (tmp_path / "a.mtl").write_text("newmtl red\x1b[31m\nKd 1 0 0\n")
    path.write_text(
        "mtllib a.mtl\no cube\x1b]0;x\x07\nusemtl red\x1b[31m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    )
    asset = obj.read(path)
    names = [*(n.name for n in asset.nodes), *(m.name for m in asset.meshes)]
    names += [m.name for m in asset.materials]
    assert len(names) == 3
    assert all(name.isprintable() for name in names), names
