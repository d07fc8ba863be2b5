"""Settings of distillation. No torch here."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from akd.fit.settings import LossSettings, WarmStartSettings
from akd.motion.settings import Cycle, Spline


@dataclass(frozen=True)
class ScoreSettings:
    """Score distillation: guidance scale, noise levels, samples."""

    guidance: float = 10.0
    """Classifier-free guidance scale."""
    rescale: float = 0.0
    """0 to 1: rescales the guided estimate to the spread of the conditional one."""
    t_min: float = 0.2
    """Noise levels are drawn uniformly from here ..."""
    t_max: float = 0.7
    """... to here in the first iteration ..."""
    t_max_final: float = 0.5
    """... and to here from half of the iterations on."""
    samples: int = 1
    """Noise samples an iteration."""


@dataclass(frozen=True)
class DistillSettings:
    """Everything that distillation can be told."""

    iterations: int = 50
    learning_rate: float = 0.01
    gradient_clip: float | None = None
    """Clip the norm of the parameters' gradient to this."""
    splats: int = 3000
    """Gaussians on the character."""
    render_ground: bool = True
    """Show the ground and the shadow to the prior."""
    camera_jitter: float = 0.6
    """Radians by which the camera's azimuth is moved at random from iteration to iteration."""
    half_size: float = 0.0
    """Resolution schedule: the fraction of the iterations, from the first, that render at half
    resolution. Coarser, and faster where rendering dominates."""
    checkpoint_every: int = 25
    """Iterations between two checkpoints."""
    speed: float | None = None
    """Metres a second along forward to start with; by default from leg length and the prompt."""
    parametrization: Cycle | Spline = field(default_factory=Cycle)
    score: ScoreSettings = field(default_factory=ScoreSettings)
    losses: LossSettings = field(default_factory=LossSettings)
    warm_start: WarmStartSettings = field(default_factory=WarmStartSettings)

    def __post_init__(self) -> None:
        for name, low, high in (
            ("iterations", 0, 1_000_000),
            ("splats", 1, 5_000_000),
            ("checkpoint_every", 1, 1_000_000),
        ):
            if not low <= getattr(self, name) <= high:
                got = getattr(self, name)
                raise ValueError(f"{name} must be from {low} to {high}, got {got}")
        if not 0.0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be above zero, got {self.learning_rate:g}")
