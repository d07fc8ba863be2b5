"""Weights from a mesh to any points near it: the barycentric blend at the nearest surface point."""

# pyright: reportCallIssue=false, reportArgumentType=false, reportUntypedFunctionDecorator=false
# pyright: reportMissingParameterType=false, reportAttributeAccessIssue=false

from __future__ import annotations

import numpy as np
import warp as wp
from jaxtyping import Float, Int

from akd.asset.gltf.influences import merge_repeated
from akd.base.warp_runtime import no_type_check

_BATCH = 65_536
"""Points at once: what is held in memory."""


@wp.kernel
@no_type_check
def find_nearest(
    mesh: wp.uint64,
    points: wp.array(dtype=wp.vec3),
    faces: wp.array(dtype=wp.int32),
    corners: wp.array(dtype=wp.vec2),
):
    """The triangle nearest to each point, and where on it."""
    i = wp.tid()
    found = wp.mesh_query_point_no_sign(mesh, points[i], 1.0e6)
    faces[i] = 0
    if found.result:
        faces[i] = found.face
        corners[i] = wp.vec2(found.u, found.v)


def nearest_on_surface(
    points: Float[np.ndarray, "N 3"],
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
) -> tuple[Int[np.ndarray, "N"], Float[np.ndarray, "N 3"]]:
    """The face nearest to each point, and the barycentric coordinates of the nearest place on it.

    Everything in one space, any unit.
    """
    if not len(faces):
        raise ValueError("the nearest place on a surface needs a surface: the mesh has no faces")
    centre = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    size = float(np.ptp(vertices, axis=0).max()) or 1.0

    def vectors(array: np.ndarray) -> wp.array:
        scaled = ((array - centre) / size).astype(np.float32)
        return wp.array(np.ascontiguousarray(scaled), dtype=wp.vec3, device="cpu")

    indices = wp.array(faces.astype(np.int32).ravel(), dtype=wp.int32, device="cpu")
    mesh = wp.Mesh(points=vectors(vertices), indices=indices)
    found = np.zeros(len(points), dtype=np.int64)
    where = np.zeros((len(points), 3))
    for first in range(0, len(points), _BATCH):
        rows = slice(first, min(first + _BATCH, len(points)))
        count = rows.stop - first
        face = wp.zeros(count, dtype=wp.int32, device="cpu")
        corner = wp.zeros(count, dtype=wp.vec2, device="cpu")
        wp.launch(
            find_nearest, dim=count, device="cpu", record_tape=False,
            inputs=[mesh.id, vectors(points[rows]), face, corner],
        )  # fmt: skip
        found[rows] = face.numpy()
        where[rows, :2] = corner.numpy()
    where = where.clip(0.0, 1.0)
    where[:, 2] = np.maximum(1.0 - where[:, 0] - where[:, 1], 0.0)
    return found, where / where.sum(axis=1, keepdims=True)


def transfer_weights(
    points: Float[np.ndarray, "N 3"],
    vertices: Float[np.ndarray, "V 3"],
    faces: Int[np.ndarray, "F 3"],
    bones: Int[np.ndarray, "V K"],
    weights: Float[np.ndarray, "V K"],
    *,
    influences: int = 4,
) -> tuple[Int[np.ndarray, "N M"], Float[np.ndarray, "N M"]]:
    """Bones and weights of points, Gaussians say, from those of the mesh that they lie on.

    The strongest `influences` bones are kept, strongest first, and sum to one. Points and vertices
    are in one space, any unit.
    """
    if influences < 1:
        raise ValueError(f"influences must be at least 1, got {influences}")
    face, where = nearest_on_surface(points, vertices, faces)
    corner = faces[face]  # [N, 3]
    count = len(points)
    labels = bones[corner].reshape(count, -1)
    shares = (where[:, :, None] * weights[corner]).reshape(count, -1)
    labels, shares = merge_repeated(labels, shares)
    strongest = np.argsort(-shares, axis=1, kind="stable")[:, : min(influences, labels.shape[1])]
    kept = np.take_along_axis(shares, strongest, axis=1)
    return np.take_along_axis(labels, strongest, axis=1), kept / kept.sum(axis=1, keepdims=True)
