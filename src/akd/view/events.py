"""Callbacks of controls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import viser


def by_user(act: Callable[[], object]) -> Callable[[viser.GuiEvent[Any]], None]:
    """A callback for changes that the user makes, not for values that the program sets."""

    def changed(event: viser.GuiEvent[Any]) -> None:
        if event.client is not None:
            act()

    return changed
