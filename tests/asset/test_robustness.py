"""Files from strangers: each is a sound asset or one line, in 10 s, 1 GiB and its own folder."""

import copy
import json
import random
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akd.asset.asset import Asset, AssetError
from akd.asset.read import read_asset
from tests.asset.gltf_builder import GltfBuilder, forged_png, pack_glb, sample
from tests.asset.limits import read_within_limits

MUTATIONS = 40
"""Of each format."""

deterministic = settings(
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def check_sound(asset: Asset) -> None:
    """Nothing in an asset may surprise whoever uses it."""
    for i, node in enumerate(asset.nodes):
        assert -1 <= node.parent < len(asset.nodes)
        assert node.parent != i
        assert node.mesh is None or node.mesh < len(asset.meshes)
        assert node.skin is None or node.skin < len(asset.skins)
        for values in (node.translation, node.rotation, node.scale):
            assert np.isfinite(values).all()
        np.testing.assert_allclose(np.linalg.norm(node.rotation), 1.0, atol=1e-6)
        if node.morph_weights is not None:
            assert node.mesh is not None
            assert len(node.morph_weights) == len(asset.meshes[node.mesh].morph_weights)  # pyright: ignore
    for root in asset.scene_roots:
        assert asset.nodes[root].parent == -1
    for skin in asset.skins:
        assert skin.inverse_bind.shape == (len(skin.joints), 4, 4)
        assert np.isfinite(skin.inverse_bind).all()
        assert (skin.joints < len(asset.nodes)).all()
    for material in asset.materials:
        assert material.image is None or asset.images[material.image].data
        assert all(0 <= value <= 1 for value in material.base_colour)
    for i, mesh in enumerate(asset.meshes):
        skins = [node.skin for node in asset.nodes if node.mesh == i and node.skin is not None]
        for part in mesh.parts:
            check_part(
                part, len(asset.materials), [len(asset.skins[skin].joints) for skin in skins]
            )
    for clip in asset.clips:
        for track in clip.tracks:
            assert track.node < len(asset.nodes)
            assert len(track.times) == len(track.values) > 0
            assert (np.diff(track.times) > 0).all()
            assert track.times[0] >= 0
            assert np.isfinite(track.values).all()
            assert track.values.ndim == (3 if track.interpolation == "CUBICSPLINE" else 2)


def check_part(part: Any, materials: int, joint_counts: list[int]) -> None:
    count = len(part.positions)
    assert len(part.faces)
    assert part.faces.max() < count
    assert np.isfinite(part.positions).all()
    assert part.material is None or part.material < materials
    for values in (part.normals, part.uv, part.colours):
        assert values is None or (len(values) == count and np.isfinite(values).all())
    assert part.morphs is None or np.isfinite(part.morphs).all()
    if part.weights is not None:
        assert part.joints.shape == part.weights.shape
        assert (part.weights >= 0).all()
        np.testing.assert_allclose(part.weights.sum(axis=1, dtype=np.float64), 1.0, atol=1e-5)
        assert all(part.joints.max() < joints for joints in joint_counts)


def check_read(path: Path) -> None:
    try:
        asset = read_asset(path)
    except AssetError as error:
        message = str(error)
    else:
        check_sound(asset)
        return
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


@pytest.mark.slow
def test_every_broken_file_can_be_used_or_is_refused(shared_assets: Path) -> None:
    files = sorted(p for p in (shared_assets / "robustness").rglob("*") if p.is_file())
    outcomes = read_within_limits(files, use=True)
    assert len(outcomes) > 700
    kinds = Counter(outcome.kind for outcome in outcomes)
    # Reports, licences, images and buffers are no assets; most of the rest can be lived with.
    assert kinds["asset"] > 250
    assert kinds["refused"] > 350
    refused = [o.path for o in outcomes if o.kind == "refused" and o.path.suffix == ".gltf"]
    good = shared_assets / "robustness" / "gltf-asset-generator" / "Positive"
    # One demands a later version of the format, one an extension that nobody knows.
    assert [path.name for path in refused if path.is_relative_to(good)] == [
        "Compatibility_04.gltf", "Compatibility_05.gltf"
    ]  # fmt: skip


@pytest.mark.slow
def test_mutations_can_be_used_or_are_refused(shared_assets: Path, tmp_path: Path) -> None:
    """A few bytes changed in small files of every format, beside the files that they refer to."""
    draw = random.Random(0)
    paths = []
    for suffix in (".glb", ".gltf", ".obj", ".ply", ".stl", ".off", ".bvh"):
        found = (shared_assets / "robustness").rglob(f"*{suffix}")
        files = sorted(p for p in found if p.stat().st_size < 50_000)
        for number in range(MUTATIONS):
            data = bytearray(draw.choice(files).read_bytes())
            for _ in range(draw.randint(1, 4)):
                at = draw.randrange(len(data) + 1)
                piece = draw.choice((b"", b"0", b"-1", b"1e38", b"nan", b"\xff" * 4, b"65535"))
                data[at : at + draw.randint(0, 6)] = piece
            paths.append(tmp_path / f"{number}{suffix}")
            paths[-1].write_bytes(data)
    outcomes = read_within_limits(paths, use=True)
    assert sum(outcome.kind == "asset" for outcome in outcomes) > MUTATIONS


NASTY = st.sampled_from(
    [
        None, True, False, "", "x", "../../etc/passwd", "data:,", "file:///etc/passwd", -1, 0, 1, 2,
        3, 4, 5, 6, 7, 8, 9, 12, 255, 256, 5120, 5123, 5125, 5126, 65535, 2**31, 2**32 - 1, 2**63,
        10**40, 0.5, 1.5, -0.0, 1e-45, 1e38, 1e300, float("nan"), float("inf"), [], {}, [None], [0],
        [[]], {"a": 1}, [1, 2, 3], [0, 0, 0, 0], [1e38] * 16, "SCALAR", "VEC2", "VEC3", "VEC4",
        "MAT4", "STEP", "CUBICSPLINE", "scale", "rotation", "weights", "MASK", "\ud800",
    ]
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "matrix", "sparse", "byteStride", "byteOffset", "normalized", "indices", "mode", "targets",
        "uri", "children", "skin", "mesh", "weights", "interpolation", "extensions", "JOINTS_1",
        "WEIGHTS_1", "skeleton", "scale", "bufferView", "count", "source", "texCoord", "name",
    ]
)  # fmt: skip


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Every place in a JSON value at which something could be changed."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        found.append((*path, key))
        if isinstance(inner, dict | list):
            found.extend(places(inner, (*path, key)))
    return found


def container(value: Any, path: tuple) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


SAMPLE = sample()
SAMPLE.json["buffers"] = [{"byteLength": len(SAMPLE.data)}]


@st.composite
def broken_documents(draw: st.DrawFn) -> dict[str, Any]:
    """The sample with a few of its values replaced, removed, repeated or added to."""
    document = copy.deepcopy(SAMPLE.json)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(places(document)))
        parent = container(document, path)
        match draw(st.sampled_from(("replace", "replace", "remove", "repeat", "add"))):
            case "replace":
                parent[path[-1]] = copy.deepcopy(draw(NASTY))
            case "remove":
                del parent[path[-1]]
            case "repeat" if isinstance(parent, list):
                parent.append(copy.deepcopy(parent[path[-1]]))
            case "add" if isinstance(parent, dict):
                parent[draw(KEYS)] = copy.deepcopy(draw(NASTY))
    return document


@pytest.mark.slow
@settings(deterministic, max_examples=500)
@given(document=broken_documents())
def test_any_document_with_wrong_values(document, tmp_path_factory) -> None:
    path = tmp_path_factory.getbasetemp() / "document.glb"
    path.write_bytes(pack_glb(json.dumps(document).encode(), bytes(SAMPLE.data)))
    check_read(path)


@pytest.mark.slow
@settings(deterministic, max_examples=400)
@given(
    data=st.data(),
    changes=st.lists(
        st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=4)), min_size=1, max_size=6
    ),
    cut=st.none() | st.floats(0, 1),
)
def test_any_glb_with_wrong_bytes(data, changes, cut, tmp_path_factory) -> None:
    content = bytearray(SAMPLE.glb())
    # Headers and buffers alike: most of the file is JSON, where a change is seldom of interest.
    start = data.draw(st.sampled_from((0, 12, len(content) - len(SAMPLE.data))))
    for place, new in changes:
        at = start + int(place * (len(content) - start - len(new)))
        content[at : at + len(new)] = new
    if cut is not None:
        content = content[: int(cut * len(content))]
    path = tmp_path_factory.getbasetemp() / "bytes.glb"
    path.write_bytes(content)
    check_read(path)


@pytest.mark.slow
@settings(deterministic, max_examples=100)
@given(values=st.lists(st.floats(width=32), min_size=1, max_size=12), place=st.floats(0, 1))
def test_any_floats_in_the_buffer(values, place, tmp_path_factory) -> None:
    content = bytearray(SAMPLE.glb())
    new = struct.pack(f"<{len(values)}f", *values)
    start = len(content) - len(SAMPLE.data)
    at = start + int(place * (len(SAMPLE.data) - len(new))) // 4 * 4
    content[at : at + len(new)] = new
    path = tmp_path_factory.getbasetemp() / "floats.glb"
    path.write_bytes(content)
    check_read(path)


def bomb_files(folder: Path) -> dict[str, bytes]:
    """Small files that ask for much time or memory, by name."""
    version = {"asset": {"version": "2.0"}}

    def text(**more: Any) -> bytes:
        return json.dumps({**version, **more}).encode()

    def repeated(before: str, item: str, count: int, after: str) -> bytes:
        items = ",".join([item] * count)
        return f'{{"asset":{{"version":"2.0"}},{before}{items}{after}}}'.encode()

    zeros = {"componentType": 5126, "count": 10**9, "type": "VEC3"}
    part = {"attributes": {"POSITION": 0}}
    many = GltfBuilder()
    many.accessor(np.zeros((20_000, 3)))
    targets = [{"POSITION": 0}] * 5_000
    crowd = GltfBuilder()
    positions = crowd.accessor(np.random.default_rng(0).random((30_000, 3)))
    colours = crowd.accessor(np.zeros((30_000, 4)), "u1", normalized=True)
    cells = [{"attributes": {"POSITION": positions, "COLOR_0": colours}}] * 40_000
    crowd.show(*cells)
    many.show({"attributes": {"POSITION": 0}, "targets": targets})
    channel = '{"sampler":0,"target":{"node":0,"path":"scale"}}'
    keys = GltfBuilder()
    keys.accessor([0.0])
    keys.accessor([[1.0, 1.0, 1.0]])
    keys.add("nodes")
    channels = [{"sampler": 0, "target": {"node": 0, "path": "scale"}}] * 100_000
    keys.add("animations", channels=channels, samplers=[{"input": 0, "output": 1}])
    tangle = [{"children": [(i * 7 + 1) % 30_000]} for i in range(30_000)]
    matrix = "[" + ",".join(["1e38"] * 15) + ",1]"
    chain = [{"children": [i + 1]} if i < 49_999 else {} for i in range(50_000)]
    (folder / "big.bin").write_bytes(b"")
    with (folder / "big.bin").open("r+b") as file:
        file.truncate(6 * 2**30)
    return {
        "zeros.gltf": text(accessors=[zeros], meshes=[{"primitives": [part]}], nodes=[{"mesh": 0}]),
        "sparse.gltf": text(
            accessors=[{**zeros, "sparse": {"count": 10**9, "indices": {}, "values": {}}}],
            meshes=[{"primitives": [part]}],
            nodes=[{"mesh": 0}],
        ),
        "morphs.glb": many.glb(),
        "crowd.glb": crowd.glb(),
        "channels.glb": keys.glb(),
        "channel list.gltf": repeated('"animations":[{"channels":[', channel, 400_000, "]}]"),
        "deep list.gltf": b'{"extras":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "deep object.gltf": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "unclosed.gltf": b'{"extras":' + b"[" * 10_000_000,
        "empty objects.gltf": repeated('"extras":[', "{}", 1_900_000, "]"),
        "nodes.gltf": repeated('"nodes":[', "{}", 50_000, "]"),
        "matrices.gltf": repeated('"nodes":[', f'{{"matrix":{matrix}}}', 25_000, "]"),
        "materials.gltf": repeated('"materials":[', "{}", 50_000, "]"),
        "textures.gltf": repeated('"images":[', '{"uri":"big.bin"}', 2_000, "]"),
        "meshes.gltf": repeated('"meshes":[', '{"primitives":[{"attributes":{}}]}', 50_000, "]"),
        "tangle.gltf": text(nodes=tangle),
        "chain.gltf": text(nodes=chain, scenes=[{"nodes": list(range(50_000))}]),
        "same keys.gltf": repeated('"extras":{', '"a":1', 1_000_000, "}"),
        "long name.gltf": text(nodes=[{"name": "x" * 50_000_000}]),
        "long uri.gltf": text(buffers=[{"byteLength": 1, "uri": "a/" * 10_000_000}]),
        "percent.gltf": text(buffers=[{"byteLength": 1, "uri": "data:," + "%41" * 10_000_000}]),
        "big file.gltf": text(buffers=[{"byteLength": 8, "uri": "big.bin"}], nodes=[{}]),
        "big number.gltf": b'{"asset":{"version":"2.0"},"scene":' + b"9" * 1_000_000 + b"}",
        "many chunks.glb": pack_glb(text(), b"", *[(7, b"")] * 300_000),
        "picture.gltf": text(images=[{"uri": "bomb.png"}]),
    }


@pytest.mark.slow
def test_small_files_that_ask_for_much(tmp_path: Path) -> None:
    (tmp_path / "bomb.png").write_bytes(forged_png(2**31 - 1, 2**31 - 1))
    files = bomb_files(tmp_path)
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    outcomes = read_within_limits([tmp_path / name for name in files])
    kinds = {outcome.path.name: outcome.kind for outcome in outcomes}
    allowed = {"nodes.gltf", "materials.gltf", "meshes.gltf", "chain.gltf", "long name.gltf",
               "big file.gltf", "textures.gltf", "many chunks.glb", "channels.glb", "picture.gltf",
               "empty objects.gltf", "same keys.gltf", "matrices.gltf",
               "channel list.gltf"}  # fmt: skip
    assert {name for name, kind in kinds.items() if kind == "asset"} == allowed


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["image", "buffer"])
def test_no_uri_opens_a_file_elsewhere_or_the_network(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\n secret")
    folder = tmp_path / "asset"
    (folder / "sub").mkdir(parents=True)
    (folder / "link.png").symlink_to(secret)
    (folder / "way").symlink_to(tmp_path)
    uris = [
        "../secret.png", "sub/../../secret.png", "%2e%2e/secret.png", "..%2Fsecret.png",
        "%252e%252e/secret.png", "..\\secret.png", "link.png", "way/secret.png", str(secret),
        f"file://{secret}", f"file:{secret}", "/dev/zero", "/dev/stdin", "/proc/self/mem",
        "http://127.0.0.1:1/a.png", "https://localhost/a.png", "ftp://localhost/a", "//localhost/a",
        "\\\\localhost\\a", "\0", "a\0b", "~/.bashrc", "$HOME/a", "|cat /etc/passwd", "sub", ".",
        "", "con", "a" * 300, "/".join(["a"] * 2000), "\ud800", "asset.gltf/../../secret.png",
    ]  # fmt: skip
    paths = []
    for i, uri in enumerate(uris):
        document: dict[str, Any] = {"asset": {"version": "2.0"}, "nodes": [{}]}
        if kind == "image":
            document["images"] = [{"uri": uri}]
        else:
            document["buffers"] = [{"byteLength": 4, "uri": uri}]
        paths.append(folder / f"{i}.gltf")
        paths[-1].write_text(json.dumps(document))
    outcomes = read_within_limits(paths)
    wanted = "asset" if kind == "image" else "refused"
    assert {outcome.kind for outcome in outcomes} == {wanted}
