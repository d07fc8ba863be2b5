"""Standing feet: which joints of legs keep a pose on the ground."""

from __future__ import annotations

from collections.abc import Collection

import torch
from jaxtyping import Float
from torch import Tensor

from akd.posespace.body import PoseBody
from akd.posespace.features import LIMBS, PARTS
from akd.posespace.ground import lowest, token_heights
from akd.rig.roles.role import LimbKind, Part

_TOUCH = 0.025
"""Body sizes above the ground at which the skin of a foot touches it. More than `contact.TOUCH`:
soles are known by a dozen points each."""
_LEGS = torch.tensor([1 + LIMBS.index(kind) for kind in LimbKind if kind.is_leg])
_FEET = torch.tensor([1 + PARTS.index(part) for part in (Part.FOOT, Part.TOES)])


def standing_feet(
    body: PoseBody, state: Float[Tensor, "J 3"], *, moved: Collection[int]
) -> list[int]:
    """Tokens of legs that touch the ground of the neutral pose, without the feet that are moved.

    Args:
        body: One body.
        state: Its pose.
        moved: Tokens that have a goal of their own. One on a foot frees that foot; one further up
            the leg does not.
    """
    batch = body.expand(1)
    ground = lowest(batch, torch.zeros_like(state)[None])
    low = (token_heights(batch, state[None]) <= ground[:, None] + _TOUCH)[0]
    touching = low & torch.isin(body.roles[:, 1], _LEGS)
    foot = touching | torch.isin(body.roles[:, 0], _FEET)

    def above(token: int) -> set[int]:
        found = {token}
        while token := int(body.parents[token]):
            found.add(token)
        return found

    lines = {token: above(token) for token in {*moved, *torch.nonzero(touching)[:, 0].tolist()}}
    return [
        token
        for token in torch.nonzero(touching)[:, 0].tolist()
        if not any(
            other == token or (foot[other] and (other in lines[token] or token in lines[other]))
            for other in moved
        )
    ]
