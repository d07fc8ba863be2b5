"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write under a temporary name beside `path`, renamed to it at the end.

    Where anything goes wrong the temporary file goes too, and what was at `path` stays.
    """
    temporary = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
