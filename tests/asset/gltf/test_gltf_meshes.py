"""Meshes: how triangles are listed, what lies on their corners, and what is left out."""

from pathlib import Path

import numpy as np
import pytest

from akd.asset.asset import Asset, AssetError, MeshPart
from akd.asset.read import read_asset
from tests.asset.gltf_builder import GltfBuilder, sample

SQUARE = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]


def read(builder: GltfBuilder, tmp_path: Path) -> Asset:
    builder.json.setdefault("scenes", [{"nodes": list(range(len(builder.json["nodes"])))}])
    return read_asset(builder.write(tmp_path / "a.glb"))


def only_part(builder: GltfBuilder, tmp_path: Path) -> MeshPart:
    (part,) = read(builder, tmp_path).meshes[0].parts
    return part


def told(asset: Asset) -> list[tuple[str, str, str]]:
    return [(problem.where, problem.what, problem.action) for problem in asset.problems]


def refused(builder: GltfBuilder, tmp_path: Path) -> str:
    with pytest.raises(AssetError) as caught:
        read(builder, tmp_path)
    return str(caught.value).removeprefix(f"{tmp_path / 'a.glb'}: ")


def area_vectors(part: MeshPart) -> np.ndarray:
    a, b, c = np.moveaxis(part.positions[part.faces], 1, 0)
    return np.cross(b - a, c - a) / 2


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4", None])
@pytest.mark.parametrize(
    ("mode", "order"),
    [(4, [0, 1, 2, 0, 2, 3]), (5, [0, 1, 3, 2]), (6, [0, 1, 2, 3]), (None, [0, 1, 2, 0, 2, 3])],
)
def test_lists_strips_and_fans_face_the_same_way(tmp_path, mode, order, dtype) -> None:
    builder = GltfBuilder()
    positions = np.array(SQUARE) if dtype else np.array(SQUARE)[order]
    primitive: dict = {"attributes": {"POSITION": builder.accessor(positions)}}
    if mode is not None:
        primitive["mode"] = mode
    if dtype:
        primitive["indices"] = builder.accessor(order, dtype)
    builder.show(primitive)
    part = only_part(builder, tmp_path)
    assert part.faces.shape == (2, 3)
    # The square, seen from +z: both halves face the viewer and cover it once.
    np.testing.assert_allclose(area_vectors(part), [[0, 0, 0.5], [0, 0, 0.5]])
    if dtype and mode in (4, None):
        assert part.faces.dtype == np.dtype(dtype)


def test_a_long_strip_alternates(tmp_path: Path) -> None:
    builder = GltfBuilder()
    positions = [[i // 2, i % 2, 0] for i in range(9)]
    builder.show({"attributes": {"POSITION": builder.accessor(positions)}, "mode": 5})
    part = only_part(builder, tmp_path)
    np.testing.assert_allclose(area_vectors(part), [[0, 0, -0.5]] * 7)
    assert {frozenset(f) for f in part.faces.tolist()} == {
        frozenset((i, i + 1, i + 2)) for i in range(7)
    }


@pytest.mark.parametrize("mode", [4, 5, 6])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_too_few_corners_are_no_triangle(tmp_path: Path, mode: int, count: int) -> None:
    builder = GltfBuilder()
    order = builder.accessor(np.arange(max(count, 1)), "u1")
    builder.json["accessors"][order]["count"] = count
    builder.show(builder.triangle(mode=mode, indices=order), builder.triangle())
    parts = read(builder, tmp_path).meshes[0].parts
    assert [part.faces.tolist() for part in parts] == [[[0, 1, 2]]] * (2 if count == 3 else 1)


def test_triangles_that_name_a_vertex_twice_are_left_out(tmp_path: Path) -> None:
    builder = GltfBuilder()
    position = builder.accessor(SQUARE)
    strip = builder.accessor([0, 1, 3, 3, 3, 2, 1], "u2")
    listed = builder.accessor([0, 1, 2, 1, 1, 3, 3, 2, 3], "u2")
    builder.show(
        {"attributes": {"POSITION": position}, "indices": strip, "mode": 5},
        {"attributes": {"POSITION": position}, "indices": listed},
    )
    asset = read(builder, tmp_path)
    first, second = asset.meshes[0].parts
    assert [sorted(face) for face in first.faces.tolist()] == [[0, 1, 3], [1, 2, 3]]
    assert second.faces.tolist() == [[0, 1, 2]]
    # In a strip they are how one jumps; in a list they are a flaw.
    assert told(asset) == [
        ("mesh 0, part 1", "2 triangles name a vertex twice", "they are left out")
    ]


def test_points_lines_and_parts_without_triangles_are_left_out(tmp_path: Path) -> None:
    builder = GltfBuilder()
    position = builder.accessor(SQUARE)
    attributes = {"POSITION": position}
    primitives = [{"attributes": attributes, "mode": mode} for mode in range(4)]
    flat = {"attributes": attributes, "indices": builder.accessor([1, 1, 1], "u1")}
    builder.show(*primitives, {"attributes": {}}, flat, builder.triangle())
    asset = read(builder, tmp_path)
    assert len(asset.meshes[0].parts) == 1
    assert told(asset) == [
        ("mesh 0, part 0", "is of points", "it has no surface: left out"),
        ("mesh 0, part 1", "is of lines", "it has no surface: left out"),
        ("mesh 0, part 2", "is of a line loop", "it has no surface: left out"),
        ("mesh 0, part 3", "is of a line strip", "it has no surface: left out"),
        ("mesh 0, part 4", "has no POSITION", "it is left out"),
        ("mesh 0, part 5", "1 triangles name a vertex twice", "they are left out"),
        ("mesh 0, part 5", "has no triangles", "it is left out"),
    ]


def test_geometry_that_cannot_be_trusted_is_refused(tmp_path: Path) -> None:
    builder = GltfBuilder()
    position = builder.accessor([[0, 0, 0], [1, np.nan, 0], [0, 1, 0]])
    builder.show({"attributes": {"POSITION": position}})
    assert refused(builder, tmp_path) == (
        "mesh 0, part 0, POSITION: must be finite, which vertex 1 is not, got [1.0, nan, 0.0]"
    )
    builder = GltfBuilder()
    builder.show(builder.triangle(indices=builder.accessor([0, 1, 3], "u1")))
    assert refused(builder, tmp_path) == (
        "mesh 0, part 0, indices: must be below the part's 3 vertices, got 3"
    )
    builder = GltfBuilder()
    builder.show(builder.triangle(indices=builder.accessor([0, 1, 2], "i2")))
    assert refused(builder, tmp_path) == "accessor 0, componentType: must be unsigned, got 5122"
    builder = GltfBuilder()
    builder.show(builder.triangle(mode=9))
    assert refused(builder, tmp_path) == "mesh 0, part 0, mode: must be 0 to 6, got 9"


def test_a_broken_mesh_that_no_node_shows_harms_nobody(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.add("meshes", primitives=[{"attributes": {"POSITION": 99}}])
    builder.show(builder.triangle())
    asset = read(builder, tmp_path)
    assert [len(mesh.parts) for mesh in asset.meshes] == [0, 1]
    assert told(asset) == [
        ("mesh 0, part 0, POSITION",
         "must be the index of one of the file's 1 accessors, got 99",
         "no node shows the mesh: it is left empty"),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "u1", "u2"])
@pytest.mark.parametrize("kind", [3, 4])
def test_vertex_colours_in_all_formats(tmp_path: Path, kind: int, dtype: str) -> None:
    colours = np.array([[0.0, 0.2, 1.0, 0.4], [1.0, 0.6, 0.0, 0.8], [0.2, 0.4, 0.6, 1.0]])
    largest = {"f4": 1, "u1": 255, "u2": 65535}[dtype]
    builder = GltfBuilder()
    stored = np.rint(colours * largest) if largest > 1 else colours
    index = builder.accessor(stored[:, :kind], dtype, normalized=largest > 1)
    builder.show(builder.triangle(attributes={"COLOR_0": index}))
    part = only_part(builder, tmp_path)
    expected = colours.copy()
    if kind == 3:
        expected[:, 3] = 1.0
    assert part.colours is not None
    np.testing.assert_allclose(part.colours, expected, atol=1e-6)


def test_colours_are_kept_between_black_and_white(tmp_path: Path) -> None:
    builder = GltfBuilder()
    index = builder.accessor([[2.0, -1.0, 0.5]] * 3)
    builder.show(builder.triangle(attributes={"COLOR_0": index}))
    part = only_part(builder, tmp_path)
    np.testing.assert_array_equal(part.colours, [[1.0, 0.0, 0.5, 1.0]] * 3)


def test_attributes_that_do_not_fit_are_left_out(tmp_path: Path) -> None:
    builder = GltfBuilder()
    attributes = {
        "NORMAL": builder.accessor(np.zeros((2, 3))),
        "TEXCOORD_0": builder.accessor([[np.inf, 0]] * 3),
        "COLOR_0": builder.accessor(np.zeros((3, 2))),
        "_CUSTOM": 55,
    }
    builder.show(builder.triangle(attributes=attributes))
    asset = read(builder, tmp_path)
    (part,) = asset.meshes[0].parts
    assert part.normals is None
    assert part.uv is None
    assert part.colours is None
    assert told(asset) == [
        ("mesh 0, part 0, NORMAL", "must be 3 times VEC3, got [2, 3]", "it is left out"),
        ("mesh 0, part 0, TEXCOORD_0", "must be finite, but is not", "it is left out"),
        ("mesh 0, part 0, COLOR_0", "must be 3 times VEC4, got [3, 2]", "it is left out"),
    ]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2"])
@pytest.mark.parametrize("normalised", [True, False])
def test_quantised_positions(tmp_path: Path, dtype: str, normalised: bool) -> None:
    builder = GltfBuilder()
    stored = np.array([[0, 0, 0], [100, 0, 0], [0, 50, 1]])
    position = builder.accessor(stored, dtype, normalized=normalised)
    builder.show({"attributes": {"POSITION": position}})
    builder.json["extensionsRequired"] = ["KHR_mesh_quantization"]
    part = only_part(builder, tmp_path)
    divisor = np.iinfo(dtype).max if normalised else 1
    np.testing.assert_allclose(part.positions, stored / divisor, rtol=1e-6)


def test_morph_targets(tmp_path: Path) -> None:
    builder = GltfBuilder()
    up = builder.accessor([[0, 0, 1]] * 3)
    packed = builder.accessor([[0, 127, 0]] * 3, "i1", normalized=True)
    first = builder.triangle(targets=[{"POSITION": up}, {"NORMAL": up}, {"POSITION": packed}])
    second = builder.triangle(targets=[{"POSITION": up}])
    extras = {"targetNames": ["rise", "", "stretch"]}
    builder.show(
        first, second, mesh={"weights": [0.1, 0.2, 0.3], "extras": extras}, weights=[1] * 3
    )
    builder.add("nodes", mesh=0, weights=[1, 2])
    asset = read(builder, tmp_path)
    mesh = asset.meshes[0]
    one, two = mesh.parts
    expected = np.zeros((3, 3, 3))
    expected[0, :, 2], expected[2, :, 1] = 1, 1
    np.testing.assert_allclose(one.morphs, expected)
    np.testing.assert_allclose(two.morphs, expected * [[[1]], [[1]], [[0]]])
    np.testing.assert_allclose(mesh.morph_weights, [0.1, 0.2, 0.3])
    assert mesh.morph_names == ("rise", "", "stretch")
    np.testing.assert_array_equal(asset.nodes[0].morph_weights, [1, 1, 1])
    assert asset.nodes[1].morph_weights is None
    assert told(asset) == [
        ("mesh 0", "its parts have [1, 3] morph targets", "those that are missing do nothing"),
        ("node 1", "has 2 weights for 3 morph targets", "those of the mesh are taken"),
    ]


def test_morph_targets_that_cannot_be_used_do_nothing(tmp_path: Path) -> None:
    builder = GltfBuilder()
    good = builder.accessor(np.ones((3, 3)))
    bad = builder.accessor([[0, np.nan, 0]] * 3)
    short = builder.accessor(np.ones((2, 3)))
    targets = [{"POSITION": index} for index in (good, bad, short, 99)]
    builder.show(builder.triangle(targets=targets))
    asset = read(builder, tmp_path)
    morphs = asset.meshes[0].parts[0].morphs
    assert morphs is not None
    assert morphs.sum(axis=(1, 2)).tolist() == [9, 0, 0, 0]
    rules = (
        "must be finite, but is not",
        "must be 3 times VEC3, got [2, 3]",
        "must be the index of one of the file's 4 accessors, got 99",
    )
    assert told(asset) == [
        (f"mesh 0, part 0, morph target {i}, POSITION", rule, "the target does nothing")
        for i, rule in enumerate(rules, start=1)
    ]


def test_the_sample_in_all_its_parts(tmp_path: Path) -> None:
    asset = read(sample(), tmp_path)
    part = asset.meshes[0].parts[0]
    assert asset.problems == ()
    assert part.morphs is not None
    assert part.morphs.sum() == 6
    np.testing.assert_array_equal(part.normals, np.tile([0, 0, 1], (12, 1)))
    np.testing.assert_allclose(part.colours, np.full((12, 4), 200 / 255), rtol=1e-6)
    grid = part.positions[:, :2].astype(np.float64)
    np.testing.assert_allclose(part.uv, grid * 1000 / 65535 * 2, rtol=1e-5)
    np.testing.assert_array_equal(part.joints[:, 0], [0] * 6 + [1] * 6)  # pyright: ignore
    np.testing.assert_array_equal(part.weights, np.tile([0.75, 0.25, 0, 0], (12, 1)))
