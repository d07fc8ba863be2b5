"""Weights carried from a mesh to points near it, and meshes around Gaussian clouds."""

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

from akd.asset.asset import SplatRecord
from akd.rig.autorig.splat_surface import mesh_from_splats
from akd.rig.skinning.transfer import nearest_on_surface, transfer_weights

SQUARE = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])


def test_weights_are_barycentric_at_the_nearest_place():
    bones = np.array([[0, 1], [0, 1], [0, 2], [0, 2]])
    weights = np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5], [1.0, 0.0]])
    points = np.array([[0.75, 0.25, 0.3]])  # above the middle of vertices 0, 1 and 2's far edge
    found, shares = transfer_weights(points, SQUARE, TRIANGLES, bones, weights)
    # Barycentric (1/4, 1/2, 1/4): bone 0 has 1/4 + 1/8 + 1/8, bone 1 3/8, bone 2 1/8.
    assert found[0, :3].tolist() == [0, 1, 2]
    np.testing.assert_allclose(shares[0, :3], [0.5, 0.375, 0.125], atol=1e-6)


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_nearest_places_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    sphere = trimesh.creation.icosphere(subdivisions=1)
    vertices, faces = np.asarray(sphere.vertices, float), np.asarray(sphere.faces, np.int64)
    points = rng.normal(size=(5, 3)) * 2.0
    face, where = nearest_on_surface(points, vertices, faces)
    found = (vertices[faces[face]] * where[:, :, None]).sum(axis=1)
    dense = rng.dirichlet(np.ones(3), size=(400,))
    for point, place in zip(points, found, strict=True):
        everywhere = np.einsum("sk,fkd->fsd", dense, vertices[faces]).reshape(-1, 3)
        best = np.linalg.norm(everywhere - point, axis=1).min()
        assert np.linalg.norm(place - point) <= best + 1e-5
    np.testing.assert_allclose(where.sum(axis=1), 1.0)


def test_a_vertex_keeps_its_own_weights_and_few_influences_sum_to_one():
    rng = np.random.default_rng(1)
    bones = np.tile(np.arange(6), (4, 1))
    weights = rng.dirichlet(np.ones(6), size=4)
    found, shares = transfer_weights(SQUARE, SQUARE, TRIANGLES, bones, weights, influences=6)
    dense = np.zeros((4, 6))
    np.put_along_axis(dense, found, shares, axis=1)
    np.testing.assert_allclose(dense, weights, atol=1e-5)
    _, few = transfer_weights(SQUARE, SQUARE, TRIANGLES, bones, weights, influences=2)
    np.testing.assert_allclose(few.sum(axis=1), 1.0)
    assert few.shape == (4, 2)


def test_a_mesh_without_faces_is_refused():
    with pytest.raises(ValueError, match="the mesh has no faces"):
        nearest_on_surface(SQUARE, SQUARE, np.zeros((0, 3), dtype=np.int64))


def cloud(count: int, radius: float, *, opacity: float = 4.0, scale: float = 0.06) -> SplatRecord:
    """Flat Gaussians on a sphere, as a fit leaves them."""
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    z = 1.0 - 2.0 * (np.arange(count) + 0.5) / count
    across = np.sqrt(1.0 - z**2)
    means = radius * np.stack((across * np.cos(turn), across * np.sin(turn), z), axis=1)
    return SplatRecord(
        means,
        np.log(np.full((count, 3), scale * radius)),
        np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        np.full(count, opacity),
        np.zeros((count, 1, 3)),
    )


def test_a_cloud_on_a_sphere_becomes_a_closed_solid_ball():
    vertices, faces = mesh_from_splats(cloud(3000, 2.0), resolution=48)
    mesh = trimesh.Trimesh(vertices, faces)
    assert mesh.is_watertight
    assert mesh.body_count == 1  # no second surface on the inside of the shell
    radius = np.linalg.norm(vertices, axis=1)
    assert 1.95 < radius.min() < radius.max() < 2.35
    assert mesh.volume > 0  # faces look outwards


def test_a_faint_cloud_is_refused():
    with pytest.raises(ValueError, match="no Gaussian with an opacity"):
        mesh_from_splats(cloud(100, 1.0, opacity=-6.0))


def test_what_cannot_be_transferred_is_refused():
    bones, weights = np.zeros((4, 1), np.int64), np.ones((4, 1))
    with pytest.raises(ValueError, match="influences must be at least 1, got 0"):
        transfer_weights(SQUARE, SQUARE, TRIANGLES, bones, weights, influences=0)
    with pytest.raises(ValueError, match="the mesh has no faces"):
        transfer_weights(SQUARE, SQUARE, TRIANGLES[:0], bones, weights)
