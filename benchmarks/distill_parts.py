"""What `benchmarks/distill.py` leaves out or adds, part by part: the ablation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from akd.distill.settings import DistillSettings
from akd.fit import warm_start
from akd.prior.protocol import VideoPrior
from akd.scene.stage import Stage

Change = Callable[[DistillSettings], DistillSettings]


class WithoutReference:
    """A prior that is not shown the reference picture."""

    takes_reference = False

    def __init__(self, prior: VideoPrior) -> None:
        self._prior = prior

    def __getattr__(self, name: str) -> Any:
        return getattr(self._prior, name)


@dataclass(frozen=True)
class Variant:
    """Distillation without one of its parts, or with one more."""

    change: Change = lambda settings: settings
    reference: bool = True
    """Whether the prior sees the reference picture."""
    judge: bool = True
    """Whether recogniser A has a say."""
    swings: bool = True
    """Whether the swing of every limb is looked for before a fit."""
    ground: bool = True
    """Whether the ground is rendered."""

    def prior(self, prior: VideoPrior) -> VideoPrior:
        """The prior as this variant asks it."""
        without: Any = WithoutReference(prior)
        return prior if self.reference else without

    @contextmanager
    def applied(self) -> Iterator[None]:
        """While this lasts, what no setting switches off is switched off."""
        plain = Stage.of

        def without_ground(*args: Any, **options: Any) -> Stage:
            stage = plain(*args, **options)
            return replace(stage, scene=replace(stage.scene, ground=None, shadow=None))

        if not self.swings:
            with mock.patch.object(warm_start, "search_phases", return_value=None):
                yield
        elif not self.ground:
            with mock.patch.object(Stage, "of", without_ground):
                yield
        else:
            yield


def _losses(**values: float) -> Change:
    return lambda s: replace(s, losses=replace(s.losses, **values))


def _unknowns(**values: Any) -> Change:
    return lambda s: replace(s, unknowns=replace(s.unknowns, **values))


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
WITHOUT: dict[str, Variant] = {
    ALONE: Variant(),
    "no warm start": Variant(_warm(samples=0)),
    "no warm start, its steps distilled": Variant(_cold),
    "no distillation, warm start alone": Variant(lambda s: replace(s, iterations=0)),
    "one sample": Variant(_warm(samples=1)),
    "first sample, no recogniser": Variant(_warm(trial=0), judge=False),
    "no guess of swings": Variant(swings=False),
    "speed not from feet": Variant(_warm(speed_from_feet=False)),
    "no cycles (12 knots)": Variant(_unknowns(cycles=False)),
    "one unknown a frame": Variant(_unknowns(cycles=False, knots=0)),
    "sides free": Variant(_unknowns(symmetric=False)),
    "no bounds": Variant(_unknowns(bounded=False)),
    "no ground rendered": Variant(ground=False),
    "no L_ground": Variant(_losses(ground=0.0)),
    "no L_smooth": Variant(_losses(smooth=0.0)),
    "no support, no skate": Variant(_losses(support=0.0, skate=0.0)),
    "no pull to the neutral pose": Variant(_losses(rest=0.0)),
    "no reference picture": Variant(reference=False),
    "no camera jitter": Variant(lambda s: replace(s, camera_jitter=0.0)),
}
"""By name, from nothing on. What is left out stays out of the warm start as well."""
WITH: dict[str, Variant] = {
    "four finalists": Variant(_warm(finalists=4)),
    "four noise samples a step": Variant(lambda s: replace(s, score=replace(s.score, samples=4))),
    "half size for half of the steps": Variant(lambda s: replace(s, coarse=0.5)),
}
"""What it could do besides."""
CHANGES = {**WITHOUT, **WITH}
