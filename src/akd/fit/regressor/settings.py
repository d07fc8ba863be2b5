"""Settings of the motion regressor and of its training: no torch here."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from akd.base.weights import check_positive
from akd.prior.tiny.settings import BodySettings


@dataclass(frozen=True)
class RegressorSettings:
    """Size of the videos and of the network. Saved with the weights."""

    frames: int = 24
    size: int = 96
    """Side of the images, pixels."""
    channels: tuple[int, ...] = (32, 64, 112, 160)
    """Of the convolutions, from fine to coarse; each halves the image."""
    width: int = 256
    """Of the transformer over time, a multiple of 32."""
    layers: int = 4

    def __post_init__(self) -> None:
        check_positive(self)  # files of weights state them
        if self.width % 32:
            raise ValueError(f"width must be a multiple of 32, got {self.width}")

    @property
    def least_weights(self) -> int:
        """Numbers that the largest layers hold: a network has no fewer."""
        convolutions = sum(
            25 * have * want + 9 * want * want for have, want in pairwise((6, *self.channels))
        )
        side = self.size // 2 ** len(self.channels)
        flat = (6, *self.channels)[-1] * side * side + self.frames
        return convolutions + self.width * flat + 10 * self.layers * self.width**2


@dataclass(frozen=True)
class RegressorTraining:
    """How it is trained."""

    batch: int = 256
    learning_rate: float = 1e-3
    warm_up: int = 300
    """Steps over which the learning rate rises from zero."""
    weight_decay: float = 0.02
    ema: float = 0.999
    noise: float = 0.12
    """Maximum noise added to videos, in the range 0..1."""
    estimated: float = 0.5
    """Share of videos that are replaced by the tiny prior's estimate of them from noise, which
    looks like a sample of the prior, unlike a rendering."""
    noise_times: tuple[float, float] = (0.35, 0.85)
    """Noise levels of these estimates: high enough to blur them, low enough to keep the motion."""
    artist_share: float = 0.5
    """Share of videos that show artists' characters, where there are any."""
    lent_clips: int = 24
    """Clips of other bodies that are retargeted to each of them."""
    evenness: float = 0.5
    """1 shows all actions of a body plan equally often, 0 in proportion to their clips."""
    bodies: BodySettings = field(default_factory=BodySettings)
    """Random changes of bodies between calls of the rasterizer."""
    render_share: float = 0.3
    """Share of the time spent on rendering videos."""
    checkpoint_seconds: float = 60.0
