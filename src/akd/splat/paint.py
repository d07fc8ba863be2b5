"""`Paint`: what a mesh looks like at any point of its surface, textures filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from akd.asset.asset import AssetError, Image
from akd.asset.image import decode_image, image_size
from akd.math.srgb import to_linear
from akd.rig.character import Character
from akd.rig.mesh import SkinnedMesh

TEXEL_LIMIT = 2**24
"""Of all textures together, 256 MiB: one image of 4096 x 4096, or four of 2048. Images beyond it
are halved, the largest first, until they fit: Gaussians do not show that detail."""
_BAND = 2**20
"""Texels that are converted at a time."""


class Texture:
    """An image and its half, quarter, ... sizes: a look-up averages over the area it means."""

    def __init__(
        self,
        levels: Sequence[Float[Tensor, "..."]],
        wrap: tuple[str, str] = ("repeat", "repeat"),
        alpha_cutoff: float | None = None,
    ) -> None:
        self.levels = levels
        """Linear RGBA of shape (H, W, 4), each half the size of the one before."""
        self.wrap = wrap
        self.alpha_cutoff = alpha_cutoff

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


def mip_levels(pixels: Float[Tensor, "H W 4"]) -> list[Tensor]:
    """The image and its half, quarter, ... sizes, down to one texel."""
    levels = [pixels]
    while max(levels[-1].shape[:2]) > 1:
        levels.append(_halved(levels[-1]))
    return levels


def _halved(pixels: Float[Tensor, "H W 4"]) -> Float[Tensor, "h w 4"]:
    height, width = pixels.shape[:2]
    half = torch.nn.functional.interpolate(
        pixels.permute(2, 0, 1)[None], (max(1, height // 2), max(1, width // 2)), mode="area"
    )
    return half[0].permute(1, 2, 0).contiguous()


def _linear_pixels(image: Image, halvings: int) -> Float[Tensor, "H W 4"]:
    """Linear RGBA of an image, halved `halvings` times, band by band to save memory."""
    encoded = decode_image(image)
    values = torch.arange(256) / 255.0
    opacity, light = values.numpy(), to_linear(values).numpy()
    step = 2**halvings
    rows = max(1, _BAND // (encoded.shape[1] * step)) * step
    full, rest = divmod(len(encoded), rows)
    height = full * (rows // step) + (max(1, rest // step) if rest else 0)
    result = torch.empty(height, max(1, encoded.shape[1] // step), 4)
    for k, place in enumerate(result.split(rows // step)):
        band = encoded[k * rows : (k + 1) * rows]
        pixels = torch.from_numpy(
            np.concatenate((light[band[..., :3]], opacity[band[..., 3:]]), -1)
        )
        for _ in range(halvings):
            pixels = _halved(pixels)
        place.copy_(pixels)
    return result


def _choose_halvings(images: Mapping[int, Image]) -> dict[int, int]:
    """How often to halve each image so that all keep `TEXEL_LIMIT`; broken ones are left out."""
    sizes: dict[int, int] = {}
    for index, image in images.items():
        with suppress(AssetError):
            width, height = image_size(image.data)
            sizes[index] = width * height
    halvings = dict.fromkeys(sizes, 0)
    while sum(sizes.values()) > TEXEL_LIMIT:
        largest = max(sizes, key=lambda index: sizes[index])
        sizes[largest] //= 4
        halvings[largest] += 1
    return halvings


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
        """The paint of a character's mesh, or None where it has no mesh.

        Textures are at full size as long as all of them keep `TEXEL_LIMIT`.
        """
        mesh, asset = character.mesh, character.asset
        if mesh is None:
            return None
        plain = cls.of_vertices(mesh)
        colours, uv, face_texture = plain.colours.clone(), plain.uv, plain.face_texture
        for part in mesh.parts:
            colours[part.vertices] = part.base_colours
            if part.uv is not None:
                uv[part.vertices] = part.uv
        shown = dict.fromkeys(p.material for p in mesh.parts if p.uv is not None)
        materials = {n: asset.materials[n] for n in shown if n is not None}
        images = {m.image: asset.images[m.image] for m in materials.values() if m.image is not None}
        levels: dict[int | None, list[Tensor]] = {}
        for image, halvings in _choose_halvings(images).items():
            with suppress(AssetError):  # its pixels cannot be decoded: no texture
                levels[image] = mip_levels(_linear_pixels(images[image], halvings))
        painted = [n for n, material in materials.items() if material.image in levels]
        for part in mesh.parts:
            if part.uv is not None and part.material in painted:
                face_texture[part.faces] = painted.index(part.material)
        textures = (materials[n] for n in painted)
        return cls(
            colours, uv, face_texture,
            tuple(Texture(levels[m.image], m.wrap, m.alpha_cutoff) for m in textures),
        )  # fmt: skip

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
