"""Files that survive a crash. No torch here."""

from __future__ import annotations

import os
from pathlib import Path


def write_to_disk(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all, whenever the power fails."""
    waiting = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with waiting.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(path)
    finally:
        waiting.unlink(missing_ok=True)
