"""What `benchmarks/distill.py` leaves out or adds, part by part: the ablation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from akd.distill.settings import DistillSettings
from akd.motion.settings import Cycle, Spline, per_frame
from akd.physics.settings import TrackingSettings
from akd.prior.tiny.prior import PriorTiny

Change = Callable[[DistillSettings], DistillSettings]


class PriorWithoutReference(PriorTiny):
    """The tiny prior, not shown the reference image."""

    takes_reference_image = False


@dataclass(frozen=True)
class Variant:
    """Distillation without one of its parts, or with one more."""

    change: Change = lambda settings: settings
    kind: type[PriorTiny] = PriorTiny
    """What is made of the tiny prior."""
    steering: bool = True
    """Whether recogniser A helps choose."""

    def prior(self, prior: PriorTiny) -> PriorTiny:
        """The prior as this variant asks it."""
        return prior if self.kind is PriorTiny else self.kind(prior.network, tokens=prior.tokens)


def _losses(**values: float) -> Change:
    return lambda s: replace(s, losses=replace(s.losses, **values))


def _parametrized(parametrization: Cycle | Spline) -> Change:
    return lambda s: replace(s, parametrization=parametrization)


def _warm(**values: Any) -> Change:
    return lambda s: replace(s, warm_start=replace(s.warm_start, **values))


def distilled_steps(settings: DistillSettings) -> int:
    """Steps of the distillation, over all finalists."""
    warm = settings.warm_start
    return settings.iterations * (min(warm.finalists, warm.samples) if warm.samples else 1)


def all_steps(settings: DistillSettings) -> int:
    """Steps of gradient descent through the renderer: those of the fits, and the distillation's."""
    warm = settings.warm_start
    if not warm.samples:
        return settings.iterations
    trials = warm.trial * warm.samples if warm.samples > 1 else 0
    fits = min(warm.finalists, warm.samples) * warm.iterations
    return trials + fits + distilled_steps(settings)


def _cold(settings: DistillSettings) -> DistillSettings:
    """No warm start; its steps go to the distillation."""
    return replace(_warm(samples=0)(settings), iterations=all_steps(settings))


def alone(settings: DistillSettings) -> DistillSettings:
    """What the ablation starts from: one finalist, which takes half the time of the preset's two
    and lets no second try make up for what is missing."""
    return _warm(finalists=1)(settings)


ALL, ALONE, PRESET = "everything", "one finalist", "two finalists, the preset"
POSE_PRIOR = "pose prior"
WITHOUT: dict[str, Variant] = {
    ALONE: Variant(),
    "no warm start": Variant(_warm(samples=0)),
    "no warm start, its steps distilled": Variant(_cold),
    "no distillation, warm start alone": Variant(lambda s: replace(s, iterations=0)),
    "one sample": Variant(_warm(samples=1)),
    "first sample, no recogniser": Variant(_warm(trial=0), steering=False),
    "no phase search": Variant(_warm(phase_search=False)),
    "speed not from feet": Variant(_warm(speed_from_feet=False)),
    "no cycles (12 knots)": Variant(_parametrized(Spline())),
    "one value per frame": Variant(_parametrized(per_frame())),
    "sides free": Variant(_parametrized(Cycle(symmetric=False))),
    "no bounds": Variant(_parametrized(Cycle(bounded=False))),
    "no ground rendered": Variant(lambda s: replace(s, render_ground=False)),
    "no L_ground": Variant(_losses(ground=0.0)),
    "no L_smooth": Variant(_losses(smooth=0.0)),
    "no support, no skate": Variant(_losses(support=0.0, skate=0.0)),
    "no pose regulariser": Variant(_losses(rest=0.0)),
    "no reference image": Variant(kind=PriorWithoutReference),
    "no camera jitter": Variant(lambda s: replace(s, camera_jitter=0.0)),
}
"""By name, from nothing on. What is left out stays out of the warm start as well."""
WITH: dict[str, Variant] = {
    "four finalists": Variant(_warm(finalists=4)),
    "four noise samples a step": Variant(lambda s: replace(s, score=replace(s.score, samples=4))),
    "half size for half of the steps": Variant(lambda s: replace(s, half_size=0.5)),
}
"""What it could do besides."""
CHANGES = {**WITHOUT, **WITH}

PAPER_VARIANTS = (ALONE, "no ground rendered", "no L_ground", "no L_smooth")
"""What the paper leaves out of its own setting, after the setting as it is."""
PAPER_TRACKING = TrackingSettings(plant=False, footing=0.0)
"""Tracking as the paper has it: the pose loss and smooth controls alone."""
