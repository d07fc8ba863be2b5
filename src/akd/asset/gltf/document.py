"""`GltfDocument`: a glTF file as it stands, before anything is understood of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class GltfDocument:
    """The JSON of a glTF file with its buffers resolved. Nobody modifies either."""

    json: dict[str, Any]
    buffers: tuple[memoryview, ...]
    """The bytes of each entry of `json["buffers"]`, in order."""
    folder: Path
    """Where relative URIs are looked up; nothing outside it is ever read."""
