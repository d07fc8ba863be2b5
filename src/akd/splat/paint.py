"""`Paint`: what a mesh looks like at any point of its surface, textures filtered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.asset.asset import Asset, AssetError, Material
from akd.asset.image import decode_image
from akd.math.srgb import to_linear
from akd.rig.character import Character
from akd.rig.mesh import SkinnedMesh


class Texture:
    """An image and its half, quarter, ... sizes: a look-up averages over the area it means."""

    def __init__(
        self,
        pixels: Float[Tensor, "H W 4"],
        wrap: tuple[str, str] = ("repeat", "repeat"),
        alpha_cutoff: float | None = None,
    ) -> None:
        self.levels: list[Tensor] = [pixels]
        """Linear RGBA, each half the size of the one before."""
        self.wrap = wrap
        self.alpha_cutoff = alpha_cutoff
        while max(self.levels[-1].shape[:2]) > 1:
            above = self.levels[-1].permute(2, 0, 1)[None]
            height, width = above.shape[2:]
            half = torch.nn.functional.interpolate(
                above, (max(1, height // 2), max(1, width // 2)), mode="area"
            )
            self.levels.append(half[0].permute(1, 2, 0).contiguous())

    @classmethod
    def of(cls, asset: Asset, material: Material) -> Texture | None:
        """The base-colour texture of a material; None where there is none, or it is broken."""
        if material.image is None:
            return None
        try:
            encoded = decode_image(asset.images[material.image])
        except AssetError:
            return None
        pixels = torch.from_numpy(np.array(encoded)).float() / 255.0
        pixels[..., :3] = to_linear(pixels[..., :3])
        return cls(pixels, material.wrap, material.alpha_cutoff)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the full image."""
        return self.levels[0].shape[1], self.levels[0].shape[0]

    def sample(self, uv: Float[Tensor, "M 2"], texels: Float[Tensor, "M"]) -> Float[Tensor, "M 4"]:
        """Linear RGBA averaged over about `texels` x `texels` full-size texels around uv."""
        level = torch.log2(texels.clamp_min(1.0)).clamp_max(len(self.levels) - 1.0)
        below = level.floor().long()
        part = (level - below)[:, None]
        result = uv.new_zeros(len(uv), 4)
        for k in torch.unique(below).tolist():
            chosen = (below == k).nonzero().squeeze(-1)
            fine = self._bilinear(uv[chosen], k)
            coarse = self._bilinear(uv[chosen], min(k + 1, len(self.levels) - 1))
            result[chosen] = torch.lerp(fine, coarse, part[chosen])
        return result

    def _bilinear(self, uv: Tensor, level: int) -> Tensor:
        pixels = self.levels[level]
        height, width = pixels.shape[:2]
        x = _wrap(uv[:, 0], self.wrap[0]) * width - 0.5
        y = _wrap(uv[:, 1], self.wrap[1]) * height - 0.5
        x0, y0 = x.floor(), y.floor()
        fx, fy = (x - x0)[:, None], (y - y0)[:, None]

        def texel(column: Tensor, row: Tensor) -> Tensor:
            i = _neighbour(column.long(), width, self.wrap[0])
            j = _neighbour(row.long(), height, self.wrap[1])
            return pixels[j, i]

        top = torch.lerp(texel(x0, y0), texel(x0 + 1, y0), fx)
        bottom = torch.lerp(texel(x0, y0 + 1), texel(x0 + 1, y0 + 1), fx)
        return torch.lerp(top, bottom, fy)


def _wrap(coordinate: Tensor, mode: str) -> Tensor:
    if mode == "clamp":
        return coordinate.clamp(0.0, 1.0)
    if mode == "mirror":
        folded = torch.remainder(coordinate, 2.0)
        return torch.where(folded > 1.0, 2.0 - folded, folded)
    return torch.remainder(coordinate, 1.0)


def _neighbour(index: Tensor, size: int, mode: str) -> Tensor:
    return torch.remainder(index, size) if mode == "repeat" else index.clamp(0, size - 1)


@dataclass(frozen=True)
class Paint:
    """Colours of a mesh of V vertices and F triangles."""

    colours: Float[Tensor, "V 3"]
    """Linear RGB at the vertices: vertex colour times base colour, without the texture."""
    uv: Float[Tensor, "V 2"]
    face_texture: Int[Tensor, "F"]
    """Index into `textures`, or -1."""
    textures: tuple[Texture, ...]

    @classmethod
    def of_vertices(cls, mesh: SkinnedMesh) -> Paint:
        """No textures: the colours that the mesh has at its vertices."""
        return cls(
            mesh.colours,
            mesh.colours.new_zeros(len(mesh.vertices), 2),
            mesh.faces.new_full((len(mesh.faces),), -1),
            (),
        )

    @classmethod
    def of(cls, character: Character) -> Paint | None:
        """The paint of a character's mesh, or None where it has no mesh."""
        mesh, asset = character.mesh, character.asset
        if mesh is None:
            return None
        plain = cls.of_vertices(mesh)
        colours, uv, face_texture = plain.colours.clone(), plain.uv, plain.face_texture
        textures: list[Texture] = []
        known: dict[int, int] = {}
        for part in mesh.parts:
            colours[part.vertices] = part.base_colours
            if part.uv is None:
                continue
            uv[part.vertices] = part.uv
            if part.material is None:
                continue
            if part.material not in known:
                texture = Texture.of(asset, asset.materials[part.material])
                known[part.material] = -1 if texture is None else len(textures)
                textures += [] if texture is None else [texture]
            face_texture[part.faces] = known[part.material]
        return cls(colours, uv, face_texture, tuple(textures))

    def at(
        self,
        mesh: SkinnedMesh,
        faces: Int[Tensor, "M"],
        barycentric: Float[Tensor, "M 3"],
        footprint: Float[Tensor, "M"],
    ) -> Float[Tensor, "M 4"]:
        """Linear RGBA at points of the surface, averaged over squares of side `footprint` (m).

        Alpha is 0 where a material cuts its texture out, 1 elsewhere.
        """
        corners = mesh.faces[faces]
        rgb = (self.colours[corners] * barycentric[..., None]).sum(1).clamp(0.0, 1.0)
        result = torch.cat((rgb, torch.ones_like(rgb[:, :1])), dim=-1)
        textured = self.face_texture[faces]
        for index, texture in enumerate(self.textures):
            chosen = (textured == index).nonzero().squeeze(-1)
            if len(chosen) == 0:
                continue
            corner = corners[chosen]
            uv = (self.uv[corner] * barycentric[chosen, :, None]).sum(1)
            texels = footprint[chosen] * self._texels_per_metre(mesh, corner, texture)
            rgba = texture.sample(uv, texels)
            result[chosen, :3] *= rgba[:, :3]
            if texture.alpha_cutoff is not None:
                result[chosen, 3] = (rgba[:, 3] >= texture.alpha_cutoff).float()
        return result

    def _texels_per_metre(self, mesh: SkinnedMesh, corner: Tensor, texture: Texture) -> Tensor:
        points, uv = mesh.vertices[corner], self.uv[corner] * self.uv.new_tensor(texture.size)
        a, b = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
        area = torch.linalg.cross(a, b).norm(dim=-1)
        c, d = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
        texels = (c[:, 0] * d[:, 1] - c[:, 1] * d[:, 0]).abs()
        return (texels / area.clamp_min(1e-20)).sqrt()
