"""The forest of nodes: transforms, parents and the scene that is shown."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from akd.asset.asset import Asset, AssetError, Node
from akd.asset.gltf.fields import Fields
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.transform import read_transform
from akd.asset.read import read_asset


def read_nodes(tmp_path: Path, nodes: list[dict[str, Any]], **more: Any) -> Asset:
    path = tmp_path / "a.gltf"
    path.write_text(json.dumps({"asset": {"version": "2.0"}, "nodes": nodes, **more}))
    return read_asset(path)


def matrix_of(node: Node) -> np.ndarray:
    w, x, y, z = node.rotation
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_quat((x, y, z, w)).as_matrix() * node.scale
    matrix[:3, 3] = node.translation
    return matrix


def test_defaults_and_the_order_of_quaternions(tmp_path: Path) -> None:
    turn = [0.1, 0.2, 0.3, 0.9273618495495704]
    asset = read_nodes(tmp_path, [{}, {"rotation": turn, "name": "a"}, {"name": "a"}])
    plain, turned, _ = asset.nodes
    np.testing.assert_array_equal(plain.translation, (0, 0, 0))
    np.testing.assert_array_equal(plain.rotation, (1, 0, 0, 0))
    np.testing.assert_array_equal(plain.scale, (1, 1, 1))
    np.testing.assert_allclose(turned.rotation, [turn[3], *turn[:3]], atol=1e-12)
    assert [node.name for node in asset.nodes] == ["", "a", "a"]
    assert not plain.is_matrix


finite = st.floats(-5, 5)
sizes = st.floats(0.01, 100)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(
    st.tuples(finite, finite, finite, finite).filter(lambda q: np.linalg.norm(q) > 0.1),
    st.tuples(sizes, sizes, sizes),
    st.tuples(finite, finite, finite),
    st.tuples(*[st.sampled_from((-1.0, 1.0))] * 3),
)
def test_a_matrix_comes_apart_and_together_again(quaternion, scale, translation, signs) -> None:
    matrix = np.eye(4)
    scale = np.array(scale) * signs
    matrix[:3, :3] = Rotation.from_quat(quaternion).as_matrix() * scale
    matrix[:3, 3] = translation
    entry = Fields({"matrix": matrix.T.reshape(-1).tolist()}, "node 0")
    problems = ProblemLog()
    trs = read_transform(entry, problems)
    again = matrix_of(Node("", -1, *trs))
    np.testing.assert_allclose(again, matrix, atol=1e-9 * np.abs(scale).max() + 1e-12)
    np.testing.assert_allclose(np.linalg.norm(trs[1]), 1.0, atol=1e-12)
    assert problems.all() == ()


@pytest.mark.parametrize("scale", [(0, 1, 1), (1, 0, 2), (3, 4, 0), (0, 0, 5), (0, 0, 0)])
def test_a_flat_matrix_has_a_rotation_all_the_same(tmp_path: Path, scale) -> None:
    matrix = np.eye(4)
    matrix[:3, :3] = Rotation.from_euler("xyz", (0.3, 0.5, 0.7)).as_matrix() * np.array(scale)
    asset = read_nodes(tmp_path, [{"matrix": matrix.T.reshape(-1).tolist()}])
    node = asset.nodes[0]
    assert node.is_matrix
    np.testing.assert_allclose(matrix_of(node), matrix, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(node.rotation), 1.0, atol=1e-12)


def test_shear_and_perspective_are_reported(tmp_path: Path) -> None:
    sheared, perspective = np.eye(4), np.eye(4)
    sheared[0, 1] = 0.5
    perspective[3, 0] = 0.5
    nodes = [{"matrix": m.T.reshape(-1).tolist()} for m in (sheared, perspective)]
    asset = read_nodes(tmp_path, nodes, scenes=[{"nodes": [0, 1]}])
    assert [(p.severity, p.where, p.what, p.action) for p in asset.problems] == [
        ("warning", "node 0, matrix", "is sheared: its columns are up to 0.447 from square",
         "the shear is dropped"),
        ("warning", "node 1, matrix", "its last row is not 0 0 0 1", "that row is ignored"),
    ]  # fmt: skip


def test_a_quaternion_that_is_not_of_unit_length_is_mended(tmp_path: Path) -> None:
    nodes = [{"rotation": [0, 0, 0, 2]}, {"rotation": [0, 0, 0, 0]}]
    asset = read_nodes(tmp_path, nodes, scenes=[{"nodes": [0, 1]}])
    for node in asset.nodes:
        np.testing.assert_array_equal(node.rotation, (1, 0, 0, 0))
    assert [(p.where, p.what) for p in asset.problems] == [
        ("node 0, rotation", "is a quaternion of length 2"),
        ("node 1, rotation", "is a quaternion of length 0"),
    ]


@pytest.mark.parametrize(
    ("nodes", "line"),
    [
        ([{"children": [0]}], "node 0: must be in a forest, but is its own child"),
        ([{"children": [1]}, {"children": [0]}],
         "node 0: must be in a forest, but is its own ancestor"),
        ([{}, {"children": [2]}, {"children": [3]}, {"children": [1]}],
         "node 1: must be in a forest, but is its own ancestor"),
        ([{"children": [2]}, {"children": [2]}, {}],
         "node 2: must have one parent, got node 0 and node 1"),
        ([{"children": [1]}], "node 0, children: must be the index of one of the file's 1 nodes, "
                              "got 1"),
        ([{"children": [-1]}, {}], "node 0, children: must be the index of one of the file's "
                                   "2 nodes, got -1"),
        ([{"children": "1"}, {}], "node 0, children: must be a list, got '1'"),
        ([{"mesh": 0}], "node 0, mesh: must be the index of one of the file's 0 meshes, got 0"),
        ([{"skin": True}],
         "node 0, skin: must be the index of one of the file's 0 skins, got True"),
        ([{"translation": [0, 0]}],
         "node 0, translation: must be a list of 3 finite 32-bit numbers, got [0, 0]"),
        ([{"translation": [0, 0, 1e300]}],
         "node 0, translation: must be a list of 3 finite 32-bit numbers, got [0, 0, 1e+300]"),
        ([{"scale": [1, None, 1]}],
         "node 0, scale: must be a list of 3 finite 32-bit numbers, got [1, None, 1]"),
        ([{"rotation": "up"}],
         "node 0, rotation: must be a list of 4 finite 32-bit numbers, got 'up'"),
        ([{"matrix": [1.0] * 15}],
         "node 0, matrix: must be a list of 16 finite 32-bit numbers, "
         "got [1.0, 1.0, 1.0, 1.0, ...]"),
    ],
)  # fmt: skip
def test_nodes_that_cannot_be_trusted_are_refused(tmp_path: Path, nodes, line) -> None:
    with pytest.raises(AssetError) as caught:
        read_nodes(tmp_path, nodes)
    assert str(caught.value) == f"{tmp_path / 'a.gltf'}: {line}"


def test_parents_may_come_after_their_children(tmp_path: Path) -> None:
    asset = read_nodes(tmp_path, [{}, {"children": [0]}, {"children": [1]}])
    assert [node.parent for node in asset.nodes] == [1, 2, -1]
    assert asset.scene_roots == (2,)


def test_a_chain_of_five_thousand_nodes_is_read(tmp_path: Path) -> None:
    count = 5_000
    nodes = [{"children": [i + 1]} if i + 1 < count else {} for i in range(count)]
    asset = read_nodes(tmp_path, nodes, scenes=[{"nodes": [count - 1, 0]}])
    assert asset.nodes[-1].parent == count - 2
    assert asset.scene_roots == (0,)


def test_the_scene_that_is_shown(tmp_path: Path) -> None:
    nodes: list[dict[str, Any]] = [{}, {}, {"children": [3]}, {}]
    scenes = [{"nodes": [0]}, {"nodes": [2, 1]}]
    assert read_nodes(tmp_path, nodes, scenes=scenes).scene_roots == (0,)
    assert read_nodes(tmp_path, nodes, scenes=scenes, scene=1).scene_roots == (2, 1)
    assert read_nodes(tmp_path, nodes).scene_roots == (0, 1, 2)
    wrong = read_nodes(tmp_path, nodes, scenes=scenes, scene=7)
    assert wrong.scene_roots == (0,)
    assert wrong.problems[0].action == "the first scene is shown"
    inner = read_nodes(tmp_path, nodes, scenes=[{"nodes": [3]}])
    assert inner.scene_roots == (2,)
    assert inner.problems[0].what == "lists node 3, which is the child of node 2"
