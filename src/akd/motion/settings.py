"""The built-in parametrizations of a motion: cycle, spline, one value per frame. No torch here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from akd.motion.parameters import ControlCurves
    from akd.motion.parametrization import MotionStart
    from akd.scene.stage import Stage


@dataclass(frozen=True)
class Spline:
    """Control coordinates as cubic splines over the clip."""

    knots: int = 12
    """Coefficients of each curve; as many as frames, or 0, means one per frame."""
    periodic: bool = False
    """The clip loops, up to the root's displacement."""
    bounded: bool = True
    """Joint angles and the root stay within limits by role; False leaves them free."""
    free_root: bool = False
    """Leaves the root free where the angles are bounded."""

    def prepare(self, stage: Stage) -> Stage:
        """See `Parametrization`; the stage stays as it is."""
        return stage

    def begin(self, start: MotionStart, stage: Stage) -> ControlCurves:
        """See `Parametrization`; the neutral pose, moving along the starting path."""
        from akd.motion.parameters import ControlCurves

        return ControlCurves.start(
            start, knots=self.knots, periodic=self.periodic, bounded=self.bounded,
            free_root=self.free_root, device=stage.cloud.means.device,
        )  # fmt: skip


@dataclass(frozen=True)
class Cycle:
    """A gait as harmonics of one cycle, whose length is optimised too.

    For a prompt that names no gait, the curves are splines over the clip, and limbs reach further.
    """

    harmonics: int = 3
    """Maximum number; fewer where the prior's frame rate cannot show them."""
    symmetric: bool = True
    """In a symmetrical gait, left repeats right half a cycle later."""
    knots: int = 18
    """Knots of the splines for actions other than gaits."""
    bounded: bool = True
    """Joint angles and the root stay within limits by role; False leaves them free."""

    def prepare(self, stage: Stage) -> Stage:
        """See `Parametrization`; the stage stays as it is."""
        return stage

    def begin(self, start: MotionStart, stage: Stage) -> ControlCurves:
        """See `Parametrization`; the neutral pose, moving along the starting path."""
        from akd.motion.parameters import ControlCurves
        from akd.rig.limits import AngleLimits

        return ControlCurves.start(
            start, knots=self.knots, bounded=self.bounded, harmonics=self.harmonics,
            mirrored=self.symmetric and start.symmetrical, device=stage.cloud.means.device,
            limits=AngleLimits.of_actions(start.rig) if start.period is None else None,
        )  # fmt: skip


def per_frame(*, bounded: bool = True) -> Spline:
    """One value per frame for every coordinate, as in the paper.

    Args:
        bounded: Keep joint angles and the root within limits.

    Returns:
        The parametrization.
    """
    return Spline(knots=0, bounded=bounded)
