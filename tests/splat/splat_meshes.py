"""Meshes to put splats on."""

from __future__ import annotations

import numpy as np
import torch

from akd.rig.mesh import SkinnedMesh
from akd.rig.skin import Skin


def make_sphere(radius: float = 0.5, rings: int = 24) -> SkinnedMesh:
    """A sphere whose upper half hangs on bone 1 and whose colour runs along x."""
    import trimesh

    ball = trimesh.creation.uv_sphere(radius=radius, count=[rings, 2 * rings])
    vertices = torch.from_numpy(np.array(ball.vertices)).float()
    share = (vertices[:, 1] / (2.0 * radius) + 0.5).clamp(0.0, 1.0)
    x = vertices[:, :1] / (2.0 * radius) + 0.5
    colours = torch.cat((x, 1.0 - x, torch.full_like(x, 0.25)), dim=-1)
    skin = Skin(
        torch.tensor([0, 1]),
        torch.eye(4).expand(2, 4, 4).clone(),
        torch.tensor([[0, 1]]).expand(len(vertices), 2).clone(),
        torch.stack((1.0 - share, share), dim=-1),
    )
    return SkinnedMesh(vertices, torch.from_numpy(np.array(ball.faces)).long(), skin, colours)
