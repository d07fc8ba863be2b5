"""Materials, as far as akd paints them: a base colour, and where to look up its texture."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Image, Material
from akd.asset.gltf.fields import Fields, GltfError, clean_text
from akd.asset.gltf.problems import ProblemLog, objects_if_any

_WRAP = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
_GLOSS = "KHR_materials_pbrSpecularGlossiness"
_WHITE = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Surface:
    """A material, and which texture coordinates of a mesh it wants."""

    material: Material
    uv_set: int = 0
    uv_transform: Float[np.ndarray, "2 3"] | None = None
    """Takes u, v, 1 to the coordinates at which the image is looked up."""


def read_surfaces(
    root: Fields, images: tuple[Image, ...], problems: ProblemLog
) -> tuple[Surface, ...]:
    """Return every material. What cannot be understood of one keeps its default."""
    textures = _Textures(
        objects_if_any(root, "textures", "texture", problems),
        objects_if_any(root, "samplers", "sampler", problems),
        images,
    )
    surfaces: list[Surface] = []
    for entry in objects_if_any(root, "materials", "material", problems):
        surface = Surface(Material(entry.name()))
        try:
            surface = replace(surface, material=_read_look(entry))
        except GltfError as error:
            problems.left_out(error, "the default look is taken")
        try:
            surface = textures.apply(entry, surface)
        except GltfError as error:
            problems.left_out(error, "its base colour is shown without a texture")
        surfaces.append(surface)
    return tuple(surfaces)


def _read_look(entry: Fields) -> Material:
    mode = entry.text("alphaMode", "OPAQUE")
    gloss = entry.extension(_GLOSS)
    if gloss is None:
        colour = entry.object("pbrMetallicRoughness").numbers("baseColorFactor", 4, _WHITE)
    else:
        colour = gloss.numbers("diffuseFactor", 4, _WHITE)
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in colour)
    return Material(
        entry.name(),
        base_colour=(r, g, b, a),
        double_sided=entry.flag("doubleSided", False),
        alpha_cutoff=entry.number("alphaCutoff", 0.5) if mode == "MASK" else None,
    )


@dataclass(frozen=True)
class _Textures:
    textures: list[Fields]
    samplers: list[Fields]
    images: tuple[Image, ...]

    def apply(self, entry: Fields, surface: Surface) -> Surface:
        """Return the surface with its base-colour texture, if the material has one."""
        gloss = entry.extension(_GLOSS)
        if gloss is None:
            parent, key = entry.object("pbrMetallicRoughness"), "baseColorTexture"
        else:
            parent, key = gloss, "diffuseTexture"
        if not parent.has(key):
            return surface
        info = parent.object(key)
        index = info.index("index", len(self.textures), "textures")
        if index is None:
            raise info.refuse("index", "must be there", None)
        texture = self.textures[index]
        uv_set, transform = info.integer("texCoord", 0), None
        extension = info.extension("KHR_texture_transform")
        if extension is not None:
            uv_set = extension.integer("texCoord", uv_set)
            transform = _uv_transform(extension)
        image, wrap = self._image(texture), self._wrap(texture)
        return Surface(replace(surface.material, image=image, wrap=wrap), uv_set, transform)

    def _image(self, texture: Fields) -> int:
        """Index of the first image of a texture that akd can decode."""
        webp = texture.extension("EXT_texture_webp")
        sources = [] if webp is None else [webp.index("source", len(self.images), "images")]
        sources.append(texture.index("source", len(self.images), "images"))
        for source in sources:
            if source is not None and self.images[source].data:
                return source
        named = [source for source in sources if source is not None]
        if named:
            raise GltfError(texture.where, f"its image {named[0]} is missing or cannot be read")
        others = ", ".join(map(clean_text, texture.object("extensions").values)) or "nothing"
        raise GltfError(texture.where, f"must have a PNG, JPEG or WebP source, got {others}")

    def _wrap(self, texture: Fields) -> tuple[str, str]:
        index = texture.index("sampler", len(self.samplers), "samplers")
        if index is None:
            return ("repeat", "repeat")
        sampler = self.samplers[index]
        modes = [sampler.integer(key, 10497) for key in ("wrapS", "wrapT")]
        for key, mode in zip(("wrapS", "wrapT"), modes, strict=True):
            if mode not in _WRAP:
                raise sampler.refuse(key, f"must be one of {', '.join(map(str, _WRAP))}", mode)
        return _WRAP[modes[0]], _WRAP[modes[1]]


def _uv_transform(extension: Fields) -> Float[np.ndarray, "2 3"]:
    """Scale, then turn, then shift.

    The turn is counter-clockwise to the eye, with v running downwards, as every viewer has it;
    the formula printed in the extension's text turns the other way.
    """
    shift = extension.numbers("offset", 2, (0.0, 0.0))
    angle = extension.number("rotation", 0.0)
    scale = extension.numbers("scale", 2, (1.0, 1.0))
    cos, sin = math.cos(angle), math.sin(angle)
    turn = np.array(((cos, sin), (-sin, cos)))
    return np.concatenate((turn * np.array(scale), np.array(shift)[:, None]), axis=1)
