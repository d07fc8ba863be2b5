"""The pictures of a glTF file, still encoded."""

from __future__ import annotations

from akd.asset.asset import AssetError, GltfDocument, Image
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, GltfError, clean_text, shown
from akd.asset.gltf.problems import ProblemLog, objects_if_any
from akd.asset.gltf.uri import AssetFolder
from akd.asset.image import image_size, sniff_mime_type

_DECODABLE = ("image/png", "image/jpeg", "image/webp")
_MAX_FILE = 256 * 2**20
_MAX_IN_ALL = 512 * 2**20


def read_images(
    document: GltfDocument, accessors: Accessors, problems: ProblemLog
) -> tuple[Image, ...]:
    """Return every picture of the file, still encoded. One that cannot be had is left empty."""
    folder = AssetFolder(document.folder)
    images: list[Image] = []
    total = 0
    root = Fields(document.json, "")
    for i, entry in enumerate(objects_if_any(root, "images", "image", problems)):
        label = entry.name() or f"image {i}"
        try:
            image = _read_image(entry, label, accessors, folder)
            total += len(image.data)
            if total > _MAX_IN_ALL:
                raise GltfError(entry.where, f"images must have at most {_MAX_IN_ALL} bytes in all")
        except GltfError as error:
            problems.left_out(error, "the picture is left out")
            image = Image(label, "", b"")
        images.append(image)
    return tuple(images)


def _read_image(entry: Fields, label: str, accessors: Accessors, folder: AssetFolder) -> Image:
    view = entry.index("bufferView", accessors.view_count, "buffer views")
    if view is not None:
        data = accessors.view_bytes(view)
    else:
        uri = entry.text("uri")
        data = folder.load(uri, where=entry.where, limit=_MAX_FILE)
        if not entry.name() and uri[:5].lower() != "data:":
            label = clean_text(uri)
    mime_type = sniff_mime_type(data)
    if mime_type not in _DECODABLE:
        found = mime_type or shown(bytes(data[:8]))
        raise GltfError(entry.where, f"must be PNG, JPEG or WebP, got {found}")
    try:
        image_size(data)
    except AssetError as error:
        raise GltfError(entry.where, str(error)) from error
    return Image(label, mime_type, data)
