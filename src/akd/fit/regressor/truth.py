"""`TruthPool`: rendered videos with the true motion of every body part."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.math import transform
from akd.motion.retargeting.body_parts import BODY_PARTS
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.film import Footage
from akd.prior.tiny.pool import Batch, Pool

_POLAR = 4
"""Iterations to the nearest rotation: a body that is stretched by a fifth needs three."""


@dataclass(frozen=True)
class Truth:
    """What the videos of a batch show."""

    rotations: Float[Tensor, "B T P 3 3"]
    """Of `BODY_PARTS` since the neutral pose, in body axes (left, up, forward)."""
    shift: Float[Tensor, "B T 3"]
    """Of the root from its neutral place, body heights; along the ground from the first frame."""
    present: Bool[Tensor, "B P"]
    """Which parts the body has."""
    views: Float[Tensor, "B 2"]
    """Azimuth and elevation of the cameras, radians."""


def nearest_rotation(matrix: Float[Tensor, "*b 3 3"]) -> Float[Tensor, "*b 3 3"]:
    """The rotation of a matrix that is stretched a little, by Newton's polar iteration."""
    for _ in range(_POLAR):
        matrix = 0.5 * (matrix + torch.linalg.inv(matrix).mT)
    return matrix


def true_motion(footage: Footage) -> Truth:
    """What the videos of a character show."""
    actor, device = footage.actor, footage.bones.device
    own = actor.part_bones.clamp_min(0)
    since = footage.bones[:, :, own] @ torch.linalg.inv(actor.neutral[own])
    rotations = nearest_rotation(since[..., :3, :3])
    present = actor.part_bones >= 0
    unturned = torch.eye(3, device=device)
    rotations = torch.where(present[:, None, None], rotations, unturned)
    shift = (transform.apply(since[:, :, 0], actor.pivot) - actor.pivot) / actor.height
    level = shift.new_tensor((1.0, 0.0, 1.0))
    views = torch.tensor([(view.azimuth, view.elevation) for view in footage.views])
    return Truth(
        rotations, shift - shift[:, :1] * level, present.expand(len(shift), -1), views.to(device)
    )


class TruthPool(Pool):
    """A `Pool` that keeps the true motion beside each video."""

    def _keep(self, actor: Actor, footage: Footage) -> None:
        if not hasattr(self, "_rotations"):
            shape = (self.capacity, self.tiny.frames)
            like = {"device": self.device}
            parts = len(BODY_PARTS)
            self._rotations = torch.empty(*shape, parts, 3, 3, dtype=torch.float16, **like)
            self._shift = torch.empty(*shape, 3, **like)
            self._present = torch.empty(self.capacity, parts, dtype=torch.bool, **like)
            self._views = torch.empty(self.capacity, 2, **like)
        truth = true_motion(footage)
        there = ((self.made + torch.arange(len(footage.videos))) % self.capacity).to(self.device)
        self._rotations[there] = truth.rotations.to(self._rotations)
        self._shift[there] = truth.shift.to(self._shift)
        self._present[there] = truth.present.to(self.device)
        self._views[there] = truth.views.to(self._views)
        super()._keep(actor, footage)

    def batch_with_truth(self, size: int) -> tuple[Batch, Truth]:
        """Videos at random, and what they show."""
        chosen = self.choose(size)
        truth = Truth(
            self._rotations[chosen].float(), self._shift[chosen], self._present[chosen],
            self._views[chosen],
        )  # fmt: skip
        return self.videos_of(chosen), truth
