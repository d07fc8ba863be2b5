"""Meshes and skins of an FBX file: corners become vertices, clusters joints and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from akd.asset.asset import Mesh, MeshPart, SkinRecord
from akd.asset.fbx.materials import MaterialReader
from akd.asset.fbx.scene import FbxScene, to_matrix
from akd.asset.gltf.problems import ProblemLog
from akd.asset.surface import fan_triangles, linear_colours


@dataclass(frozen=True)
class _Skinned:
    """A skin, and for every vertex of the mesh its joints and weights."""

    record: SkinRecord
    joints: Int[np.ndarray, "V K"]
    weights: Float[np.ndarray, "V K"]


class MeshReader:
    """Reads the mesh that a node shows; a mesh that several nodes show is read for each."""

    def __init__(self, fbx: FbxScene, materials: MaterialReader, problems: ProblemLog) -> None:
        self.meshes: list[Mesh] = []
        self.skins: list[SkinRecord] = []
        self._fbx = fbx
        self._materials = materials
        self._problems = problems

    def read(self, node: Any, numbers: dict[int, int]) -> tuple[int | None, int | None]:
        """Index of the node's mesh and of its skin, where it has them."""
        given = self._fbx.keep(node.mesh)
        if given is None:
            return None, None
        where = f"mesh {given.name or node.name!r}"
        into_node = to_matrix(node.geometry_to_node)
        skinned = self._skin(given, node, into_node, numbers, where)
        parts = self._parts(given, node, into_node, skinned, where)
        if not parts:
            self._problems.warn(where, "has no triangles", "it is left out")
            return None, None
        names, weights = self._morph_names(given)
        self.meshes.append(Mesh(given.name or node.name, parts, weights if names else None, names))
        if skinned is None:
            return len(self.meshes) - 1, None
        self.skins.append(skinned.record)
        return len(self.meshes) - 1, len(self.skins) - 1

    def _parts(
        self, given: Any, node: Any, into_node: np.ndarray, skinned: _Skinned | None, where: str
    ) -> tuple[MeshPart, ...]:
        fbx = self._fbx
        faces = fbx.vectors(given.faces).astype(np.int64)
        points = self._points(given, into_node, where)
        if not len(faces) or not len(points):
            return ()
        columns = [fbx.integers(fbx.keep(fbx.keep(given.vertex_position).indices))]
        normals = self._attribute(given.vertex_normal, columns)
        normals = None if normals is None else self._turned(normals, into_node)
        uv = self._attribute(given.vertex_uv, columns)
        colours = self._attribute(given.vertex_color, columns)
        corners = np.stack(columns, axis=1)
        fbx.budget.charge(16 * corners.nbytes, where)
        firsts, counts = faces[:, 0], faces[:, 1]
        order = np.repeat(firsts - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        triangles = fan_triangles(counts, order)
        if fbx.is_mirrored != (np.linalg.det(into_node[:3, :3]) < 0.0):
            triangles = triangles[:, ::-1]
        of_face = np.repeat(self._face_materials(given, len(faces)), np.maximum(counts - 2, 0))
        morphs = self._morphs(given, len(points), into_node)
        parts: list[MeshPart] = []
        slots = fbx.listed(node.materials) or fbx.listed(given.materials)
        for slot in np.unique(of_face).tolist():
            rows, indices = np.unique(
                corners[triangles[of_face == slot].reshape(-1)], axis=0, return_inverse=True
            )
            at, rest = rows[:, 0], iter(rows.T[1:])
            parts.append(
                MeshPart(
                    positions=points[at].astype(np.float32),
                    faces=indices.reshape(-1, 3),
                    material=self._materials.place(slots[slot]) if slot < len(slots) else None,
                    normals=None
                    if normals is None
                    else self._turned(normals, into_node)[next(rest)],
                    uv=None if uv is None else _turned_over(uv)[next(rest)],
                    colours=None if colours is None else linear_colours(colours)[next(rest)],
                    joints=None if skinned is None else skinned.joints[at],
                    weights=None if skinned is None else skinned.weights[at],
                    morphs=None if morphs is None else morphs[:, at],
                )
            )
        return tuple(parts)

    def _points(
        self, given: Any, into_node: Float[np.ndarray, "4 4"], where: str
    ) -> Float[np.ndarray, "V 3"]:
        points = self._fbx.vectors(given.vertices)
        if not len(points):
            return np.zeros((0, 3))
        points = self._fbx.points_in(points @ into_node[:3, :3].T + into_node[:3, 3])
        bad = ~(np.abs(points) < 1e30).all(axis=1)
        if bad.any():
            what = f"{int(bad.sum())} vertices are not finite"
            self._problems.warn(where, what, "they are moved to the origin")
            points[bad] = 0.0
        return points

    def _attribute(
        self, given: Any, columns: list[Int[np.ndarray, "C"]]
    ) -> Float[np.ndarray, "N K"] | None:
        """Values of a corner attribute; its indices become one more column."""
        fbx = self._fbx
        attribute = fbx.keep(given)
        if not attribute.exists:
            return None
        values, indices = fbx.vectors(attribute.values), fbx.integers(attribute.indices)
        if not len(values) or len(indices) != len(columns[0]) or not np.isfinite(values).all():
            return None
        columns.append(indices)
        return values

    def _turned(
        self, normals: Float[np.ndarray, "N 3"], into_node: Float[np.ndarray, "4 4"]
    ) -> Float[np.ndarray, "N 3"]:
        linear = into_node[:3, :3]
        if abs(np.linalg.det(linear)) > 1e-30:
            normals = normals @ np.linalg.inv(linear)
        return self._fbx.directions_in(normals).astype(np.float32)

    def _face_materials(self, given: Any, faces: int) -> Int[np.ndarray, "F"]:
        materials = self._fbx.integers(given.face_material)
        return materials if len(materials) == faces else np.zeros(faces, np.int64)

    def _skin(
        self, given: Any, node: Any, into_node: np.ndarray, numbers: dict[int, int], where: str
    ) -> _Skinned | None:
        fbx = self._fbx
        deformers = fbx.listed(given.skin_deformers)
        if not deformers:
            return None
        if len(deformers) > 1:
            self._problems.warn(where, f"has {len(deformers)} skins", "the first is used")
        count = int(given.num_vertices)
        joints: dict[int, int] = {}
        inverse_bind: list[np.ndarray] = []
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for cluster in fbx.listed(deformers[0].clusters):
            bone = fbx.keep(cluster.bone_node)
            number = None if bone is None else numbers.get(int(bone.element_id))
            vertices = fbx.integers(cluster.vertices)
            weights = fbx.vectors(cluster.weights).reshape(-1)[: len(vertices)]
            if number is None:
                self._problems.warn(where, "a cluster has no bone", "its weights are left out")
                continue
            if number not in joints:
                joints[number] = len(joints)
                bind = to_matrix(cluster.geometry_to_bone) @ np.linalg.pinv(into_node)
                inverse_bind.append(fbx.matrix_in(bind))
            good = (vertices < count) & np.isfinite(weights) & (weights > 0.0)
            slot = np.full(int(good.sum()), joints[number])
            found.append((vertices[good], slot, weights[good]))
        if not found:
            return None
        of, slots, weights = (np.concatenate(column) for column in zip(*found, strict=True))
        loose = np.setdiff1d(np.arange(count), of)
        if len(loose):
            # What no bone moves stays with the node that shows the mesh.
            itself = numbers[int(node.element_id)]
            if itself not in joints:
                joints[itself] = len(joints)
                inverse_bind.append(np.eye(4))
            of = np.concatenate((of, loose))
            slots = np.concatenate((slots, np.full(len(loose), joints[itself])))
            weights = np.concatenate((weights, np.ones(len(loose))))
        fbx.budget.charge(16 * count * int(np.bincount(of, minlength=1).max()), where)
        record = SkinRecord(given.name, np.array(list(joints)), np.stack(inverse_bind))
        return _Skinned(record, *_padded(count, of, slots, weights))

    def _morph_names(self, given: Any) -> tuple[tuple[str, ...], Float[np.ndarray, "M"]]:
        channels = self._channels(given)
        return tuple(c.name for c in channels), np.array([float(c.weight) for c in channels])

    def _channels(self, given: Any) -> list[Any]:
        """Blend channels that have a shape."""
        fbx = self._fbx
        channels = [
            channel
            for deformer in fbx.listed(given.blend_deformers)
            for channel in fbx.listed(deformer.channels)
        ]
        return [c for c in channels if fbx.keep(c.target_shape) is not None]

    def _morphs(
        self, given: Any, count: int, into_node: Float[np.ndarray, "4 4"]
    ) -> Float[np.ndarray, "M V 3"] | None:
        channels = self._channels(given)
        if not channels:
            return None
        fbx = self._fbx
        fbx.budget.charge(24 * count * len(channels), "blend shapes")
        morphs = np.zeros((len(channels), count, 3), np.float32)
        for index, channel in enumerate(channels):
            shape = fbx.keep(channel.target_shape)
            at = fbx.integers(shape.offset_vertices)
            offsets = fbx.vectors(shape.position_offsets)
            if len(at) and len(offsets) == len(at) and at.max() < count:
                moved = fbx.points_in(offsets @ into_node[:3, :3].T)
                morphs[index, at] = np.nan_to_num(moved, posinf=0.0, neginf=0.0)
        return morphs


def _turned_over(uv: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N 2"]:
    """Texture coordinates that run downwards."""
    return np.stack((uv[:, 0], 1.0 - uv[:, 1]), axis=1).astype(np.float32)


def _padded(
    count: int,
    of: Int[np.ndarray, "W"],
    slots: Int[np.ndarray, "W"],
    weights: Float[np.ndarray, "W"],
) -> tuple[Int[np.ndarray, "V K"], Float[np.ndarray, "V K"]]:
    """Weights listed by vertex as a table with a row for each."""
    order = np.argsort(of, kind="stable")
    of, slots, weights = of[order], slots[order], weights[order]
    per_vertex = np.bincount(of, minlength=count)
    column = np.arange(len(of)) - np.repeat(np.cumsum(per_vertex) - per_vertex, per_vertex)
    joints = np.zeros((count, int(per_vertex.max(initial=1))), np.int64)
    table = np.zeros(joints.shape)
    joints[of, column], table[of, column] = slots, weights
    return joints, table / table.sum(axis=1, keepdims=True)
