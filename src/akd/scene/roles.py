"""Colours of the `roles` style: each limb its own hue, left and right apart.

A role is read as the words of `akd.rig.roles.role.Role`, such as `left hind upper` or `tail 2`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from akd.rig.character import Character
from akd.rig.roles.role import Part
from akd.splat.cloud import SplatCloud

Colour = tuple[float, float, float]

LIMBS: dict[tuple[str, str], Colour] = {
    ("left", "fore"): (0.93, 0.22, 0.18),
    ("right", "fore"): (0.16, 0.35, 0.95),
    ("left", "hind"): (0.98, 0.62, 0.10),
    ("right", "hind"): (0.05, 0.74, 0.82),
    ("left", "leg"): (0.98, 0.62, 0.10),
    ("right", "leg"): (0.05, 0.74, 0.82),
    ("left", "arm"): (0.93, 0.22, 0.18),
    ("right", "arm"): (0.16, 0.35, 0.95),
    ("left", "mid"): (0.75, 0.85, 0.15),
    ("right", "mid"): (0.15, 0.62, 0.35),
    ("left", "wing"): (0.95, 0.45, 0.65),
    ("right", "wing"): (0.45, 0.30, 0.80),
    ("left", "fin"): (0.95, 0.45, 0.65),
    ("right", "fin"): (0.45, 0.30, 0.80),
}
"""Warm on the character's left, cold on its right."""
PARTS: dict[str, Colour] = {
    "pelvis": (0.58, 0.58, 0.60),
    "spine": (0.68, 0.68, 0.70),
    "neck": (0.78, 0.74, 0.62),
    "head": (0.95, 0.90, 0.45),
    "ear": (0.88, 0.80, 0.35),
    "tail": (0.66, 0.42, 0.86),
}
OTHER: Colour = (0.60, 0.60, 0.62)
"""Whatever has no role of its own: it goes with the trunk."""
OUTWARDS: dict[str, float] = {
    "girdle": 1.0, "upper": 1.0, "lower": 0.86, "cannon": 0.76, "foot": 0.66, "hand": 0.66,
    "toes": 0.56,
}  # fmt: skip
"""A limb darkens towards its end, so that its segments can be distinguished."""


def role_colour(role: str) -> Colour:
    """The colour of a role, sRGB 0..1."""
    words = str(role).split()
    side = next((w for w in words if w in ("left", "right")), "")
    limb = next((w for w in words if (side, w) in LIMBS), "")
    if limb:
        shade = next((OUTWARDS[w] for w in words if w in OUTWARDS), 1.0)
        r, g, b = LIMBS[side, limb]
        return (shade * r, shade * g, shade * b)
    return next((PARTS[w] for w in words if w in PARTS), OTHER)


def role_colours(roles: Sequence[object]) -> Float[Tensor, "R 3"]:
    """Colours of several roles, or of whatever says its role when it is turned into words."""
    return torch.tensor([role_colour(str(role)) for role in roles]).reshape(-1, 3)


def bone_roles(character: Character) -> list[str]:
    """The role of each bone of a character's mesh, in words.

    A bone without a role of its own, such as a finger or a rigid piece of armour, takes that of
    the nearest joint above it that has one.
    """
    if character.mesh is None:
        return []
    roles, skeleton = character.anatomy.roles, character.skeleton
    silent = (Part.OTHER, Part.HELPER)

    def role_of(joint: int) -> str:
        chain = (joint, *skeleton.ancestors(joint))
        return str(next((roles[j] for j in chain if roles[j].part not in silent), roles[joint]))

    return [role_of(joint) for joint in character.mesh.skin.bone_joints.tolist()]


def splat_role_colours(
    cloud: SplatCloud, bone_colours: Float[Tensor, "B 3"]
) -> Float[Tensor, "N 3"]:
    """The colour of each splat's strongest bone."""
    strongest = cloud.weights.argmax(-1, keepdim=True)
    return bone_colours.to(cloud.means)[cloud.bones.gather(1, strongest).squeeze(1)]
