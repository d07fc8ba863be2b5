"""Which bones a vertex sees: those it can reach by a straight way that stays inside the body.

A ray from the vertex counts how deep inside it is: one more at every surface it enters, one less at
every surface it leaves. Where the count is zero it is outside. So parts that overlap, clothes over
a body, and meshes with holes need no special care, as long as faces look outwards.
"""

# In Warp's language float(0.0) declares a variable that may change.
# ruff: noqa: UP018, RUF046
# pyright: reportCallIssue=false, reportArgumentType=false, reportUntypedFunctionDecorator=false
# pyright: reportOperatorIssue=false, reportMissingParameterType=false
# pyright: reportIndexIssue=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportAssignmentType=false

from __future__ import annotations

import numpy as np
import warp as wp
from jaxtyping import Bool, Float, Int

from akd.base.warp_runtime import no_type_check, start_warp

start_warp()
wp.set_module_options({"enable_backward": False})

MOST_CROSSINGS = wp.constant(64)
_STEP = 1e-4
"""A ray goes on this far behind a surface that it met, in sizes of the body."""
_GRAZING = 0.35
"""Cosine to the normal below which a way may or may not lead inside."""
_DIRECTIONS = np.array(
    [[0.31, 0.93, 0.19], [-0.87, 0.22, 0.44], [0.12, -0.41, 0.9], [0.71, 0.33, -0.62],
     [-0.25, -0.65, -0.72]]
)  # fmt: skip


@wp.kernel
@no_type_check
def _walk(
    mesh: wp.uint64,
    starts: wp.array(dtype=wp.vec3),
    ends: wp.array(dtype=wp.vec3),
    depths: wp.array(dtype=wp.int32),
    step: float,
    outside: wp.array(dtype=float),
):
    """How much of each way lies outside, for ways that start at a known depth."""
    i = wp.tid()
    way = ends[i] - starts[i]
    length = wp.length(way)
    direction = way / wp.max(length, 1.0e-12)
    depth = depths[i]
    at = float(step)
    total = float(0.0)
    crossings = int(0)
    while at < length and crossings < MOST_CROSSINGS:
        hit = wp.mesh_query_ray(mesh, starts[i] + at * direction, direction, length - at)
        reached = float(length)
        if hit.result:
            reached = at + hit.t
        if depth < 1:
            total += reached - at
        if hit.result:
            if wp.dot(direction, hit.normal) < 0.0:
                depth += 1
            else:
                depth -= 1
        at = reached + step
        crossings += 1
    outside[i] = total


@wp.kernel
@no_type_check
def _count(
    mesh: wp.uint64,
    points: wp.array(dtype=wp.vec3),
    directions: wp.array(dtype=wp.vec3),
    step: float,
    depths: wp.array2d(dtype=wp.int32),
):
    """How often a ray to infinity leaves more than it enters."""
    i, k = wp.tid()
    at = float(0.0)
    depth = int(0)
    crossings = int(0)
    while crossings < MOST_CROSSINGS:
        hit = wp.mesh_query_ray(mesh, points[i] + at * directions[k], directions[k], 1.0e4)
        if hit.result:
            if wp.dot(directions[k], hit.normal) < 0.0:
                depth -= 1
            else:
                depth += 1
            at += hit.t + step
            crossings += 1
        else:
            crossings += MOST_CROSSINGS
    depths[i, k] = depth


class Inside:
    """The inside of a mesh whose faces look outwards. Any units."""

    def __init__(self, vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]) -> None:
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        self._centre = 0.5 * (low + high)
        self._size = float(np.linalg.norm(high - low)) or 1.0
        self._mesh = wp.Mesh(
            points=self._vectors(vertices),
            indices=wp.array(faces.astype(np.int32).ravel(), dtype=wp.int32, device="cpu"),
        )
        self._normals = angle_normals(vertices, faces)
        self._vertices = vertices

    def _vectors(self, points: Float[np.ndarray, "N 3"]) -> wp.array:
        """In sizes of the body around its centre, where single precision does."""
        scaled = ((points - self._centre) / self._size).astype(np.float32)
        return wp.array(np.ascontiguousarray(scaled), dtype=wp.vec3, device="cpu")

    def depth(self, points: Float[np.ndarray, "N 3"]) -> Int[np.ndarray, "N"]:
        """In how many parts of the body at once each point lies; the median of several rays."""
        count = len(points)
        depths = wp.zeros((count, len(_DIRECTIONS)), dtype=wp.int32, device="cpu")
        directions = _DIRECTIONS / np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)
        rays = wp.array(directions.astype(np.float32), dtype=wp.vec3, device="cpu")
        wp.launch(
            _count, dim=(count, len(_DIRECTIONS)), device="cpu", record_tape=False,
            inputs=[self._mesh.id, self._vectors(points), rays, _STEP, depths],
        )  # fmt: skip
        return np.median(depths.numpy(), axis=1).astype(np.int64)

    def depth_below(self) -> Int[np.ndarray, "V"]:
        """In how many parts of the body at once the flesh just under each vertex lies, at least 1:
        under a surface is inside, also where it has holes."""
        below = self._vertices - 3.0 * _STEP * self._size * self._normals
        return np.maximum(self.depth(below), 1)

    def is_visible(
        self,
        vertex: Int[np.ndarray, "P"],
        targets: Float[np.ndarray, "P 3"],
        depth_below: Int[np.ndarray, "V"],
        *,
        tolerance: float,
    ) -> Bool[np.ndarray, "P"]:
        """Whether the straight way from each given vertex to its target stays inside.

        At most `tolerance` of it, in the units of the mesh, may lie outside: bones do stick out.
        """
        starts = self._vertices[vertex]
        way = targets - starts
        way /= np.linalg.norm(way, axis=1, keepdims=True).clip(1e-300)
        cosine = (self._normals[vertex] * way).sum(axis=1)
        depths = depth_below[vertex] - np.where(cosine < 0, 0, 1)
        # A way that grazes the skin may be outside at once, whatever the mean of the faces says.
        grazing = np.flatnonzero(np.abs(cosine) < _GRAZING)
        if len(grazing):
            ahead = starts[grazing] + 3.0 * _STEP * self._size * way[grazing]
            depths[grazing] = np.minimum(depths[grazing], self.depth(ahead))
        outside = wp.zeros(len(vertex), dtype=float, device="cpu")
        wp.launch(
            _walk, dim=len(vertex), device="cpu", record_tape=False,
            inputs=[
                self._mesh.id, self._vectors(starts), self._vectors(targets),
                wp.array(depths.astype(np.int32), dtype=wp.int32, device="cpu"), _STEP, outside,
            ],
        )  # fmt: skip
        return outside.numpy() * self._size <= tolerance


def angle_normals(
    vertices: Float[np.ndarray, "V 3"], faces: Int[np.ndarray, "F 3"]
) -> Float[np.ndarray, "V 3"]:
    """Unit normals, faces weighted by their angle at the vertex; zero for a vertex on no face."""
    corners = vertices[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    across /= np.linalg.norm(across, axis=1, keepdims=True).clip(1e-300)
    total = np.zeros_like(vertices)
    for i in range(3):
        one = corners[:, (i + 1) % 3] - corners[:, i]
        two = corners[:, (i + 2) % 3] - corners[:, i]
        lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        cosine = (one * two).sum(axis=1) / lengths.clip(1e-300)
        angle = np.arccos(cosine.clip(-1.0, 1.0))
        for axis in range(3):
            total[:, axis] += np.bincount(
                faces[:, i], weights=angle * across[:, axis], minlength=len(vertices)
            )
    return total / np.linalg.norm(total, axis=1, keepdims=True).clip(1e-12)
