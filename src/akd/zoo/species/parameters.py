"""The parameters a creature is built from.

Lengths are fractions of the creature's height (of its withers for a quadruped, of its hips for a
theropod, of its crown for a humanoid) unless they say metres; angles are degrees; colours are
linear RGB in 0..1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Colour = tuple[float, float, float]
FootKind = Literal["paw", "hoof", "pad", "claw"]
EarKind = Literal["pointed", "round", "leaf", "flop", "fan", "none"]
Pattern = Literal["plain", "stripes", "bands", "spots", "cells", "patches"]


@dataclass(frozen=True)
class Leg:
    """A leg of three segments and a foot, hanging from its top joint."""

    top: float
    """Height of the top joint (hip or point of the shoulder)."""
    ratios: tuple[float, float, float]
    """Lengths of upper, lower and foot (cannon) relative to each other."""
    angles: tuple[float, float, float]
    """Their lean in the standing pose, from straight down towards the front."""
    radii: tuple[float, float, float, float]
    """Thickness at the top, the knee or elbow, the hock or wrist, and the toes."""
    muscle: float
    """Front-to-back half-width of the fleshy part at the top."""
    spread: float
    """Sideways distance of the foot from the middle."""


@dataclass(frozen=True)
class Foot:
    """What touches the ground."""

    kind: FootKind
    length: float
    width: float
    height: float
    """Height of the toes' joint above the ground."""


@dataclass(frozen=True)
class Skull:
    """Skull and muzzle, as fractions of the head's length."""

    width: float
    """Half-width."""
    height: float
    muzzle_width: float
    muzzle_height: float
    jaw: float
    """Depth of the cheek below the axis."""
    muzzle: float
    """Part of the head in front of the eyes."""


@dataclass(frozen=True)
class Ear:
    """Lengths are fractions of the head's length."""

    kind: EarKind
    length: float = 0.5
    width: float = 0.25
    lean: float = 25.0
    """Outwards from upright, degrees."""


@dataclass(frozen=True)
class Horns:
    """Horns, antlers or tusks."""

    kind: Literal["none", "cow", "antlers", "goat", "tusks"]
    length: float = 0.0
    """As a fraction of the head's length."""


@dataclass(frozen=True)
class Head:
    """A head along its own axis, from the back of the skull to the nose."""

    length: float
    pitch: float
    """How far the nose points above the horizon."""
    skull: Skull
    eye: float = 0.05
    """Radius of the eye over the head's length."""
    blunt: float = 0.4
    """How square the end of the muzzle is, 0 to 1."""
    nose: Literal["pad", "nostrils", "disc"] = "pad"
    cheek: float = 0.0
    """Fur or muscle that widens the cheek."""
    ear: Ear = field(default_factory=lambda: Ear("pointed"))
    horns: Horns = field(default_factory=lambda: Horns("none"))


@dataclass(frozen=True)
class Tail:
    """A tail of several joints."""

    length: float
    pitch: float
    """Direction of its root above the horizon, backwards."""
    curl: float
    """How much it bends upwards towards its end."""
    radii: tuple[float, float, float, float]
    """Thickness at root, one third, two thirds and end, hair included."""
    tuft: float = 0.0
    """Radius of a tuft of hair at the end."""


@dataclass(frozen=True)
class Wing:
    """A wing with the vane behind it: feathers or a membrane."""

    length: float
    """From the shoulder to the tip."""
    chord: float
    """Depth of the vane, front to back."""
    radius: float
    """Thickness of the arm at the elbow."""
    ratios: tuple[float, float, float] = (0.26, 0.34, 0.40)
    """Shares of upper arm, forearm and hand in the length."""
    fingers: int = 0
    """Separate feathers or finger bones at the tip."""
    material: str = "coat"
    vane: str = "feather"


@dataclass(frozen=True)
class Coat:
    """Colours."""

    base: Colour
    back: Colour | None = None
    """Along the spine; `None` keeps the base, as with the other optional colours."""
    belly: Colour | None = None
    face: Colour | None = None
    """Muzzle, cheeks and throat."""
    socks: Colour | None = None
    sock_height: float = 0.0
    """How far up the legs the socks reach, as a fraction of the height."""
    ear_inner: Colour | None = None
    ear_back: Colour | None = None
    tail_tip: Colour | None = None
    mane: Colour | None = None
    skin: Colour | None = None
    """Where there is no hair or feather, such as an ostrich's legs."""
    nose: Colour = (0.02, 0.018, 0.018)
    eye: Colour = (0.03, 0.02, 0.01)
    hoof: Colour = (0.05, 0.04, 0.035)
    horn: Colour = (0.42, 0.36, 0.26)
    pattern: Pattern = "plain"
    pattern_colour: Colour = (0.03, 0.025, 0.02)
    pattern_scale: float = 0.1
    """Size of one stripe or spot, as a fraction of the height."""


@dataclass(frozen=True)
class Manner:
    """How the creature carries and moves itself."""

    walk_froude: float = 0.22
    """Squared walking speed over g and hip height."""
    trot_froude: float = 0.9
    """The same for the trot, or the run of a biped."""
    gallop_froude: float = 3.2
    supple: float = 0.5
    """How much the spine takes part, 0 (horse) to 1 (cat)."""
    gallop: Literal["rotary", "transverse"] = "rotary"
    lift: float = 0.11
    """How high feet are lifted in the walk, over hip height."""
    nod: float = 0.03
    """How far the head nods in the walk, radians."""
    weight_fore: float = 0.58
    """Share of the weight on the fore feet."""
    leap: float = 1.0
    """How high it jumps, relative to its body plan."""


@dataclass(frozen=True)
class Oval:
    """A cross-section of the trunk."""

    depth: float
    width: float


@dataclass(frozen=True)
class Trunk:
    """The trunk of a quadruped."""

    length: float
    """From the hip joint to the point of the shoulder."""
    croup: float
    """Height of the croup."""
    chest: Oval
    waist: Oval
    rump: float
    """Width."""


@dataclass(frozen=True)
class Neck:
    """The neck of a quadruped."""

    length: float
    pitch: float
    base: float
    """Half-height where it leaves the chest."""
    end: float
    """Half-height below the head."""
    width: float
    """Width over height."""


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
        "stand",
        "walk",
        "trot",
        "gallop",
        "jump",
        "turn_left",
        "turn_right",
        "back_up",
        "sneak",
        "limp",
    )
    """Gaits, standing and the jump; acts come with the body plan (`akd.zoo.acts.catalogue`)."""
    unable: tuple[str, ...] = ()
    """Acts of its body plan that it cannot do."""


@dataclass(frozen=True)
class Clothes:
    """Colours of a person."""

    skin: Colour = (0.55, 0.32, 0.22)
    hair: Colour = (0.05, 0.03, 0.02)
    shirt: Colour = (0.10, 0.22, 0.42)
    trousers: Colour = (0.06, 0.07, 0.11)
    shoes: Colour = (0.05, 0.04, 0.035)
    eye: Colour = (0.03, 0.02, 0.015)
    lips: Colour = (0.42, 0.16, 0.13)


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
class Carapace:
    """The main body of an arthropod."""

    length: float
    width: float
    depth: float


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
