"""URIs. No other module opens a file for one, and nothing outside the asset's folder is read."""

from __future__ import annotations

import base64
import binascii
import io
import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from akd.asset.asset import Budget
from akd.asset.gltf.fields import GltfError, shown

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_RULE = "URI must be relative and stay in the asset's folder"
_MAX_PATH = 4096
_MAX_FILE = 512 * 2**20
_MAX_PERCENT_ENCODED = 2**20
"""Bytes written as %41 cost a hundred times their size to decode; nobody stores much that way."""


class AssetFolder:
    """Reads what the URIs of one file refer to, and charges it to the file's budget."""

    def __init__(self, folder: Path, budget: Budget) -> None:
        self.folder = folder
        self.budget = budget
        self._read: dict[Path, tuple[memoryview, bool]] = {}
        """What was read of each file, and whether that is all of it."""

    def load(self, uri: str, *, where: str, length: int | None = None) -> memoryview:
        """Return the bytes of a data URI or of a file in the folder, the first `length` if given.

        Raises `GltfError` where they cannot be had or are fewer, `AssetError` over budget.
        """
        if uri[:5].lower() == "data:":
            data = memoryview(_decode_data_uri(uri, where))
        else:
            path = self._find(uri, where)
            data, is_all = self._read.get(path, (memoryview(b""), False))
            if not is_all and (length is None or len(data) < length):
                data = memoryview(read_regular_file(path, where, f"file {shown(uri)}", length))
                self.budget.charge(len(data), where)
                self._read[path] = data, length is None or len(data) < length
        if length is None:
            return data
        if len(data) < length:
            raise GltfError(where, f"must hold {length} bytes, {shown(uri)} has {len(data)}")
        return data[:length]

    def _find(self, uri: str, where: str) -> Path:
        """Return the real path of a relative URI. It must be in the folder, and not hidden:
        what a URI names may be embedded in an export."""
        if _SCHEME.match(uri) or len(uri) > _MAX_PATH:
            raise GltfError(where, f"{_RULE}, got {shown(uri)}")
        # Some exporters write the backslashes of their own system.
        relative = unquote(uri, errors="replace").replace("\\", "/")
        parts = relative.split("/")
        if relative.startswith("/") or ".." in parts or "\0" in relative or _SCHEME.match(relative):
            raise GltfError(where, f"{_RULE}, got {shown(uri)}")
        try:
            root = self.folder.resolve()
            path = (root / relative).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise GltfError(where, f"cannot be opened, got {shown(uri)}") from error
        if not path.is_relative_to(root):
            raise GltfError(where, f"{_RULE}, {shown(uri)} is a link out of it")
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            raise GltfError(where, f"URI must not name a hidden file, got {shown(uri)}")
        return path


def read_regular_file(path: Path, where: str, what: str, length: int | None = None) -> bytes:
    """Return the first `length` bytes of a file, or all of them.

    Raises `GltfError` for more than `_MAX_FILE` bytes, and for folders, pipes and devices: opening
    a pipe could block for ever.
    """
    try:
        file = io.FileIO(path, "rb", opener=_open_without_waiting)
    except IsADirectoryError:
        raise GltfError(where, f"{what} must be a regular file") from None
    except FileNotFoundError:
        raise GltfError(where, f"{what} does not exist") from None
    except (OSError, ValueError) as error:
        raise GltfError(where, f"{what} cannot be opened: {_reason(error)}") from error
    with file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise GltfError(where, f"{what} must be a regular file")
        wanted = status.st_size if length is None else min(length, status.st_size)
        if wanted > _MAX_FILE:
            raise GltfError(where, f"{what} must have at most {_MAX_FILE} bytes, got {wanted}")
        try:
            return file.readall() if length is None else _read_at_most(file, length, status.st_size)
        except OSError as error:
            raise GltfError(where, f"{what} cannot be read: {_reason(error)}") from error


def _read_at_most(file: io.FileIO, length: int, size: int) -> bytes:
    """Return the first `length` bytes of a file of `size`. One call gives at most 2 GiB."""
    if length >= size:
        return file.readall()
    pieces: list[bytes] = []
    while length > 0 and (piece := file.read(length)):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def _open_without_waiting(path: str | Path, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _reason(error: Exception) -> str:
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _decode_data_uri(uri: str, where: str) -> bytes:
    header, comma, payload = uri.partition(",")
    if not comma:
        raise GltfError(where, f"data URI must have a comma, got {shown(uri)}")
    is_base64 = header.lower().endswith(";base64")
    if (not is_base64 or "%" in payload) and len(payload) > _MAX_PERCENT_ENCODED:
        rule = f"data URI with percent signs must have at most {_MAX_PERCENT_ENCODED} characters"
        raise GltfError(where, f"{rule}, got {len(payload)}")
    if not is_base64:
        return unquote_to_bytes(payload)
    if "%" in payload:
        payload = unquote(payload)
    # Missing padding is common and harmless.
    payload += "=" * (-len(payload) % 4)
    try:
        return base64.b64decode(payload, validate=True)
    except (binascii.Error, ValueError) as error:
        raise GltfError(where, f"data URI must be valid base64, got {shown(uri)}") from error
