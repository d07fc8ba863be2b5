"""Skins: joints, inverse bind matrices, and weights that come out whole whatever went in."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from akd.asset.asset import Asset, AssetError
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.weights import repair_weights
from akd.asset.read import read_asset
from tests.asset.gltf_builder import GltfBuilder

MATRICES = np.arange(32, dtype=np.float64).reshape(2, 4, 4) + np.eye(4)
MATRICES[:, 3] = (0, 0, 0, 1)


def skinned(
    joints: object, weights: object, dtype: str = "f4", sets: int = 1, **accessor: object
) -> GltfBuilder:
    """A triangle on a skin of two joints."""
    builder = GltfBuilder()
    attributes = {}
    for n in range(sets):
        attributes[f"JOINTS_{n}"] = builder.accessor(joints, "u2")
        attributes[f"WEIGHTS_{n}"] = builder.accessor(weights, dtype, **accessor)
    builder.show(builder.triangle(attributes=attributes), skin=0)
    builder.add("nodes", children=[2])
    builder.add("nodes")
    stored = MATRICES.transpose(0, 2, 1).reshape(2, 16)
    builder.add("skins", joints=[1, 2], inverseBindMatrices=builder.accessor(stored), name="rig")
    builder.add("scenes", nodes=[0, 1])
    return builder


def read(builder: GltfBuilder, tmp_path: Path) -> Asset:
    return read_asset(builder.write(tmp_path / "a.glb"))


def told(asset: Asset) -> list[tuple[str, str, str]]:
    return [(problem.where, problem.what, problem.action) for problem in asset.problems]


ONE = [[1.0, 0.0, 0.0, 0.0]] * 3
ZERO = [[0, 0, 0, 0]] * 3
WHERE = "mesh 0, part 0, WEIGHTS_0"


def test_matrices_are_row_major_and_joints_are_nodes(tmp_path: Path) -> None:
    asset = read(skinned(ZERO, ONE), tmp_path)
    (skin,) = asset.skins
    assert skin.name == "rig"
    assert skin.joints.tolist() == [1, 2]
    np.testing.assert_array_equal(skin.inverse_bind, MATRICES)
    assert asset.problems == ()


def test_without_matrices_each_is_the_identity(tmp_path: Path) -> None:
    builder = skinned(ZERO, ONE)
    del builder.json["skins"][0]["inverseBindMatrices"]
    (skin,) = read(builder, tmp_path).skins
    np.testing.assert_array_equal(skin.inverse_bind, np.tile(np.eye(4), (2, 1, 1)))


def test_matrices_that_do_not_fit(tmp_path: Path) -> None:
    builder = skinned(ZERO, ONE)
    builder.json["skins"][0]["joints"] = [1, 2, 0]
    with pytest.raises(AssetError) as caught:
        read(builder, tmp_path)
    assert str(caught.value).endswith(
        "skin 0, inverseBindMatrices: must be one for each of 3 joints, got 2"
    )
    builder.json["skins"][0]["joints"] = [1]
    assert told(read(builder, tmp_path)) == [
        ("skin 0, inverseBindMatrices", "holds 2 matrices for 1 joints",
         "the last ones are ignored"),
    ]  # fmt: skip
    builder.json["skins"][0]["joints"] = [1, 9]
    with pytest.raises(
        AssetError, match="skin 0, joints: must be the index of one of the file's 3"
    ):
        read(builder, tmp_path)


def test_last_rows_are_mended_and_matrices_must_be_finite(tmp_path: Path) -> None:
    builder = skinned(ZERO, ONE)
    stored = MATRICES.transpose(0, 2, 1).reshape(2, 16).copy()
    stored[0, 3] = 0.5
    builder.json["skins"][0]["inverseBindMatrices"] = builder.accessor(stored)
    asset = read(builder, tmp_path)
    np.testing.assert_array_equal(asset.skins[0].inverse_bind, MATRICES)
    assert told(asset) == [
        ("skin 0, inverseBindMatrices", "last rows are not 0 0 0 1", "those rows are set to it")
    ]
    stored[1, 5] = np.nan
    builder.json["skins"][0]["inverseBindMatrices"] = builder.accessor(stored)
    with pytest.raises(AssetError, match="must be finite, got others for joint 1 of the skin"):
        read(builder, tmp_path)


def test_a_broken_skin_that_no_node_uses_harms_nobody(tmp_path: Path) -> None:
    builder = skinned(ZERO, ONE)
    builder.add("skins", joints=[77])
    asset = read(builder, tmp_path)
    assert [len(skin.joints) for skin in asset.skins] == [2, 0]
    assert asset.problems[0].action == "no node uses the skin: it is left empty"


def test_all_joint_sets_stand_side_by_side(tmp_path: Path) -> None:
    weights = [[0.125] * 4] * 3
    builder = skinned([[0, 1, 0, 1]] * 3, weights, sets=3)
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_2"] = builder.accessor([[1, 1, 1, 1]] * 3, "u1")
    attributes["WEIGHTS_2"] = builder.accessor(ZERO, "u1", normalized=True)
    asset = read(builder, tmp_path)
    (part,) = asset.meshes[0].parts
    assert part.joints is not None
    assert part.joints.tolist() == [[0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1]] * 3
    np.testing.assert_array_equal(part.weights, [[0.125] * 8 + [0.0] * 4] * 3)
    assert asset.problems == ()


def test_a_joint_set_without_weights_is_left_out(tmp_path: Path) -> None:
    builder = skinned(ZERO, ONE)
    attributes = builder.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_1"] = attributes["JOINTS_0"]
    asset = read(builder, tmp_path)
    assert asset.meshes[0].parts[0].joints.shape == (3, 4)  # pyright: ignore
    assert told(asset) == [
        ("mesh 0, part 0, WEIGHTS_1", "must be there, got nothing", "joint set 1 is left out")
    ]


def test_whole_weights_are_views_of_the_file(tmp_path: Path) -> None:
    asset = read(skinned([[0, 1, 0, 0]] * 3, [[0.5, 0.5, 0, 0]] * 3), tmp_path)
    (part,) = asset.meshes[0].parts
    assert asset.document is not None
    buffer = np.frombuffer(asset.document.buffers[0], np.uint8)
    for array in (part.joints, part.weights, part.positions):
        assert np.shares_memory(array, buffer)


def test_weights_that_are_not_finite_or_negative(tmp_path: Path) -> None:
    weights = [[0.5, np.nan, 0.5, 0], [-1, 0.25, 0.75, 0], [np.nan, np.inf, -1, 0]]
    asset = read(skinned([[0, 1, 1, 0], [0, 1, 0, 0], [0, 1, 1, 0]], weights), tmp_path)
    (part,) = asset.meshes[0].parts
    # The third vertex has nothing left, and is nearest to the first.
    expected = [[0.5, 0, 0.5, 0], [0, 0.25, 0.75, 0], [0.5, 0, 0.5, 0]]
    np.testing.assert_allclose(part.weights, expected)
    assert part.joints is not None
    assert part.joints[2].tolist() == part.joints[0].tolist()
    assert told(asset) == [
        (WHERE, "2 vertices have weights that are not finite", "taken as zero"),
        (WHERE, "2 vertices have negative weights", "taken as zero"),
        (WHERE, "1 of 3 vertices have no weight",
         "each takes those of the nearest vertex that has some"),
    ]  # fmt: skip


def test_weights_that_do_not_sum_to_one(tmp_path: Path) -> None:
    weights = [[1.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0.1, 0.1, 0, 0]]
    asset = read(skinned([[0, 1, 0, 0]] * 3, weights), tmp_path)
    expected = [[0.75, 0.25, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]]
    np.testing.assert_allclose(asset.meshes[0].parts[0].weights, expected)
    assert told(asset) == [
        (WHERE, "weights of 2 vertices do not sum to one (the worst to 2)",
         "each row is divided by its sum"),
    ]  # fmt: skip


def test_rounding_of_eight_bit_weights_is_no_problem(tmp_path: Path) -> None:
    builder = skinned([[0, 1, 0, 0]] * 3, [[127, 127, 0, 0]] * 3, "u1", normalized=True)
    asset = read(builder, tmp_path)
    np.testing.assert_allclose(asset.meshes[0].parts[0].weights, [[0.5, 0.5, 0, 0]] * 3)
    assert asset.problems == ()


def test_joints_that_the_skin_has_not(tmp_path: Path) -> None:
    asset = read(skinned([[0, 7, 0, 65535]] * 3, [[0.25, 0.75, 0, 0]] * 3), tmp_path)
    (part,) = asset.meshes[0].parts
    assert part.joints is not None
    assert part.joints.tolist() == [[0, 0, 0, 0]] * 3
    np.testing.assert_array_equal(part.weights, ONE)
    assert told(asset)[0] == (
        WHERE, "3 vertices hang on joint 65535 of 2", "those weights are dropped"
    )  # fmt: skip


def test_a_part_with_no_weight_at_all_leaves_them_to_the_rig(tmp_path: Path) -> None:
    asset = read(skinned([[1, 1, 1, 1]] * 3, ZERO), tmp_path)
    (part,) = asset.meshes[0].parts
    assert part.weights is None
    assert part.joints is None
    action = "each takes those of the nearest vertex that has some"
    assert told(asset) == [(WHERE, "3 of 3 vertices have no weight", action)]


def test_a_skin_without_joints_and_a_part_without_weights(tmp_path: Path) -> None:
    builder = skinned(ZERO, ONE)
    builder.json["skins"][0] = {"joints": []}
    asset = read(builder, tmp_path)
    assert asset.meshes[0].parts[0].joints is None
    assert told(asset) == [
        ("skin 0", "has no joints", "what hangs on it is taken as not skinned"),
        ("mesh 0, part 0", "is shown with a skin, but has no joints to hang on",
         "it moves with its node"),
    ]  # fmt: skip
    builder = skinned(ZERO, ONE)
    del builder.json["nodes"][0]["skin"]
    assert told(read(builder, tmp_path)) == [
        ("mesh 0", "has joints, but no node shows it with a skin", "not skinned")
    ]


def test_the_smallest_of_several_skins_counts(tmp_path: Path) -> None:
    builder = skinned([[0, 1, 0, 0]] * 3, [[0.5, 0.5, 0, 0]] * 3)
    builder.add("skins", joints=[1])
    builder.add("nodes", mesh=0, skin=1)
    asset = read(builder, tmp_path)
    np.testing.assert_array_equal(asset.meshes[0].parts[0].weights, ONE)
    assert asset.problems[0].what == "3 vertices hang on joint 1 of 1"


numbers = st.floats(width=32) | st.sampled_from([0.0, 0.25, 0.5, 1.0, -0.0, 2.0**127, 2.0**-149])


@settings(derandomize=True, max_examples=300, deadline=None)
@given(
    arrays.arrays(np.float32, (6, 8), elements=numbers),
    arrays.arrays(np.uint16, (6, 8), elements=st.integers(0, 9) | st.just(65535)),
    arrays.arrays(np.float32, (6, 3), elements=st.floats(-(2.0**127), 2.0**127, width=32)),
    st.integers(1, 9),
)
def test_any_weights_come_out_whole(weights, joints, positions, joint_count) -> None:
    usable = np.isfinite(weights) & (weights > 0) & (joints < joint_count)
    most = np.where(usable, weights, 0.0).sum(axis=1, dtype=np.float64).max()
    joints, weights = repair_weights(
        joints, weights, positions, joint_count=joint_count, where="", problems=ProblemLog()
    )
    assert (weights is None) == (joints is None) == (most <= 1e-12)
    if weights is None:
        return
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1, dtype=np.float64), 1.0, atol=1e-5)
    assert joints.max() < joint_count
