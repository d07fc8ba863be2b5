"""What files of weights state, checked before a network is made of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def check_positive(settings: Any, *names: str) -> None:
    """Raise `ValueError` where a number of settings is not above zero, or not of its type.

    Args:
        settings: A dataclass with fields of type `int`, `float` or `tuple[int, ...]`.
        names: The fields to look at; all of them by default.
    """
    for field in fields(settings):
        if names and field.name not in names:
            continue
        given, whole = getattr(settings, field.name), field.type != "float"
        values = given if field.type == "tuple[int, ...]" else (given,)
        for value in values:
            if type(value) not in ((int,) if whole else (int, float)) or not 0 < value < math.inf:
                kind = "whole number" if whole else "number"
                raise ValueError(f"{field.name} must be a {kind} above zero, got {value!r}")


def check_weights(least: int, tensors: Mapping[str, Tensor]) -> None:
    """Raise `ValueError` where weights cannot be those of the network that settings ask for.

    Args:
        least: Numbers that such a network holds at least. One of more layers or channels would take
            time and memory before its shapes were found to differ.
        tensors: The weights.
    """
    held = sum(value.numel() for value in tensors.values())
    if least > held:
        raise ValueError(f"settings ask for at least {least} weights, got {held}")
    for name, value in tensors.items():
        if not value.is_floating_point() or not value.isfinite().all():
            raise ValueError(f"{name} must hold finite numbers")
