"""Settings of the two recognisers: no torch here.

They differ in architecture, seed and cameras, so that what pleases the one by accident does not
please the other. A may steer (choose the best of several); B only reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from akd.motion.actions import ACTION_LABELS

Name = Literal["a", "b"]
GLIDING, PADDLING = "gliding statue", "paddling in the air"
CLASSES: tuple[str, ...] = (*ACTION_LABELS, GLIDING, PADDLING)
"""What a recogniser can say. The last two are motions that are wrong."""


@dataclass(frozen=True)
class RecogniserSettings:
    """One recogniser: what it looks at, and where the cameras of its training stood."""

    name: Name
    seed: int
    frames: int = 16
    size: int = 64
    """Side of the pictures, pixels."""
    fps: float = 12.0
    azimuth: tuple[float, float] = (math.radians(45.0), math.radians(135.0))
    """Of the cameras, from the way the character faces, on either side."""
    elevation: tuple[float, float] = (math.radians(4.0), math.radians(22.0))
    zoom: tuple[float, float] = (0.9, 1.06)
    learning_rate: float = 1e-3
    batch: int = 192
    noise: float = 0.12
    """Most noise that is added to training videos, of the range 0..1."""


RECOGNISERS: dict[Name, RecogniserSettings] = {
    "a": RecogniserSettings("a", seed=101),
    "b": RecogniserSettings(
        "b", seed=202, azimuth=(math.radians(40.0), math.radians(140.0)),
        elevation=(math.radians(2.0), math.radians(26.0)), zoom=(0.86, 1.1), learning_rate=7e-4,
    ),
}  # fmt: skip
