"""Settings of the tiny prior and of its training: no torch here."""

from __future__ import annotations

import math
from dataclasses import dataclass

from akd.base.weights import check_positive
from akd.motion.gait import frame_rate


@dataclass(frozen=True)
class TinySettings:
    """Size of the videos and of the network. Saved with the weights."""

    frames: int = 24
    width: int = 96
    """Pixels."""
    height: int = 96
    """Pixels."""
    frame_time: float = 0.3
    """Length of a frame in units of sqrt(leg length / g)."""
    fps: float = 12.0
    """Frames a second while no body is known."""
    patch: int = 12
    """Side of a patch, pixels."""
    patch_frames: int = 2
    """Frames that a patch spans."""
    channels: int = 384
    """Width of the transformer."""
    layers: int = 6
    heads: int = 6
    text_channels: int = 128
    """Width of the text embedding."""
    refine_channels: int = 32
    """Width of the small convolutions over the output."""
    refine_cell: int = 2
    """Side of a cell that these convolutions treat as one position, pixels."""

    def __post_init__(self) -> None:
        check_positive(self)  # files of weights state them
        if not (0.001 <= self.frame_time <= 1000.0 and self.fps <= 1000.0):
            raise ValueError(
                f"frame_time must be from 0.001 to 1000 and fps at most 1000, got "
                f"{self.frame_time:g} and {self.fps:g}"
            )
        if self.width % self.patch or self.height % self.patch:
            raise ValueError(
                f"width and height must be multiples of patch {self.patch}, got "
                f"{self.width} x {self.height}"
            )
        if self.frames % self.patch_frames:
            raise ValueError(
                f"frames must be a multiple of patch_frames {self.patch_frames}, got {self.frames}"
            )
        if self.channels % self.heads:
            raise ValueError(
                f"channels must be a multiple of heads {self.heads}, got {self.channels}"
            )

    @property
    def least_weights(self) -> int:
        """Numbers that the largest layers hold: a network has no fewer."""
        blocks = 12 * self.layers * self.channels**2
        patches = 2 * self.channels * self.patch_frames * 3 * self.patch**2
        places = self.channels * (
            self.frames // self.patch_frames + self.height // self.patch + self.width // self.patch
        )
        return blocks + patches + places + 6 * self.text_channels**2 + 9 * self.refine_channels**2

    def rate(self, leg_length: float) -> float:
        """Frames per second for a body with legs of this length in metres."""
        return frame_rate(self.frame_time, leg_length)


@dataclass(frozen=True)
class CameraSettings:
    """Where the cameras of the training videos stood; angles in radians, from either side."""

    azimuth: tuple[float, float] = (math.radians(45.0), math.radians(135.0))
    """From the way the character faces."""
    elevation: tuple[float, float] = (math.radians(4.0), math.radians(22.0))
    zoom: tuple[float, float] = (0.9, 1.06)
    """At 1 the sphere around the character just fits the image."""


@dataclass(frozen=True)
class BodySettings:
    """How much the bodies of actors change between videos, at most; half as much on average."""

    lengths: float = 0.3
    """Standard deviation of the logarithm of a body part's length."""
    neutral: float = 0.6
    """Of the rotation vectors by which arms and wings rest elsewhere, radians; other joints turn by
    four tenths of it."""


@dataclass(frozen=True)
class PoolSettings:
    """The creatures and the rendered videos that training draws from."""

    creatures: int = 480
    """How many are built, spread evenly over the species."""
    frame_time: float = 0.3
    """Length of a video's frame in units of sqrt(leg length / g)."""
    vertices: int = 2000
    """Of a creature's mesh."""
    splats: int = 2500
    """Gaussians on a creature."""
    styles: int = 2
    """Performances of each gait, each in a manner of its own; of other actions there is one."""
    recorded: float = 0.25
    """Share of a creature's videos that show recorded clips. With the artists' characters, which
    show nothing else, they are about a third of all."""
    recorded_clips: int = 8
    """Recorded clips that are retargeted to each creature."""
    lent_clips: int = 0
    """Clips that are retargeted to each artist's character instead: motion capture, artists' clips
    of other bodies and the zoo's. 0: only `recorded_clips` of motion capture."""
    evenness: float = 0.5
    """1 draws all actions equally often, 0 in proportion to the library."""
    videos: int = 72_000
    """How many rendered videos are held, as bytes; the oldest make room for new ones."""
    videos_a_call: int = 64
    """Videos of one creature that are rendered in one go."""
    ready: int = 4_000
    """Training starts once this many are ready."""


@dataclass(frozen=True)
class TrainSettings:
    """How the network is trained."""

    batch: int = 256
    learning_rate: float = 1.5e-3
    warm_up: int = 500
    """Steps over which the learning rate rises from zero."""
    weight_decay: float = 0.01
    ema: float = 0.9995
    """Decay of the averaged weights, which are the ones released."""
    drop_words: float = 0.12
    """Share of samples trained without words, which classifier-free guidance needs."""
    drop_reference_image: float = 0.12
    """Share of samples trained without the reference image."""
    known_share: float = 0.4
    """Share of samples trained with some of their frames given."""
    render_share: float = 0.12
    """Share of the time spent on rendering videos."""
    checkpoint_seconds: float = 120.0
    sheet_seconds: float = 120.0
    sheet_rows: int = 10
    """Samples on a sheet."""
    sheet_steps: int = 24
    """Steps from noise to sample."""
