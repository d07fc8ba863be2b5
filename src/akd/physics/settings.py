"""Settings of the simulator and of tracking, as fractions of the body's own scales.

A body of mass m and height h under gravity g has one length (h), one mass (m), one time
sqrt(h / g), one force (m g) and one torque (m g h). Everything below is in these units, so that the
same settings serve a mouse and an elephant. No torch is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SimulatorSettings:
    """What the simulated world is made of."""

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
    creep: float = 0.002
    """Speed below which friction is viscous, in sqrt(g h): what holds a standing foot."""
    upright: float = 2.0
    """Stiffness of the help that keeps the root upright, in m g h a radian."""
    upright_damping: float = 0.2
    """Its damping, in m g h sqrt(h / g)."""
    upright_cap: float = 0.15
    """Most torque the help may give, in m g h. Zero switches it off."""
    step: float = 0.008
    """Length of a substep, in sqrt(h / g): 2 ms for a body 0.6 m high."""

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping", "armature", "contact_damping", "friction",
                     "upright", "upright_damping", "upright_cap"):  # fmt: skip
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        for name in ("penetration", "contact_rounding", "creep", "step"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above zero, got {getattr(self, name)}")


@dataclass(frozen=True)
class TrackingSettings:
    """How control targets are searched for."""

    iterations: int = 200
    """Steps of the optimiser."""
    knots_per_second: float = 24.0
    """Control knots of the spline that gives the targets, a second of the clip."""
    learning_rate: float = 0.03
    """Adam's, on the control knots, radians."""
    velocity_learning_rate: float = 0.02
    """Adam's, on the initial velocity, in body units."""
    smoothness: float = 0.2
    """Weight of the mean absolute second difference of the controls (lambda_3 of the paper)."""
    plant: bool = True
    """Make the feet that stand keep their place, in the motion to follow and in the loss."""
    clearance: float = 0.03
    """How high over the ground a foot is to swing, in h."""
    footing: float = 3.0
    """Weight of what standing soles slide and hover, against the parts' distances."""
    grow: float = 0.5
    """Share of the iterations over which the clip is taken in from its beginning; 0 for all of it
    from the first."""
    reach: float = 0.15
    """Share of the clip taken in at first."""
    clip: float = 5.0
    """Norm to which the adjoint of the state is cut, in body units."""
    clip_every: int = 30
    """Substeps between two cuts."""
    retries: int = 3
    """How often a diverging run starts again with half the step."""

    def __post_init__(self) -> None:
        for name in ("iterations", "clip_every"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("knots_per_second", "learning_rate", "velocity_learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above zero, got {getattr(self, name)}")
