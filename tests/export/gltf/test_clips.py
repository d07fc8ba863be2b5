import copy
import json
from pathlib import Path

import numpy as np
import pytest

from akd.asset.asset import Asset
from akd.asset.gltf.document import read_document
from akd.asset.read import read_asset
from akd.export.gltf.clips import add_clips
from akd.export.gltf.write import write_glb
from akd.motion.clip_data import ClipData, Keys, NodeTracks
from tests.asset.gltf_builder import GltfBuilder, sample
from tests.export.clip_samples import check_clip, check_untouched, clip_for, unit
from tests.export.khronos import ERROR, codes, validate

TIMES = np.array((0.0, 0.5, 1.0), dtype=np.float32)


def turns(node: int = 0, **options) -> dict[int, NodeTracks]:
    quaternions = unit(np.array(((1, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0)), float))
    return {node: NodeTracks(rotation=Keys(quaternions), **options)}


def again(tmp_path: Path, asset: Asset, *clips: ClipData) -> Asset:
    assert asset.document is not None
    write_glb(add_clips(asset.document, clips), tmp_path / "out.glb")
    return read_asset(tmp_path / "out.glb")


@pytest.fixture
def asset(tmp_path: Path) -> Asset:
    return read_asset(sample().write(tmp_path / "in.glb"))


def test_clips_are_added_and_nothing_else_changes(tmp_path: Path, asset: Asset) -> None:
    clips = [clip_for(asset), clip_for(asset, name="run", seed=1)]
    after = again(tmp_path, asset, *clips)
    check_untouched(asset, after, clips=2)
    check_clip(after, 1, clips[0])
    check_clip(after, 2, clips[1])
    assert [c.name for c in after.clips] == ["wave", "walk", "run"]
    assert after.document is not None
    assert after.document.json["animations"][2]["extras"] == {"akd": {"seed": 1}}
    before, added = validate([tmp_path / "in.glb", tmp_path / "out.glb"])
    assert not codes(added, ERROR) - codes(before, ERROR)


def test_the_document_given_is_not_modified(asset: Asset) -> None:
    document = asset.document
    assert document is not None
    copied = copy.deepcopy(document.json)
    buffers = document.buffers
    result = add_clips(document, [clip_for(asset)])
    assert document.json == copied
    assert document.buffers is buffers
    assert result.json["meshes"] is document.json["meshes"]
    assert add_clips(document, []) is document


def test_times_are_stored_once(asset: Asset) -> None:
    assert asset.document is not None
    clip = ClipData("a", TIMES, {0: turns()[0], 1: turns()[0]})
    result = add_clips(asset.document, [clip, ClipData("b", TIMES.copy(), turns())])
    inputs = [s["input"] for a in result.json["animations"][1:] for s in a["samplers"]]
    assert len(inputs) == 3
    assert len(set(inputs)) == 1
    accessor = result.json["accessors"][inputs[0]]
    assert (accessor["min"], accessor["max"]) == ([0.0], [1.0])
    assert accessor["count"] == 3


def test_rotations_are_unit_continuous_and_xyzw(tmp_path: Path, asset: Asset) -> None:
    values = np.array(((0, 0, 0, 2.0), (0, 0.1, 0, -2.0), (0, 0.2, 0, 2.0)))
    clip = ClipData("spin", TIMES, {1: NodeTracks(rotation=Keys(values))})
    assert asset.document is not None
    result = add_clips(asset.document, [clip])
    raw = np.frombuffer(result.buffers[-1], "<f4")
    written = raw[3:].reshape(3, 4)
    expected = unit(np.array(((0, 0, 2.0, 0), (-0.1, 0, 2.0, 0), (0.2, 0, 2.0, 0))))
    np.testing.assert_allclose(written, expected, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(written, axis=1), 1.0, atol=1e-7)


def test_a_matrix_node_that_is_animated_is_taken_apart(tmp_path: Path) -> None:
    builder = GltfBuilder()
    matrix = np.diag((2.0, 3.0, -4.0, 1.0))
    matrix[:3, 3] = (5, 6, 7)
    listed = matrix.T.reshape(-1).tolist()
    builder.show(builder.triangle(), name="moves", matrix=listed, extras={"mine": 1})
    builder.add("nodes", name="rests", matrix=listed)
    builder.add("scenes", nodes=[0, 1])
    document = read_document(builder.write(tmp_path / "in.glb"))
    result = add_clips(document, [ClipData("spin", TIMES, turns(0))])
    moves, rests = result.json["nodes"]
    assert rests is document.json["nodes"][1]
    assert list(moves) == ["mesh", "name", "translation", "rotation", "scale", "extras"]
    assert moves["translation"] == [5.0, 6.0, 7.0]
    x, y, z, w = moves["rotation"]
    columns = np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )
    np.testing.assert_allclose(columns * moves["scale"], matrix[:3, :3], atol=1e-12)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["walk", "walk", "walk"], ["walk", "walk 2", "walk 3"]),
        (["wave"], ["wave 2"]),
        (["  ", ""], ["clip", "clip 2"]),
        (["x" * 80, "x" * 70], ["x" * 60, "x" * 58 + " 2"]),
        (["a" * 59 + " b"], ["a" * 59]),
        (["a fox 走る"], ["a fox 走る"]),
    ],
)
def test_names_are_cut_and_numbered(asset: Asset, names: list[str], expected: list[str]) -> None:
    assert asset.document is not None
    result = add_clips(asset.document, [ClipData(n, TIMES, turns()) for n in names])
    assert [a["name"] for a in result.json["animations"][1:]] == expected


def test_a_clip_that_moves_nothing_holds_a_node(tmp_path: Path, asset: Asset) -> None:
    after = again(
        tmp_path, asset, ClipData("rest", TIMES, {}), ClipData("b", TIMES, {1: NodeTracks()})
    )
    for clip in after.clips[1:]:
        (track,) = clip.tracks
        assert clip.end == 1.0
        node = after.nodes[track.node]
        np.testing.assert_array_equal(track.values, np.tile(node.translation, (3, 1)))
    check_untouched(asset, after, clips=2)


def test_clips_that_do_not_fit_are_refused(asset: Asset) -> None:
    document = asset.document
    assert document is not None
    with pytest.raises(ValueError, match="clip 'a': there is no node 9 of 3"):
        add_clips(document, [ClipData("a", TIMES, turns(9))])
    weights = {0: NodeTracks(weights=Keys(np.zeros((3, 2))))}
    with pytest.raises(
        ValueError, match="clip 'a', node 0: weights must be one for each of 1 morph targets, got 2"
    ):
        add_clips(document, [ClipData("a", TIMES, weights)])
    with pytest.raises(ValueError, match="rotations must be quaternions, got one of length zero"):
        add_clips(
            document, [ClipData("a", TIMES, {0: NodeTracks(rotation=Keys(np.zeros((3, 4))))})]
        )
    with pytest.raises(ValueError, match="clip 'a': extras must be JSON values"):
        add_clips(document, [ClipData("a", TIMES, turns(), {"x": object()})])


@pytest.mark.parametrize(
    ("times", "values", "message"),
    [
        ((), (), "at least one key is needed"),
        ((0.0, 0.0), ((0, 0, 0),) * 2, "must be finite and increase strictly from zero or later"),
        ((-1.0, 0.0), ((0, 0, 0),) * 2, "must be finite and increase strictly"),
        ((0.0, np.nan), ((0, 0, 0),) * 2, "must be finite and increase strictly"),
        ((0.0, 1.0), ((0, 0, 0),), "values must have shape"),
        ((0.0,), ((0, 0),), "values must have shape"),
        ((0.0,), ((0, np.inf, 0),), "values must be finite"),
    ],
)
def test_keys_that_nobody_can_play_are_refused(times, values, message: str) -> None:
    keys = Keys(np.array(values, float).reshape(len(values), -1 if values else 3))
    with pytest.raises(ValueError, match=message):
        ClipData("a", np.array(times, np.float32), {0: NodeTracks(translation=keys)})


def test_broken_references_stay_broken(tmp_path: Path) -> None:
    """They must not come to mean what is added."""
    builder = sample()
    for kind, path in (("accessors", "accessor"), ("bufferViews", "view")):
        builder.json.setdefault("extras", {})[path] = len(builder.json[kind])
    beyond = len(builder.json["accessors"])
    builder.json["animations"][0]["samplers"].append({"input": beyond, "output": beyond + 1})
    builder.json["animations"][0]["channels"].append(
        {"sampler": 3, "target": {"node": 1, "path": "scale"}}
    )
    views = len(builder.json["bufferViews"])
    builder.add("images", bufferView=views)
    (tmp_path / "in.glb").write_bytes(builder.glb())
    asset = read_asset(tmp_path / "in.glb")
    assert len(asset.clips[0].tracks) == 3
    after = again(tmp_path, asset, clip_for(asset))
    assert len(after.clips[0].tracks) == 3
    assert after.document is not None
    sampler = after.document.json["animations"][0]["samplers"][3]
    assert sampler["input"] >= len(after.document.json["accessors"])
    assert after.document.json["images"][1]["bufferView"] >= len(after.document.json["bufferViews"])
    assert json.dumps(after.document.json["extras"]) == json.dumps(builder.json["extras"])
