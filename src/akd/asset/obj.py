"""Wavefront OBJ with materials (MTL) and textures: one node per `o`, one part per material.

The text is put in order before trimesh reads it: indices that count backwards are resolved where
they stand, objects are numbered, and all material libraries are handed over as one.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from akd.asset.asset import Asset, AssetError, Budget, Image, Material, Mesh, MeshPart
from akd.asset.gltf.fields import clean_text
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.uri import AssetFolder
from akd.asset.surface import build_part, linear_colours, mesh_asset, naming_file, read_bytes
from akd.asset.trimesh_bridge import FolderResolver, call_trimesh, named_geometry, triangles

_STATEMENT = re.compile(r"^(?:v|vt|vn|f|o|usemtl) [^\n]*", re.MULTILINE)
_LIBRARY = re.compile(r"^mtllib ([^\n]*)", re.MULTILINE)
_MATERIAL = re.compile(r"^usemtl ([^\n]*)", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*+newmtl[ \t]++([^\r\n]*+)", re.MULTILINE | re.IGNORECASE)
_BACKWARDS = re.compile(r"^f [^\n]*-", re.MULTILINE)
_ZERO = re.compile(r"^f [^\n]*(?<![0-9])0+(?![0-9])", re.MULTILINE)
_ALL_LIBRARIES = "materials"
_UNDEFINED = "*undefined*"
_MOST_LIBRARIES = 100


def read(path: Path) -> Asset:
    """Read an OBJ file. Raises `AssetError` where it holds no surface."""
    with naming_file(path):
        return _read(path, read_bytes(path, growth=24))


@dataclass(frozen=True)
class _Text:
    """The statements that matter, in order, with objects numbered."""

    statements: str
    objects: list[str]
    materials: list[str]
    """Every material that is named, whether it is defined or not."""


def _read(path: Path, data: bytes) -> Asset:
    from trimesh.exchange.obj import load_obj

    problems = ProblemLog()
    resolver = FolderResolver(AssetFolder(path.parent, Budget()), problems)
    clean = _clean(data.decode("utf-8-sig", errors="replace"))
    libraries = [match[1].strip() for match in _LIBRARY.finditer(clean)]
    library = _join_libraries(libraries, resolver.folder, problems)
    resolver.texts[_ALL_LIBRARIES] = library.encode()
    defined = {" ".join(name.split()) for name in _DEFINITION.findall(library)}
    text = _put_in_order(clean, defined)
    loaded = call_trimesh(
        "OBJ",
        load_obj,
        io.StringIO(text.statements),
        resolver=resolver,
        split_objects=True,
        group_material=True,
    )
    paint = _Paint(resolver, defined, problems)
    parts: dict[int, list[tuple[str, MeshPart]]] = {}
    for name, mesh in named_geometry(loaded).items():
        # trimesh names a mesh by its object, which is a number here, then by its material.
        number = int(name.split("_", 1)[0])
        found = getattr(mesh.get("visual"), "material", None)
        material = str(getattr(found, "name", None) or "")
        part = _part(f"object {text.objects[number]!r}", mesh, paint.index(found), problems)
        if part is not None:
            parts.setdefault(number, []).append((material, part))
    if not parts:
        count = text.statements.count("\nv ")
        raise AssetError(f"OBJ must have faces, got {count} vertices and none that can be used")
    for missing in dict.fromkeys(m for m in text.materials if m and m not in defined):
        problems.warn("usemtl", f"material {missing[:60]!r} is not defined", "paints it white")
    order = {name: place for place, name in enumerate(text.materials)}
    numbers = sorted(parts)
    labels = [clean_text(text.objects[number] or path.stem) for number in numbers]
    meshes = [
        Mesh(label, tuple(p for _, p in sorted(parts[n], key=lambda x: order.get(x[0], -1))))
        for n, label in zip(numbers, labels, strict=True)
    ]
    return mesh_asset(
        path, "obj", meshes, materials=paint.materials, images=paint.images,
        problems=problems.all(),
    )  # fmt: skip


def _clean(text: str) -> str:
    """The text without comments, indents, tabs and lines that go on."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\\\n", " ").replace("\t", " ")
    text = re.sub(r"(?:^|(?<= ))#[^\n]*", "", text, flags=re.MULTILINE)
    return "\n".join(line.strip(" ") for line in text.split("\n"))


def _put_in_order(text: str, defined: set[str]) -> _Text:
    """Keep the statements that akd reads, in one spelling."""
    if _ZERO.search(text):
        raise AssetError("OBJ: faces must count vertices from 1, got 0")
    materials = list(dict.fromkeys(match[1].strip() for match in _MATERIAL.finditer(text)))
    lines = _STATEMENT.findall(text)
    if _BACKWARDS.search(text):
        lines = list(_resolve_backward(lines))
    # Faces before the first `o` belong to an object without a name.
    numbers: dict[str, int] = {"": 0}
    for place, line in enumerate(lines):
        if line.startswith("o "):
            name = line[2:].strip()
            lines[place] = f"o {numbers.setdefault(name, len(numbers))}"
        elif line.startswith("usemtl ") and line[7:].strip() not in defined:
            lines[place] = f"usemtl {_UNDEFINED}"
    statements = "\n".join((f"mtllib {_ALL_LIBRARIES}", "o 0", *lines))
    return _Text(statements, list(numbers), materials)


def _resolve_backward(lines: list[str]) -> Iterator[str]:
    """Faces whose indices count back from the last vertex so far, with indices that count up."""
    counts = {"v": 0, "vt": 0, "vn": 0}
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind in counts:
            counts[kind] += 1
        if kind != "f" or "-" not in rest:
            yield line
            continue
        corners = []
        for corner in rest.split():
            words = corner.split("/")
            for place, (word, total) in enumerate(zip(words, counts.values(), strict=False)):
                if word.startswith("-") and word[1:].isdigit():
                    number = total + 1 - int(word[1:16])
                    if number < 1:
                        raise AssetError(f"OBJ: a face counts back past the first, got {word[:20]}")
                    words[place] = str(number)
            corners.append("/".join(words))
        yield f"f {' '.join(corners)}"


def _join_libraries(names: list[str], folder: AssetFolder, problems: ProblemLog) -> str:
    """All MTL files that are named, one after another. One line may name several."""
    texts = []
    if sum(len(name.split()) for name in names) > _MOST_LIBRARIES:
        raise AssetError(f"OBJ must name at most {_MOST_LIBRARIES} material libraries, got more")
    for line in dict.fromkeys(names):
        for name in (line, *line.split()) if " " in line else (line,):
            try:
                data = bytes(folder.load(name, where="mtllib"))
                texts.append(data.decode("utf-8-sig", errors="replace"))
            except AssetError:
                if name == line and " " in line:
                    continue
                problems.warn("mtllib", f"there is no {name[:60]!r} beside the file", "paints none")
            else:
                if name == line:
                    break
    return "\n".join(texts)


class _Paint:
    """Materials and images, in the order in which meshes use them."""

    def __init__(self, resolver: FolderResolver, defined: set[str], problems: ProblemLog) -> None:
        self.resolver = resolver
        self.defined = defined
        self.problems = problems
        self.names: dict[str, int] = {}
        self.materials: list[Material] = []
        self.images: list[Image] = []

    def index(self, found: Any) -> int | None:
        """The place of a trimesh material in `materials`; None for the one trimesh makes up."""
        fields = getattr(found, "kwargs", None) or {}
        name = getattr(found, "name", None)
        if name not in self.defined:
            return None
        if name not in self.names:
            self.names[name] = len(self.materials)
            self.materials.append(self._material(name, found, fields))
        return self.names[name]

    def _material(self, name: str, found: Any, fields: dict[str, Any]) -> Material:
        colour = np.asarray(fields.get("kd", (1.0, 1.0, 1.0)), dtype=np.float64).reshape(-1)
        if len(colour) != 3 or not np.isfinite(colour).all():
            self.problems.warn(f"material {name!r}", "Kd is not 3 numbers", "paints it white")
            colour = np.ones(3)
        reference = getattr(getattr(found, "image", None), "info", {}).get("file_path")
        image = None if reference is None else self.resolver.images.get(reference)
        if image is not None and image not in self.images:
            self.images.append(image)
        clamped = reference is not None and re.search(r"-clamp\s+on\b", reference) is not None
        return Material(
            name=clean_text(name),
            base_colour=(*(float(c) for c in colour.clip(0.0, 1.0)), _opacity(fields)),  # pyright: ignore[reportArgumentType]
            image=None if image is None else self.images.index(image),
            wrap=("clamp", "clamp") if clamped else ("repeat", "repeat"),
        )


def _opacity(fields: dict[str, Any]) -> float:
    """`d` is opacity, `Tr` its opposite."""
    for key, is_opposite in (("d", False), ("tr", True)):
        try:
            value = float(fields[key][-1])
        except (KeyError, ValueError, TypeError, IndexError):
            continue
        if 0.0 <= value <= 1.0:
            return 1.0 - value if is_opposite else value
    return 1.0


def _part(where: str, mesh: Any, material: int | None, problems: ProblemLog) -> MeshPart | None:
    positions = np.asarray(mesh["vertices"])
    if positions.shape[1] != 3:
        raise AssetError(f"{where}: vertices must be 3 numbers, got {positions.shape[1]}")
    fields: dict[str, Any] = {}
    uv = getattr(mesh.get("visual"), "uv", None)
    if uv is not None and np.shape(uv) == (len(positions), 2):
        fields["uv"] = np.asarray(uv)
    normals = mesh.get("vertex_normals")
    if normals is not None and np.shape(normals) == positions.shape:
        fields["normals"] = np.asarray(normals)
    colours = mesh.get("vertex_colors")
    if colours is not None and len(colours) == len(positions):
        values = np.asarray(colours, dtype=np.float64)
        fields["colours"] = linear_colours(values / 255.0 if (values > 1.0).any() else values)
    return build_part(
        where,
        problems,
        positions=positions,
        faces=triangles(mesh["faces"]),
        material=material,
        **fields,
    )
