"""Settings of the three recognisers: no torch here.

They differ in architecture, seed, cameras and data, so that what pleases one by accident does not
please the others. A may steer (choose the best of several); B and C only report. C has only
seen artists' clips and motion capture, on artists' bodies.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from akd.base.weights import check_positive
from akd.motion.actions import ACTION_LABELS
from akd.motion.gait import frame_rate

Name = Literal["a", "b", "c"]
REPORTING: tuple[Name, ...] = ("b", "c")
"""Those that report and steer nothing."""
GLIDING, PADDLING = "gliding statue", "paddling in the air"
CLASSES: tuple[str, ...] = (*ACTION_LABELS, GLIDING, PADDLING)
"""What a recogniser can say. The last two are motions that are wrong."""
LARGEST_SIZE = 1024
"""Side of the images, pixels, at most."""


@dataclass(frozen=True)
class RecogniserSettings:
    """One recogniser: what it looks at, and where the cameras of its training stood."""

    name: Name
    seed: int
    frames: int = 24
    size: int = 64
    """Side of the images, pixels; others are scaled to it."""
    frame_time: float = 0.3
    """Length of a frame in units of sqrt(leg length / g)."""
    azimuth: tuple[float, float] = (math.radians(45.0), math.radians(135.0))
    """Of the cameras, from the way the character faces, on either side."""
    elevation: tuple[float, float] = (math.radians(4.0), math.radians(22.0))
    zoom: tuple[float, float] = (0.9, 1.06)
    learning_rate: float = 1e-3
    batch: int = 192
    noise: float = 0.12
    """Maximum noise added to training videos, in the range 0..1."""
    channels: tuple[int, ...] = (24, 48, 96, 160)
    """Of the convolutions, from fine to coarse."""
    width: int = 160
    """Of the transformer over time, a multiple of 32."""

    def __post_init__(self) -> None:
        check_positive(self, "frames", "size", "frame_time", "channels", "width")
        if self.size > LARGEST_SIZE:
            raise ValueError(f"size must be at most {LARGEST_SIZE}, got {self.size}")

    @property
    def least_weights(self) -> int:
        """Numbers that the largest layers hold: a network has no fewer."""
        if self.name == "b":
            flat = self.channels[-1] * (self.size // 16) ** 2 + self.frames
            return self.width * flat + 24 * self.width**2 + _products(25, (6, *self.channels))
        return _products(27, (3, *self.channels)) + 3 * sum(c * c for c in self.channels)

    @property
    def looks_at(self) -> tuple[int, int, float]:
        """Frames, their side and their length: recognisers that share these share videos."""
        return self.frames, self.size, self.frame_time

    def rate(self, leg_length: float) -> float:
        """Frames per second for a body with legs of this length in metres."""
        return frame_rate(self.frame_time, leg_length)


def _products(size: int, channels: Sequence[int]) -> int:
    """Weights of convolutions with kernels of a size, from each number of channels to the next."""
    return size * sum(have * want for have, want in pairwise(channels))


RECOGNISERS: dict[Name, RecogniserSettings] = {
    "a": RecogniserSettings("a", seed=101),
    "b": RecogniserSettings(
        "b", seed=202, azimuth=(math.radians(40.0), math.radians(140.0)),
        elevation=(math.radians(2.0), math.radians(26.0)), zoom=(0.86, 1.1), learning_rate=7e-4,
        channels=(24, 48, 80, 112),
    ),
    "c": RecogniserSettings(
        "c", seed=303, azimuth=(math.radians(35.0), math.radians(145.0)),
        elevation=(math.radians(0.0), math.radians(24.0)), zoom=(0.84, 1.08),
        channels=(32, 48, 88, 144), noise=0.16,
    ),
}  # fmt: skip
