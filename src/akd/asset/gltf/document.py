"""`GltfDocument`: a glTF file as it stands, before anything is understood of it."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from akd.asset.asset import AssetError
from akd.asset.gltf.fields import Fields
from akd.asset.gltf.json_text import parse_json
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder, read_regular_file

_MAGIC = b"glTF"
_JSON_CHUNK = 0x4E4F534A
_BIN_CHUNK = 0x004E4942


@dataclass(frozen=True)
class GltfDocument:
    """The JSON of a glTF file with its buffers resolved. Nobody modifies either."""

    json: dict[str, Any]
    buffers: tuple[memoryview, ...]
    """The bytes of each entry of `json["buffers"]`, in order; empty where the file names none."""
    folder: Path
    """Where relative URIs are looked up; nothing outside it is ever read."""

    @property
    def root(self) -> Fields:
        """The JSON, to be read field by field."""
        return Fields(self.json, "")


def read_document(path: Path | str, *, problems: ProblemLog | None = None) -> GltfDocument:
    """Read a .glb or .gltf file with its buffers: the BIN chunk, data URIs, files beside it.

    Raises `AssetError`, in one line, where the file or one of its buffers cannot be used.
    """
    path = Path(path)
    problems = ProblemLog() if problems is None else problems
    data = memoryview(read_regular_file(path, "file"))
    if data[:4] == _MAGIC:
        text, binary = _split_glb(data, problems)
    else:
        text, binary = data, None
    json = parse_json(text, problems)
    del data, text
    _check_version(Fields(json, ""))
    buffers = _resolve_buffers(Fields(json, ""), binary, AssetFolder(path.parent), problems)
    return GltfDocument(json, buffers, path.parent)


def _split_glb(data: memoryview, problems: ProblemLog) -> tuple[memoryview, memoryview | None]:
    """Return the JSON and the BIN chunk of a GLB container."""
    if len(data) < 20:
        raise AssetError(f"GLB must be at least 20 bytes, got {len(data)}")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise AssetError(f"GLB version must be 2, got {version}")
    if length > len(data):
        raise AssetError(f"GLB says it has {length} bytes, got {len(data)}: the file is cut short")
    if length < len(data):
        extra = len(data) - length
        problems.note("GLB", f"{extra} bytes follow the end it states", "they are ignored")
    data = data[:length]
    chunks: list[tuple[int, memoryview]] = []
    offset = 12
    while offset + 8 <= length:
        size, kind = struct.unpack_from("<II", data, offset)
        offset += 8
        if size > length - offset:
            raise AssetError(
                f"GLB chunk {len(chunks)} must end inside the file, got {size} bytes "
                f"where {length - offset} are left"
            )
        chunks.append((kind, data[offset : offset + size]))
        offset += size
    if not chunks or chunks[0][0] != _JSON_CHUNK:
        raise AssetError("GLB must begin with a JSON chunk, got none")
    binary = chunks[1][1] if len(chunks) > 1 and chunks[1][0] == _BIN_CHUNK else None
    return chunks[0][1], binary


def _check_version(root: Fields) -> None:
    asset = root.object("asset")
    version = asset.text("version")
    least = asset.text("minVersion", version)
    for key, value in (("version", version), ("minVersion", least)):
        major, dot, minor = value.partition(".")
        if not (major == "2" and dot and minor.isascii() and minor.isdecimal()):
            raise asset.refuse(key, "must be 2.x", value)
    if int(least[2:6]) > 0:
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
                raise entry.refuse("byteLength", f"BIN chunk has {len(binary)} bytes", length)
            buffers.append(binary[:length])
        else:
            problems.warn(entry.where, "says nowhere to find its bytes", "it is taken as empty")
            buffers.append(memoryview(b""))
    if binary is not None and len(binary) and not buffers:
        problems.note("GLB", "no buffer uses the BIN chunk", "it is ignored")
    return tuple(buffers)
