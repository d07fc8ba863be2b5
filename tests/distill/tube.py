"""A creature of three bones: a bent tube that stands on the ground."""

from pathlib import Path

import numpy as np
import torch

from akd.asset.read import read_asset
from akd.export.gltf.build import build_document
from akd.export.gltf.write import write_glb
from akd.math import transform
from akd.rig.character import Character, load_character
from akd.rig.mesh import SkinnedMesh
from akd.rig.pose import Pose
from akd.rig.skeleton import Skeleton
from akd.rig.skin import Skin


def write_tube(path: Path) -> Character:
    rings, around = 13, 8
    y = np.linspace(0.0, 1.2, rings)
    angle = np.linspace(0, 2 * np.pi, around, endpoint=False)
    points = [
        (0.12 * np.cos(a), h, 0.12 * np.sin(a) + 0.1 * np.sin(3 * h)) for h in y for a in angle
    ]
    faces = []
    for r in range(rings - 1):
        for a in range(around):
            i, j = r * around + a, r * around + (a + 1) % around
            faces += [(i, i + around, j), (j, i + around, j + around)]
    vertices = torch.tensor(points, dtype=torch.float32)
    height = vertices[:, 1]
    weights = torch.stack([torch.exp(-((height - c) ** 2) / 0.05) for c in (0.2, 0.6, 1.0)], dim=1)
    pose = Pose.identity(3)
    local = pose.translation.clone()
    local[1:, 1] = 0.4
    skeleton = Skeleton(
        ("low", "middle", "top"), (-1, 0, 1), Pose(local, pose.rotation, pose.scale)
    )
    skin = Skin(
        torch.arange(3),
        transform.inverse(skeleton.forward(skeleton.rest)),
        torch.arange(3).expand(len(points), 3).contiguous(),
        weights / weights.sum(1, keepdim=True),
    )
    mesh = SkinnedMesh(vertices, torch.tensor(faces), skin, torch.full_like(vertices, 0.5))
    write_glb(build_document(mesh, skeleton, name="tube"), path)
    return load_character(read_asset(path))
