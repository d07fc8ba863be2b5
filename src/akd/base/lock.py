"""Locks on folders: one process at a time writes to them. A lock ends with its process."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def take_lock(folder: Path) -> int:
    """Lock a folder, made where it is missing, by the file `lock` in it.

    Returns the descriptor that holds the lock until it is closed. Raises `BlockingIOError` where
    another process holds it, and `OSError` where `lock` is a link.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        reason = "another process writes to it; wait for that, or choose another folder"
        raise BlockingIOError(errno.EWOULDBLOCK, reason, str(folder)) from None
    return lock


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder while the block runs; raises as `take_lock`."""
    lock = take_lock(folder)
    try:
        yield
    finally:
        os.close(lock)
