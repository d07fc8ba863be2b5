"""Starting Warp, once and quietly, and what modules with Warp kernels share."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, wraps
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import torch

F = TypeVar("F", bound=Callable[..., object])


def no_type_check(function: F) -> F:
    """Mark a Warp kernel: its annotations are Warp's, and no run-time checker may wrap it.

    (`typing.no_type_check` would also hide the annotations from Warp.)
    """
    return function


def as_warp(tensor: torch.Tensor, dtype: Any) -> Any:
    """A Warp view of a contiguous tensor, in the form that is cheapest to launch with."""
    import warp as wp

    return wp.from_torch(tensor, dtype=dtype, requires_grad=False, return_ctype=True)


def torch_stream(device: torch.device) -> AbstractContextManager:
    """Launch on the stream that torch is using, so that the order of operations is kept.

    One thread at a time: Warp has one current stream for each device, whatever the thread.
    """
    return nullcontext() if device.type != "cuda" else _on_torch_stream(device)


@contextmanager
def _on_torch_stream(device: torch.device) -> Iterator[None]:
    import torch
    import warp as wp

    current = torch.cuda.current_stream(device)
    key = (current.device_index, current.cuda_stream)
    with _launching:
        if key not in _streams:
            _streams[key] = wp.stream_from_torch(current)
        with wp.ScopedStream(_streams[key], sync_enter=False):
            yield


_launching = RLock()


_streams: dict[tuple[int, int], Any] = {}
"""Kept: making one costs an event, and deleting one frees what Warp's sort works in. Torch's
streams live as long as the process."""


_building = RLock()
"""Warp builds and loads modules without a lock of its own."""


def build_once(build: F) -> F:
    """`functools.cache` for a function that defines kernels: one thread at a time."""
    cached = cache(build)

    @wraps(build)
    def locked(*args: Any) -> object:
        with _building:
            return cached(*args)

    return cast(F, locked)


def load_kernel(kernel: Any, device: Any, *, block_dim: int = 256) -> None:
    """Load a kernel's module, so that threads may launch it."""
    with _building:
        kernel.module.load(device, 1 if device.is_cpu else block_dim)


@cache
def start_warp() -> None:
    """Initialise Warp. Its notes are held back; its warnings and errors are not."""
    import warp as wp

    wp.config.log_level = wp.LOG_WARNING
    # Without a CUDA driver Warp's native library writes a line to the terminal that no setting
    # stops, and that says nothing to somebody who asked for the CPU.
    with _silent_stderr() if _has_no_driver() else nullcontext():
        try:
            if not any(map(os.environ.get, ("WARP_CACHE_PATH", "XDG_CACHE_HOME"))):
                Path.home()
            wp.init()
        except (OSError, RuntimeError):
            # A user without a home that can be written, as in containers: every process compiles
            # its kernels, into a folder that no other user can reach.
            folder = tempfile.mkdtemp(prefix="akd-warp-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            wp.config.kernel_cache_dir = folder
            wp.init()


def _has_no_driver() -> bool:
    import torch

    return not torch.cuda.is_available()


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
