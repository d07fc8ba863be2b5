"""`Parameters`: the numbers a simulator works with, made from a body and its settings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from akd.base.constants import GRAVITY
from akd.physics.body import Body
from akd.physics.settings import SimulatorSettings


@dataclass(frozen=True)
class Parameters:
    """In SI units, or in any consistent ones. The ground is the plane y = 0."""

    step: float
    """Length of a substep, s."""
    stiffness: float
    """k_e, N m / rad."""
    damping: float
    """k_d, N m s / rad."""
    armature: float
    """kg m^2."""
    contact_stiffness: float
    """N/m, a corner."""
    contact_damping: float
    """N s / m, a corner."""
    contact_rounding: float
    """m."""
    contact_light: float
    """Contact force below which its implicit part fades out, N."""
    friction: float
    """Coulomb's coefficient."""
    friction_epsilon: float
    """m/s."""
    assist_stiffness: float
    """N m / rad."""
    assist_damping: float
    """N m s / rad."""
    assist_limit: float
    """N m."""
    turn_limit: float = 0.25
    """Most that a joint or the root may turn in one substep, rad. Gyroscopic terms are explicit and
    quadratic in the velocities: beyond this limit they are unstable. Animals stay far below it."""
    gravity: tuple[float, float, float] = (0.0, -GRAVITY, 0.0)
    """m/s^2, world axes. Tilting it makes a slope of the ground."""

    def __post_init__(self) -> None:
        if not (self.step > 0 and math.isfinite(self.step)):
            raise ValueError(f"step must be above zero, got {self.step}")


def scale_parameters(
    body: Body,
    settings: SimulatorSettings | None = None,
    *,
    gravity: float = GRAVITY,
    step: float | None = None,
) -> Parameters:
    """Bring settings, which are fractions of a body's own scales, to that body's units."""
    s = settings or SimulatorSettings()
    if not gravity > 0:
        raise ValueError(f"gravity must be above zero, got {gravity}")
    mass, height = body.mass, body.height
    time, weight = math.sqrt(height / gravity), mass * gravity
    torque = weight * height
    stiffness = s.stiffness * torque
    contact_stiffness = weight / (4.0 * s.penetration * height)
    critical = 2.0 * math.sqrt(contact_stiffness * mass / 4.0)
    return Parameters(
        step=s.step * time if step is None else step,
        stiffness=stiffness,
        damping=s.damping * stiffness * time,
        armature=s.armature * mass * height**2,
        contact_stiffness=contact_stiffness,
        contact_damping=s.contact_damping * critical,
        contact_rounding=s.contact_rounding * height,
        contact_light=0.005 * weight,
        friction=s.friction,
        friction_epsilon=s.friction_epsilon * math.sqrt(gravity * height),
        assist_stiffness=s.assist_stiffness * torque,
        assist_damping=s.assist_damping * torque * time,
        assist_limit=s.assist_limit * torque,
        gravity=(0.0, -gravity, 0.0),
    )
