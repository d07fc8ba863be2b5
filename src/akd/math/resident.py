"""Constants that stay on a device: copying one there from the host would stall a CUDA stream.

A CUDA graph allows no such copy at all.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor
from torch.utils.weak import WeakTensorKeyDictionary

Values = tuple[float, ...] | tuple[tuple[int, ...], ...]

# A copy lives as long as its source, because a CUDA graph keeps reading the memory.
_copies = WeakTensorKeyDictionary()


def constant(values: Values, like: Tensor) -> Tensor:
    """Literal values with the dtype and device of `like`, made once. Not to be written to."""
    return _constant(values, like.dtype, like.device)


@cache
def _constant(values: Values, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.tensor(values, dtype=dtype, device=device)


def resident(tensor: Tensor, device: torch.device, dtype: torch.dtype | None = None) -> Tensor:
    """The tensor on a device, copied once for as long as it lives and is not written to."""
    dtype = dtype or tensor.dtype
    if (tensor.device, tensor.dtype) == (device, dtype):
        return tensor
    kept = _copies.get(tensor)
    if kept is None:
        kept = _copies[tensor] = {}
    key = (device, dtype, tensor._version)
    if key not in kept:
        kept[key] = tensor.detach().to(device, dtype)
    return kept[key]
