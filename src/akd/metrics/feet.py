"""Where the soles of a character's feet are over time."""

from __future__ import annotations

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
"""A foot's sole is its skin within this fraction of the body's height of its lowest point."""
_MOST_POINTS = 24


@dataclass(frozen=True)
class FootTrack:
    """One foot over time: metres, world."""

    leg: Limb
    sole: Float[Tensor, "T S 3"]
    """Points of the sole; the joints of the foot where there is no skin."""
    length: float
    """Leg length: from the leg's first joint down to the sole in the neutral pose."""

    @property
    def lowest(self) -> Float[Tensor, "T"]:
        """Height of the sole's lowest point."""
        return self.sole[..., 1].amin(dim=1)

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


def find_soles(character: Character, rig: ControlRig) -> list[Sole]:
    """The soles of all legs that have skin at their feet."""
    found = [(leg, *_sole_of(character, rig, leg)) for leg in character.anatomy.legs]
    return [
        Sole(leg, points, bones, weights)
        for leg, points, bones, weights in found
        if points is not None and bones is not None and weights is not None
    ]


def track_feet(character: Character, rig: ControlRig, motion: Motion) -> list[FootTrack]:
    """The feet of a motion, one for each leg."""
    world = motion.world()
    neutral = rig.neutral_world
    tracks = []
    for leg in character.anatomy.legs:
        points, bones, weights = _sole_of(character, rig, leg)
        if points is None or bones is None or weights is None:
            below = list(character.skeleton.subtree(leg.tip))  # toes and the ends of toes
            sole = world[:, below, :3, 3]
            lowest = float(neutral[below, 1, 3].min())
        else:
            assert character.mesh is not None
            transforms = character.mesh.skin.bone_transforms(world)
            sole = skin_points(transforms, points, bones, weights)
            still = skin_points(
                character.mesh.skin.bone_transforms(neutral), points, bones, weights
            )
            lowest = float(still[:, 1].min())
        top = float(neutral[leg.joints[0], 1, 3])
        tracks.append(FootTrack(leg, sole, max(top - lowest, 1e-6)))
    return tracks


def leg_length(character: Character) -> float:
    """Mean over legs, metres; half the body's height where no feet were found."""
    rig = character.control_rig
    still = Motion(rig.skeleton, torch.zeros(1), rig.neutral.expand(1), "neutral")
    feet = track_feet(character, rig, still)
    if not feet:
        return 0.5 * character.height
    return sum(foot.length for foot in feet) / len(feet)


def _sole_of(
    character: Character, rig: ControlRig, leg: Limb
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Vertices of a foot's sole with their binding."""
    mesh = character.mesh
    if mesh is None:
        return None, None, None
    joints = _foot_joints(character, leg)
    strongest = mesh.skin.weights.argmax(dim=1, keepdim=True)
    owner = mesh.skin.bone_joints[mesh.skin.bones.gather(1, strongest).squeeze(1)]
    mine = torch.isin(owner, torch.tensor(sorted(joints))).nonzero().squeeze(1)
    if not len(mine):
        return None, None, None
    skin = mesh.skin
    still = skin_points(
        skin.bone_transforms(rig.neutral_world), mesh.vertices[mine], skin.bones[mine],
        skin.weights[mine],
    )  # fmt: skip
    low = still[:, 1] < still[:, 1].min() + _SOLE * character.height
    mine = mine[low]
    if len(mine) > _MOST_POINTS:
        mine = mine[torch.linspace(0, len(mine) - 1, _MOST_POINTS).long()]
    return mesh.vertices[mine], skin.bones[mine], skin.weights[mine]


def _foot_joints(character: Character, leg: Limb) -> set[int]:
    """The foot's joint, everything of the body below it, and what rigid pieces hang on those."""
    skeleton = character.skeleton
    below = character.anatomy.body.subtree(leg.tip)
    return {node for joint in below for node in skeleton.subtree(joint)}
