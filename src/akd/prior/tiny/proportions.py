"""Random proportions and neutral poses of actors: more bodies than there are files.

Lengths change by a factor for each kind of body part, the same left and right. A bone keeps its
rotations, and stands where the bones above it lead with their new lengths.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import fmean

import torch
from jaxtyping import Float
from torch import Tensor

from akd.math import quaternion, transform
from akd.motion.retargeting.body_parts import BODY_PARTS, BodyPart
from akd.prior.tiny.actor import Actor
from akd.prior.tiny.settings import BodySettings
from akd.rig.roles.names import Side
from akd.rig.roles.role import LimbKind
from akd.scene.follow import bounding_boxes

_ALIKE = 0.8
"""Share of a limb's change that its segments have in common."""
_HANGING = (LimbKind.ARM, LimbKind.WING)
"""Limbs on which nothing stands: files rest with them raised, spread or lowered."""
_LEGS = (LimbKind.LEG, LimbKind.FORE, LimbKind.HIND, LimbKind.MID)
_STANDING = 0.4
"""Of the rest, how far neutral poses differ against that of arms and wings."""
_MIRRORED = (1.0, -1.0, -1.0)
"""A rotation vector (left, up, forward) in the mirror of the body's middle plane."""


def vary_body(
    actor: Actor,
    bones: Float[Tensor, "K T B 4 4"],
    settings: BodySettings,
    *,
    generator: torch.Generator,
) -> tuple[Actor, Float[Tensor, "K T B 4 4"]]:
    """An actor with other proportions and another neutral pose, and its videos on this body.

    Feet are as high above the ground as before, by the new length of the legs.

    Args:
        actor: Who is filmed.
        bones: world_from_mesh of its bones in K videos.
        settings: How much changes.
        generator: On the CPU.

    Returns:
        The actor, whose clips are no longer of use, and the transforms of its bones.
    """
    amount = float(torch.rand((), generator=generator))  # many stay nearly as they are
    factors, legs = _lengths(actor, amount * settings.lengths, generator)
    paths = actor.tree.paths()
    low = bounding_boxes(actor.cloud, bones.flatten(0, 1))[0][:, 1]
    before, stood = _extent(actor, actor.neutral)
    neutral = resized(actor, actor.neutral[None], factors, paths, travel=legs)[0]
    height = actor.height * _extent(actor, neutral)[0] / before
    trunk = int(actor.part_bones[0].clamp_min(0))
    pivot = transform.apply(neutral[trunk] @ torch.linalg.inv(actor.neutral[trunk]), actor.pivot)
    other = turned(actor, neutral, _turns(actor, amount * settings.neutral, generator))
    up = legs * stood - _extent(actor, other)[1]
    other, pivot = raised(other, up), pivot + pivot.new_tensor((0.0, up, 0.0))

    posed = resized(actor, bones.flatten(0, 1), factors, paths, travel=legs)
    now = bounding_boxes(actor.cloud, posed)[0][:, 1]
    posed = raised(posed, (legs * low - now)[:, None])
    return replace(actor, height=height, neutral=other, pivot=pivot), posed.view_as(bones)


def resized(
    actor: Actor,
    bones: Float[Tensor, "T B 4 4"],
    factors: Float[Tensor, "B"],
    paths: Float[Tensor, "B B"],
    *,
    travel: float,
) -> Float[Tensor, "T B 4 4"]:
    """world_from_mesh of the bones with each part of the body larger by a factor.

    Args:
        actor: Whose bones they are.
        bones: Their transforms.
        factors: Of each bone.
        paths: `BoneTree.paths` of the actor.
        travel: Factor of the way that the body goes.
    """
    parents, pivots = actor.tree.parents, actor.tree.pivots
    places = transform.apply(bones, pivots)
    above = places[:, parents.clamp_min(0)]
    hangs = (parents >= 0)[:, None]
    lengths = torch.where(
        hangs, factors[parents.clamp_min(0), None] * (places - above), travel * places
    )
    linear = factors[:, None, None] * bones[..., :3, :3]
    shift = paths @ lengths - (linear @ pivots[..., None]).squeeze(-1)
    return transform.from_linear(linear, shift)


def turned(
    actor: Actor, neutral: Float[Tensor, "B 4 4"], turns: Float[Tensor, "B 3"]
) -> Float[Tensor, "B 4 4"]:
    """A pose with each bone, and what hangs on it, turned by a rotation vector in the world."""
    centres = transform.apply(neutral, actor.tree.pivots)
    local = transform.about_point(quaternion.from_rotation_vector(turns), centres)
    return actor.tree.skeleton().forward_matrices(local) @ neutral


def raised(
    bones: Float[Tensor, "*b B 4 4"], by: float | Float[Tensor, "*b 1"]
) -> Float[Tensor, "*b B 4 4"]:
    """The bones moved up, metres."""
    bones = bones.clone()
    bones[..., 1, 3] += by
    return bones


def _extent(actor: Actor, neutral: Float[Tensor, "B 4 4"]) -> tuple[float, float]:
    """Height of a pose, and of its lowest point."""
    low, high = bounding_boxes(actor.cloud, neutral[None])
    return float(high[0, 1] - low[0, 1]), float(low[0, 1])


def _lengths(
    actor: Actor, spread: float, generator: torch.Generator
) -> tuple[Float[Tensor, "B"], float]:
    """A factor for each bone, and that of the legs as a whole."""
    factors: dict[object, float] = {}

    def drawn(key: object) -> float:
        if key not in factors:
            factors[key] = float(torch.randn((), generator=generator))
        return factors[key]

    def factor(part: BodyPart) -> float:
        limb, own = drawn((part.limb, part.number)), drawn((part.limb, part.number, part.part))
        return math.exp(spread * (_ALIKE * limb + math.sqrt(1.0 - _ALIKE**2) * own))

    parts = zip(BODY_PARTS, actor.part_bones.tolist(), strict=True)
    there = [(part, bone) for part, bone in parts if bone >= 0]
    of_part = {bone: factor(part) for part, bone in there}
    parents, found = actor.tree.parents.tolist(), []
    for bone in range(len(parents)):
        above = bone
        while above >= 0 and above not in of_part:
            above = parents[above]
        found.append(of_part.get(above, 1.0))
    legs = [of_part[bone] for part, bone in there if part.limb in _LEGS] or found
    return torch.tensor(found).to(actor.neutral), fmean(legs)


def _turns(actor: Actor, spread: float, generator: torch.Generator) -> Float[Tensor, "B 3"]:
    """A rotation vector for each bone, mirror images left and right."""
    result = torch.zeros(len(actor.tree.parents), 3)
    drawn: dict[tuple[object, ...], Tensor] = {}
    for part, bone in zip(BODY_PARTS, actor.part_bones.tolist(), strict=True):
        key = (part.part, part.limb, part.number, part.share)
        if key not in drawn:
            drawn[key] = torch.randn(3, generator=generator)
        if bone < 0 or bone == int(actor.part_bones[0]):
            continue
        turn = spread * drawn[key] * (1.0 if part.limb in _HANGING else _STANDING)
        if part.side is Side.RIGHT:
            turn = turn * turn.new_tensor(_MIRRORED)
        elif part.side is Side.CENTRE:
            turn = turn * turn.new_tensor((1.0, 0.0, 0.0))
        result[bone] = turn
    return result.to(actor.neutral)
