"""Animations: keys as they are stored, and what becomes of channels that cannot be used."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from akd.asset.asset import Asset, Track
from akd.asset.read import read_asset
from tests.asset.gltf_builder import GltfBuilder

TIMES = [0.0, 0.5, 2.0]
TURNS = np.array([[0, 0, 0, 1], [0.6, 0, 0, 0.8], [0, 0.6, 0.8, 0]])


def build(*, times: Any = TIMES, nodes: int = 1) -> tuple[GltfBuilder, dict[str, Any]]:
    """A file of some nodes and one empty animation whose sampler 0 may be filled in."""
    builder = GltfBuilder()
    for _ in range(nodes):
        builder.add("nodes")
    builder.add("scenes", nodes=list(range(nodes)))
    animation: dict[str, Any] = {"name": "go", "channels": [], "samplers": []}
    builder.json["animations"] = [animation]
    builder.times = builder.accessor(times)  # pyright: ignore[reportAttributeAccessIssue]
    return builder, animation


def add_channel(
    builder: GltfBuilder,
    animation: dict[str, Any],
    path: str,
    output: int,
    node: int = 0,
    **sampler: Any,
) -> None:
    entry = {"input": builder.times, "output": output, **sampler}  # pyright: ignore
    animation["samplers"].append(entry)
    target = {"node": node, "path": path}
    animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})


def read(builder: GltfBuilder, tmp_path: Path) -> Asset:
    return read_asset(builder.write(tmp_path / "a.glb"))


def only_track(builder: GltfBuilder, tmp_path: Path) -> Track:
    (clip,) = read(builder, tmp_path).clips
    (track,) = clip.tracks
    return track


def told(asset: Asset) -> list[tuple[str, str, str]]:
    return [(problem.where, problem.what, problem.action) for problem in asset.problems]


@pytest.mark.parametrize("interpolation", ["STEP", "LINEAR", None])
def test_translations_and_scales_are_kept_to_the_bit(tmp_path, interpolation) -> None:
    builder, animation = build()
    values = np.array([[1, 2, 3], [0.1, 0.2, 0.3], [-1, 1e-20, 1e20]], np.float32)
    more = {} if interpolation is None else {"interpolation": interpolation}
    add_channel(builder, animation, "translation", builder.accessor(values), **more)
    add_channel(builder, animation, "scale", builder.accessor(values * 2), **more)
    asset = read(builder, tmp_path)
    (clip,) = asset.clips
    moved, scaled = clip.tracks
    assert (clip.name, clip.start, clip.end) == ("go", 0.0, 2.0)
    assert (moved.node, moved.path) == (0, "translation")
    assert (scaled.node, scaled.path) == (0, "scale")
    assert moved.interpolation == (interpolation or "LINEAR")
    np.testing.assert_array_equal(moved.times, np.float32(TIMES))
    np.testing.assert_array_equal(moved.values, values)
    np.testing.assert_array_equal(scaled.values, values * 2)
    assert asset.problems == ()


@pytest.mark.parametrize("dtype", ["f4", "i1", "i2"])
def test_rotations_come_out_wxyz_and_of_unit_length(tmp_path: Path, dtype: str) -> None:
    builder, animation = build()
    largest = {"f4": 1, "i1": 127, "i2": 32767}[dtype]
    stored = TURNS if largest == 1 else np.rint(TURNS * largest)
    output = builder.accessor(stored, dtype, normalized=largest > 1)
    add_channel(builder, animation, "rotation", output)
    track = only_track(builder, tmp_path)
    expected = TURNS[:, [3, 0, 1, 2]]
    np.testing.assert_allclose(track.values, expected, atol=0.6 / largest if largest > 1 else 1e-7)
    lengths = np.linalg.norm(track.values.astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-7)


def test_unsigned_normalised_weights(tmp_path: Path) -> None:
    builder, animation = build(nodes=0)
    offsets = builder.accessor(np.zeros((3, 3)))
    builder.show(builder.triangle(targets=[{"POSITION": offsets}, {"POSITION": offsets}]))
    builder.json["scenes"] = [{"nodes": [0]}]
    output = builder.accessor([0, 51, 102, 153, 204, 255], "u1", normalized=True)
    add_channel(builder, animation, "weights", output)
    track = only_track(builder, tmp_path)
    np.testing.assert_allclose(track.values, [[0, 0.2], [0.4, 0.6], [0.8, 1.0]], atol=1e-7)


def test_cubic_splines_keep_their_tangents(tmp_path: Path) -> None:
    builder, animation = build()
    moved = np.arange(27).reshape(9, 3)
    turned = np.zeros((9, 4))
    turned[1::3] = TURNS
    turned[0::3], turned[2::3] = [1, 2, 3, 4], [5, 6, 7, 8]
    add_channel(
        builder, animation, "translation", builder.accessor(moved), interpolation="CUBICSPLINE"
    )
    add_channel(
        builder, animation, "rotation", builder.accessor(turned), interpolation="CUBICSPLINE"
    )
    first, second = read(builder, tmp_path).clips[0].tracks
    np.testing.assert_array_equal(first.values, moved.reshape(3, 3, 3))
    np.testing.assert_array_equal(second.values[:, 0], [[4, 1, 2, 3]] * 3)
    np.testing.assert_allclose(second.values[:, 1], TURNS[:, [3, 0, 1, 2]], atol=1e-7)
    np.testing.assert_array_equal(second.values[:, 2], [[8, 5, 6, 7]] * 3)


def test_cubic_splines_of_weights(tmp_path: Path) -> None:
    builder, animation = build(nodes=0)
    offsets = builder.accessor(np.zeros((3, 3)))
    builder.show(builder.triangle(targets=[{"POSITION": offsets}, {"POSITION": offsets}]))
    builder.json["scenes"] = [{"nodes": [0]}]
    output = builder.accessor(np.arange(18))
    add_channel(builder, animation, "weights", output, interpolation="CUBICSPLINE")
    np.testing.assert_array_equal(
        only_track(builder, tmp_path).values, np.arange(18).reshape(3, 3, 2)
    )


def test_times_that_do_not_increase_are_put_in_order(tmp_path: Path) -> None:
    builder, animation = build(times=[1.0, 0.0, 1.0, -1.0, np.nan, 3.0])
    values = [[i, 0, 0] for i in range(6)]
    values[5][1:] = [np.inf, -np.inf]
    add_channel(builder, animation, "translation", builder.accessor(values))
    asset = read(builder, tmp_path)
    (track,) = asset.clips[0].tracks
    assert track.times.tolist() == [0.0, 1.0]
    assert track.values[:, 0].tolist() == [1.0, 2.0]
    where = "animation 0, sampler 0"
    assert told(asset) == [
        (where, "3 of 6 keys are negative in time or not finite", "those keys are left out"),
        (where, "its times do not increase", "keys are put in order, the last of equals kept"),
    ]


@pytest.mark.parametrize(
    ("times", "usable"),
    [([0, 1, np.inf], 2), ([np.nan, 1, 2], 2), ([0, np.nan, 2], 2), ([-np.inf, 0, 1], 2), ([], 0)],
)
def test_times_that_are_not_numbers(tmp_path: Path, times: list[float], usable: int) -> None:
    builder, animation = build(times=times or [0.0])
    add_channel(builder, animation, "scale", builder.accessor(np.ones((len(times) or 1, 3))))
    if not times:
        for accessor in builder.json["accessors"]:
            accessor["count"] = 0
    asset = read(builder, tmp_path)
    assert [len(track.times) for track in asset.clips[0].tracks] == [usable] * bool(usable)
    assert asset.problems


def test_rotations_that_are_none_are_mended(tmp_path: Path) -> None:
    builder, animation = build()
    output = builder.accessor([[0, 0, 0, 2], [0, 0, 0, 0], [0, 3, 0, 0]])
    add_channel(builder, animation, "rotation", output)
    asset = read(builder, tmp_path)
    expected = [[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]]
    np.testing.assert_array_equal(asset.clips[0].tracks[0].values, expected)
    where = "animation 0, sampler 0"
    assert told(asset) == [
        (where, "1 of 3 rotations have no length", "taken as no rotation"),
        (where, "its rotations are up to 2 from unit length", "they are normalised"),
    ]


def test_channels_that_cannot_be_used_cost_only_themselves(tmp_path: Path) -> None:
    builder, animation = build(nodes=2)
    three, four = builder.accessor(np.zeros((3, 3))), builder.accessor(np.zeros((4, 3)))
    add_channel(builder, animation, "translation", three)
    add_channel(builder, animation, "translation", three)
    add_channel(builder, animation, "scale", four)
    add_channel(builder, animation, "rotation", three, node=1)
    add_channel(builder, animation, "weights", three)
    add_channel(builder, animation, "visibility", three)
    add_channel(builder, animation, "scale", three, node=9)
    add_channel(builder, animation, "scale", 99)
    add_channel(builder, animation, "scale", three, interpolation="WAVY")
    add_channel(builder, animation, "scale", three, input=three)
    animation["channels"].append({"sampler": 77, "target": {"node": 0, "path": "scale"}})
    pointer = {"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": "/x"}}}
    animation["channels"].append({"sampler": 0, "target": pointer})
    asset = read(builder, tmp_path)
    (track,) = asset.clips[0].tracks
    assert track.path == "translation"
    here = "animation 0, "
    path_rule = "must be translation, rotation, scale or weights, got 'visibility'"
    out = "the channel is left out"
    assert told(asset) == [
        (here + "sampler 2, output", "must hold 9 numbers for 3 keys, got 12", out),
        (here + "sampler 3, output", "must hold 12 numbers for 3 keys, got 9", out),
        (here + "channel 4, target", "node 0 must have morph targets, got none", out),
        (here + "channel 5, target, path", path_rule, out),
        (here + "channel 6, target, node",
         "must be the index of one of the file's 2 nodes, got 9", out),
        (here + "sampler 7, output",
         "must be the index of one of the file's 3 accessors, got 99", out),
        (here + "sampler 8, interpolation",
         "must be STEP, LINEAR or CUBICSPLINE, got 'WAVY'", out),
        (here + "sampler 9, input",
         "must be SCALAR of 32-bit floats, got 'float32 VEC3'", out),
        (here + "channel 10, sampler",
         "must be the index of one of the file's 10 samplers, got 77", out),
        (here + "channel 11", "moves no node ('pointer')", out),
        ("animation 0", "1 channels move what another does already, the translation of node 0 "
                        "for one", "the first of them counts"),
    ]  # fmt: skip


def test_an_animation_of_nothing_is_kept(tmp_path: Path) -> None:
    builder, _ = build()
    builder.json["animations"].append(5)
    asset = read(builder, tmp_path)
    assert [(clip.name, clip.tracks, clip.end) for clip in asset.clips] == [
        ("go", (), 0.0),
        ("", (), 0.0),
    ]
    assert told(asset) == [
        ("animations", "1 are no objects, the first 5", "those are taken as empty"),
        ("animation 0", "moves no node", "it is kept, empty"),
        ("animation 1", "moves no node", "it is kept, empty"),
    ]


def test_an_animation_past_the_end_of_its_buffer_costs_only_itself(tmp_path: Path) -> None:
    builder, animation = build()
    add_channel(builder, animation, "translation", builder.accessor(np.zeros((3, 3))))
    builder.json["accessors"][1]["byteOffset"] = 4
    asset = read(builder, tmp_path)
    assert asset.clips[0].tracks == ()
    assert asset.problems[0].where == "accessor 1"
