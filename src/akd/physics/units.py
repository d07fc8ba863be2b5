"""`BodyUnits`: from SI to a body's own units and back.

Simulated in them, step, learning rates and clipping mean the same for every body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from akd.base.constants import GRAVITY
from akd.math import quaternion
from akd.physics.body import State
from akd.physics.target import TargetMotion


@dataclass(frozen=True)
class BodyUnits:
    """SI units in one unit of the body, whose height, mass and gravity are then one."""

    length: float
    mass: float

    @property
    def time(self) -> float:
        """Seconds."""
        return math.sqrt(self.length / GRAVITY)

    def motion_in(self, motion: TargetMotion) -> TargetMotion:
        """SI to body units, in double precision."""
        return replace(
            motion,
            position=motion.position.double() / self.length,
            rotation=quaternion.normalize(motion.rotation.double()),
            angles=motion.angles.double(),
            fps=motion.fps * self.time,
        )

    def motion_out(self, motion: TargetMotion) -> TargetMotion:
        """Body units to SI."""
        return replace(motion, position=motion.position * self.length, fps=motion.fps / self.time)

    def state_out(self, state: State) -> State:
        """Body units to SI."""
        speed = self.length / self.time
        return replace(
            state,
            position=state.position * self.length,
            velocity=state.velocity * speed,
            angular_velocity=state.angular_velocity / self.time,
            joint_velocity=state.joint_velocity / self.time,
        )
