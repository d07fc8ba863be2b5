"""The only place that opens a file for a URI. Nothing outside the asset's folder is ever read."""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes

from akd.asset.asset import AssetError
from akd.asset.gltf.fields import shown

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")


class AssetFolder:
    """Reads what the URIs of one file point to. A file that is asked for twice is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Path, memoryview] = {}

    def load(self, uri: str, *, where: str, length: int | None = None) -> memoryview:
        """Return the first `length` bytes (None: all) of a data URI or of a file in the folder."""
        if uri[:5].lower() == "data:":
            data = memoryview(_decode_data_uri(uri, where=where))
        else:
            data = self._load_file(self._find(uri, where=where), uri, where=where)
        if length is None:
            return data
        if len(data) < length:
            raise AssetError(f"{where}: must hold {length} bytes, {shown(uri)} has {len(data)}")
        return data[:length]

    def _find(self, uri: str, *, where: str) -> Path:
        """Return the real path of a relative URI, having made sure it is inside the folder."""
        rule = "URI must be relative and stay in the asset's folder"
        if _SCHEME.match(uri):
            raise AssetError(f"{where}: {rule}, got {shown(uri)}")
        # Some exporters write the backslashes of their own system.
        relative = unquote(uri, errors="replace").replace("\\", "/")
        parts = relative.split("/")
        if relative.startswith("/") or ".." in parts or "\0" in relative or _SCHEME.match(relative):
            raise AssetError(f"{where}: {rule}, got {shown(uri)}")
        try:
            root = self.folder.resolve()
            path = (root / relative).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise AssetError(f"{where}: cannot be opened, got {shown(uri)}") from error
        if not path.is_relative_to(root):
            raise AssetError(f"{where}: {rule}, {shown(uri)} is a link out of it")
        return path

    def _load_file(self, path: Path, uri: str, *, where: str) -> memoryview:
        if path not in self._read:
            self._read[path] = memoryview(read_regular_file(path, f"{where}: file {shown(uri)}"))
        return self._read[path]


def read_regular_file(path: Path, what: str) -> bytes:
    """Return a file's bytes. Folders, pipes and devices are refused: a pipe would wait for ever."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        raise AssetError(f"{what} does not exist") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise AssetError(f"{what} cannot be opened: {reason}") from error
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise AssetError(f"{what} must be a regular file")
        try:
            return file.read()
        except OSError as error:
            raise AssetError(f"{what} cannot be read: {error.strerror}") from error


def _decode_data_uri(uri: str, *, where: str) -> bytes:
    header, comma, payload = uri.partition(",")
    if not comma:
        raise AssetError(f"{where}: data URI must have a comma, got {shown(uri)}")
    if not header.lower().endswith(";base64"):
        return unquote_to_bytes(payload)
    if "%" in payload:
        payload = unquote(payload)
    try:
        # Missing padding is common and harmless.
        return base64.b64decode(payload + "=" * (-len(payload) % 4), validate=True)
    except (binascii.Error, ValueError) as error:
        raise AssetError(f"{where}: data URI must be valid base64, got {shown(uri)}") from error
