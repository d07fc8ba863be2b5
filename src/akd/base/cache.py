"""Where derived data is kept between runs. No torch here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def cache_folder() -> Path:
    """`$AKD_CACHE`, else `akd` in the user's own cache folder. It may not exist yet."""
    if chosen := os.environ.get("AKD_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "akd"


def cache_size() -> tuple[int, int]:
    """How many files are kept, and their bytes."""
    folder = cache_folder()
    files = [p for p in folder.rglob("*") if p.is_file()] if folder.is_dir() else []
    return len(files), sum(p.stat().st_size for p in files)


def clear_cache() -> None:
    """Remove everything that is kept."""
    shutil.rmtree(cache_folder(), ignore_errors=True)
