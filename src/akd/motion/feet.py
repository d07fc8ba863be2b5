"""Feet: their soles, where those are over time, and leg length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.control import ControlRig
from akd.rig.roles.role import Limb
from akd.rig.skin import skin_points

_SOLE = 0.02
"""A foot's sole is its skin within this fraction of the body's height of its lowest point. Not a
height at which it touches: soles are uneven, and stand on fewer points than these."""
_MOST_POINTS = 24
BONE_WIDTH = 0.15
"""Half width of a part of the body that has no skin, as a share of its length."""


@dataclass(frozen=True)
class FootTrack:
    """One foot over time: metres, world."""

    leg: Limb
    sole: Float[Tensor, "T S 3"]
    """Points of the sole; the joints of the foot where there is no skin."""
    thickness: float = 0.0
    """Assumed distance from joints to the ground where there is no skin, metres."""

    @property
    def under(self) -> Float[Tensor, "T S 3"]:
        """Points that touch the ground: those of the sole, or below the joints of a bare foot."""
        return self.sole - self.sole.new_tensor((0.0, self.thickness, 0.0))

    @property
    def lowest(self) -> Float[Tensor, "T"]:
        """Height of the lowest of them."""
        return self.under[..., 1].amin(dim=1)

    @property
    def centre(self) -> Float[Tensor, "T 3"]:
        """Middle of the sole."""
        return self.sole.mean(dim=1)


@dataclass(frozen=True)
class Sole:
    """Points of a foot's skin that stand on the ground, with their binding."""

    leg: Limb
    points: Float[Tensor, "S 3"]
    """Mesh space, metres."""
    bones: Int[Tensor, "S K"]
    weights: Float[Tensor, "S K"]

    def at(self, bones: Float[Tensor, "T B 4 4"]) -> Float[Tensor, "T S 3"]:
        """Where the points are for world_from_mesh of the bones."""
        device = bones.device
        return skin_points(
            bones, self.points.to(bones), self.bones.to(device), self.weights.to(bones)
        )


@dataclass(frozen=True)
class SolePoints:
    """The soles of all feet as one array; short soles are padded with points of weight zero."""

    points: Float[Tensor, "P 3"]
    bones: Int[Tensor, "P K"]
    weights: Float[Tensor, "P K"]
    share: Float[Tensor, "F S 1"]
    """Of each point in the middle of its sole."""

    @classmethod
    def of(cls, soles: Sequence[Sole], device: torch.device) -> SolePoints:
        """Soles on a device."""
        most = max(len(sole.points) for sole in soles)
        place = [torch.arange(most).remainder(len(sole.points)) for sole in soles]
        share = [(torch.arange(most) < len(s.points)) / len(s.points) for s in soles]

        def padded(name: str) -> Tensor:
            rows = [getattr(sole, name)[at] for sole, at in zip(soles, place, strict=True)]
            return torch.cat(rows).to(device)

        return cls(
            padded("points"), padded("bones"), padded("weights"),
            torch.stack(share)[..., None].to(device),
        )  # fmt: skip

    def at(
        self, bones: Float[Tensor, "*b B 4 4"]
    ) -> tuple[Float[Tensor, "*b F"], Float[Tensor, "*b F 3"]]:
        """Height of the lowest point and middle of every sole: metres, world."""
        points = skin_points(bones, self.points, self.bones, self.weights)
        soles = points.unflatten(-2, self.share.shape[:2])
        return soles[..., 1].amin(-1), (soles * self.share).sum(-2)


def find_soles(character: Character, rig: ControlRig) -> list[Sole]:
    """The soles of all legs that have skin at their feet."""
    found = [_sole_of(character, rig, leg) for leg in character.anatomy.legs]
    return [sole for sole in found if sole is not None]


def track_feet(character: Character, rig: ControlRig, motion: Motion) -> list[FootTrack]:
    """The feet of a motion, one for each leg."""
    return _feet_at(character, rig, motion.world())


def leg_length(character: Character, rig: ControlRig) -> float:
    """From a leg's first joint down to its sole in the neutral pose, metres; mean over legs.

    Where there are no feet: half the body's height, or a quarter of its length if that is more.
    """
    neutral = rig.neutral_world
    feet = _feet_at(character, rig, neutral[None])
    if not feet:
        mesh = character.body_mesh
        if mesh is None:
            return 0.5 * character.height
        points = mesh.pose(neutral[None])[0][:, [0, 2]]
        length = float((points.amax(0) - points.amin(0)).max())
        return max(0.5 * character.height, 0.25 * length)
    lengths = [
        max(float(neutral[foot.leg.joints[0], 1, 3] - foot.sole[0, :, 1].amin()), 1e-6)
        for foot in feet
    ]
    return sum(lengths) / len(lengths)


def _feet_at(
    character: Character, rig: ControlRig, world: Float[Tensor, "T J 4 4"]
) -> list[FootTrack]:
    mesh = character.mesh
    soles = {sole.leg: sole for sole in find_soles(character, rig)}
    bones = None if mesh is None else mesh.skin.bone_transforms(world)
    tracks = []
    for leg in character.anatomy.legs:
        if bones is not None and leg in soles:
            tracks.append(FootTrack(leg, soles[leg].at(bones)))
        else:
            below = list(character.skeleton.subtree(leg.tip))  # toes and the ends of toes
            neutral = rig.neutral_world[below, :3, 3]
            length = float((neutral - neutral[0]).norm(dim=-1).max())
            tracks.append(FootTrack(leg, world[:, below, :3, 3], BONE_WIDTH * length))
    return tracks


def _sole_of(character: Character, rig: ControlRig, leg: Limb) -> Sole | None:
    """Vertices of a foot's sole with their binding."""
    mesh = character.body_mesh
    if mesh is None:
        return None
    joints = _foot_joints(character, leg)
    mine = torch.isin(mesh.skin.owners, torch.tensor(sorted(joints))).nonzero().squeeze(1)
    if not len(mine):
        return None
    skin = mesh.skin
    still = skin_points(
        skin.bone_transforms(rig.neutral_world), mesh.vertices[mine], skin.bones[mine],
        skin.weights[mine],
    )  # fmt: skip
    low = still[:, 1] <= still[:, 1].min() + _SOLE * character.height
    mine = mine[low]
    if len(mine) > _MOST_POINTS:
        mine = mine[torch.linspace(0, len(mine) - 1, _MOST_POINTS).long()]
    return Sole(leg, mesh.vertices[mine], skin.bones[mine], skin.weights[mine])


def _foot_joints(character: Character, leg: Limb) -> set[int]:
    """The foot's joint, everything of the body below it, and what rigid pieces hang on those."""
    skeleton = character.skeleton
    below = character.anatomy.body.subtree(leg.tip)
    return {node for joint in below for node in skeleton.subtree(joint)}
