"""Starting Warp, once and quietly: modules with Warp kernels call this before they make them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@cache
def start_warp() -> None:
    """Initialise Warp. Its notes are held back; its warnings and errors are not."""
    import warp as wp

    wp.config.log_level = wp.LOG_WARNING
    # Without a CUDA driver Warp's native library writes a line to the terminal that no setting
    # stops, and that says nothing to somebody who asked for the CPU.
    with _silent_stderr() if _has_no_driver() else _as_it_is():
        wp.init()


def _has_no_driver() -> bool:
    import torch

    return not torch.cuda.is_available()


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@contextmanager
def _silent_stderr() -> Iterator[None]:
    """Hold back what native code writes to the error stream."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
