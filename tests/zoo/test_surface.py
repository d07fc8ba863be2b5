"""Surfacing, thinning and mirroring."""

import numpy as np
import pytest
import trimesh
from scipy.spatial import Delaunay

from akd.zoo.mesh.remesh import edges_of, split_bridges, thin
from akd.zoo.mesh.shapes import Ellipsoid, Part
from akd.zoo.mesh.surface import mirror, surface_half


def skin(parts, vertices):
    points, faces, _ = mirror(surface_half(parts, vertices=vertices))
    return trimesh.Trimesh(points, faces, process=False)


@pytest.mark.parametrize("vertices", [600, 2000])
def test_a_ball_is_a_ball(vertices):
    radius = 0.4
    ball = skin([Part(Ellipsoid((0.0, 0.6, 0.0), (radius,) * 3), "trunk")], vertices)
    assert ball.is_watertight
    assert ball.euler_number == 2
    assert abs(len(ball.vertices) - vertices) <= 2
    distance = np.linalg.norm(ball.vertices - (0.0, 0.6, 0.0), axis=1)
    np.testing.assert_allclose(distance, radius, rtol=2e-3)
    assert ball.volume == pytest.approx(4 / 3 * np.pi * radius**3, rel=0.02)
    # Triangles are even: no slivers, and most vertices have six neighbours.
    angles = ball.face_angles
    assert np.degrees(angles.min()) > 12.0
    assert np.mean(np.abs(ball.vertex_degree - 6) <= 1) > 0.9


def test_detail_goes_where_it_is_wanted():
    coarse = Part(Ellipsoid((0.0, 0.5, 0.0), (0.3, 0.3, 0.3)), "trunk")
    fine = Part(Ellipsoid((0.0, 0.5, 0.45), (0.3, 0.3, 0.3)), "trunk", detail=0.4)
    mesh = skin([coarse, fine], 2500)
    ends = mesh.vertices[mesh.edges_unique]
    length = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    middle = ends.mean(axis=1)[:, 2]
    assert length[middle > 0.45].mean() < 0.7 * length[middle < 0.0].mean()


def test_the_floor_is_flat():
    mesh = skin([Part(Ellipsoid((0.0, 0.1, 0.0), (0.3, 0.3, 0.3)), "trunk")], 1500)
    assert mesh.is_watertight
    assert mesh.vertices[:, 1].min() == 0.0
    assert (mesh.vertices[:, 1] < 1e-6).mean() > 0.1


def test_thinning_keeps_an_open_half_mirrorable():
    # A dome over a disc: rings of points, its rim exactly on x = 0.
    rings = [np.zeros((1, 2))]
    for ring in range(1, 25):
        angle = np.arange(6 * ring) * 2 * np.pi / (6 * ring)
        rings.append(ring / 24 * np.stack((np.cos(angle), np.sin(angle)), axis=1))
    disc = np.concatenate(rings)
    faces = np.asarray(Delaunay(disc).simplices, np.int64)
    height = np.sqrt(np.maximum(1.0 - (disc**2).sum(axis=1), 0.0))
    height[-6 * 24 :] = 0.0
    points = np.column_stack((height, disc))
    points, faces, lengths = thin(points, faces, np.ones(len(points)), target=600)
    assert len(lengths) == len(points)
    edges, shared = edges_of(faces, len(points))
    assert set(np.unique(shared)) == {1, 2}
    border = np.unique(edges[shared == 1])
    assert (points[border, 0] == 0.0).all()
    assert 2 * len(points) - len(border) == pytest.approx(600, abs=2)


def test_bridges_are_split():
    # Two triangles whose shared edge joins two border vertices.
    points = np.array(((0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)), float)
    faces = np.array(((0, 2, 1), (1, 2, 3)))
    split_points, split_faces = split_bridges(points, faces)
    assert len(split_points) == 5
    assert len(split_faces) == 4
    np.testing.assert_allclose(split_points[4], (0.5, 0.5, 0.0))
