"""Where derived data is kept between runs. No torch here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_OWN = ("splats", "embeddings", "text", "amx.json")
"""Everything that akd keeps in the cache folder."""


def cache_folder() -> Path:
    """`$AKD_CACHE`, else `akd` in the user's own cache folder. It may not exist yet."""
    if chosen := os.environ.get("AKD_CACHE"):
        return Path(chosen)
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base) / "akd"
    try:
        return Path.home() / ".cache" / "akd"
    except RuntimeError:  # a user without a home, as in containers: nothing is kept
        return Path(os.devnull) / "akd"


def cache_size() -> tuple[int, int]:
    """How many files are kept, and their bytes."""
    files = [p for entry in _entries() for p in (entry, *entry.rglob("*")) if p.is_file()]
    return len(files), sum(p.stat().st_size for p in files)


def clear_cache() -> None:
    """Remove what akd has put there, and nothing else: `$AKD_CACHE` may name any folder."""
    for path in _entries():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _entries() -> list[Path]:
    """akd's own files and folders in the cache folder. Links are left alone."""
    paths = [cache_folder() / name for name in _OWN]
    return [path for path in paths if path.exists() and not path.is_symlink()]
