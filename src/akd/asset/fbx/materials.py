"""Materials of an FBX file: base colour and its texture, embedded or beside the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from akd.asset.asset import AssetError, Image, Material
from akd.asset.fbx.scene import FbxScene
from akd.asset.gltf.encode_materials import IMAGE_TYPES
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder
from akd.asset.image import image_size, sniff_mime_type
from akd.asset.surface import load_texture


class MaterialReader:
    """Reads each material and each image once."""

    def __init__(self, fbx: FbxScene, path: Path, problems: ProblemLog) -> None:
        self.materials: list[Material] = []
        self.images: list[Image] = []
        self._fbx = fbx
        self._problems = problems
        self._folder = AssetFolder(path.parent, fbx.budget)
        self._places: dict[int, int] = {}
        self._image_places: dict[int, int | None] = {}

    def place(self, given: Any) -> int:
        """Index of one of ufbx's materials in `materials`."""
        number = int(given.element_id)
        if number not in self._places:
            self._places[number] = len(self.materials)
            self.materials.append(self._read(given))
        return self._places[number]

    def _read(self, given: Any) -> Material:
        keep = self._fbx.keep
        looks = keep(given.pbr)
        base, factor, opacity = keep(looks.base_color), keep(looks.base_factor), keep(looks.opacity)
        colour = np.array(tuple(base.value_vec4)[:3]) if base.has_value else np.ones(3)
        if factor.has_value:
            colour = colour * float(factor.value_vec4.x)
        alpha = float(opacity.value_vec4.x) if opacity.has_value else 1.0
        red, green, blue, alpha = np.nan_to_num((*colour, alpha), nan=1.0).clip(0.0, 1.0).tolist()
        texture, image, wrap = keep(base.texture), None, ("repeat", "repeat")
        if texture is not None:
            image = self._image(texture)
            if image is not None:
                # A texture replaces the colour.
                red = green = blue = 1.0
                wrap = tuple("clamp" if int(w) else "repeat" for w in
                             (texture.wrap_u, texture.wrap_v))  # fmt: skip
        return Material(
            name=given.name,
            base_colour=(red, green, blue, alpha),
            image=image,
            wrap=(wrap[0], wrap[1]),
            double_sided=True,
        )

    def _image(self, texture: Any) -> int | None:
        number = int(texture.element_id)
        if number not in self._image_places:
            self._image_places[number] = None
            image = self._load(texture, f"texture {texture.name!r}")
            if image is not None:
                self._image_places[number] = len(self.images)
                self.images.append(image)
        return self._image_places[number]

    def _load(self, texture: Any, where: str) -> Image | None:
        data = bytes(texture.content)
        if not data:
            name = texture.relative_filename or texture.filename
            image = load_texture(self._folder, name, where, self._problems) if name else None
        else:
            image = self._embedded(texture.name, data, where)
        if image is not None and image.mime_type not in IMAGE_TYPES:
            what = f"is {image.mime_type}, which glTF cannot hold"
            self._problems.warn(where, what, "paints none")
            return None
        return image

    def _embedded(self, name: str, data: bytes, where: str) -> Image | None:
        try:
            width, height = image_size(data)
            self._fbx.budget.charge(len(data), where)
            self._fbx.budget.charge_pixels(width * height)
        except AssetError as error:
            self._problems.warn(where, f"cannot be read: {error}", "paints none")
            return None
        return Image(name, sniff_mime_type(data) or "application/octet-stream", data)
