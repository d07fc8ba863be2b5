"""Documents to disk: `write_glb` in one file, `write_gltf` as text with its bytes beside it."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

from akd.asset.asset import AssetError, GltfDocument, Problem
from akd.base.files import write_atomically, write_bytes
from akd.export.gltf.pack import Packed, pack, padded

_JSON_CHUNK = 0x4E4F534A
_BIN_CHUNK = 0x004E4942
_LONGEST = 2**32 - 1


def write_glb(document: GltfDocument, path: Path) -> tuple[Problem, ...]:
    """Write a document as one binary file, with all its buffers and images in it.

    Returns what could not be packed. Raises `AssetError` where the file would be too large for the
    format. Nothing half-written stays behind, and `path` may be the file the document came from.
    """
    packed = pack(document)
    text = _to_text(packed.json, path)
    chunks: list[tuple[int, int, Iterable[bytes | memoryview]]] = [
        (_JSON_CHUNK, padded(len(text)), (text.ljust(padded(len(text))),))
    ]
    if packed.parts:
        chunks.append((_BIN_CHUNK, packed.length, packed.parts))
    chunks += [(kind, padded(len(data)), (data,)) for kind, data in document.other_chunks]
    total = 12 + sum(8 + size for _, size, _ in chunks)
    if total > _LONGEST:
        raise AssetError(f"{path}: a GLB must have at most {_LONGEST} bytes, this has {total}")
    with write_atomically(path) as file:
        file.write(struct.pack("<4sII", b"glTF", 2, total))
        for kind, size, parts in chunks:
            file.write(struct.pack("<II", size, kind))
            _write_parts(file, parts)
    return packed.problems


def write_gltf(document: GltfDocument, path: Path) -> tuple[Problem, ...]:
    """Write a document as text, its buffers and images in one file of the same name with `.bin`.

    Returns what could not be packed.
    """
    packed = pack(document)
    if packed.parts:
        binary = path.with_suffix(".bin")
        _name_buffer(packed, binary.name)
        with write_atomically(binary) as file:
            _write_parts(file, packed.parts)
    write_bytes(path, _to_text(packed.json, path))
    return packed.problems


def _name_buffer(packed: Packed, name: str) -> None:
    """Say where the packed buffer is; the list and its first entry are the packer's own."""
    first = packed.json["buffers"][0]
    packed.json["buffers"][0] = {"uri": quote(name), **first}


def _to_text(root: dict[str, Any], path: Path) -> bytes:
    try:
        text = json.dumps(root, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # Half of a surrogate pair, which only an escape can carry.
        return json.dumps(root, separators=(",", ":")).encode("ascii")
    except (ValueError, TypeError, RecursionError) as error:
        raise AssetError(f"{path}: the document cannot be written as JSON: {error}") from error


def _write_parts(file: BinaryIO, parts: Iterable[bytes | memoryview]) -> None:
    for part in parts:
        file.write(part)
        file.write(b"\0" * (padded(len(part)) - len(part)))
