"""`SkinnedMesh`: triangles bound to a skeleton, all parts of a character in one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from akd.rig.skin import Skin, skin_points


@dataclass(frozen=True)
class SurfacePart:
    """A run of a mesh's vertices and faces that the file draws with one material."""

    vertices: slice
    """Of the mesh's vertices."""
    faces: slice
    """Of the mesh's faces."""
    material: int | None
    """Index into the asset's materials."""
    uv: Float[Tensor, "v 2"] | None
    """Base-colour texture coordinates of its vertices; v runs downwards."""
    base_colours: Float[Tensor, "v 3"]
    """Linear RGB of its vertices without the texture: vertex colour times base colour."""
    normals: Float[Tensor, "v 3"] | None = None
    """Of its vertices as the file has them, in the file's own space."""


@dataclass(frozen=True)
class SkinnedMesh:
    """Vertices as they were when bound, in metres, with the triangles and colours on them."""

    vertices: Float[Tensor, "V 3"]
    """In the space that `skin.inverse_bind` takes to the joints."""
    faces: Int[Tensor, "F 3"]
    skin: Skin
    colours: Float[Tensor, "V 3"]
    """Linear RGB in 0..1: vertex colour, times base colour, times texture at the vertex."""
    parts: tuple[SurfacePart, ...] = ()
    """What the mesh was joined from, in order; empty for a mesh that no file describes."""

    def pose(self, world_from_joint: Float[Tensor, "*b J 4 4"]) -> Float[Tensor, "*b V 3"]:
        """Vertices in the world for given world transforms of the joints."""
        bones = self.skin.bone_transforms(world_from_joint)
        return skin_points(bones, self.vertices, self.skin.bones, self.skin.weights)

    def smooth_vertices(self) -> Int[Tensor, "V"]:
        """For each vertex the first of those that are one vertex to the eye.

        Files repeat a vertex for each of its texture coordinates. Those at one place with one
        normal and the same weights are one here, so that a surface between them is shaded smoothly.
        Vertices without normals stay themselves: such a surface is flat.
        """
        first = torch.arange(len(self.vertices))
        size = float((self.vertices.amax(0) - self.vertices.amin(0)).max()) if len(first) else 1.0
        for part in self.parts:
            if part.normals is None or part.vertices.start == part.vertices.stop:
                continue
            places = self.vertices[part.vertices] / max(size, 1e-12)
            rows = torch.cat(
                (
                    (places * 1e6).round(),
                    (part.normals.to(places) * 1e3).round(),
                    self.skin.bones[part.vertices].to(places),
                    (self.skin.weights[part.vertices].to(places) * 1e4).round(),
                ),
                dim=1,
            )
            _, index, number = np.unique(
                rows.numpy(force=True), axis=0, return_index=True, return_inverse=True
            )
            first[part.vertices] = part.vertices.start + torch.from_numpy(index[number.reshape(-1)])
        return first

    def only(self, keep: Bool[Tensor, "V"]) -> SkinnedMesh:
        """Some of the vertices, and the faces between them; not divided into parts."""
        number = keep.cumsum(0) - 1
        faces = self.faces[keep[self.faces].all(dim=1)]
        skin = replace(self.skin, bones=self.skin.bones[keep], weights=self.skin.weights[keep])
        return SkinnedMesh(self.vertices[keep], number[faces], skin, self.colours[keep])

    def to(self, device: torch.device | str | None = None) -> SkinnedMesh:
        """Move to a device."""
        parts = tuple(
            replace(p, uv=None if p.uv is None else p.uv.to(device),
                    base_colours=p.base_colours.to(device),
                    normals=None if p.normals is None else p.normals.to(device))
            for p in self.parts
        )  # fmt: skip
        return SkinnedMesh(
            self.vertices.to(device), self.faces.to(device), self.skin.to(device),
            self.colours.to(device), parts,
        )  # fmt: skip
