"""`encode_materials`: base colours and their textures, for a new glTF document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from akd.asset.asset import Image, Material
from akd.asset.gltf.buffer import BufferBuilder

IMAGE_TYPES = ("image/png", "image/jpeg")
"""What glTF itself can hold."""
_WRAPS = {"repeat": 10497, "mirror": 33648, "clamp": 33071}


def encode_materials(
    materials: Sequence[Material], images: Sequence[Image], data: BufferBuilder
) -> dict[str, list[dict[str, Any]]]:
    """The lists `materials`, `textures`, `samplers` and `images` of a document.

    Image bytes are appended to `data`. Images of other kinds than PNG and JPEG are left out.
    """
    kept = _Images(images, data)
    return {
        "materials": [_material(material, kept) for material in materials],
        "textures": kept.textures,
        "samplers": kept.samplers,
        "images": kept.entries,
    }


class _Images:
    """The images that glTF can hold, and their textures by wrap mode."""

    def __init__(self, images: Sequence[Image], data: BufferBuilder) -> None:
        self.entries: list[dict[str, Any]] = []
        self.textures: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        for index, image in enumerate(images):
            if image.mime_type in IMAGE_TYPES:
                self._places[index] = len(self.entries)
                view = data.add_bytes(image.data)
                self.entries.append(
                    {"name": image.name, "mimeType": image.mime_type, "bufferView": view}
                )

    def texture(self, material: Material) -> int | None:
        """The texture of a material's base colour."""
        if material.image is None or material.image not in self._places:
            return None
        u, v = (_WRAPS[wrap] for wrap in material.wrap)
        self.samplers.append({"wrapS": u, "wrapT": v})
        self.textures.append(
            {"sampler": len(self.samplers) - 1, "source": self._places[material.image]}
        )
        return len(self.textures) - 1


def _material(material: Material, images: _Images) -> dict[str, Any]:
    look: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 0.9}
    if (factor := [float(min(max(c, 0.0), 1.0)) for c in material.base_colour]) != [1.0] * 4:
        look = {"baseColorFactor": factor, **look}
    if (texture := images.texture(material)) is not None:
        look["baseColorTexture"] = {"index": texture}
    made: dict[str, Any] = {"name": material.name, "pbrMetallicRoughness": look}
    if material.double_sided:
        made["doubleSided"] = True
    if material.alpha_cutoff is not None:
        made |= {"alphaMode": "MASK", "alphaCutoff": material.alpha_cutoff}
    elif material.base_colour[3] < 1.0:
        made["alphaMode"] = "BLEND"
    return made
