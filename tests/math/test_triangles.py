"""Normals, areas and pieces of meshes whose answers are known."""

import numpy as np

from akd.math.triangles import area_normals, connected_pieces, double_areas, vertex_normals

OCTAHEDRON = np.concatenate((np.eye(3), -np.eye(3)))
FACES = np.array(
    [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]
)


def test_normals_of_an_octahedron_point_outwards() -> None:
    middles = OCTAHEDRON[FACES].mean(axis=1)
    np.testing.assert_allclose(area_normals(OCTAHEDRON, FACES), 3.0 * middles, atol=1e-15)
    np.testing.assert_allclose(double_areas(OCTAHEDRON, FACES), np.sqrt(3.0))
    np.testing.assert_allclose(vertex_normals(OCTAHEDRON, FACES), OCTAHEDRON, atol=1e-15)


def test_a_vertex_on_no_face_has_no_normal() -> None:
    normals = vertex_normals(np.zeros((4, 3)), np.array([[0, 1, 2]]))
    np.testing.assert_array_equal(normals, np.zeros((4, 3)))


def test_two_pieces_and_a_loose_vertex() -> None:
    faces = np.concatenate((FACES, FACES + 6))
    np.testing.assert_array_equal(connected_pieces(faces, 13), [0] * 6 + [1] * 6 + [2])
