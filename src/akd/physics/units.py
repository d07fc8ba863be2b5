"""`BodyUnits`: from SI to a body's own units and back.

Simulated in them, step, learning rates and clipping mean the same for every body.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from akd.base.constants import GRAVITY
from akd.math import quaternion
from akd.physics.body import State
from akd.physics.parameters import Parameters
from akd.physics.target import Reference


@dataclass(frozen=True)
class BodyUnits:
    """SI units in one unit of the body, whose height, mass and gravity are then one."""

    length: float
    mass: float

    @property
    def time(self) -> float:
        """Seconds."""
        return math.sqrt(self.length / GRAVITY)

    def reference_in(self, reference: Reference) -> Reference:
        """SI to body units, in double precision."""
        return Reference(
            reference.position.double() / self.length,
            quaternion.normalize(reference.rotation.double()),
            reference.angles.double(),
            reference.fps * self.time,
        )

    def reference_out(self, reference: Reference) -> Reference:
        """Body units to SI."""
        return replace(
            reference, position=reference.position * self.length, fps=reference.fps / self.time
        )

    def state_out(self, state: State) -> State:
        """Body units to SI."""
        speed = self.length / self.time
        return State(
            state.position * self.length, state.rotation, state.angles,
            state.velocity * speed, state.spin / self.time, state.rates / self.time,
        )  # fmt: skip

    def parameters_out(self, p: Parameters) -> Parameters:
        """Parameters in SI units from those in body units."""
        length, mass, time = self.length, self.mass, self.time
        torque, inertia = mass * length**2 / time**2, mass * length**2
        x, y, z = (g * length / time**2 for g in p.gravity)
        return Parameters(
            step=p.step * time,
            stiffness=p.stiffness * torque,
            damping=p.damping * torque * time,
            armature=p.armature * inertia,
            contact_stiffness=p.contact_stiffness * mass / time**2,
            contact_damping=p.contact_damping * mass / time,
            contact_rounding=p.contact_rounding * length,
            contact_light=p.contact_light * mass * length / time**2,
            friction=p.friction,
            creep=p.creep * length / time,
            upright=p.upright * torque,
            upright_damping=p.upright_damping * torque * time,
            upright_cap=p.upright_cap * torque,
            turn_limit=p.turn_limit,
            gravity=(x, y, z),
        )
