"""Meshes of triangles in numpy: normals, areas, connected pieces."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Integer


def area_normals(
    vertices: Float[np.ndarray, "V 3"], faces: Integer[np.ndarray, "F 3"]
) -> Float[np.ndarray, "F 3"]:
    """Normals of the triangles, each as long as twice the triangle's area."""
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return np.cross(b - a, c - a)


def double_areas(
    vertices: Float[np.ndarray, "V 3"], faces: Integer[np.ndarray, "F 3"]
) -> Float[np.ndarray, "F"]:
    """Twice the areas of the triangles."""
    return np.linalg.norm(area_normals(vertices, faces), axis=1)


def vertex_normals(
    vertices: Float[np.ndarray, "V 3"], faces: Integer[np.ndarray, "F 3"]
) -> Float[np.ndarray, "V 3"]:
    """Unit normals of the vertices: the mean of their faces' normals, weighted by area.

    Zero for a vertex on no face, or on faces that cancel out.
    """
    across = area_normals(vertices, faces)
    sums = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(sums, faces[:, corner], across)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True).clip(1e-30)


def connected_pieces(faces: Integer[np.ndarray, "F 3"], count: int) -> Integer[np.ndarray, "V"]:
    """The number of the piece that each of `count` vertices belongs to, counted from 0."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    edges = np.concatenate((faces[:, :2], faces[:, 1:]))
    graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)
