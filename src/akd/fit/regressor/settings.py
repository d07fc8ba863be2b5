"""Settings of the motion regressor and of its training: no torch here."""

from __future__ import annotations

from dataclasses import dataclass, field

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
