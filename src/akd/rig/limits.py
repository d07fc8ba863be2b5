"""How far the joints of a body turn, by what they are: flexion, abduction, twist, in degrees.

Knees, elbows and hocks bend one way. Which way that is shows in the neutral pose wherever they are
bent in it, and depends on the limb where they are straight; the other way they go until they are
straight, and a little further. A spine that stands upright bends forward, and arches little.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math.resident import resident
from akd.rig.control import ControlRig
from akd.rig.roles.role import LimbKind, Part, Role

_LEG: dict[Part, tuple[float, float, float]] = {
    Part.GIRDLE: (25.0, 8.0, 8.0),
    Part.UPPER: (60.0, 15.0, 10.0),
    Part.LOWER: (90.0, 4.0, 4.0),
    Part.CANNON: (75.0, 4.0, 4.0),
    Part.FOOT: (50.0, 6.0, 6.0),
    Part.TOES: (10.0, 2.0, 2.0),
}
_RADIAL: dict[Part, tuple[float, float, float]] = {
    Part.GIRDLE: (25.0, 25.0, 15.0),
    Part.UPPER: (50.0, 45.0, 45.0),
    Part.LOWER: (60.0, 60.0, 20.0),
    Part.CANNON: (50.0, 50.0, 20.0),
    Part.FOOT: (40.0, 40.0, 20.0),
    Part.TOES: (20.0, 20.0, 20.0),
}
"""Of legs that stand out around a body, as of spiders and crabs: whether flexion or abduction folds
a knee depends on the way that the leg points."""
_ARM: dict[Part, tuple[float, float, float]] = {
    Part.GIRDLE: (15.0, 15.0, 5.0),
    Part.UPPER: (80.0, 60.0, 30.0),
    Part.LOWER: (105.0, 5.0, 30.0),
    Part.CANNON: (60.0, 10.0, 10.0),
    Part.HAND: (30.0, 20.0, 10.0),
}
_TRUNK: dict[Part, tuple[float, float, float]] = {
    Part.SPINE: (35.0, 10.0, 12.0),
    Part.NECK: (40.0, 12.0, 12.0),
    Part.HEAD: (30.0, 10.0, 15.0),
    Part.TAIL: (120.0, 70.0, 30.0),
}
"""Of all joints of the part together: true gaits bend a whole spine by 30 degrees at most, and
sideways by eight, however many joints there are to it."""
_UNDULATION: dict[Part, float] = {
    Part.SPINE: 280.0,
    Part.NECK: 60.0,
    Part.HEAD: 40.0,
    Part.TAIL: 330.0,
}
"""Sideways, of all joints of the part together, in a body without legs: it moves by undulation."""
_MOST_A_JOINT = 55.0
"""The most that one of its joints takes: each stands for many vertebrae."""
_LIES = 20.0
"""Up and down, of all joints of a part together: it undulates in a plane."""
_RISES = 120.0
"""The same in an action: a snake that strikes."""
_STIFF_LEG = 35.0
"""Of a leg without a knee, forward and back: twice its sine is a step of 1.15 leg lengths. A walk's
is 0.66 (`akd.motion.gait.stride_length`), and its speed may become 1.6 times that; what swings
further can only slide."""
_ARCHES = 10.0
"""Of a spine that stands upright, backwards."""
_RANGE: dict[Part, tuple[float, float, float]] = {
    Part.GIRDLE: (40.0, 40.0, 30.0),
    Part.UPPER: (130.0, 60.0, 60.0),
    Part.LOWER: (150.0, 20.0, 45.0),
    Part.CANNON: (120.0, 20.0, 20.0),
    Part.FOOT: (70.0, 35.0, 35.0),
    Part.TOES: (70.0, 20.0, 20.0),
    Part.HAND: (90.0, 45.0, 45.0),
    Part.SPINE: (100.0, 60.0, 80.0),
    Part.NECK: (80.0, 50.0, 80.0),
    Part.HEAD: (70.0, 50.0, 80.0),
    Part.TAIL: (180.0, 150.0, 90.0),
}
"""Passive ranges of motion (those of people after Norkin and White, Measurement of Joint Motion,
widened for a neutral pose that is not the anatomical one)."""
_REACH: dict[tuple[LimbKind, Part], tuple[float, float, float]] = {
    (LimbKind.ARM, Part.UPPER): (150.0, 150.0, 90.0),
    (LimbKind.ARM, Part.LOWER): (150.0, 20.0, 60.0),
    (LimbKind.LEG, Part.UPPER): (160.0, 60.0, 60.0),
}
"""Of limbs that do something else than swing: a wave, a punch, a throw, sitting down."""
_TRUNK_REACH = (1.7, 1.5, 3.5)
"""How much further a trunk bends, leans and twists in an action than in a gait: people who punch
twist a spine by 38 degrees and the head by 42, and bend it by 55 to pick something up."""
_FREE = (math.inf, math.inf, math.inf)
"""Of upper and lower arms, whose axes depend on a neutral pose that may hold a weapon; an elbow
still bends one way where its axis can be told."""
_ANY = (30.0, 20.0, 10.0)
_FLEXES: dict[tuple[LimbKind | None, Part], float] = {
    (LimbKind.LEG, Part.LOWER): 1.0,
    (LimbKind.LEG, Part.CANNON): -1.0,
    (LimbKind.HIND, Part.LOWER): 1.0,
    (LimbKind.HIND, Part.CANNON): -1.0,
    (LimbKind.FORE, Part.LOWER): -1.0,
    (LimbKind.FORE, Part.CANNON): 1.0,
    (LimbKind.ARM, Part.LOWER): -1.0,
}
"""Joints that bend one way: 1 for what hangs below going back, as it does of a knee."""
PLAIN_BEND = math.radians(12.0)
"""From here on the way in which a joint is bent can be seen."""
_FURTHER = math.radians(5.0)
"""So far beyond straight."""
_INSIDE = 0.97
"""Share of a limit up to which `bounded` is inverted: beyond, its gradient is all but zero."""


@dataclass(frozen=True)
class BodyPlan:
    """What limits depend on beside the role of a joint."""

    radial: bool = False
    """It has more than four legs: they stand out around it."""
    has_pincers: bool = False
    """It is radial and has arms, as a crab has."""
    undulates: bool = False
    """It has neither legs, arms nor wings: it moves by undulation, as a snake or a fish."""
    alike: Mapping[Part, int] = field(default_factory=dict)
    """How many joints of the trunk share what their part has."""

    @classmethod
    def of(cls, roles: Sequence[Role]) -> BodyPlan:
        """The plan of a body whose driven joints have these roles."""
        limbs = {r.limb_id: r.limb for r in roles if r.limb is not None}.values()
        radial = sum(limb.is_leg for limb in limbs) > 4
        return cls(
            radial=radial,
            has_pincers=radial and LimbKind.ARM in limbs,
            undulates=all(limb is LimbKind.FIN for limb in limbs),
            alike=Counter(r.part for r in roles if r.limb is None),
        )


def bends_one_way(role: Role) -> float:
    """The way in which a knee, an elbow or a hock bends: 1 where what hangs below goes back, -1
    where it goes forward; 0 for other joints."""
    return _FLEXES.get((role.limb, role.part), 0.0)


def _stiff_legs(roles: Sequence[Role]) -> list[int]:
    """The driven joints of legs that have one: no knee shortens them."""
    joints = Counter(role.limb_id for role in roles)
    legs = [i for i, r in enumerate(roles) if r.limb is not None and r.limb.is_leg]
    return [i for i in legs if joints[roles[i].limb_id] == 1]


def has_stiff_legs(roles: Sequence[Role]) -> bool:
    """Whether a body whose driven joints have these roles stands on two legs of one joint."""
    legs = {r.limb_id for r in roles if r.limb is not None and r.limb.is_leg}
    return len(_stiff_legs(roles)) == len(legs) == 2


ON_FOUR_LEGS = BodyPlan()
"""With one joint of each part of the trunk."""


def limit_of(role: Role, plan: BodyPlan = ON_FOUR_LEGS) -> tuple[float, float, float]:
    """Largest angles either way from the neutral pose, degrees."""
    if role.limb is None:
        if role.part not in _TRUNK:
            return _ANY
        alike = max(1, plan.alike.get(role.part, 1))
        flexion, abduction, twist = (angle / alike for angle in _TRUNK[role.part])
        if plan.undulates:
            flexion = min(flexion, _LIES / alike)
            abduction = min(_MOST_A_JOINT, _UNDULATION[role.part] / alike)
        return flexion, abduction, twist
    if role.limb.is_leg:
        return (_RADIAL if plan.radial else _LEG).get(role.part, _ANY)
    return _ARM.get(role.part, _ANY) if role.limb is LimbKind.ARM else (70.0, 60.0, 40.0)


def range_of(role: Role, plan: BodyPlan = ON_FOUR_LEGS) -> tuple[float, float, float]:
    """How far a joint can be turned at all, degrees either way: wider than `limit_of`, which is
    what gaits use."""
    if role.limb is LimbKind.ARM and role.part in (Part.UPPER, Part.LOWER):
        return _FREE
    if role.part not in _RANGE or role.limb in (LimbKind.WING, LimbKind.FIN):
        flexion, abduction, twist = limit_of(role, plan)
        return 2.0 * flexion, 2.0 * abduction, 2.0 * twist
    # A chain of many joints shares the range of its part, but one of them may take half of it.
    shares = max(1.0, plan.alike.get(role.part, 1) / 2) if role.limb is None else 1.0
    free = (angle / shares for angle in _RANGE[role.part])
    wider = (max(pair) for pair in zip(free, limit_of(role, plan), strict=True))
    return next(wider), next(wider), next(wider)


def reach_of(role: Role, plan: BodyPlan = ON_FOUR_LEGS) -> tuple[float, float, float]:
    """Largest angles in actions that are no gaits, degrees: limbs go as far as they can be turned,
    a trunk goes a little further than in a gait."""
    if role.limb is not None:
        return _REACH.get((role.limb, role.part)) or range_of(role, plan)
    flexion, abduction, twist = limit_of(role, plan)
    bends, leans, twists = _TRUNK_REACH
    if plan.undulates and role.part in _TRUNK:
        rises = _RISES / max(1, plan.alike.get(role.part, 1))
        return min(_MOST_A_JOINT, rises), abduction, twists * twist
    return bends * flexion, leans * abduction, twists * twist


@dataclass(frozen=True)
class AngleLimits:
    """The largest angles of the driven joints, radians, all positive."""

    forth: Float[Tensor, "D 3"]
    """Of positive angles: a hanging limb goes back."""
    back: Float[Tensor, "D 3"]
    """Of negative angles: it goes forward."""

    @cached_property
    def values(self) -> tuple[float, ...]:
        """All of them, to tell limits apart without touching a tensor."""
        return tuple(torch.stack((self.forth, self.back)).flatten().tolist())

    @classmethod
    def of(cls, rig: ControlRig) -> AngleLimits:
        """Limits by the role of every driven joint and by how it is bent in the neutral pose: the
        range that gaits use."""
        limits = cls._by_role(rig, limit_of)
        upright = _upright_spine(rig)
        limits.back[upright, 0] = math.radians(_ARCHES) / max(1, len(upright))
        return limits

    @classmethod
    def of_strides(cls, rig: ControlRig) -> AngleLimits:
        """Limits of a gait whose feet carry the body: `of`, but a leg of one joint, which cannot
        shorten, swings no further than its steps are long."""
        limits, stiff = cls.of(rig), _stiff_legs(rig.roles)
        for side in (limits.forth, limits.back):
            side[stiff, 0] = side[stiff, 0].clamp_max(math.radians(_STIFF_LEG))
        return limits

    @classmethod
    def of_actions(cls, rig: ControlRig) -> AngleLimits:
        """Limits of what is no gait: `reach_of` every role."""
        return cls._by_role(rig, reach_of)

    @classmethod
    def range_of_motion(cls, rig: ControlRig) -> AngleLimits:
        """How far joints can be turned at all; knees, elbows and hocks still bend one way."""
        return cls._by_role(rig, range_of)

    @classmethod
    def _by_role(
        cls, rig: ControlRig, limit: Callable[..., tuple[float, float, float]]
    ) -> AngleLimits:
        plan = BodyPlan.of(rig.roles)
        degrees = [limit(role, plan) for role in rig.roles]
        forth = torch.tensor(degrees).reshape(len(rig), 3) * (math.pi / 180.0)
        back = forth.clone()
        for joint, bend in neutral_bends(rig).items():
            role = rig.roles[joint]
            way = bend if abs(bend) > PLAIN_BEND else _FLEXES[role.limb, role.part]
            room = (bend if way > 0.0 else -bend) + _FURTHER
            side = back if way > 0.0 else forth
            side[joint, 0] = min(float(side[joint, 0]), max(room, _FURTHER))
        return cls(forth, back)

    def bounded(self, angles: Float[Tensor, "*b D 3"]) -> Float[Tensor, "*b D 3"]:
        """Angles that come no further than the limits, and are unchanged near zero."""
        limit = self._of(angles)
        return limit * torch.tanh(angles / limit)

    def unbounded(self, angles: Float[Tensor, "*b D 3"]) -> Float[Tensor, "*b D 3"]:
        """The inverse of `bounded`; angles near or beyond the limits end shortly before them."""
        limit = self._of(angles)
        return limit * torch.atanh((angles / limit).clamp(-_INSIDE, _INSIDE))

    def clamped(self, angles: Float[Tensor, "*b D 3"]) -> Float[Tensor, "*b D 3"]:
        """The nearest angles within the limits."""
        return torch.minimum(torch.maximum(angles, -self.back.to(angles)), self.forth.to(angles))

    def parts(self, angles: Float[Tensor, "*b D 3"]) -> Float[Tensor, "*b D 3"]:
        """Angles in parts of how far they may go; no gradient through the choice of the side."""
        return angles / self._of(angles)

    def _of(self, angles: Float[Tensor, "*b D 3"]) -> Float[Tensor, "*b D 3"]:
        back, forth = (
            resident(side, angles.device, angles.dtype) for side in (self.back, self.forth)
        )
        return torch.where(angles.detach() < 0.0, back, forth)


def _upright_spine(rig: ControlRig) -> list[int]:
    """The joints of the spine, if it goes up rather than forward; else none."""
    spine = [i for i, role in enumerate(rig.roles) if role.part is Part.SPINE]
    if not spine:
        return []
    ends = [k for k, parent in enumerate(rig.parents) if parent == spine[-1]]
    way = rig.pivots[ends[0] if ends else spine[-1]] - rig.root_pivot
    up, left, _ = rig.root_axes
    across = torch.linalg.cross(left, up)
    rises = float(way @ up) > 2.0 * abs(float(way @ across))
    return spine if rises else []


def neutral_bends(rig: ControlRig) -> dict[int, float]:
    """How knees, elbows and hocks are bent in the neutral pose: radians about the axis of flexion.

    Both sides of a body are bent alike: it is their mean.
    """
    found: dict[tuple[object, ...], list[tuple[int, float]]] = {}
    for joint, role in enumerate(rig.roles):
        after = [k for k, parent in enumerate(rig.parents) if parent == joint]
        before = rig.parents[joint]
        if (role.limb, role.part) not in _FLEXES or not after or before < 0:
            continue
        axis = rig.axes[joint, 0]
        if abs(float(axis @ rig.root_axes[1])) < 0.7:
            continue  # an arm held out sideways: forward and back are not what they are elsewhere
        above = rig.pivots[joint] - rig.pivots[before]
        below = rig.pivots[after[0]] - rig.pivots[joint]
        above, below = (bone - (bone @ axis) * axis for bone in (above, below))
        sine = float(torch.linalg.cross(above, below) @ axis)
        bend = math.atan2(sine, float(above @ below))
        found.setdefault((role.limb, role.part, role.number), []).append((joint, bend))
    return {
        joint: sum(bend for _, bend in alike) / len(alike)
        for alike in found.values()
        for joint, _ in alike
    }
