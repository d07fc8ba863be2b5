"""`Anatomy`: the joints of a body, the flesh around them, and which legs carry it.

Only the left half is described; `Anatomy.joints` holds both halves, `Anatomy.parts` the left one.
Positions are metres in the bind pose: Y up, facing +Z, the character's own left at +X.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.interpolate import PchipInterpolator

from akd.zoo.mesh.shapes import Array, Part, Point, Shape, vector
from akd.zoo.species.parts import Foot, Leg, Tail

LEG = ("upper", "lower", "foot", "toes")
"""Segments of a leg, from the body to the ground."""
LegKind = Literal["fore", "hind", "plantigrade", "radial"]
Add = Callable[..., None]
"""`Anatomy.add` with the group, and perhaps more, already given."""
Place = Callable[[float, float, float], Array]
"""Turns coordinates of a part of the body (side, up, along) into a point in the world."""


@dataclass(frozen=True)
class LegPlan:
    """A walking leg, by the names of its joints."""

    name: str
    """Such as `left_hind`."""
    kind: LegKind
    """`hind`: thigh and foot move in parallel, knee forward. `fore`: forearm and foot move in line,
    elbow backward. `plantigrade`: knee forward, the heel comes down. `radial`: stands out from the
    body and bends in a vertical plane, knee up."""
    shoulder: str | None
    """The blade that swings with the leg, where there is one."""
    upper: str
    lower: str
    foot: str
    toes: str

    @property
    def side(self) -> float:
        """+1 on the character's left, -1 on its right."""
        return 1.0 if self.name.startswith("left") else -1.0

    @property
    def bones(self) -> tuple[str, ...]:
        """All its joints, from the body to the ground."""
        top = () if self.shoulder is None else (self.shoulder,)
        return (*top, self.upper, self.lower, self.foot, self.toes)


@dataclass
class Anatomy:
    """A body being put together."""

    names: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    positions: list[Array] = field(default_factory=list)
    """Of every joint, in the bind pose."""
    parts: list[Part] = field(default_factory=list)
    """The left half and the middle."""
    chains: dict[str, list[tuple[str, Array, Array]]] = field(default_factory=dict)
    """For each group of parts, its bones as (joint, start, end)."""
    legs: list[LegPlan] = field(default_factory=list)

    def position(self, name: str) -> Array:
        """Where a joint is."""
        return self.positions[self.names.index(name)]

    def joint(self, name: str, parent: str | None, position: Point) -> Array:
        """Add a joint; a name that starts with `left_` also adds its mirror image."""
        place = np.asarray(position, float)
        self._append(name, parent, place)
        if name.startswith("left_"):
            above = parent.replace("left_", "right_") if parent else None
            self._append(name.replace("left_", "right_"), above, place * (-1.0, 1.0, 1.0))
        return place

    def string(self, names: Sequence[str], parent: str, places: Sequence[Point]) -> None:
        """Add joints in a row, each the parent of the next."""
        for name, above, place in zip(names, (parent, *names[:-1]), places, strict=True):
            self.joint(name, above, place)

    def limb(
        self, group: str, parent: str, segments: Sequence[str], places: Sequence[Point], end: Point
    ) -> None:
        """Add joints such as `left_fore_upper` in a row, and let them move the group."""
        names = [f"{group}_{segment}" for segment in segments]
        self.string(names, parent, places)
        self.chain(group, names, end)

    def _append(self, name: str, parent: str | None, place: Array) -> None:
        if name in self.names:
            raise ValueError(f"the joint {name} is already there")
        self.names.append(name)
        self.parents.append(-1 if parent is None else self.names.index(parent))
        self.positions.append(place)

    def chain(self, group: str, names: Sequence[str], end: Point) -> None:
        """Say which bones move a group: each reaches to the next, the last to `end`."""
        starts = [self.position(name) for name in names]
        ends = [*starts[1:], np.asarray(end, float)]
        self.chains[group] = list(zip(names, starts, ends, strict=True))

    def add(
        self,
        shape: Shape,
        group: str,
        *,
        material: str = "coat",
        blend: float = 0.0,
        detail: float = 1.0,
        action: Literal["add", "carve", "paint"] = "add",
        bone: str | None = None,
    ) -> None:
        """Add a piece of flesh."""
        self.parts.append(Part(shape, group, material, blend, detail, action, bone))

    def leg(self, name: str, kind: LegKind, *, shoulder: bool = False) -> None:
        """Declare a left leg, such as `left_hind`, and its mirror image as walking legs."""
        for side in (name, name.replace("left_", "right_")):
            joints = [f"{side}_{segment}" for segment in LEG]
            self.legs.append(LegPlan(side, kind, f"{side}_shoulder" if shoulder else None, *joints))


def hang_leg(top: Point, leg: Leg, foot: Foot, height: float) -> list[Array]:
    """Joints of a leg of a creature `height` metres tall: it hangs from `top` by the ratios and
    angles of its segments, and its last joint is at the height of the toes."""
    joints = [np.asarray(top, float)]
    angles = np.radians(leg.angles)
    drop = joints[0][1] - foot.height * height
    down = sum(r * np.cos(a) for r, a in zip(leg.ratios, angles, strict=True))
    for ratio, angle in zip(leg.ratios, angles, strict=True):
        step = ratio * drop / down
        joints.append(joints[-1] + step * np.array((0.0, -np.cos(angle), np.sin(angle))))
    return joints


def string_tail(
    body: Anatomy, tail: Tail, height: float, root: Array, angles: Sequence[float]
) -> tuple[list[Array], Array]:
    """Add a tail of one joint an angle (radians above the horizon, backwards) that leaves the trunk
    at `root`: its points, and the radii there."""
    joints = len(angles)
    step = tail.length * height / joints
    places = [root]
    for angle in angles:
        places.append(places[-1] + step * vector(0.0, np.sin(angle), -np.cos(angle)))
    body.limb("tail", "pelvis", [str(i + 1) for i in range(joints)], places[:-1], places[-1])
    at = np.linspace(0, 1, joints + 1)
    return places, PchipInterpolator((0, 1 / 3, 2 / 3, 1), tail.radii)(at) * height
