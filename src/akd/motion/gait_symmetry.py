"""Symmetrical gaits: half a cycle later, left does what right did; or both do it at once.

So it is in every walk, trot and run of two legs that goes straight (Hildebrand 1965), and in every
wing beat. What is found for one side then holds for the other: there are half as many parameters,
and a limb that the body hides from the camera is seen on the other side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math.resident import constant, resident
from akd.rig.control import ControlRig
from akd.rig.roles.role import Part, Role, Side

_ROOT_SIGNS = (-1.0, 1.0, 1.0, -1.0, 1.0, -1.0)
"""Of sway left, up and forward, yaw, pitch and roll in a mirror."""


@dataclass(frozen=True)
class Mirror:
    """How a mirror between left and right maps a control rig's coordinates."""

    partners: Int[Tensor, "D"]
    """The control on the other side; a control of the middle is its own."""
    signs: Float[Tensor, "D 3"]
    """Of flexion, abduction and twist."""
    known: Bool[Tensor, "D"]
    """False for a control of one side that has no partner: it is left alone."""
    swings: Bool[Tensor, "D"]
    """Where a limb hangs on the body: it swings to and fro once a cycle, and has no even harmonic.

    Two swings a cycle would be both legs going together.
    """
    at_once: bool = False
    """Both sides do the same at the same time, as wings do."""

    @classmethod
    def of(cls, rig: ControlRig, *, at_once: bool = False) -> Mirror:
        """The mirror of a rig, by the roles of its controls and the directions of their axes."""
        # A middle leg may have several joints of one role: they go in pairs in their order.
        places: dict[Role, list[int]] = {}
        for i, role in enumerate(rig.roles):
            places.setdefault(role, []).append(i)
        partners = [-1] * len(rig)
        for role, own in places.items():
            other = places.get(_across(role), [])
            if len(own) == len(other):
                for i, k in zip(own, other, strict=True):
                    partners[i] = k
        known = torch.tensor([p >= 0 for p in partners], dtype=torch.bool)
        found = torch.tensor([p if p >= 0 else i for i, p in enumerate(partners)]).long()
        left = rig.root_axes[1]
        seen = rig.axes - 2.0 * (rig.axes @ left)[..., None] * left
        # A mirror turns a rotation about an axis into the opposite one about the axis it shows.
        signs = -torch.sign((seen * rig.axes[found]).sum(-1))
        hangs = [r.limb is not None and r.part in (Part.GIRDLE, Part.UPPER) for r in rig.roles]
        swings = known & torch.tensor(hangs, dtype=torch.bool)
        return cls(found, signs, known, swings & (not at_once), at_once)

    def mirrored(
        self, angles: Float[Tensor, "*b K D 3"], root: Float[Tensor, "*r K 6"]
    ) -> tuple[Float[Tensor, "*b K D 3"], Float[Tensor, "*r K 6"]]:
        """Coefficients of a constant and harmonics, mirrored, and moved by half a cycle unless both
        sides move at once."""
        device = angles.device
        parity = resident(_parity(root.shape[-2], self.at_once), device, angles.dtype)
        partners = resident(self.partners, device)
        moved = parity[:, None, None] * resident(self.signs, device, angles.dtype)
        moved = moved * angles[..., partners, :]
        known = resident(self.known, device)[:, None]
        signs = constant(_ROOT_SIGNS, root)
        return torch.where(known, moved, angles), parity[:, None] * signs * root

    def balanced(
        self, angles: Float[Tensor, "*b K D 3"], root: Float[Tensor, "*r K 6"]
    ) -> tuple[Float[Tensor, "*b K D 3"], Float[Tensor, "*r K 6"]]:
        """The nearest coefficients that are the same in the mirror: see `mirrored`."""
        other_angles, other_root = self.mirrored(angles, root)
        even = resident(_even(root.shape[-2]), angles.device)
        left_out = (even[:, None] & resident(self.swings, angles.device))[..., None]
        both = 0.5 * (angles + other_angles)
        return both.masked_fill(left_out, 0.0), 0.5 * (root + other_root)


def _across(role: Role) -> Role:
    """The same on the other side."""
    other = {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT}
    return replace(role, side=other.get(role.side, role.side))


@cache
def _parity(count: int, at_once: bool = False) -> Float[Tensor, "K"]:
    """What half a cycle, or none, does to a constant, and to cosine and sine of each harmonic in
    turn."""
    harmonic = (torch.arange(count) + 1) // 2
    if at_once:
        return torch.ones(count)
    return 1.0 - 2.0 * (harmonic % 2)


@cache
def _even(count: int) -> Bool[Tensor, "K"]:
    """The even harmonics, without the constant."""
    return (_parity(count) > 0) & (torch.arange(count) > 0)
