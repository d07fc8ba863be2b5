"""The images of a glTF file, still encoded."""

from __future__ import annotations

from akd.asset.asset import AssetError, GltfDocument, Image
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, GltfError, clean_text, shown
from akd.asset.gltf.problems import ProblemLog, objects_if_any
from akd.asset.gltf.uri import AssetFolder
from akd.asset.image import image_size, sniff_mime_type

_DECODABLE = ("image/png", "image/jpeg", "image/webp")


def read_images(
    document: GltfDocument, accessors: Accessors, problems: ProblemLog
) -> tuple[Image, ...]:
    """Return every image of the file, still encoded. One that cannot be had is left empty."""
    folder = AssetFolder(document.folder, accessors.budget)
    images: list[Image] = []
    root = Fields(document.json, "")
    for i, entry in enumerate(objects_if_any(root, "images", "image", problems)):
        label = entry.name() or f"image {i}"
        try:
            image = _read_image(entry, label, accessors, folder)
        except GltfError as error:
            problems.left_out(error, "the image is left out")
            image = Image(label, "", b"")
        images.append(image)
    return tuple(images)


def _read_image(entry: Fields, label: str, accessors: Accessors, folder: AssetFolder) -> Image:
    view = entry.index("bufferView", accessors.view_count, "buffer views")
    if view is not None:
        data = accessors.view_bytes(view)
    else:
        uri = entry.text("uri")
        data = folder.load(uri, where=entry.where)
        if not entry.name() and uri[:5].lower() != "data:":
            label = clean_text(uri)
    mime_type = sniff_mime_type(data)
    if mime_type not in _DECODABLE:
        found = mime_type or shown(bytes(data[:8]))
        raise GltfError(entry.where, f"must be PNG, JPEG or WebP, got {found}")
    try:
        width, height = image_size(data)
        accessors.budget.charge_pixels(width * height)
    except AssetError as error:
        raise GltfError(entry.where, str(error)) from error
    return Image(label, mime_type, data)
