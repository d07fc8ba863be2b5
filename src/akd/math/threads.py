"""Work shared out between threads, each with a share of torch's own threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Threads that are started meanwhile run torch's operations with `count` threads each."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def map_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Apply `work` to each item, each in a thread of its own, and return the results in order.

    Torch's threads are divided between them. Small operations gain from this: a thread that works
    through an item alone never waits for another one, as it does after every operation that is
    itself shared out.
    """
    if len(items) < 2:
        return [work(item) for item in items]
    share = max(1, torch.get_num_threads() // len(items))
    with torch_threads(share), ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(work, items))
