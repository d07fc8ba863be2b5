"""Body plans: the parameters that a creature is built from.

Lengths are fractions of the creature's height (of its withers for a quadruped, of its hips for a
theropod, of its crown for a humanoid) unless they say metres; angles are degrees; colours are
linear RGB in 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from akd.zoo.species.parts import (
    Carapace,
    Clothes,
    Coat,
    Foot,
    Head,
    Leg,
    Manner,
    Neck,
    Oval,
    Tail,
    Trunk,
    Wing,
)


@dataclass(frozen=True)
class Quadruped:
    """A four-legged animal."""

    height: float
    """Height of the withers, metres."""
    trunk: Trunk
    fore: Leg
    hind: Leg
    fore_foot: Foot
    hind_foot: Foot
    neck: Neck
    head: Head
    tail: Tail
    coat: Coat
    manner: Manner = field(default_factory=Manner)
    mane: Literal["none", "horse", "lion"] = "none"
    hump: float = 0.0
    """How far the shoulders rise above the line of the back."""
    sag: float = 0.0
    """How far the belly hangs."""
    proboscis: float = 0.0
    """Length of an elephant's trunk."""
    wing: Wing | None = None
    actions: tuple[str, ...] = (
        "stand", "walk", "trot", "gallop", "jump", "turn_left", "turn_right", "back_up", "sneak",
        "limp",
    )  # fmt: skip
    """Gaits, standing and the jump; acts come with the body plan (`akd.zoo.acts.catalogue`)."""
    unable: tuple[str, ...] = ()
    """Acts of its body plan that it cannot do."""


@dataclass(frozen=True)
class Humanoid:
    """A person. Lengths are fractions of the height."""

    height: float
    """Height of the crown, metres."""
    leg: Leg
    """Upper, lower and the foot from ankle to ball; `top` is the height of the hip joints."""
    foot: Foot
    shoulder_width: float
    """Between the shoulder joints."""
    shoulder_height: float
    chest_width: float
    chest_depth: float
    waist_width: float
    waist_depth: float
    hip_width: float
    hip_depth: float
    arm: tuple[float, float, float]
    """Lengths of upper arm, forearm and hand."""
    arm_radii: tuple[float, float, float]
    """Thickness at shoulder, elbow and wrist."""
    arm_spread: float
    """How far the arms stand off the body in the standing pose, degrees."""
    neck: float
    """Length of the neck."""
    neck_radius: float
    head: float
    """From chin to crown."""
    bust: float = 0.0
    belly: float = 0.0
    hair: Literal["short", "long", "bald"] = "short"
    sleeves: Literal["short", "long"] = "long"
    look: Clothes = field(default_factory=Clothes)
    manner: Manner = field(default_factory=Manner)
    actions: tuple[str, ...] = (
        "stand", "walk", "run", "jump", "turn_left", "turn_right", "back_up", "sneak", "march",
        "limp",
    )  # fmt: skip
    """As for `Quadruped`."""
    unable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Theropod:
    """A two-legged dinosaur or a large running bird. Lengths are fractions of the hip height."""

    height: float
    """Height of the hip joints, metres."""
    leg: Leg
    foot: Foot
    trunk: float
    """From the hips to the base of the neck."""
    trunk_pitch: float
    """How far the chest is raised above the horizon, degrees."""
    chest: Oval
    rump: Oval
    neck_length: float
    neck_pitch: float
    """Direction of the base of the neck above the horizon."""
    neck_curl: float
    """How far the neck turns forward (negative) or up along its length."""
    neck_base: float
    neck_top: float
    head: Head
    tail: Tail
    arm: float
    """Length of the arm or wing."""
    arm_radius: float
    coat: Coat
    feathers: Literal["none", "ostrich", "raptor", "bird"] = "none"
    wing: Wing | None = None
    """In place of arms."""
    manner: Manner = field(default_factory=Manner)
    actions: tuple[str, ...] = (
        "stand", "walk", "run", "jump", "turn_left", "turn_right", "back_up", "sneak", "limp",
    )  # fmt: skip
    """As for `Quadruped`."""
    unable: tuple[str, ...] = ()

    @property
    def beaked(self) -> bool:
        """Whether it is a bird: a beak, bare legs, plumes."""
        return self.feathers in ("ostrich", "bird")


@dataclass(frozen=True)
class Arthropod:
    """A spider or a crab. Lengths are fractions of the body's height above the ground."""

    height: float
    """Height of the middle of the body, metres."""
    body: Carapace
    abdomen: float
    """Length of the abdomen behind it; 0 for none."""
    azimuths: tuple[float, ...]
    """Direction of each leg of the left side, degrees from straight ahead, front to back."""
    reach: float
    """Distance of the feet from the middle."""
    knee: float
    """Height of the knees."""
    leg_radius: float
    eye: float
    coat: Coat
    claw: float = 0.0
    """Length of a crab's arms; 0 for none."""
    stalks: bool = False
    """Whether the eyes stand on stalks."""
    manner: Manner = field(default_factory=Manner)
    actions: tuple[str, ...] = ("stand", "walk", "scuttle", "turn_left", "turn_right")
    """As for `Quadruped`."""
    unable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Serpent:
    """A snake. Lengths are fractions of its length, but for the hood."""

    length: float
    """Metres."""
    radius: float
    coat: Coat
    hood: float = 0.0
    """Half-width of a cobra's hood over the radius."""
    manner: Manner = field(default_factory=Manner)
    actions: tuple[str, ...] = ("slither",)
    """As for `Quadruped`."""
    unable: tuple[str, ...] = ()

    @property
    def height(self) -> float:
        """Thickness, metres."""
        return 2.0 * self.radius * self.length


@dataclass(frozen=True)
class Fish:
    """A fish. Lengths are fractions of its length."""

    length: float
    """Metres."""
    depth: float
    width: float
    fin: float
    """Length of the fins."""
    coat: Coat
    lobes: float = 1.0
    """Lower lobe of the tail fin over the upper one."""
    eye: float = 1.0
    """Size of the eyes, relative to usual."""
    manner: Manner = field(default_factory=Manner)
    actions: tuple[str, ...] = ("swim",)
    """As for `Quadruped`."""
    unable: tuple[str, ...] = ()

    @property
    def height(self) -> float:
        """Depth of the body, metres."""
        return self.depth * self.length


Parameters = Quadruped | Humanoid | Theropod | Arthropod | Serpent | Fish
"""Of any body plan."""
