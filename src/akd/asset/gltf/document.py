"""`read_document`: a glTF file's JSON and buffers, unparsed."""

from __future__ import annotations

import re
import struct
from pathlib import Path

from akd.asset.asset import AssetError, Budget, GltfDocument
from akd.asset.gltf.fields import Fields, GltfError
from akd.asset.gltf.json_text import parse_json
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder, read_regular_file

_MAGIC = b"glTF"
_JSON_CHUNK = 0x4E4F534A
_BIN_CHUNK = 0x004E4942


def read_document(
    path: Path | str, *, problems: ProblemLog | None = None, budget: Budget | None = None
) -> GltfDocument:
    """Read a .glb or .gltf file with its buffers: the BIN chunk, data URIs, files beside it.

    Raises `AssetError` where the file or one of its buffers cannot be used. What
    is odd about the file goes to `problems`.
    """
    path = Path(path)
    try:
        return _read(path, problems or ProblemLog(), budget or Budget())
    except AssetError as error:
        raise AssetError(f"{path}: {error}") from error


def _read(path: Path, problems: ProblemLog, budget: Budget) -> GltfDocument:
    data = memoryview(read_regular_file(path, "", "file"))
    budget.charge(len(data), "file")
    is_binary = data[:4] == _MAGIC
    chunks = _split_glb(data, problems) if is_binary else [(_JSON_CHUNK, data)]
    json = parse_json(chunks.pop(0)[1], problems)
    binary = chunks.pop(0)[1] if chunks and chunks[0][0] == _BIN_CHUNK else None
    del data
    root = Fields(json, "")
    _check_version(root)
    buffers = _resolve_buffers(root, binary, AssetFolder(path.parent, budget), problems)
    return GltfDocument(json, buffers, path.parent, is_binary, tuple(chunks))


def _split_glb(data: memoryview, problems: ProblemLog) -> list[tuple[int, memoryview]]:
    """Return the chunks of a GLB container, the JSON first."""
    if len(data) < 20:
        raise GltfError("GLB", f"must have at least 20 bytes, got {len(data)}")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise GltfError("GLB", f"version must be 2, got {version}")
    if length > len(data):
        raise GltfError(
            "GLB", f"must have the {length} bytes it states, got {len(data)}: cut short"
        )
    if length < len(data):
        what = f"{len(data) - length} bytes follow the end it states"
        problems.note("GLB", what, "they are ignored")
    chunks: list[tuple[int, memoryview]] = []
    offset = 12
    while offset + 8 <= length:
        size, kind = struct.unpack_from("<II", data, offset)
        offset += 8
        if size > length - offset:
            rule = f"must end inside the file, which has {length - offset} bytes left"
            raise GltfError(f"GLB chunk {len(chunks)}", f"{rule}, got {size}")
        chunks.append((kind, data[offset : offset + size]))
        offset += size
    if not chunks or chunks[0][0] != _JSON_CHUNK:
        raise GltfError("GLB", "must begin with a JSON chunk, got none")
    return chunks


def _check_version(root: Fields) -> None:
    if not root.has("asset"):
        raise GltfError(
            "JSON", "must be glTF and have an `asset` that states the version, got none"
        )
    asset = root.object("asset")
    version = asset.text("version")
    least = asset.text("minVersion", "2.0")
    if not re.fullmatch(r"2\.[0-9]+", version):
        raise asset.refuse("version", "must be 2.x", version)
    if least != "2.0":
        raise asset.refuse("minVersion", "must be 2.0, which akd reads", least)


def _resolve_buffers(
    root: Fields, binary: memoryview | None, folder: AssetFolder, problems: ProblemLog
) -> tuple[memoryview, ...]:
    buffers: list[memoryview] = []
    for i, entry in enumerate(root.objects("buffers", "buffer")):
        length = entry.integer("byteLength", minimum=1)
        if entry.has("uri"):
            buffers.append(folder.load(entry.text("uri"), where=entry.where, length=length))
        elif i == 0 and binary is not None:
            if len(binary) < length:
                rule = f"must be at most the {len(binary)} bytes of the BIN chunk"
                raise entry.refuse("byteLength", rule, length)
            buffers.append(binary[:length])
        else:
            problems.warn(entry.where, "says nowhere to find its bytes", "it is taken as empty")
            buffers.append(memoryview(b""))
    if binary is not None and len(binary) and not buffers:
        problems.note("GLB", "no buffer uses the BIN chunk", "it is ignored")
    return tuple(buffers)
