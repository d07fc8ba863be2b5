"""`KeySettings`: how clips are keyed. No torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

KeyChoice = Literal["every", "reduced"]
LoopFrame = Literal["repeat", "omit"]
KEY_TOLERANCE = 1e-3
"""How far reduced keys may move a joint, in body heights."""


@dataclass(frozen=True)
class KeySettings:
    """Where a clip has keys."""

    fps: float = 30.0
    """Frames per second; every key lies on a frame."""
    keys: KeyChoice = "every"
    """A key on every frame, or only those that keep joints within `KEY_TOLERANCE`. BVH and USD
    always have every frame."""
    loop_frame: LoopFrame = "repeat"
    """Whether a loop ends on its first pose again, as players that wrap at the last key need it, or
    on the frame before."""
