"""Locks on folders: one process at a time writes to them. A lock ends with its process."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def take_lock(folder: Path) -> int:
    """Lock a folder, made where it is missing, by the file `lock` in it.

    Returns the descriptor that holds the lock until it is closed. Raises `BlockingIOError` where
    another process holds it, and `OSError` where `lock` is a link.
    """
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            reason = "another process writes to it; wait for that, or choose another folder"
            raise BlockingIOError(errno.EWOULDBLOCK, reason, str(folder)) from None
        if _is_there(lock, folder / "lock"):
            return lock
        os.close(lock)  # whoever held it removed the file meanwhile


@contextmanager
def hold_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder while the block runs; raises as `take_lock`.

    The lock's file is removed at the end, and with it a folder that was made for nothing else.
    """
    path, was_there = folder / "lock", folder.exists()
    lock = take_lock(folder)
    try:
        yield
    finally:
        if _is_there(lock, path):
            path.unlink(missing_ok=True)
            if not was_there:
                with suppress(OSError):  # it is not empty
                    folder.rmdir()
        os.close(lock)


def _is_there(lock: int, path: Path) -> bool:
    """Whether a descriptor is that of the file that lies at a path now."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path, follow_symlinks=False))
    except OSError:
        return False
