"""Materials and the pictures they show, as far as akd paints them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from akd.asset.asset import AssetError, Image, Material
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.document import GltfDocument
from akd.asset.gltf.fields import Fields, GltfError, clean_text
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder
from akd.asset.image import image_size, sniff_mime_type

_WRAP = {10497: "repeat", 33071: "clamp", 33648: "mirror"}
_GLOSS = "KHR_materials_pbrSpecularGlossiness"


@dataclass(frozen=True)
class Surface:
    """A material, and which texture coordinates of a mesh it wants."""

    material: Material
    uv_set: int = 0
    uv_transform: Float[np.ndarray, "2 3"] | None = None
    """Takes u, v, 1 to the coordinates at which the picture is looked up."""


def read_images(
    document: GltfDocument, accessors: Accessors, problems: ProblemLog
) -> tuple[Image, ...]:
    """Return every picture of the file, still encoded. One that cannot be had is left empty."""
    folder = AssetFolder(document.folder)
    images: list[Image] = []
    for i, entry in enumerate(document.root.objects("images", "image")):
        label = entry.name() or f"image {i}"
        try:
            images.append(_read_image(entry, label, accessors, folder))
        except GltfError as error:
            problems.left_out(error, "the picture is left out")
            images.append(Image(label, "", b""))
    return tuple(images)


def read_surfaces(
    root: Fields, images: tuple[Image, ...], problems: ProblemLog
) -> tuple[Surface, ...]:
    """Return every material. What cannot be understood of one keeps its default."""
    surfaces: list[Surface] = []
    for entry in root.objects("materials", "material"):
        surface = Surface(Material(entry.name()))
        for read in (_read_look, _read_colour, _read_texture):
            try:
                surface = read(root, entry, surface, images)
            except GltfError as error:
                problems.left_out(error, "the default is taken")
        index = surface.material.image
        if index is not None and not images[index].data:
            surface = replace(surface, material=replace(surface.material, image=None))
        surfaces.append(surface)
    return tuple(surfaces)


def _read_image(entry: Fields, label: str, accessors: Accessors, folder: AssetFolder) -> Image:
    view = entry.index("bufferView", accessors.view_count, "buffer views")
    if view is not None:
        data = accessors.view_bytes(view)
    else:
        uri = entry.text("uri")
        data = folder.load(uri, where=entry.place("uri"))
        if not entry.name() and uri[:5].lower() != "data:":
            label = clean_text(uri)
    mime_type = sniff_mime_type(data)
    if mime_type is None or mime_type in ("image/ktx2", "image/vnd-ms.dds"):
        stated = entry.values.get("mimeType")
        raise AssetError(
            f"must be PNG, JPEG or WebP, got {mime_type or stated or 'something else'}"
        )
    image_size(data)
    return Image(label, mime_type, data)


def _read_look(
    _root: Fields, entry: Fields, surface: Surface, _images: tuple[Image, ...]
) -> Surface:
    mode = entry.text("alphaMode", "OPAQUE")
    cutoff = entry.number("alphaCutoff", 0.5) if mode == "MASK" else None
    look = replace(
        surface.material, double_sided=entry.flag("doubleSided", False), alpha_cutoff=cutoff
    )
    return replace(surface, material=look)


def _read_colour(
    _root: Fields, entry: Fields, surface: Surface, _images: tuple[Image, ...]
) -> Surface:
    white = (1.0, 1.0, 1.0, 1.0)
    gloss = entry.extension(_GLOSS)
    if gloss is not None:
        r, g, b, a = gloss.numbers("diffuseFactor", 4, white)
    else:
        r, g, b, a = entry.object("pbrMetallicRoughness").numbers("baseColorFactor", 4, white)
    colour = (_unit(r), _unit(g), _unit(b), _unit(a))
    return replace(surface, material=replace(surface.material, base_colour=colour))


def _read_texture(
    root: Fields, entry: Fields, surface: Surface, images: tuple[Image, ...]
) -> Surface:
    gloss = entry.extension(_GLOSS)
    parent, key = (
        (entry.object("pbrMetallicRoughness"), "baseColorTexture")
        if gloss is None
        else (gloss, "diffuseTexture")
    )
    if not parent.has(key):
        return surface
    info = parent.object(key)
    textures = root.objects("textures", "texture")
    index = info.index("index", len(textures), "textures")
    if index is None:
        raise info.refuse("index", "must be there", None)
    texture = textures[index]
    uv_set, transform = info.integer("texCoord", 0), None
    extension = info.extension("KHR_texture_transform")
    if extension is not None:
        uv_set = extension.integer("texCoord", uv_set)
        transform = _uv_transform(extension)
    material = replace(
        surface.material, image=_find_image(texture, images), wrap=_read_wrap(root, texture)
    )
    return Surface(material, uv_set, transform)


def _find_image(texture: Fields, images: tuple[Image, ...]) -> int | None:
    """Index of the picture of a texture that akd can decode."""
    webp = texture.extension("EXT_texture_webp")
    if webp is not None and webp.has("source"):
        return webp.index("source", len(images), "images")
    source = texture.index("source", len(images), "images")
    if source is None:
        others = ", ".join(map(clean_text, texture.object("extensions").values)) or "no source"
        raise GltfError(texture.where, f"must have a PNG, JPEG or WebP source, got {others}")
    return source


def _read_wrap(root: Fields, texture: Fields) -> tuple[str, str]:
    samplers = root.objects("samplers", "sampler")
    index = texture.index("sampler", len(samplers), "samplers")
    if index is None:
        return ("repeat", "repeat")
    sampler = samplers[index]
    modes = [sampler.integer(key, 10497) for key in ("wrapS", "wrapT")]
    for key, mode in zip(("wrapS", "wrapT"), modes, strict=True):
        if mode not in _WRAP:
            raise sampler.refuse(key, f"must be one of {', '.join(map(str, _WRAP))}", mode)
    return _WRAP[modes[0]], _WRAP[modes[1]]


def _uv_transform(extension: Fields) -> Float[np.ndarray, "2 3"]:
    """Scale, then turn, then shift. The turn is counter-clockwise as seen with v downwards."""
    shift = extension.numbers("offset", 2, (0.0, 0.0))
    angle = extension.number("rotation", 0.0)
    scale = extension.numbers("scale", 2, (1.0, 1.0))
    cos, sin = math.cos(angle), math.sin(angle)
    turn = np.array(((cos, sin), (-sin, cos)))
    return np.concatenate((turn * np.array(scale), np.array(shift)[:, None]), axis=1)


def _unit(value: float) -> float:
    return min(max(value, 0.0), 1.0)
