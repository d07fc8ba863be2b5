"""Settings of distillation: no torch here."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class UnknownSettings:
    """What is searched for: curves over time on the control rig."""

    knots: int = 12
    """Coefficients of each curve over the clip. As many as frames, or 0, means one a frame."""
    cycles: bool = True
    """A gait is one cycle that comes again and again, of a length that is searched for too."""
    symmetric: bool = True
    """In a gait that is symmetrical, left does what right did half a cycle before."""
    harmonics: int = 3
    """Waves that a cycle is made of, at most: those that the prior's frame rate can show."""
    periodic: bool = False
    """The clip loops, up to the root's displacement."""
    bounded: bool = True
    """Angles and the root stay within plausible limits, which depend on the joint's role."""
    speed: float | None = None
    """Metres a second along forward to start with; by default from leg length and the prompt."""


@dataclass(frozen=True)
class ScoreSettings:
    """How the video model's opinion is taken."""

    guidance: float = 10.0
    """How strongly the words are followed."""
    rescale: float = 0.0
    """0 to 1: brings the spread of the guided estimate back to that of the plain one."""
    t_min: float = 0.2
    """Least noise: times are drawn from here ..."""
    t_max: float = 0.7
    """... to here at first ..."""
    t_max_final: float = 0.5
    """... and to here from half of the iterations on."""
    samples: int = 1
    """Noise samples an iteration."""


@dataclass(frozen=True)
class LossSettings:
    """Weights of the parts of the loss."""

    score: float = 500.0
    """On the score, whose own size is that of a mean over the video."""
    smooth: float = 0.02
    """On the mean absolute second difference of the coordinates over time."""
    ground: float = 100.0
    """On the depth under the ground, in body heights."""
    rest: float = 0.01
    """On the mean square of the angles, in parts of their limits: the pull to the neutral pose."""
    support: float = 10.0
    """On the height of standing feet and on what swinging ones lack of it, in body heights."""
    skate: float = 4.0
    """On the mean way that standing feet go from frame to frame, in leg lengths."""


@dataclass(frozen=True)
class WarmStartSettings:
    """Sample a few videos first, fit the joints to the best one, and refine from there."""

    samples: int = 4
    """Videos to sample; 0 starts from the neutral pose that travels."""
    steps: int = 24
    """Steps of a sample."""
    guidance: float = 3.0
    trial: int = 50
    """Iterations of the fit to every sample, after which the best are chosen; 0: chosen before."""
    finalists: int = 2
    """Fits that are distilled to the end, each; the best of what comes of them is kept."""
    iterations: int = 50
    """Of the fit to each finalist's sample, slower."""
    learning_rate: float = 0.04
    weight: float = 200.0
    """On the difference of the pictures."""
    speed_from_feet: bool = True
    """While fitting, go as fast as the feet that stand move back under the body."""


@dataclass(frozen=True)
class DistillSettings:
    """Everything that distillation can be told."""

    iterations: int = 150
    learning_rate: float = 0.005
    splats: int = 3000
    """Gaussians on the character."""
    camera_jitter: float = 0.6
    """Radians by which the camera's azimuth is moved at random from iteration to iteration."""
    coarse: float = 0.0
    """Part of the iterations, from the first, in which pictures are half as wide and high and are
    enlarged for the prior: rougher, and quicker where it is rendering that takes the time."""
    checkpoint_every: int = 25
    """Iterations between two saved states."""
    unknowns: UnknownSettings = field(default_factory=UnknownSettings)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    losses: LossSettings = field(default_factory=LossSettings)
    warm_start: WarmStartSettings = field(default_factory=WarmStartSettings)
