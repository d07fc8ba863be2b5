"""One buffer for a whole document: buffers from anywhere and images beside it, end to end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from akd.asset.asset import AssetError, Budget, GltfDocument, Problem
from akd.asset.gltf.fields import as_integer, shown
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder
from akd.asset.image import sniff_mime_type
from akd.export.gltf.references import listed, make_room

_BY_SUFFIX = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_ALIGNMENT = 4


@dataclass(frozen=True)
class Packed:
    """A document whose first buffer is `parts`, one after another, each padded to four bytes."""

    json: dict[str, Any]
    parts: tuple[memoryview, ...]
    problems: tuple[Problem, ...]

    @property
    def length(self) -> int:
        """Bytes of the buffer, padding included."""
        return sum(padded(len(part)) for part in self.parts)


def padded(length: int) -> int:
    """The length rounded up to where the next thing may begin."""
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def pack(document: GltfDocument) -> Packed:
    """Bring all bytes of a document into one buffer, and whatever points at them with it.

    Nothing else of the JSON changes, and the document given is not modified. An image that cannot
    be had keeps its URI, and is reported.
    """
    problems = ProblemLog()
    files = _load_images(document, problems)
    root = dict(make_room(document.json, "bufferViews", len(files)))
    buffers = _Buffers(document, {p.uri: p.data for p in files.values()})
    views = [_moved(view, buffers) for view in listed(root, "bufferViews")]
    if files:
        root["images"] = _pack_images(root["images"], files, views, buffers)
    if views:
        root["bufferViews"] = views
    entries = buffers.entries()
    if entries:
        root["buffers"] = entries
    return Packed(root, tuple(buffers.parts), problems.all())


class _Buffers:
    """Where each buffer of the document goes, and each image.

    A buffer without bytes of its own (an extension's fallback, say) cannot be packed. It stays a
    buffer, after the packed one.
    """

    def __init__(self, document: GltfDocument, files: dict[str, memoryview]) -> None:
        self._old: list[dict[str, Any]] = listed(document.json, "buffers")
        self.parts: list[memoryview] = []
        self.places: list[tuple[int, int]] = [(0, 0)] * len(self._old)
        """New index, and offset in there, of each old buffer."""
        self._length = self._end = 0
        self._kept: list[dict[str, Any]] = []
        overrun = _overrun(document)
        whole = [i for i, data in enumerate(document.buffers) if len(data) and i not in overrun]
        for index in whole:
            self.places[index] = (0, self._add(document.buffers[index]))
        self.files = {uri: self._add(data) for uri, data in files.items()}
        """Offset of each image."""
        for index, data in enumerate(document.buffers):
            if index in overrun:
                self.places[index] = (0, self._add(data))
            elif not len(data):
                self._kept.append(self._old[index])
                self.places[index] = (len(self._kept), 0)
        if self._kept and not self.parts:
            # The first buffer of a GLB must have bytes.
            self._add(memoryview(bytes(_ALIGNMENT)))

    def _add(self, data: memoryview) -> int:
        """Append bytes; return where they begin."""
        offset = self._length
        self.parts.append(data)
        self._end = offset + len(data)
        self._length = padded(self._end)
        return offset

    def entries(self) -> list[dict[str, Any]]:
        """The new `buffers`: what was said of the old ones is kept, but for where they were."""
        if not self.parts:
            return []
        packed = [entry for entry in self._old if not any(entry is kept for kept in self._kept)]
        first = {k: v for k, v in (packed[0] if packed else {}).items() if k != "uri"}
        first["byteLength"] = self._end
        others = [_description(entry) for entry in packed[1:]]
        if any(others):
            extras = first.get("extras")
            own = extras if isinstance(extras, dict) else {} if extras is None else {"own": extras}
            first["extras"] = {**own, "packed_buffers": others}
        return [first, *self._kept]


def _overrun(document: GltfDocument) -> set[int]:
    """Buffers that some view runs past the end of.

    They go last, so that a broken view does not end up showing what comes after them.
    """
    found: set[int] = set()
    for view in listed(document.json, "bufferViews"):
        if not isinstance(view, dict):
            continue
        index, length = as_integer(view.get("buffer")), as_integer(view.get("byteLength"))
        if index is None or length is None or not 0 <= index < len(document.buffers):
            continue
        size = len(document.buffers[index])
        if size and (as_integer(view.get("byteOffset")) or 0) + length > size:
            found.add(index)
    return found


def _description(entry: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in entry.items() if k not in ("uri", "byteLength")}


def _moved(view: Any, buffers: _Buffers) -> Any:
    """A buffer view, or an extension of one, that points at the same bytes in their new place."""
    if not isinstance(view, dict):
        return view
    index = as_integer(view.get("buffer"))
    result = dict(view)
    if index is not None and 0 <= index < len(buffers.places):
        result["buffer"], base = buffers.places[index]
        if base:
            result["byteOffset"] = (as_integer(view.get("byteOffset")) or 0) + base
    if isinstance(view.get("extensions"), dict):
        # Compression keeps a reference of its own to the bytes that it packs.
        result["extensions"] = {
            name: _moved(extension, buffers) for name, extension in view["extensions"].items()
        }
    return result


@dataclass(frozen=True)
class _ImageFile:
    """An image in a file beside the document."""

    uri: str
    data: memoryview
    mime_type: str


def _load_images(document: GltfDocument, problems: ProblemLog) -> dict[int, _ImageFile]:
    """The images that a GLB can hold and that are not in a buffer yet, by index."""
    folder = AssetFolder(document.folder, Budget())
    files: dict[int, _ImageFile] = {}
    for index, image in enumerate(listed(document.json, "images")):
        uri = image.get("uri") if isinstance(image, dict) else None
        if not isinstance(uri, str) or uri[:5].lower() == "data:":
            continue
        where = f"image {index}"
        action = "leaves the reference to it"
        try:
            data = folder.load(uri, where=where)
        except AssetError as error:
            problems.warn(where, str(error).removeprefix(f"{where}: "), action)
            continue
        # What is broken, or of a kind that akd cannot paint, still belongs to the file.
        kind = sniff_mime_type(data) or _BY_SUFFIX.get(PurePosixPath(uri).suffix.lower())
        if kind is None:
            problems.warn(where, f"{shown(uri)} is of no kind that a GLB can name", action)
        else:
            files[index] = _ImageFile(uri, data, kind)
    return files


def _pack_images(
    images: list[Any], files: dict[int, _ImageFile], views: list[Any], buffers: _Buffers
) -> list[Any]:
    """The `images` with files moved into the buffer; one that is named twice is stored once."""
    result = list(images)
    stored: dict[str, int] = {}
    for index, file in files.items():
        if file.uri not in stored:
            stored[file.uri] = len(views)
            offset = buffers.files[file.uri]
            views.append({"buffer": 0, "byteOffset": offset, "byteLength": len(file.data)})
        # In the place of the URI, so that the order of what is there stays.
        packed: dict[str, Any] = {}
        for key, value in images[index].items():
            if key == "uri":
                packed["bufferView"] = stored[file.uri]
                packed.setdefault("mimeType", file.mime_type)
            else:
                packed[key] = value
        result[index] = packed
    return result
