"""`TruthPool`: rendered videos with the true motion of every body part."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from akd.fit.regressor.settings import RegressorTraining
from akd.math import transform
from akd.motion.retargeting.body_parts import BODY_PARTS
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.film import Footage
from akd.prior.tiny.pool import Batch, Pool
from akd.prior.tiny.settings import TinySettings

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
    """A `Pool` that keeps the true motion beside each video.

    It shows artists' characters and each action of each body plan as often as its settings say.
    """

    def __init__(
        self,
        capacity: int,
        tiny: TinySettings,
        *args: Any,
        training: RegressorTraining | None = None,
        **options: Any,
    ) -> None:
        self.training = training or RegressorTraining()
        super().__init__(capacity, tiny, *args, bodies=self.training.bodies, **options)
        self._kinds: dict[tuple[bool, str, str], int] = {}
        self._shown = torch.zeros(capacity, dtype=torch.long)
        """Number of the kind of each video."""
        self._odds: tuple[int, Tensor] | None = None
        self._filmed = [0, 0]
        """Calls of the rasterizer that showed the zoo, and artists' characters."""
        device, parts = self.device, len(BODY_PARTS)
        frames = (capacity, tiny.frames)
        self._truth = Truth(
            torch.empty(*frames, parts, 3, 3, dtype=torch.float16, device=device),
            torch.empty(*frames, 3, device=device),
            torch.empty(capacity, parts, dtype=torch.bool, device=device),
            torch.empty(capacity, 2, device=device),
        )

    def _keep(self, actor: Actor, footage: Footage) -> None:
        places = (self.made + torch.arange(len(footage.videos))) % self.capacity
        there = places.to(self.device)
        shown = true_motion(footage)
        for field in fields(Truth):
            kept = getattr(self._truth, field.name)
            kept[there] = getattr(shown, field.name).to(kept)
        for place, label in zip(places.tolist(), footage.labels, strict=True):
            kind = (actor.is_artists, actor.plan, label)
            self._shown[place] = self._kinds.setdefault(kind, len(self._kinds))
        self._filmed[actor.is_artists] += 1
        super()._keep(actor, footage)

    def film_next(self) -> None:
        """Film the next actor in turn, of the kind that was shown too seldom."""
        groups = [[a for a in self.actors if a.is_artists == kind] for kind in (False, True)]
        share = self.training.artist_share
        kind = self._filmed[1] < share * sum(self._filmed)
        among = groups[kind] or groups[not kind]
        self._film(among[self._filmed[kind] % len(among)])

    def odds(self) -> Float[Tensor, "N"]:
        """How likely each video is to be drawn."""
        if self._odds is None or self._odds[0] != self.made:
            shown = self._shown[: self.count]
            counts = shown.bincount(minlength=len(self._kinds)).clamp_min(1)
            odds = counts.double().pow(-self.training.evenness)[shown]
            theirs = torch.tensor([kind[0] for kind in self._kinds])[shown]
            for share, own in (
                (self.training.artist_share, theirs),
                (1.0 - self.training.artist_share, ~theirs),
            ):
                if bool(own.any()) and not bool(own.all()):
                    odds[own] *= share / odds[own].sum()
            self._odds = self.made, odds.float().to(self.device)
        return self._odds[1]

    def batch_with_truth(self, size: int) -> tuple[Batch, Truth]:
        """Videos at random, and what they show."""
        chosen = torch.multinomial(self.odds(), size, replacement=True, generator=self._draw)
        kept = self._truth
        truth = Truth(
            kept.rotations[chosen].float(), kept.shift[chosen], kept.present[chosen],
            kept.views[chosen],
        )  # fmt: skip
        return self.videos_of(chosen), truth
