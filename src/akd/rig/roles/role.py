"""`Role`: what a joint is to the body. Read as words: `left hind upper`, `tail 2`, `head`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from akd.rig.roles.names import Side


class Part(StrEnum):
    """Parts of a body."""

    PELVIS = "pelvis"
    SPINE = "spine"
    NECK = "neck"
    HEAD = "head"
    TAIL = "tail"
    GIRDLE = "girdle"
    """The shoulder blade, collar bone or hip bone that a limb hangs on."""
    UPPER = "upper"
    LOWER = "lower"
    CANNON = "cannon"
    """Segments between the lower one and the foot: hock to paw, knee to hoof."""
    FOOT = "foot"
    TOES = "toes"
    HAND = "hand"
    EAR = "ear"
    OTHER = "other"
    """Part of the body, but nothing that is driven: fingers, jaws, belts."""
    HELPER = "helper"
    """Moves nothing: targets, sockets, ends, and nodes that only hold others."""


class LimbKind(StrEnum):
    """What sort of limb: legs stand on the ground in the bind pose."""

    LEG = "leg"
    """One of a single pair of legs."""
    FORE = "fore"
    MID = "mid"
    HIND = "hind"
    ARM = "arm"
    WING = "wing"
    FIN = "fin"

    @property
    def is_leg(self) -> bool:
        """Whether it stands on the ground."""
        return self in (LimbKind.LEG, LimbKind.FORE, LimbKind.MID, LimbKind.HIND)


@dataclass(frozen=True)
class Role:
    """A part, and where there are several, which."""

    part: Part
    side: Side = Side.CENTRE
    limb: LimbKind | None = None
    number: int = 0
    """Counts from 1 outwards where there are several of the same; 0 where there is one."""

    @property
    def limb_id(self) -> tuple[LimbKind, Side, int] | None:
        """What the joints of one limb have in common: middle legs are told apart by number. None
        off the limbs."""
        if self.limb is None:
            return None
        return self.limb, self.side, self.number if self.limb is LimbKind.MID else 0

    def __str__(self) -> str:
        limb = self.limb.value if self.limb else ""
        number = str(self.number) if self.number else ""
        return " ".join(w for w in (self.side.value, limb, self.part.value, number) if w)


@dataclass(frozen=True)
class Limb:
    """One arm, leg, wing or fin: its joints from the body outwards."""

    kind: LimbKind
    side: Side
    joints: tuple[int, ...]
    tip: int
    """The joint that stands on the ground, or the hand: the last that is driven before toes."""
    number: int = 0
    """Which of several middle pairs, from the front, counting from 1."""
    confidence: float = field(default=1.0, compare=False)
    """Probability that it is of this kind, by shape and names together."""
    doubt: str = field(default="", compare=False)
    """What shape and names disagree about; empty where they agree."""
    lies: bool = field(default=False, compare=False)
    """A leg by name that neither reaches the ground nor hangs down: the body is bound lying."""

    def __str__(self) -> str:
        return " ".join(str(w) for w in (self.side.value, self.kind.value, self.number) if w)
