"""Vertices that a file repeats for its texture coordinates are shaded as one."""

import numpy as np
import torch

from akd.report.scene3d import _normals
from akd.rig.mesh import SkinnedMesh, SurfacePart
from akd.rig.skin import Skin

ROOF = torch.tensor(  # two faces that meet at a ridge along z, three vertices each
    [(0, 1, 0), (0, 1, 1), (-1, 0, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1)], dtype=torch.float32
)
SMOOTH = torch.tensor([(0, 1, 0), (0, 1, 0), (-1, 1, 0), (0, 1, 0), (0, 1, 0), (1, 1, 0)])


def roof(normals: torch.Tensor | None, bones: list[int]) -> SkinnedMesh:
    skin = Skin(
        torch.tensor([0, 1]), torch.eye(4).expand(2, 4, 4), torch.tensor(bones)[:, None],
        torch.ones(6, 1),
    )  # fmt: skip
    part = SurfacePart(slice(0, 6), slice(0, 2), None, None, torch.ones(6, 3), normals)
    faces = torch.tensor([(0, 1, 2), (3, 4, 5)])
    return SkinnedMesh(ROOF, faces, skin, torch.ones(6, 3), (part,))


def test_one_place_one_normal_and_one_bone_are_one_vertex():
    mesh = roof(SMOOTH.float(), [0] * 6)
    assert mesh.smooth_vertices().tolist() == [0, 1, 2, 1, 0, 5]
    normals = _normals(mesh)
    assert np.allclose(normals[0], normals[4])
    assert abs(float(normals[0, 0])) < 1e-6


def test_a_crease_other_bones_and_files_without_normals_stay_as_they_are():
    flat = torch.tensor([(-1, 1, 0)] * 3 + [(1, 1, 0)] * 3).float()
    for mesh in (
        roof(flat, [0] * 6),
        roof(SMOOTH.float(), [0, 0, 0, 1, 1, 1]),
        roof(None, [0] * 6),
    ):
        assert mesh.smooth_vertices().tolist() == list(range(6))
    assert not np.allclose(_normals(mesh)[0], _normals(mesh)[4])
