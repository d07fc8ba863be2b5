import base64
import json
import struct
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from akd.asset.asset import AssetError, GltfDocument
from akd.asset.gltf.document import read_document
from akd.asset.read import read_asset
from akd.export.gltf.clips import add_clips
from akd.export.gltf.write import write_glb, write_gltf
from tests.asset.gltf_builder import GltfBuilder, pack_glb, png, sample
from tests.export.clip_samples import check_clip, check_untouched, clip_for, view_bytes
from tests.export.khronos import ERROR, codes, validate


def split_over_buffers(builder: GltfBuilder, folder: Path) -> Path:
    """The same file with every view in a buffer of its own: data URIs, files, odd lengths."""
    root: dict[str, Any] = json.loads(builder.gltf())
    buffers = []
    for index, view in enumerate(root["bufferViews"]):
        start = view.get("byteOffset", 0)
        data = bytes(builder.data[start : start + view["byteLength"]])
        view.update(buffer=index, byteOffset=4 if index % 2 else 0)
        data = b"\1\2\3\4" * (index % 2) + data + b"x" * (index % 3)
        if index % 2:
            (folder / f"part {index}.bin").write_bytes(data)
            uri = f"part%20{index}.bin"
        else:
            uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        buffers.append({"byteLength": len(data), "uri": uri, "extras": {"part": index}})
    root["buffers"] = buffers
    path = folder / "split.gltf"
    path.write_text(json.dumps(root))
    return path


def chunks(path: Path) -> list[tuple[int, bytes]]:
    data = path.read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    found, at = [], 12
    while at < len(data):
        size, kind = struct.unpack_from("<II", data, at)
        assert size % 4 == 0
        found.append((kind, data[at + 8 : at + 8 + size]))
        at += 8 + size
    return found


def test_buffers_from_everywhere_become_one(tmp_path: Path) -> None:
    before = read_asset(split_over_buffers(sample(), tmp_path))
    assert before.document is not None
    clip = clip_for(before)
    out = tmp_path / "elsewhere" / "out.glb"
    out.parent.mkdir()
    assert write_glb(add_clips(before.document, [clip]), out) == ()
    after = read_asset(out)
    check_untouched(before, after, clips=1)
    check_clip(after, 1, clip)
    assert after.document is not None
    (buffer,) = after.document.json["buffers"]
    assert "uri" not in buffer
    # What was said of the buffers is kept.
    assert buffer["extras"]["part"] == 0
    assert buffer["extras"]["packed_buffers"][0] == {"extras": {"part": 1}}
    (_, text), (kind, binary) = chunks(out)
    assert json.loads(text) == after.document.json
    assert kind == 0x004E4942
    assert 0 <= len(binary) - buffer["byteLength"] < 4
    for view in after.document.json["bufferViews"]:
        assert view.get("byteOffset", 0) % 4 == 0
    old, new = validate([tmp_path / "split.gltf", out])
    assert not codes(new, ERROR) - codes(old, ERROR)


def test_what_akd_does_not_understand_is_still_there(tmp_path: Path) -> None:
    builder = sample()
    builder.json["extensionsUsed"] = ["KHR_texture_transform", "ACME_fur", "KHR_lights_punctual"]
    builder.json["extensions"] = {
        "KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 0.1}]},
        "ACME_fur": {"strands": [1, {"deep": [None, True, "é", 1e-7, 12345678901234567890]}]},
    }
    builder.add("cameras", type="orthographic", orthographic={"xmag": 1.5}, extras=[1, 2])
    builder.json["nodes"][1]["camera"] = 0
    builder.json["nodes"][1]["extensions"] = {"KHR_lights_punctual": {"light": 0}}
    builder.json["zzz"] = {"future": "key"}
    builder.json["asset"]["copyright"] = "© somebody"
    (tmp_path / "in.glb").write_bytes(builder.glb((0x4B4E5546, b"funk"), (0x31323334, b"")))
    before = read_asset(tmp_path / "in.glb")
    assert before.document is not None
    write_glb(add_clips(before.document, [clip_for(before)]), tmp_path / "out.glb")
    after = read_asset(tmp_path / "out.glb")
    check_untouched(before, after, clips=1)
    assert after.document is not None
    for key in ("extensions", "extensionsUsed", "cameras", "asset", "zzz", "materials", "samplers"):
        assert json.dumps(after.document.json[key]) == json.dumps(before.document.json[key])
    assert chunks(tmp_path / "out.glb")[2:] == [(0x4B4E5546, b"funk"), (0x31323334, b"")]


def test_pictures_beside_the_file_are_packed_once(tmp_path: Path) -> None:
    builder = sample()
    red, blue = png(), png(4, 4, (0, 0, 255, 255))
    (tmp_path / "my red.png").write_bytes(red)
    (tmp_path / "blue").write_bytes(blue)
    builder.json["images"] = [
        {"name": "a", "uri": "my%20red.png", "extras": {"x": 1}},
        {"uri": "blue"},
        {"uri": "my%20red.png"},
        {"uri": "data:image/png;base64," + base64.b64encode(blue).decode()},
    ]
    (tmp_path / "in.glb").write_bytes(builder.glb())
    before = read_asset(tmp_path / "in.glb")
    assert before.document is not None
    out = tmp_path / "elsewhere" / "out.glb"
    out.parent.mkdir()
    assert write_glb(before.document, out) == ()
    after = read_asset(out)
    check_untouched(before, after, clips=0)
    assert [bytes(i.data) for i in after.images] == [red, blue, red, blue]
    assert after.document is not None
    first, _, third, fourth = after.document.json["images"]
    assert list(first) == ["name", "bufferView", "mimeType", "extras"]
    assert first["mimeType"] == "image/png"
    assert third["bufferView"] == first["bufferView"]
    assert fourth == before.document.json["images"][3]


@pytest.mark.parametrize("uri", ["gone.png", "../secret.png", "http://host/a.png", "note.txt"])
def test_pictures_that_cannot_be_had_keep_their_uri(tmp_path: Path, uri: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.png").write_bytes(png())
    (inner / "note.txt").write_text("no image")
    builder = sample()
    builder.json["images"] = [{"uri": uri}]
    (inner / "in.glb").write_bytes(builder.glb())
    document = read_document(inner / "in.glb")
    (problem,) = write_glb(document, inner / "out.glb")
    assert problem.where == "image 0"
    assert problem.action == "leaves the reference to it"
    assert read_document(inner / "out.glb").json["images"] == [{"uri": uri}]


def test_compressed_views_and_fallback_buffers(tmp_path: Path) -> None:
    """EXT_meshopt_compression: the view names an empty buffer, its extension the real one."""
    name = "EXT_meshopt_compression"
    real = bytes(range(24))
    root = {
        "asset": {"version": "2.0"},
        "extensionsUsed": [name],
        "buffers": [
            {"byteLength": 8, "uri": "data:;base64," + base64.b64encode(b"12345678").decode()},
            {"byteLength": 96, "extensions": {name: {"fallback": True}}},
            {"byteLength": 24, "uri": "data:;base64," + base64.b64encode(real).decode()},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 8},
            {"buffer": 1, "byteLength": 96, "byteStride": 12,
             "extensions": {name: {"buffer": 2, "byteOffset": 4, "byteLength": 20,
                                   "byteStride": 12, "count": 8, "mode": "ATTRIBUTES"}}},
        ],
    }  # fmt: skip
    (tmp_path / "in.gltf").write_text(json.dumps(root))
    write_glb(read_document(tmp_path / "in.gltf"), tmp_path / "out.glb")
    after = read_document(tmp_path / "out.glb")
    packed, fallback = after.json["buffers"]
    assert fallback == root["buffers"][1]
    first, second = after.json["bufferViews"]
    assert first == {"buffer": 0, "byteLength": 8}
    assert second["buffer"] == 1
    inner = second["extensions"][name]
    assert inner["buffer"] == 0
    start = inner["byteOffset"]
    assert bytes(after.buffers[0][start : start + 20]) == real[4:]
    assert packed["byteLength"] == 32


def test_a_view_that_overruns_its_buffer_shows_nothing_new(tmp_path: Path) -> None:
    builder = sample()
    builder.json["bufferViews"].append({"buffer": 0, "byteOffset": 0, "byteLength": 10_000})
    (tmp_path / "in.glb").write_bytes(builder.glb())
    asset = read_asset(tmp_path / "in.glb")
    assert asset.document is not None
    write_glb(add_clips(asset.document, [clip_for(asset)]), tmp_path / "out.glb")
    after = read_document(tmp_path / "out.glb")
    index = len(builder.json["bufferViews"]) - 1
    assert view_bytes(after, index) == bytes(builder.data)


def test_a_document_without_bytes(tmp_path: Path) -> None:
    (tmp_path / "in.gltf").write_text('{"asset":{"version":"2.0"},"nodes":[{"name":"only"}]}')
    write_glb(read_document(tmp_path / "in.gltf"), tmp_path / "out.glb")
    ((kind, text),) = chunks(tmp_path / "out.glb")
    assert kind == 0x4E4F534A
    assert text.endswith(b" ") or len(text.rstrip()) % 4 == 0
    assert json.loads(text) == {"asset": {"version": "2.0"}, "nodes": [{"name": "only"}]}


def test_text_with_its_bytes_beside_it(tmp_path: Path) -> None:
    before = read_asset(split_over_buffers(sample(), tmp_path))
    assert before.document is not None
    clip = clip_for(before)
    out = tmp_path / "out"
    out.mkdir()
    assert write_gltf(add_clips(before.document, [clip]), out / "a b.gltf") == ()
    after = read_asset(out / "a b.gltf")
    check_untouched(before, after, clips=1)
    check_clip(after, 1, clip)
    assert sorted(p.name for p in out.iterdir()) == ["a b.bin", "a b.gltf"]
    old, new = validate([tmp_path / "split.gltf", out / "a b.gltf"])
    assert not codes(new, ERROR) - codes(old, ERROR)


def test_a_file_can_be_written_over_itself(tmp_path: Path) -> None:
    path = sample().write(tmp_path / "a.glb")
    before = read_asset(path)
    assert before.document is not None
    write_glb(add_clips(before.document, [clip_for(before)]), path)
    assert len(read_asset(path).clips) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["a.glb"]


def test_nothing_half_written_stays(tmp_path: Path) -> None:
    path = sample().write(tmp_path / "a.glb")
    original = path.read_bytes()
    document = read_document(path)
    released = memoryview(b"gone")
    released.release()
    broken = replace(document, other_chunks=((1, released),))
    with pytest.raises(ValueError, match="released"):
        write_glb(broken, path)
    unwritable = replace(document, json={**document.json, "extras": {"x": {1, 2}}})
    with pytest.raises(AssetError, match="cannot be written as JSON"):
        write_glb(unwritable, path)
    assert path.read_bytes() == original
    assert [p.name for p in tmp_path.iterdir()] == ["a.glb"]


def test_half_surrogates_in_names_survive(tmp_path: Path) -> None:
    text = b'{"asset":{"version":"2.0"},"nodes":[{"name":"\\ud800 \xc3\xa9"}]}'
    (tmp_path / "in.glb").write_bytes(pack_glb(text))
    document = read_document(tmp_path / "in.glb")
    write_glb(document, tmp_path / "out.glb")
    assert read_document(tmp_path / "out.glb").json == document.json


def test_large_buffers_are_not_copied(tmp_path: Path) -> None:
    size = 32 * 2**20
    data = memoryview(np.zeros(size, np.uint8).tobytes())
    root = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": size}],
        "bufferViews": [{"buffer": 0, "byteLength": size}],
    }
    document = GltfDocument(root, (data,), tmp_path)
    tracemalloc.start()
    write_glb(document, tmp_path / "large.glb")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 8
    assert (tmp_path / "large.glb").stat().st_size > size


def test_a_file_too_large_for_the_format_is_refused(tmp_path: Path) -> None:
    data = memoryview(bytes(2**20))
    buffers = (data,) * 4100
    root = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": len(data)}] * len(buffers)}
    with pytest.raises(AssetError, match="a GLB must have at most 4294967295 bytes, this has"):
        write_glb(GltfDocument(root, buffers, tmp_path), tmp_path / "large.glb")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("uri", [".secret.png", ".secret/a.png"])
def test_hidden_files_are_not_packed(tmp_path: Path, uri: str) -> None:
    (tmp_path / uri).parent.mkdir(exist_ok=True)
    (tmp_path / uri).write_bytes(png())
    builder = sample()
    builder.json["images"] = [{"uri": uri}]
    (tmp_path / "in.glb").write_bytes(builder.glb())
    write_glb(read_document(tmp_path / "in.glb"), tmp_path / "out.glb")
    assert read_document(tmp_path / "out.glb").json["images"] == [{"uri": uri}]
