"""Points of a body that move with its control rig: soles, and a sample of the skin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.math import transform
from akd.motion.feet import find_soles
from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.rig.roles.role import Limb

_SKIN_POINTS = 160
_SURFACE_POINTS = 2000


@dataclass(frozen=True)
class DrivenPoints:
    """Points that blend the displacements of a few drivers of a control rig."""

    places: Float[Tensor, "P K 3"]
    """In the neutral world, as each of its bones has the point: metres."""
    drivers: Int[Tensor, "P K"]
    weights: Float[Tensor, "P K"]

    def __getitem__(self, chosen: Bool[Tensor, "P"]) -> DrivenPoints:
        """Some of the points."""
        return DrivenPoints(self.places[chosen], self.drivers[chosen], self.weights[chosen])

    def at(self, deltas: Float[Tensor, "T M 4 4"]) -> Float[Tensor, "T P 3"]:
        """Where the points are, for what `ControlRig.deltas` gives: metres, world."""
        total = deltas.new_zeros(len(deltas), len(self.places), 3)
        for k in range(self.places.shape[1]):
            moved = transform.apply(
                deltas.index_select(1, self.drivers[:, k]), self.places[:, k].to(deltas)
            )
            total = total + self.weights[:, k, None].to(deltas) * moved
        return total


@dataclass(frozen=True)
class BodyPoints:
    """Points of a body that must not slide on the ground or sink into it."""

    soles: tuple[DrivenPoints, ...]
    """One for each leg."""
    skin: DrivenPoints
    """A sample of the whole body, its extremes among them."""
    surface: DrivenPoints
    """A denser one."""


def body_points(character: Character, rig: ControlRig) -> BodyPoints:
    """Soles and skin of a character; joints where there is no skin."""
    found = {sole.leg: sole for sole in find_soles(character, rig)}
    soles = []
    for leg in character.anatomy.legs:
        if leg in found:
            sole = found[leg]
            soles.append(_bound(character, rig, sole.points, sole.bones, sole.weights))
        else:
            soles.append(_joints(rig, _foot(character, leg)))
    mesh = character.body_mesh
    if mesh is None:
        joints = _joints(rig, [rig.root, *rig.joints])
        return BodyPoints(tuple(soles), joints, joints)
    skin = mesh.skin
    dense = torch.linspace(0, len(mesh.vertices) - 1, _SURFACE_POINTS).long().unique()
    samples = [
        _bound(character, rig, mesh.vertices[some], skin.bones[some], skin.weights[some])
        for some in (_spread(mesh.pose(rig.neutral_world)), dense)
    ]
    return BodyPoints(tuple(soles), *samples)


def _foot(character: Character, leg: Limb) -> list[int]:
    return list(character.skeleton.subtree(leg.tip))


def _joints(rig: ControlRig, joints: Sequence[int]) -> DrivenPoints:
    index = torch.tensor(list(joints))
    return DrivenPoints(
        rig.neutral_world[index, None, :3, 3], rig.driver_index[index, None],
        torch.ones(len(index), 1),
    )  # fmt: skip


def _bound(
    character: Character, rig: ControlRig, points: Tensor, bones: Tensor, weights: Tensor
) -> DrivenPoints:
    mesh = character.body_mesh
    assert mesh is not None
    skin = mesh.skin
    neutral = skin.bone_transforms(rig.neutral_world)
    places = transform.apply(neutral[bones], points[:, None])
    return DrivenPoints(places, rig.driver_index[skin.bone_joints[bones]], weights)


def _spread(vertices: Float[Tensor, "V 3"]) -> Int[Tensor, "S"]:
    """Vertices that are extreme along many directions, and others between them."""
    steps = torch.arange(_SKIN_POINTS // 2, dtype=torch.float64) + 0.5
    height = 1.0 - 2.0 * steps / len(steps)
    angle = steps * 2.399963229728653  # the golden angle spreads directions evenly
    ring = (1.0 - height * height).sqrt()
    ways = torch.stack((ring * angle.cos(), height, ring * angle.sin()), dim=1)
    extreme = (vertices.double() @ ways.T).argmax(0)
    between = torch.linspace(0, len(vertices) - 1, _SKIN_POINTS // 2).long()
    return torch.cat((extreme, between)).unique()
