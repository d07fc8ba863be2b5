"""Rooms that are functions too: `akd.rig` holds modules, and `akd.rig("mesh.obj")` rigs a mesh."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def make_callable(room: str, module: str, function: str) -> None:
    """Let calls of a package go to a function that is imported when it is first called."""

    class CallableRoom(ModuleType):
        @property
        def __wrapped__(self) -> Callable[..., object]:
            """The function: `inspect.signature` and editors show its arguments."""
            return getattr(import_module(module), function)

        def __call__(self, *args: object, **options: object) -> object:
            return self.__wrapped__(*args, **options)

    sys.modules[room].__class__ = CallableRoom
