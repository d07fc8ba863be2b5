"""Clouds bound through the mesh around them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from akd.asset.asset import AssetError, SplatRecord
from akd.base.files import read_arrays, write_arrays
from akd.rig.mesh import SkinnedMesh
from akd.rig.skin import Skin
from akd.rig.units import FileUnits
from akd.splat.bind import (
    bind_cloud,
    cloud_in_metres,
    colours_from_cloud,
    read_bound_cloud,
    write_bound_cloud,
)
from akd.splat.harmonics import from_colour


def record(means: list[list[float]], degree: int = 1) -> SplatRecord:
    count = len(means)
    rng = np.random.default_rng(0)
    return SplatRecord(
        np.array(means, dtype=np.float32),
        np.log(np.tile([0.01, 0.02, 0.03], (count, 1))).astype(np.float32),
        rng.normal(size=(count, 4)).astype(np.float32),
        np.full(count, 4.0, dtype=np.float32),
        rng.normal(size=(count, (degree + 1) ** 2, 3)).astype(np.float32) * 0.2,
    )


def strip() -> SkinnedMesh:
    """Two unit squares side by side along x; weights go from bone 0 on the left to bone 2."""
    x, y = np.meshgrid([0.0, 1.0, 2.0], [0.0, 1.0], indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(6)], axis=1)
    faces = [[0, 2, 3], [0, 3, 1], [2, 4, 5], [2, 5, 3]]
    right = torch.from_numpy(vertices[:, 0] / 2.0).float()
    skin = Skin(
        torch.arange(3),
        torch.eye(4).repeat(3, 1, 1),
        torch.tensor([[0, 2]]).repeat(6, 1),
        torch.stack((1.0 - right, right), dim=1),
    )
    return SkinnedMesh(
        torch.from_numpy(vertices).float(), torch.tensor(faces), skin, torch.ones(6, 3)
    )


def test_gaussians_take_the_weights_of_the_surface_below_them():
    cloud = cloud_in_metres(record([[0.5, 0.5, 0.1], [2.0, 0.2, -0.3]]), FileUnits())
    bound = bind_cloud(cloud, strip())
    dense = torch.zeros(2, 3).scatter_add(1, bound.bones, bound.weights)
    torch.testing.assert_close(
        dense, torch.tensor([[0.75, 0.0, 0.25], [0.0, 0.0, 1.0]]), atol=1e-5, rtol=0
    )
    torch.testing.assert_close(bound.means, cloud.means)


def test_a_cloud_with_z_up_is_turned_with_its_gaussians():
    given = record([[1.0, 2.0, 3.0]])
    cloud = cloud_in_metres(given, FileUnits(0.5, "z"))
    torch.testing.assert_close(cloud.means, torch.tensor([[0.5, 1.5, -1.0]]))
    turn = torch.tensor([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    before = cloud_in_metres(given, FileUnits(0.5)).covariances()
    torch.testing.assert_close(cloud.covariances(), turn @ before @ turn.T, atol=1e-6, rtol=1e-4)
    assert cloud.degree == 0


def test_points_get_the_colour_of_the_nearest_gaussian():
    cloud = cloud_in_metres(record([[0, 0, 0], [1, 0, 0]]), FileUnits())
    sh = from_colour(torch.tensor([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]))[:, None]
    cloud = replace(cloud, sh=sh)
    colours = colours_from_cloud(np.array([[0.9, 0.1, 0.0], [0.1, 0.0, 0.0]]), cloud)
    # A display value of a half is a fifth of the light.
    np.testing.assert_allclose(colours, [[0, 1, 0], [1, 0, 0.2140]], atol=1e-3)


def test_a_bound_cloud_is_read_back(tmp_path):
    bound = bind_cloud(cloud_in_metres(record([[0.5, 0.5, 0.1]] * 3), FileUnits()), strip())
    path = write_bound_cloud(bound, tmp_path / "cloud.splats.npz", joints=("a", "b", "c"))
    again, joints = read_bound_cloud(path)
    assert joints == ("a", "b", "c")
    assert again.antialias is bound.antialias
    for name in ("means", "scales", "rotations", "opacities", "sh", "bones", "weights"):
        torch.testing.assert_close(getattr(again, name), getattr(bound, name))
    assert [p.name for p in tmp_path.iterdir()] == ["cloud.splats.npz"]
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(AssetError, match="must be a bound cloud"):
        read_bound_cloud(tmp_path / "other.npz")
    arrays = read_arrays(path)
    for broken in ({"scales": np.zeros(7)}, {"means": np.full((3, 3), np.nan)}):
        write_arrays(path, {**arrays, **broken})
        with pytest.raises(AssetError, match="must be a bound cloud"):
            read_bound_cloud(path)
