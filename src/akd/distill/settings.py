"""Settings of distillation: no torch here."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class UnknownSettings:
    """What is searched for: curves over time on the control rig."""

    knots: int = 8
    """Coefficients of each curve over the clip. As many as frames, or 0, means one a frame."""
    periodic: bool = False
    """The clip loops, up to the root's displacement."""
    bounded: bool = True
    """Angles and the root stay within plausible limits, which depend on the joint's role."""
    speed: float | None = None
    """Metres a second along forward to start with; by default from leg length and the prompt."""


@dataclass(frozen=True)
class ScoreSettings:
    """How the video model's opinion is taken."""

    guidance: float = 30.0
    """How strongly the words are followed."""
    rescale: float = 0.0
    """0 to 1: brings the spread of the guided estimate back to that of the plain one."""
    earliest: float = 0.2
    """Least noise: times are drawn from here ..."""
    latest: float = 0.95
    """... to here at first ..."""
    latest_in_the_end: float = 0.6
    """... and to here from half of the iterations on."""
    samples: int = 1
    """Noise samples an iteration."""


@dataclass(frozen=True)
class LossSettings:
    """Weights of everything but the score, whose own weight is one for the mean over a video."""

    smooth: float = 0.02
    """On the mean absolute second difference of the coordinates over time."""
    ground: float = 20.0
    """On the mean depth under the ground, in body heights."""
    rest: float = 0.002
    """On the mean square of the angles: the pull to the neutral pose."""


@dataclass(frozen=True)
class WarmStartSettings:
    """Sample a few videos first, fit the joints to the best one, and refine from there."""

    samples: int = 4
    """Videos to sample; 0 starts from the neutral pose that travels."""
    steps: int = 24
    """Steps of a sample."""
    guidance: float = 3.0
    iterations: int = 150
    """Of the fit."""
    learning_rate: float = 0.04


@dataclass(frozen=True)
class DistillSettings:
    """Everything that distillation can be told."""

    iterations: int = 300
    learning_rate: float = 0.02
    splats: int = 3000
    """Gaussians on the character."""
    camera_jitter: float = 0.15
    """Radians by which the camera's azimuth is moved at random from iteration to iteration."""
    checkpoint_every: int = 25
    """Iterations between two saved states."""
    unknowns: UnknownSettings = field(default_factory=UnknownSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    losses: LossSettings = field(default_factory=LossSettings)
    warm_start: WarmStartSettings = field(default_factory=WarmStartSettings)
