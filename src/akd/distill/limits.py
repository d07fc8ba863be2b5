"""How far the joints of a body turn, by what they are: flexion, abduction, twist, in degrees."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from akd.rig.control import ControlRig
from akd.rig.roles import LimbKind, Part, Role

_LEG: dict[Part, tuple[float, float, float]] = {
    Part.GIRDLE: (25.0, 8.0, 8.0),
    Part.UPPER: (60.0, 15.0, 10.0),
    Part.LOWER: (75.0, 4.0, 4.0),
    Part.CANNON: (60.0, 4.0, 4.0),
    Part.FOOT: (50.0, 6.0, 6.0),
    Part.TOES: (10.0, 2.0, 2.0),
}
_ARM: dict[Part, tuple[float, float, float]] = {
    Part.GIRDLE: (15.0, 15.0, 5.0),
    Part.UPPER: (80.0, 60.0, 30.0),
    Part.LOWER: (90.0, 5.0, 30.0),
    Part.CANNON: (60.0, 10.0, 10.0),
    Part.HAND: (30.0, 20.0, 10.0),
}
_TRUNK: dict[Part, tuple[float, float, float]] = {
    Part.SPINE: (15.0, 12.0, 8.0),
    Part.NECK: (20.0, 15.0, 8.0),
    Part.HEAD: (25.0, 20.0, 10.0),
    Part.TAIL: (25.0, 25.0, 5.0),
}
_ANY = (30.0, 20.0, 10.0)


def limit_of(role: Role) -> tuple[float, float, float]:
    """Largest angles either way from the neutral pose, degrees."""
    if role.limb is None:
        return _TRUNK.get(role.part, _ANY)
    if role.limb.is_leg:
        return _LEG.get(role.part, _ANY)
    return _ARM.get(role.part, _ANY) if role.limb is LimbKind.ARM else (70.0, 60.0, 40.0)


def angle_limits(rig: ControlRig) -> Float[Tensor, "D 3"]:
    """Limits of every driven joint, radians."""
    degrees = [limit_of(role) for role in rig.roles]
    return torch.tensor(degrees).reshape(len(rig), 3) * (math.pi / 180.0)
