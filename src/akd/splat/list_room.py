"""Preallocated tile lists of the CUDA rasterizer, so that a call need not wait for their length.

How many Gaussians touch how many tiles is known on the device alone. The rasterizer waits for that
number, unless room was set aside: a CUDA graph cannot wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

_MARGIN = 1.5
"""Room over the longest list that was measured."""

Call = tuple[int, int, int, int]
"""Frames, Gaussians, width and height of an image sequence: calls of one shape share their room."""


class ListRoom:
    """Lengths of tile lists by the shape of the call.

    Within `measuring`, calls wait for the device and the longest list is remembered. Within
    `fixed`, lists get half as much again, without waiting; `overflow` tells whether that was short.
    """

    def __init__(self) -> None:
        self._longest: dict[Call, int] = {}
        self._lengths: list[tuple[Tensor, int]] = []
        self.is_fixed = False

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Calls in this context report their lengths by `measure`."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    @contextmanager
    def fixed(self) -> Iterator[None]:
        """Calls in this context take `capacity` and report by `use`."""
        self._lengths.clear()
        self.is_fixed = True
        try:
            with self.measuring():
                yield
        finally:
            self.is_fixed = False

    def measure(self, call: Call, length: int) -> None:
        """A list of a call was so long."""
        self._longest[call] = max(length, self._longest.get(call, 0))

    def capacity(self, call: Call) -> int:
        """Entries that a list of this call may have.

        Raises:
            RuntimeError: No call of this shape was measured.
        """
        if call not in self._longest:
            raise RuntimeError(f"no tile list of a call of shape {call} was measured")
        return max(1, int(_MARGIN * self._longest[call]))

    def use(self, length: Tensor, capacity: int) -> None:
        """A list of `length` entries, known on the device alone, was given `capacity`."""
        self._lengths.append((length, capacity))

    def overflow(self) -> bool:
        """Whether a list of the last run was longer than its room. Waits for the device."""
        if not self._lengths:
            return False
        found = torch.stack([length for length, _ in self._lengths]).tolist()
        return any(n > room for n, (_, room) in zip(found, self._lengths, strict=True))


_current: ContextVar[ListRoom | None] = ContextVar("list_room", default=None)


def current_room() -> ListRoom | None:
    """The room that applies here; None: the rasterizer waits."""
    return _current.get()
