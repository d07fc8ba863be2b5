"""`SkinnedMesh`: triangles bound to a skeleton, all parts of a character in one."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
                    base_colours=p.base_colours.to(device))
            for p in self.parts
        )  # fmt: skip
        return SkinnedMesh(
            self.vertices.to(device), self.faces.to(device), self.skin.to(device),
            self.colours.to(device), parts,
        )  # fmt: skip
