"""Accessors against decodes that share no code with them: struct, by hand, and numbers known."""

import base64
import json
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from akd.asset.asset import AssetError, Budget
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.document import read_document
from akd.asset.gltf.fields import GltfError
from akd.asset.read import read_asset
from tests.asset.gltf_builder import CODES, GltfBuilder, pack_glb

FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
LENGTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def accessors_of(builder: GltfBuilder, path: Path) -> Accessors:
    return Accessors(read_document(builder.write(path / "a.glb")), Budget())


def decode_slowly(document: dict, buffers: list[bytes], index: int) -> list[tuple]:
    """One element at a time with struct, as the specification reads."""
    accessor = document["accessors"][index]
    length = LENGTHS[accessor["type"]]
    layout = struct.Struct("<" + FORMATS[accessor["componentType"]] * length)
    elements = [(0,) * length] * accessor["count"]
    if "bufferView" in accessor:
        view = document["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride", layout.size)
        data = buffers[view["buffer"]]
        elements = [layout.unpack_from(data, start + i * stride) for i in range(len(elements))]
    if "sparse" in accessor:
        sparse = accessor["sparse"]
        where, what = sparse["indices"], sparse["values"]
        index_layout = struct.Struct("<" + FORMATS[where["componentType"]])
        for i in range(sparse["count"]):
            view = document["bufferViews"][where["bufferView"]]
            offset = view.get("byteOffset", 0) + where.get("byteOffset", 0)
            (row,) = index_layout.unpack_from(
                buffers[view["buffer"]], offset + i * index_layout.size
            )
            view = document["bufferViews"][what["bufferView"]]
            offset = view.get("byteOffset", 0) + what.get("byteOffset", 0)
            elements[row] = layout.unpack_from(buffers[view["buffer"]], offset + i * layout.size)
    if accessor.get("normalized"):
        largest = {5120: 127, 5121: 255, 5122: 32767, 5123: 65535}[accessor["componentType"]]
        elements = [tuple(max(v / largest, -1.0) for v in element) for element in elements]
    return elements


def load_independently(path: Path) -> tuple[dict, list[bytes]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pygltflib

        gltf = pygltflib.GLTF2().load(path)
        document = json.loads(gltf.to_json())
        buffers = []
        for buffer in gltf.buffers:
            if buffer.uri is None:
                buffers.append(gltf.binary_blob())
            elif buffer.uri.startswith("data:"):
                buffers.append(base64.b64decode(buffer.uri.partition(",")[2]))
            else:
                buffers.append((path.parent / buffer.uri).read_bytes())
    document["bufferViews"] = [_without_none(view) for view in document["bufferViews"]]
    return document, buffers


def _without_none(entry: dict) -> dict:
    return {key: value for key, value in entry.items() if value is not None}


@pytest.mark.parametrize(
    "name",
    [
        "khronos/SimpleSkin/glTF/SimpleSkin.gltf",
        "khronos/SimpleSparseAccessor/glTF/SimpleSparseAccessor.gltf",
        "khronos/AnimatedMorphCube/glTF-Quantized/AnimatedMorphCube.gltf",
        "khronos/RiggedFigure/glTF-Binary/RiggedFigure.glb",
        "robustness/trimesh/BoxInterleaved.glb",
        "robustness/gltf-asset-generator/Positive/Accessor_SparseType/Accessor_SparseType_04.gltf",
        "quaternius/fish_pack/Manta_ray.glb",
        "threejs/RobotExpressive/RobotExpressive.glb",
    ],
)
def test_every_accessor_equals_a_decode_by_struct(shared_assets: Path, name: str) -> None:
    path = shared_assets / name
    accessors = Accessors(read_document(path), Budget())
    document, buffers = load_independently(path)
    document["accessors"] = [_without_none(entry) for entry in document["accessors"]]
    assert len(accessors) == len(document["accessors"]) > 0
    for i in range(len(accessors)):
        expected = np.array(decode_slowly(document, buffers, i), np.float64)
        np.testing.assert_allclose(accessors.floats(i), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["boolean.glb", "testplate.glb", "no_indices_3storybuilding.glb"])
def test_geometry_equals_what_trimesh_reads(shared_assets: Path, name: str) -> None:
    import trimesh

    path = shared_assets / "robustness" / "trimesh" / name
    scene = trimesh.load_scene(path, process=False)
    theirs = sorted(mesh.area for mesh in scene.geometry.values())
    ours = []
    for part in (part for mesh in read_asset(path).meshes for part in mesh.parts):
        a, b, c = np.moveaxis(part.positions[part.faces].astype(np.float64), 1, 0)
        ours.append(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)
    np.testing.assert_allclose(sorted(ours), theirs, rtol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "stored", "meant"),
    [
        ("i1", [-128, -127, 0, 127], [-1.0, -1.0, 0.0, 1.0]),
        ("u1", [0, 51, 102, 255], [0.0, 0.2, 0.4, 1.0]),
        ("i2", [-32768, -32767, 0, 32767], [-1.0, -1.0, 0.0, 1.0]),
        ("u2", [0, 13107, 26214, 65535], [0.0, 0.2, 0.4, 1.0]),
    ],
)
def test_normalised_integers_are_fractions(tmp_path, dtype, stored, meant) -> None:
    builder = GltfBuilder()
    index = builder.accessor(stored, dtype, normalized=True)
    plain = builder.accessor(stored, dtype)
    accessors = accessors_of(builder, tmp_path)
    np.testing.assert_allclose(accessors.floats(index)[:, 0], meant, atol=1e-7)
    np.testing.assert_array_equal(accessors.floats(plain)[:, 0], stored)
    assert accessors.raw(plain).dtype == np.dtype("<" + dtype)


def test_interleaved_arrays_are_views_of_the_file(tmp_path: Path) -> None:
    builder = GltfBuilder()
    rows = np.arange(40, dtype="<f4").reshape(5, 8)
    view = builder.view(rows.tobytes(), byteStride=32)
    first = builder.add(
        "accessors", bufferView=view, componentType=5126, count=5, type="VEC3", byteOffset=0
    )
    second = builder.add(
        "accessors", bufferView=view, componentType=5126, count=5, type="VEC2", byteOffset=24
    )
    document = read_document(builder.write(tmp_path / "a.glb"))
    accessors = Accessors(document, Budget())
    np.testing.assert_array_equal(accessors.floats(first), rows[:, :3])
    np.testing.assert_array_equal(accessors.floats(second), rows[:, 6:])
    buffer = np.frombuffer(document.buffers[0], np.uint8)
    assert np.shares_memory(accessors.floats(first), buffer)
    assert np.shares_memory(accessors.floats(second), buffer)
    assert not accessors.floats(first).flags.writeable


def test_sparse_values_replace_those_of_the_base(tmp_path: Path) -> None:
    builder = GltfBuilder()
    base = np.arange(12, dtype="<f4").reshape(4, 3)
    indices = builder.view(np.array([1, 3], "<u1").tobytes())
    values = builder.view(np.array([[9, 9, 9], [8, 8, 8]], "<f4").tobytes())
    sparse = {
        "count": 2,
        "indices": {"bufferView": indices, "componentType": 5121},
        "values": {"bufferView": values},
    }
    with_base = builder.accessor(base, sparse=sparse)
    alone = builder.add("accessors", componentType=5126, count=4, type="VEC3", sparse=sparse)
    accessors = accessors_of(builder, tmp_path)
    expected = base.copy()
    expected[1], expected[3] = 9, 8
    np.testing.assert_array_equal(accessors.floats(with_base), expected)
    expected[::2] = 0
    np.testing.assert_array_equal(accessors.floats(alone), expected)


def test_unaligned_data_is_copied_into_line(tmp_path: Path) -> None:
    builder = GltfBuilder()
    view = builder.view(b"\xff" + np.arange(6, dtype="<f4").tobytes())
    entry = {"componentType": 5126, "count": 2, "type": "VEC3", "byteOffset": 1}
    index = builder.add("accessors", bufferView=view, **entry)
    array = accessors_of(builder, tmp_path).floats(index)
    np.testing.assert_array_equal(array, np.arange(6).reshape(2, 3))
    assert array.flags.aligned


def test_zeros_where_there_is_no_buffer_view(tmp_path: Path) -> None:
    builder = GltfBuilder()
    index = builder.add("accessors", componentType=5126, count=7, type="VEC3")
    np.testing.assert_array_equal(accessors_of(builder, tmp_path).floats(index), np.zeros((7, 3)))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"count": 4}, "accessor 0: must end inside its buffer view of 36 bytes, "
                       "got 4 elements of 12 bytes, 12 apart, from 0"),
        ({"byteOffset": 4}, "accessor 0: must end inside its buffer view of 36 bytes, "
                            "got 3 elements of 12 bytes, 12 apart, from 4"),
        ({"byteOffset": -4}, "accessor 0, byteOffset: must be an integer of at least 0, got -4"),
        ({"count": 10**30}, "accessor 0: the file must fit in 768 MiB of memory, "
                            "needs at least 11444091796875000000000000 MiB"),
        ({"count": "3"}, "accessor 0, count: must be an integer of at least 0, got '3'"),
        ({"count": True}, "accessor 0, count: must be an integer of at least 0, got True"),
        ({"count": None}, "accessor 0, count: must be an integer of at least 0, got null"),
        ({"type": "VEC5"}, "accessor 0, type: must be one of SCALAR, VEC2, VEC3, VEC4, MAT4, "
                           "got 'VEC5'"),
        ({"componentType": 5124}, "accessor 0, componentType: must be one of 5120, 5121, 5122, "
                                  "5123, 5125, 5126, got 5124"),
        ({"bufferView": 7}, "accessor 0, bufferView: must be the index of one of the file's "
                            "1 buffer views, got 7"),
    ],
)  # fmt: skip
def test_an_accessor_that_lies_is_refused_in_one_line(tmp_path, change, line) -> None:
    check_refused(tmp_path, "accessors", change, line)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"byteLength": 37}, "buffer view 0: must end inside buffer 0 of 36 bytes, "
                             "got byteOffset 0 and byteLength 37"),
        ({"byteOffset": 2**63}, "buffer view 0: must end inside buffer 0 of 36 bytes, "
                                "got byteOffset 9223372036854775808 and byteLength 36"),
        ({"byteStride": 8}, "accessor 0: byteStride must be at least 12, got 8"),
        ({"buffer": 1}, "buffer view 0, buffer: must be the index of one of the file's 1 buffers, "
                        "got 1"),
    ],
)  # fmt: skip
def test_a_buffer_view_that_lies_is_refused_in_one_line(tmp_path, change, line) -> None:
    check_refused(tmp_path, "bufferViews", change, line)


def check_refused(tmp_path: Path, table: str, change: dict, line: str) -> None:
    """A triangle whose first entry of a table is changed is refused with this line."""
    builder = GltfBuilder()
    builder.show(builder.triangle())
    builder.json[table][0].update(change)
    path = builder.write(tmp_path / "a.glb")
    with pytest.raises(AssetError) as caught:
        read_asset(path)
    assert str(caught.value) == f"{path}: {line}"


def test_sparse_indices_outside_the_accessor_are_refused(tmp_path: Path) -> None:
    builder = GltfBuilder()
    sparse = {
        "count": 1,
        "indices": {"bufferView": builder.view(b"\x05"), "componentType": 5121},
        "values": {"bufferView": builder.view(bytes(12))},
    }
    index = builder.accessor(np.zeros((3, 3)), sparse=sparse)
    with pytest.raises(GltfError, match="must be below the accessor's count of 3, got 5"):
        accessors_of(builder, tmp_path).raw(index)


@pytest.mark.slow
def test_the_same_bytes_under_ten_thousand_names_are_refused(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.accessor(np.zeros((2**16, 3)))
    entry = builder.json["accessors"][0]
    builder.json["accessors"] = [dict(entry) for _ in range(10_000)]
    primitives = [{"attributes": {"POSITION": i}} for i in range(10_000)]
    builder.show(*primitives)
    path = builder.write(tmp_path / "a.glb")
    with pytest.raises(AssetError, match="the file must fit in 768 MiB of memory"):
        read_asset(path)


def test_component_codes_cover_the_format() -> None:
    assert set(CODES.values()) == set(FORMATS)


def test_a_matrix_of_bytes_is_not_silently_misread(tmp_path: Path) -> None:
    text = json.dumps({"asset": {"version": "2.0"}, "accessors": [
        {"componentType": 5121, "count": 1, "type": "MAT3"}]}).encode()  # fmt: skip
    (tmp_path / "a.glb").write_bytes(pack_glb(text))
    with pytest.raises(GltfError, match="accessor 0, type: must be one of"):
        Accessors(read_document(tmp_path / "a.glb"), Budget()).raw(0)
