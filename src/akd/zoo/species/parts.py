"""Parts that body plans are made of, and how creatures look and move.

Units as in `akd.zoo.species.parameters`.
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
    """A foot: its kind and size."""

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
class Carapace:
    """The main body of an arthropod."""

    length: float
    width: float
    depth: float
