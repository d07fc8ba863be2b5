"""Which foot is down when: gaits after Hildebrand's tables, speeds and strides after Alexander.

Hildebrand describes a symmetrical gait by two numbers: the duty factor (the share of the stride a
foot is on the ground) and the limb phase (the share of the stride by which a fore foot follows the
hind foot of its side). Alexander found that animals of all sizes move alike at equal Froude number
v^2 / (g h), h being the hip height, and that the stride is then about 2.3 h Fr^0.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from akd.base.constants import GRAVITY
from akd.motion.gait import LIMB_PHASES, stride_length
from akd.zoo.creature import Creature
from akd.zoo.gait.variants import variant_of
from akd.zoo.species.parts import Manner


@dataclass(frozen=True)
class Gait:
    """When each foot comes down, as fractions of a stride, and how long it stays."""

    name: str
    touchdown: Mapping[str, float]
    """Phase at which each leg's foot comes down; the left hind foot (or left foot) comes at 0."""
    duty: float
    """Share of the stride that a foot is on the ground."""
    hump: float
    """Shape of the force on a foot after Alexander: 0 is one arch (running), 0.4 has two humps
    (walking)."""
    short: Mapping[str, float] = field(default_factory=dict)
    """Duty factors of legs that differ from the others, as a lame one does."""

    def duty_of(self, leg: str) -> float:
        """Share of the stride that a leg's foot is on the ground."""
        return self.short.get(leg, self.duty)

    @property
    def runs(self) -> bool:
        """Whether there are moments with no foot on the ground."""
        grid = np.arange(0.0, 1.0, 1e-3)
        down = [(grid - t) % 1.0 < self.duty_of(leg) for leg, t in self.touchdown.items()]
        return not bool(np.any(down, axis=0).all())


def symmetrical(name: str, *, limb_phase: float, duty: float, hump: float) -> Gait:
    """A symmetrical quadrupedal gait from Hildebrand's two numbers."""
    fore = limb_phase % 1.0
    touchdown = {
        "left_hind": 0.0,
        "right_hind": 0.5,
        "left_fore": fore,
        "right_fore": (fore + 0.5) % 1.0,
    }
    return Gait(name, MappingProxyType(touchdown), duty, hump)


def asymmetrical(name: str, *, hind: float, fore: tuple[float, float], duty: float) -> Gait:
    """A gallop: the hind feet `hind` apart, then the left and right fore feet at `fore`."""
    touchdown = {
        "left_hind": 0.0,
        "right_hind": hind,
        "left_fore": fore[0],
        "right_fore": fore[1],
    }
    return Gait(name, MappingProxyType(touchdown), duty, 0.0)


def alternating(name: str, *, duty: float, hump: float) -> Gait:
    """A biped's gait: left and right half a stride apart."""
    return Gait(name, MappingProxyType({"left_leg": 0.0, "right_leg": 0.5}), duty, hump)


QUADRUPED_GAITS = {
    "walk": symmetrical("walk", limb_phase=LIMB_PHASES["walk"], duty=0.65, hump=0.35),
    "amble": symmetrical("amble", limb_phase=LIMB_PHASES["amble"], duty=0.54, hump=0.15),
    "trot": symmetrical("trot", limb_phase=LIMB_PHASES["trot"], duty=0.43, hump=0.0),
    # Rotary: left hind, right hind, right fore, left fore; two moments in the air.
    "rotary": asymmetrical("gallop", hind=0.10, fore=(0.52, 0.42), duty=0.25),
    # Transverse: left hind, right hind, left fore, right fore; one moment in the air, gathered.
    "transverse": asymmetrical("gallop", hind=0.13, fore=(0.33, 0.48), duty=0.27),
}
HUMANOID_GAITS = {
    "walk": alternating("walk", duty=0.62, hump=0.5),
    "run": alternating("run", duty=0.36, hump=0.0),
}
THEROPOD_GAITS = {
    "walk": alternating("walk", duty=0.64, hump=0.35),
    "run": alternating("run", duty=0.42, hump=0.0),
}


def tetrapod(name: str, *, duty: float) -> Gait:
    """The alternating tetrapods of spiders (Wilson 1967): a leg moves with the one diagonally
    behind it, half a stride after its own pair, in a slight wave from back to front."""
    touchdown = {
        f"{side}_leg{i + 1}": (0.5 * ((i + k) % 2) - 0.04 * i) % 1.0
        for i in range(4)
        for k, side in enumerate(("left", "right"))
    }
    return Gait(name, MappingProxyType(touchdown), duty, 0.0)


ARTHROPOD_GAITS = {
    "walk": tetrapod("walk", duty=0.68),
    "scuttle": tetrapod("scuttle", duty=0.56),
}


def walk_or(creature: Creature, action: str) -> str:
    """The gait that an action is made of: turns and variants are walks."""
    variant = variant_of(creature.plan, action)
    return "walk" if variant or action.startswith("turn_") else action


def gait_of(creature: Creature, action: str) -> Gait:
    """The gait behind an action that travels."""
    name, variant = walk_or(creature, action), variant_of(creature.plan, action)
    match creature.plan:
        case "quadruped":
            name = creature.parameters.manner.gallop if name == "gallop" else name
            gait = QUADRUPED_GAITS[name]
        case "humanoid":
            gait = HUMANOID_GAITS[name]
        case "arthropod":
            gait = ARTHROPOD_GAITS[name]
        case _:
            gait = THEROPOD_GAITS[name]
    return gait if variant is None else variant.gait(gait)


def froude_of(manner: Manner, action: str) -> float:
    """Froude number at which a creature performs an action."""
    match action:
        case "walk":
            return manner.walk_froude
        case "turn_left" | "turn_right":
            return 0.75 * manner.walk_froude
        case "gallop":
            return manner.gallop_froude
        case _:
            return manner.trot_froude


def hip_height(creature: Creature) -> float:
    """Height of the hip joints in the bind pose, metres; half the body's where it has no legs."""
    if not creature.feet:
        return 0.5 * creature.height
    names = creature.skeleton.names
    legs = [foot.leg for foot in creature.feet if foot.leg.kind != "fore"]
    bind = -creature.mesh.skin.inverse_bind[:, 1, 3]
    return float(bind[names.index(legs[0].upper)])


def speed_and_period(creature: Creature, action: str, *, speed: float = 1.0) -> tuple[float, float]:
    """Natural speed (metres per second, times the factor `speed`) and duration of a stride."""
    hip = hip_height(creature)
    variant = variant_of(creature.plan, action)
    froude = froude_of(creature.parameters.manner, "walk" if variant else action)
    velocity = speed * float(np.sqrt(froude * GRAVITY * hip))
    if variant is not None:
        velocity *= variant.speed
    return velocity, stride_length(velocity**2 / (GRAVITY * hip), hip) / abs(velocity)


def stride_place(gait: Gait, leg: str, phase: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of strides since phase 0 at the foot's last touchdown, and the share of the stride
    that has passed since."""
    # Rounded, so that a frame exactly at touchdown is not taken for the end of the stride before.
    since = np.round((phase - gait.touchdown[leg]) % 1.0, 9) % 1.0
    return np.round(phase - gait.touchdown[leg] - since), since
