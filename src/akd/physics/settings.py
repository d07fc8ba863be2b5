"""Settings of the simulator and of tracking, as fractions of the body's own scales.

A body of mass m and height h under gravity g has one length (h), one mass (m), one time
sqrt(h / g), one force (m g) and one torque (m g h). Everything below is in these units, so that the
same settings serve a mouse and an elephant. No torch is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass

from akd.motion.actions import ACTIONS


@dataclass(frozen=True)
class SimulatorSettings:
    """Joint servos, contact and integration step."""

    stiffness: float = 2.0
    """k_e of every joint, in m g h a radian."""
    damping: float = 0.1
    """k_d of every joint, in k_e sqrt(h / g)."""
    armature: float = 1e-4
    """Inertia added to every joint axis, in m h^2."""
    penetration: float = 0.001
    """How deep the body stands in the ground on four corners, in h. Sets the ground's stiffness."""
    contact_damping: float = 1.0
    """Share of critical damping of a quarter of the body on one corner."""
    contact_rounding: float = 0.002
    """Height over which the contact force rises smoothly from zero, in h."""
    friction: float = 0.8
    """Coulomb's coefficient."""
    friction_epsilon: float = 0.002
    """Friction velocity epsilon: friction is viscous below this speed, in sqrt(g h)."""
    assist_stiffness: float = 2.0
    """Stiffness of the root assist torque, which aligns the root's up with the clip's, in m g h a
    radian."""
    assist_damping: float = 0.2
    """Its damping, in m g h sqrt(h / g)."""
    assist_limit: float = 0.15
    """Greatest assist torque, in m g h. Zero switches it off."""
    step: float = 0.008
    """Length of a substep, in sqrt(h / g): 2 ms for a body 0.6 m high."""

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "armature", "contact_damping", "friction",
                     "assist_stiffness", "assist_damping", "assist_limit"):  # fmt: skip
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("penetration", "contact_rounding", "friction_epsilon", "step"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above zero, got {getattr(self, name)}")


STEADY = SimulatorSettings(assist_stiffness=20.0, assist_damping=2.0, assist_limit=1.5)
"""For actions that are no gaits: ten times the root assist torque. Who kicks, jumps or sits down is
balanced by what the clip does not show, and a body that struggles not to fall does not kick."""


def stays(action: str | None) -> bool:
    """Whether an action, one of `ACTIONS`, is known to stay in its place."""
    return action is not None and ACTIONS[action].froude == 0.0


def walks(action: str | None) -> bool:
    """Whether an action, one of `ACTIONS`, is known to be a gait that is too slow for a run."""
    return action is not None and ACTIONS[action].is_walk


def world_for(action: str | None) -> SimulatorSettings:
    """The simulated world in which an action, one of `ACTIONS`, is tracked."""
    if action is None or ACTIONS[action].is_cyclic:
        return SimulatorSettings()
    return STEADY


@dataclass(frozen=True)
class TrackingSettings:
    """Trajectory optimisation of the joint targets."""

    iterations: int = 200
    """Steps of the optimiser."""
    knots_per_second: float = 24.0
    """Knots of the joint-target spline, a second of the clip."""
    learning_rate: float = 0.03
    """Adam's, on the control knots, radians."""
    velocity_learning_rate: float = 0.02
    """Adam's, on the initial velocity, in body units."""
    smoothness: float = 0.2
    """Weight of the mean absolute second difference of the controls (lambda_3 of the paper)."""
    plant: bool = True
    """Foot-plant clean-up: pin stance feet in the target motion and in the loss."""
    clearance: float = 0.03
    """Least height of a swing foot above the ground, in h."""
    footing: float = 3.0
    """Weight of the foot-plant loss against the pose loss."""
    grow: float = 0.5
    """Share of the iterations over which the loss of a cycle grows from the first frames to all of
    them; 0 for all frames from the start."""
    grow_once: float = 0.8
    """The same of a motion that is no cycle: most are longer, and each frame needs its share."""
    reach: float = 0.15
    """Share of the frames in the loss at first."""
    clip: float = 5.0
    """Gradient-norm clip on the state adjoint, in body units."""
    clip_every: int = 30
    """Substeps between two clips."""
    retries: int = 3
    """Restarts of a diverging run, each with half the step."""

    def __post_init__(self) -> None:
        for name in ("iterations", "clip_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("knots_per_second", "learning_rate", "velocity_learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above zero, got {getattr(self, name)}")
