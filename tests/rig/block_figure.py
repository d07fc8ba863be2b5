"""A figure of six blocks, one joint each, as block games have them."""

import torch

from akd.math import transform
from akd.rig.character import Character, bound_character
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin

# Name, parent, joint, and the centre and half edges of its block: metres, facing +Z.
BLOCKS = (
    ("torso", -1, (0.0, 0.7, 0.0), (0.0, 1.0, 0.0), (0.3, 0.3, 0.15)),
    ("head", 0, (0.0, 1.3, 0.0), (0.0, 1.55, 0.02), (0.25, 0.25, 0.25)),
    ("arm.L", 0, (0.35, 1.25, 0.0), (0.4, 0.95, 0.0), (0.1, 0.35, 0.1)),
    ("arm.R", 0, (-0.35, 1.25, 0.0), (-0.4, 0.95, 0.0), (0.1, 0.35, 0.1)),
    ("leg.L", 0, (0.15, 0.7, 0.0), (0.15, 0.35, 0.03), (0.13, 0.35, 0.16)),
    ("leg.R", 0, (-0.15, 0.7, 0.0), (-0.15, 0.35, 0.03), (0.13, 0.35, 0.16)),
)
_CORNERS = torch.cartesian_prod(*[torch.tensor((-1.0, 1.0))] * 3)
_FACES = torch.tensor(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


def block_figure() -> Character:
    """The figure, at rest."""
    names, parents, joints, centres, halves = zip(*BLOCKS, strict=True)
    places = torch.tensor(joints)
    local = places - torch.stack([places[p] if p >= 0 else torch.zeros(3) for p in parents])
    rest = Pose.identity(len(names))
    skeleton = Skeleton(names, parents, Pose(local, rest.rotation, rest.scale))
    blocks = torch.tensor(centres)[:, None] + _CORNERS * torch.tensor(halves)[:, None]
    count = len(names)
    skin = Skin(
        torch.arange(count),
        transform.inverse(skeleton.forward(skeleton.rest)),
        torch.arange(count).repeat_interleave(8)[:, None],
        torch.ones(8 * count, 1),
    )
    faces = (_FACES + 8 * torch.arange(count)[:, None, None]).flatten(0, 1)
    mesh = SkinnedMesh(blocks.flatten(0, 1), faces, skin, torch.ones(8 * count, 3))
    return bound_character("blocks", skeleton, mesh)
