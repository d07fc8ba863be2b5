"""The container: GLB chunks, JSON as strangers write it, and where buffers may come from."""

import base64
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from akd.asset.asset import AssetError
from akd.asset.gltf.document import read_document
from akd.asset.read import read_asset
from tests.asset.gltf_builder import GltfBuilder, pack_glb, sample

EMPTY = b'{"asset": {"version": "2.0"}}'


def refusal(path: Path, content: bytes | None = None) -> str:
    """What is said about a file, without its name, which must come first, and on one line."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AssetError) as caught:
        read_asset(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def problems(content: bytes, path: Path) -> list[tuple[str, str]]:
    path.write_bytes(content)
    return [(problem.where, problem.what) for problem in read_asset(path).problems]


def test_the_three_ways_to_hold_a_buffer_give_the_same_asset(tmp_path: Path) -> None:
    builder = sample()
    (tmp_path / "a.glb").write_bytes(builder.glb())
    (tmp_path / "b.gltf").write_bytes(builder.gltf())
    (tmp_path / "some data.bin").write_bytes(bytes(builder.data) + b"more than is asked for")
    (tmp_path / "c.gltf").write_bytes(builder.gltf("some%20data.bin"))
    assets = [read_asset(tmp_path / name) for name in ("a.glb", "b.gltf", "c.gltf")]
    assert [asset.format for asset in assets] == ["glb", "gltf", "gltf"]
    for asset in assets:
        assert asset.problems == ()
        part = asset.meshes[0].parts[0]
        assert part.positions.shape == (12, 3)
        assert part.faces.shape == (12, 3)
        np.testing.assert_array_equal(part.positions[7], (1.0, 2.0, 0.0))
        assert asset.document is not None
        assert bytes(asset.document.buffers[0]) == bytes(builder.data)


def test_the_content_and_not_the_name_says_what_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "a.gltf").write_bytes(sample().glb())
    (tmp_path / "b.obj").write_bytes(sample().gltf())
    assert read_asset(tmp_path / "a.gltf").format == "glb"
    assert read_asset(tmp_path / "b.obj").format == "gltf"


def test_chunks_that_mean_nothing_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.glb").write_bytes(sample().glb((0x58585858, b"abcd")))
    document = read_document(tmp_path / "a.glb")
    assert [(kind, bytes(data)) for kind, data in document.other_chunks] == [(0x58585858, b"abcd")]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "JSON: is not valid: Expecting value at line 1 column 1"),
        (b"glTF", "GLB: must have at least 20 bytes, got 4"),
        (struct.pack("<4sIIII", b"glTF", 1, 20, 0, 0), "GLB: version must be 2, got 1"),
        (struct.pack("<4sIIII", b"glTF", 2, 9999, 0, 0),
         "GLB: must have the 9999 bytes it states, got 20: cut short"),
        (struct.pack("<4sIIII", b"glTF", 2, 20, 4000, 0x4E4F534A),
         "GLB chunk 0: must end inside the file, which has 0 bytes left, got 4000"),
        (struct.pack("<4sIIII", b"glTF", 2, 20, 0, 5),
         "GLB: must begin with a JSON chunk, got none"),
        (b'{"asset": {"version": "1.0"}}', "asset, version: must be 2.x, got '1.0'"),
        (b'{"asset": {"version": 2.0}}', "asset, version: must be a string, got 2.0"),
        (b'{"asset": {"version": "2.1", "minVersion": "2.1"}}',
         "asset, minVersion: must be 2.0, which akd reads, got '2.1'"),
        (b'{"asset": 5}', "asset: must be an object, got 5"),
        (b"{}", "JSON: must be glTF and have an `asset` that states the version, got none"),
        (b'{"asset": {}}', "asset, version: must be a string, got nothing"),
        (b'{"asset": {"version": "2.0"},}',
         "JSON: is not valid: Illegal trailing comma before end of object at line 1 column 29"),
        (b'{"a": "\xff"}', "JSON: must be UTF-8, got a bad byte at 7"),
        (b'{"asset": {"version": "2.0"}, "nodes": {}}', "nodes: must be a list, got {}"),
        (b'{"asset": {"version": "2.0"}, "nodes": [3]}', "node 0: must be an object, got 3"),
        (b'{"asset":{"version":"2.0"},"extensionsRequired":["EXT_meshopt_compression"]}',
         "extensionsRequired: must be extensions that akd knows, got 'EXT_meshopt_compression': "
         "export without compressed meshes of this kind"),
        (b'{"asset":{"version":"2.0"},"extensionsRequired":["ACME_teapot"]}',
         "extensionsRequired: must be extensions that akd knows, got 'ACME_teapot': "
         "export without the extension"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path, content, line) -> None:
    said = refusal(tmp_path / "a.gltf", content)
    if "trailing comma" in line:
        # Python 3.13 words this one better.
        assert said.startswith("JSON: is not valid: ")
    else:
        assert said == line


def test_json_nested_too_deep_is_refused(tmp_path: Path) -> None:
    line = "JSON: must be nested at most 200 deep, got more"
    for depth in (201, 900, 100_000, 1_000_000):
        text = b'{"extras": ' + b"[" * depth + b"]" * depth + b"}"
        assert refusal(tmp_path / "a.gltf", text) == line
        text = b'{"extras": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
        assert refusal(tmp_path / "a.gltf", text) == line


def test_json_of_millions_of_values_is_refused(tmp_path: Path) -> None:
    text = b'{"extras": [' + b"{}," * 5_000_000 + b"{}]}"
    said = refusal(tmp_path / "a.gltf", text)
    assert said == "JSON: must hold at most 4000000 values, got about 10000003"


def test_more_nodes_than_a_character_can_have_are_refused(tmp_path: Path) -> None:
    text = b'{"asset": {"version": "2.0"}, "nodes": [' + b"{}," * 60_000 + b"{}]}"
    assert refusal(tmp_path / "a.gltf", text) == "nodes: must be at most 50000, got 60001"


def test_json_as_strangers_write_it(tmp_path: Path) -> None:
    path = tmp_path / "a.gltf"
    nothing = ("file", "has no nodes and no triangles")
    assert problems(EMPTY, path) == [nothing]
    mark = ("JSON", "starts with a byte-order mark")
    assert problems(b"\xef\xbb\xbf" + EMPTY, path) == [mark, nothing]
    twice = b'{"asset": {"version": "1.0", "version": "2.0"}}'
    assert problems(twice, path) == [
        ("JSON", "1 keys repeat another of the same object"),
        nothing,
    ]
    odd = b'{"asset": {"version": "2.0", "extras": [NaN, -Infinity, 1e999]}}'
    assert problems(odd, path) == [
        ("JSON", "holds NaN, which JSON has not"),
        ("JSON", "holds -Infinity, which JSON has not"),
        ("JSON", "holds '1e999', too large"),
        nothing,
    ]
    padded = pack_glb(EMPTY + b"\0" * (-len(EMPTY) % 4 + 4))
    assert problems(padded, path) == [
        ("JSON", "is padded with zeros instead of spaces"),
        nothing,
    ]
    longer = pack_glb(EMPTY) + b"junk"
    assert problems(longer, path) == [("GLB", "4 bytes follow the end it states"), nothing]


def test_half_a_surrogate_pair_in_a_name_can_be_printed(tmp_path: Path) -> None:
    text = b'{"asset": {"version": "2.0"}, "nodes": [{"name": "a\\ud800b"}, {"name": 7}, {}]}'
    (tmp_path / "a.gltf").write_bytes(text)
    assert [node.name for node in read_asset(tmp_path / "a.gltf").nodes] == ["a?b", "", ""]


def test_an_integer_of_ten_thousand_digits_is_refused(tmp_path: Path) -> None:
    text = b'{"asset": {"version": "2.0"}, "scene": ' + b"9" * 10_000 + b"}"
    assert refusal(tmp_path / "a.gltf", text).startswith("JSON: is not valid: Exceeds the limit")


OUTSIDE = "buffer 0: URI must be relative and stay in the asset's folder, got "


@pytest.mark.parametrize(
    "uri",
    [
        "../secret.bin",
        "a/../../secret.bin",
        "..\\secret.bin",
        "%2e%2e/secret.bin",
        "%2E%2E%2Fsecret.bin",
        "sub/..%2f..%2fsecret.bin",
        "/etc/passwd",
        "%2Fetc%2Fpasswd",
        "\\\\server\\share",
        "file:///etc/passwd",
        "FILE:secret.bin",
        "file%3A///etc/passwd",
        "http://127.0.0.1:9/secret.bin",
        "https://example.com/a.bin",
        "C:\\secret.bin",
        "sec\0ret.bin",
        "secret.bin%00",
        "x" * 5000,
    ],
)
def test_a_uri_that_leads_out_of_the_folder_is_refused(tmp_path: Path, uri: str) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    folder = tmp_path / "asset"
    (folder / "sub").mkdir(parents=True)
    document = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 4, "uri": uri}]}
    said = refusal(folder / "a.gltf", json.dumps(document).encode())
    assert said.startswith(OUTSIDE)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.bin").write_bytes(bytes(64))
    folder = tmp_path / "asset"
    folder.mkdir()
    if kind == "file":
        (folder / "data.bin").symlink_to(tmp_path / "outside" / "secret.bin")
        uri = "data.bin"
    else:
        (folder / "data").symlink_to(tmp_path / "outside")
        uri = "data/secret.bin"
    document = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 4, "uri": uri}]}
    said = refusal(folder / "a.gltf", json.dumps(document).encode())
    assert said == OUTSIDE.replace("got ", f"{uri!r} is a link out of it")


def test_links_that_stay_inside_are_followed(tmp_path: Path) -> None:
    builder = sample()
    (tmp_path / "real.bin").write_bytes(bytes(builder.data))
    (tmp_path / "link.bin").symlink_to("real.bin")
    (tmp_path / "a.gltf").write_bytes(builder.gltf("link.bin"))
    assert read_asset(tmp_path / "a.gltf").vertex_count == 12


def test_an_asset_in_a_linked_folder_is_read(tmp_path: Path) -> None:
    builder = sample()
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "b.bin").write_bytes(bytes(builder.data))
    (tmp_path / "real" / "a.gltf").write_bytes(builder.gltf("b.bin"))
    (tmp_path / "link").symlink_to("real")
    assert read_asset(tmp_path / "link" / "a.gltf").vertex_count == 12


@pytest.mark.parametrize(
    ("uri", "line"),
    [
        ("gone.bin", "buffer 0: file 'gone.bin' does not exist"),
        ("", "buffer 0: file '' must be a regular file"),
        ("pipe", "buffer 0: file 'pipe' must be a regular file"),
        ("short.bin", "buffer 0: must hold 8 bytes, 'short.bin' has 3"),
        ("data:,ab", "buffer 0: must hold 8 bytes, 'data:,ab' has 2"),
        ("data:;base64,????", "buffer 0: data URI must be valid base64, got 'data:;base64,????'"),
        ("data:nothing", "buffer 0: data URI must have a comma, got 'data:nothing'"),
    ],
)
def test_a_buffer_that_cannot_be_had_is_refused(tmp_path: Path, uri: str, line: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "short.bin").write_bytes(b"abc")
    document = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 8, "uri": uri}]}
    assert refusal(tmp_path / "a.gltf", json.dumps(document).encode()) == line


def test_data_uris_in_their_several_spellings(tmp_path: Path) -> None:
    data = bytes(range(250, 256)) * 3
    plain = base64.b64encode(data).decode()
    for uri in (
        f"data:;base64,{plain}",
        f"DATA:application/gltf-buffer;BASE64,{plain.rstrip('=')}",
        "data:application/octet-stream;base64," + plain.replace("+", "%2B").replace("/", "%2F"),
        "data:," + "".join(f"%{byte:02x}" for byte in data),
    ):
        document = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": 17, "uri": uri}]}
        (tmp_path / "a.gltf").write_text(json.dumps(document))
        assert bytes(read_document(tmp_path / "a.gltf").buffers[0]) == data[:17]


def test_a_buffer_without_bytes_harms_only_who_uses_it(tmp_path: Path) -> None:
    document = {"asset": {"version": "2.0"}, "nodes": [{}], "buffers": [{"byteLength": 8}]}
    (tmp_path / "a.gltf").write_text(json.dumps(document))
    asset = read_asset(tmp_path / "a.gltf")
    assert ("buffer 0", "says nowhere to find its bytes") in [
        (p.where, p.what) for p in asset.problems
    ]
    builder = GltfBuilder()
    builder.show(builder.triangle())
    document = dict(builder.json, buffers=[{"byteLength": 36}])
    said = refusal(tmp_path / "a.gltf", json.dumps(document).encode())
    assert said == (
        "buffer view 0: must end inside buffer 0 of 0 bytes, got byteOffset 0 and byteLength 36"
    )


@pytest.mark.parametrize("cut", [5, 19, 100, 1000, -1])
def test_a_file_cut_short_is_refused(tmp_path: Path, cut: int) -> None:
    assert "GLB" in refusal(tmp_path / "a.glb", sample().glb()[:cut])


def test_a_missing_file_a_folder_and_an_unknown_format(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone.glb") == "file does not exist"
    assert refusal(tmp_path) == "must be a regular file"
    said = refusal(tmp_path / "a.max", b"3ds")
    assert said.endswith("got '.max'")
