"""What steers the search: recogniser A and the metrics choose among samples, finalists, and what
physics makes of them.

Recognisers B and C take no part in it: they only report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from akd.metrics.limits import DEPTH
from akd.metrics.measures import Measures
from akd.metrics.motion_metrics import MotionMetrics, sound_parts, true_parts
from akd.metrics.recognise.recogniser import Recogniser
from akd.metrics.recognise.settings import GLIDING, PADDLING
from akd.metrics.reference import kind_of
from akd.motion.actions import ACTIONS
from akd.motion.motion import Motion
from akd.scene.settings import SceneStyle

_FAILURE = 0.1
"""Penalty on the selection score for a condition that fails."""
_UNSEEN = 0.05
"""A smaller loss of score does not discard a motion: true clips of one action differ by more."""


_SKATES = 1.0
"""A foot that skates so much faster than before, in body speeds, does so visibly."""


@dataclass(frozen=True)
class Criteria:
    """Criteria for choosing between versions of one motion."""

    metrics: MotionMetrics
    likeness: float | None = None
    """Probability of the requested action by recogniser A; None for gaits and where it cannot be
    computed. The metrics show whether physics keeps a gait; they do not show whether it loses a
    kick."""

    @classmethod
    def of(cls, measures: Measures, motion: Motion, recogniser: Recogniser | None) -> Criteria:
        """Of a motion of the character and action that `measures` are of."""
        metrics, action = measures.of(motion), measures.action
        if recogniser is None or measures.character.mesh is None or kind_of(action) == "gait":
            return cls(metrics)
        return cls(metrics, measures.score(recogniser, motion).probability)

    @property
    def total(self) -> float:
        """Soundness, plus the probability of the action where it is known."""
        return _soundness(self.metrics) + (self.likeness or 0.0)

    def improves_on(self, other: Criteria) -> bool:
        """Whether it sinks less or has a higher total, and is not worse in any other respect."""
        less = self.metrics.penetration < other.metrics.penetration
        return (less or self.total > other.total) and lowered(other, self) is None


def video_score(
    recogniser: Recogniser | None,
    action: str | None,
    *,
    style: SceneStyle,
    size: tuple[int, int, int],
) -> Callable[[Float[Tensor, "K T H W 3"]], Float[Tensor, "K"]] | None:
    """A function from videos to the probability that they show the action.

    None where that cannot be said: no recogniser, an action that it does not know, or videos that
    it does not read (`size`: frames, height, width).
    """
    if recogniser is None or action not in recogniser.classes:
        return None
    if not _reads(recogniser, style, size):
        return None
    place = recogniser.classes.index(action)
    return lambda videos: recogniser(videos)[:, place]


def soundness_score(
    recogniser: Recogniser | None, *, style: SceneStyle, size: tuple[int, int, int]
) -> Callable[[Float[Tensor, "K T H W 3"]], Float[Tensor, "K"]] | None:
    """A function from videos to the probability that they show any action, and not a failure mode.

    Failure modes are a statue that glides and a body that paddles in the air. None without a
    recogniser, or where it does not read such videos.
    """
    if recogniser is None or not _reads(recogniser, style, size):
        return None
    failures = [k for k, name in enumerate(recogniser.classes) if name in (GLIDING, PADDLING)]
    return lambda videos: 1.0 - recogniser(videos)[:, failures].sum(-1)


def _reads(recogniser: Recogniser, style: SceneStyle, size: tuple[int, int, int]) -> bool:
    """Whether videos are of the style, number of frames and shape that it was trained on."""
    frames, height, width = size
    return style is SceneStyle.ROLES and frames == recogniser.settings.frames and height == width


def lowered(before: Criteria, after: Criteria) -> str | None:
    """What physics made worse, in words; None where the motion is as good as before."""
    if (worse := _worsened(before.metrics, after.metrics)) is not None:
        return worse
    if before.total - after.total <= _UNSEEN:
        return None
    old, new = before.metrics, after.metrics
    if before.likeness is not None and after.likeness is not None and old.asked is not None:
        lost = before.likeness - after.likeness
        if lost > _soundness(old) - _soundness(new):
            return (
                f"it looks less like {ACTIONS[old.asked].participle}: recogniser A gives "
                f"{before.likeness:.2f} before physics and {after.likeness:.2f} after"
            )
    faults = "; ".join(new.fails) or _fallen(old, new)
    return f"physics lowered the score from {old.score:.2f} to {new.score:.2f}: {faults}"


def _worsened(before: MotionMetrics, after: MotionMetrics) -> str | None:
    """A fault that grew although a simulation should reduce it. The score does not show this: for a
    bad motion it is zero before and after."""
    if after.penetration > before.penetration + DEPTH:
        return (
            f"it sinks by {before.penetration:.1%} of the body's height before physics and by "
            f"{after.penetration:.1%} after"
        )
    skate = [max(m.skate, default=0.0) for m in (before, after)]
    if skate[1] > 2.0 * skate[0] + _SKATES:
        return (
            f"a foot slides at {skate[0]:.1f} times the body's speed before physics and at "
            f"{skate[1]:.1f} after"
        )
    return None


def _fallen(before: MotionMetrics, after: MotionMetrics) -> str:
    """The part of the score that fell most."""
    old, new = (true_parts(m) | sound_parts(m) for m in (before, after))
    name = max(new, key=lambda part: old.get(part, 1.0) - new[part])
    return f"the part for {name.replace('_', ' ')} fell from {old[name]:.2f} to {new[name]:.2f}"


def _soundness(metrics: MotionMetrics) -> float:
    return metrics.score - _FAILURE * len(metrics.fails)


def selection_score(measures: Measures, motion: Motion, recogniser: Recogniser | None) -> float:
    """How good a motion is among others of the same request: at most 2.

    The metrics' score, from 0 to 1, less a tenth for each failed condition of a demo, plus the
    probability that it shows the action, seen from several sides, where that can be said.
    """
    sound = _soundness(measures.of(motion))
    if recogniser is None or measures.action is None:
        return sound
    return sound + (measures.score(recogniser, motion).probability or 0.0)
