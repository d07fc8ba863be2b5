"""`Asset`: the records of a file, in the file's own units and axes, and what is odd about them.

Nothing here is converted: units, axes and the meaning of joints are the business of `akd.rig`.
Arrays are numpy and may be read-only views into the file's bytes. Quaternions are wxyz.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Integer

Severity = Literal["note", "warning", "error"]
TrackPath = Literal["translation", "rotation", "scale", "weights"]
Interpolation = Literal["STEP", "LINEAR", "CUBICSPLINE"]


class AssetError(Exception):
    """A file that cannot be used. The one-line message names the file, the rule and the value."""


MEMORY_LIMIT = 768 * 2**20
"""Bytes that a file may ask for. With the interpreter, `akd inspect` stays below 1 GiB."""

PIXEL_LIMIT = 2**28
"""Of all images of a file: sixteen of 4096 x 4096."""


@dataclass
class Budget:
    """Counts the bytes that a file asks for, from reading to export, against `MEMORY_LIMIT`.

    A few hundred bytes of JSON can show one mesh two thousand times, or ask for a billion zeros.
    """

    spent: int = 0
    pixels: int = 0

    def charge(self, size: int, where: str) -> None:
        """Add `size` bytes, before they are allocated. Raises `AssetError` above the limit."""
        self.spent += size
        if self.spent > MEMORY_LIMIT:
            raise AssetError(
                f"{where}: the file must fit in {MEMORY_LIMIT >> 20} MiB of memory, "
                f"needs at least {self.spent >> 20} MiB"
            )

    def charge_pixels(self, count: int) -> None:
        """Add the pixels of an image: decoding many takes too long."""
        if self.pixels + count > PIXEL_LIMIT:
            raise AssetError(f"the file's images must have at most {PIXEL_LIMIT} pixels in all")
        self.pixels += count

    def fork(self) -> Budget:
        """A copy, for work that frees its memory when it is done."""
        return replace(self)


@dataclass(frozen=True)
class Problem:
    """One thing that is odd about a file, and what akd does about it."""

    severity: Severity
    where: str
    """The place in the file, such as `mesh 0, part 1, WEIGHTS_0`."""
    what: str
    """What was found there, with the value."""
    action: str
    """What akd does about it."""


@dataclass(frozen=True)
class Node:
    """A named transform in a forest. `parent` is an index into `Asset.nodes`, or -1."""

    name: str
    parent: int
    translation: Float[np.ndarray, "3"]
    rotation: Float[np.ndarray, "4"]
    """Unit quaternion, wxyz."""
    scale: Float[np.ndarray, "3"]
    mesh: int | None = None
    skin: int | None = None
    is_matrix: bool = False
    """The file gave a 4x4 matrix; translation, rotation and scale are its decomposition."""
    morph_weights: Float[np.ndarray, "M"] | None = None


@dataclass(frozen=True)
class Image:
    """An encoded image (PNG, JPEG, WebP). `akd.asset.image.decode_image` returns its pixels."""

    name: str
    mime_type: str
    data: bytes | memoryview


@dataclass(frozen=True)
class Material:
    """What a surface looks like, as far as akd paints it: a base colour and its texture."""

    name: str
    base_colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    """Linear RGBA factor."""
    image: int | None = None
    """Index into `Asset.images` of the base-colour texture (sRGB)."""
    wrap: tuple[str, str] = ("repeat", "repeat")
    """Along u and v: `repeat`, `mirror` or `clamp`."""
    double_sided: bool = False
    alpha_cutoff: float | None = None


@dataclass(frozen=True)
class MeshPart:
    """Triangles that share a material. `faces` index this part's own vertices."""

    positions: Float[np.ndarray, "V 3"]
    faces: Integer[np.ndarray, "F 3"]
    material: int | None = None
    normals: Float[np.ndarray, "V 3"] | None = None
    uv: Float[np.ndarray, "V 2"] | None = None
    """Base-colour texture coordinates with any texture transform applied; v runs downwards."""
    colours: Float[np.ndarray, "V 4"] | None = None
    """Linear RGBA in 0..1."""
    joints: Integer[np.ndarray, "V K"] | None = None
    """Indices into the joints of the skin of whichever node shows this mesh."""
    weights: Float[np.ndarray, "V K"] | None = None
    """Repaired: finite, non-negative, rows sum to one."""
    morphs: Float[np.ndarray, "M V 3"] | None = None
    """Position offset of every morph target."""


@dataclass(frozen=True)
class Mesh:
    """A named list of parts, in its own local units."""

    name: str
    parts: tuple[MeshPart, ...]
    morph_weights: Float[np.ndarray, "M"] | None = None
    morph_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class SkinRecord:
    """Which nodes are joints, and where the mesh was when it was bound to them."""

    name: str
    joints: Integer[np.ndarray, "J"]
    """Indices into `Asset.nodes`."""
    inverse_bind: Float[np.ndarray, "J 4 4"]
    """joint_from_mesh at bind time, row-major (translation in the last column)."""


@dataclass(frozen=True)
class Track:
    """One animated property of one node: keys at `times`, in seconds."""

    node: int
    path: TrackPath
    interpolation: Interpolation
    times: Float[np.ndarray, "K"]
    values: Float[np.ndarray, "K *C"]
    """[K, C] for STEP and LINEAR; [K, 3, C] for CUBICSPLINE (in-tangent, value, out-tangent).
    C is 3, 4 (wxyz), 3, or the number of morph targets."""


@dataclass(frozen=True)
class ClipRecord:
    """A named animation as the file has it."""

    name: str
    tracks: tuple[Track, ...]

    @property
    def start(self) -> float:
        """Time of the first key, in seconds."""
        return min((float(t.times[0]) for t in self.tracks if len(t.times)), default=0.0)

    @property
    def end(self) -> float:
        """Time of the last key, in seconds."""
        return max((float(t.times[-1]) for t in self.tracks if len(t.times)), default=0.0)


@dataclass(frozen=True)
class SplatRecord:
    """A Gaussian cloud as a 3DGS PLY stores it, activations not yet applied."""

    means: Float[np.ndarray, "N 3"]
    log_scales: Float[np.ndarray, "N 3"]
    rotations: Float[np.ndarray, "N 4"]
    """wxyz, not necessarily unit."""
    opacity_logits: Float[np.ndarray, "N"]
    sh: Float[np.ndarray, "N D 3"]
    """Spherical-harmonic coefficients, the constant one first; D is 1, 4, 9 or 16."""


@dataclass(frozen=True)
class GltfDocument:
    """The JSON of a glTF file and its buffers. Both are read-only."""

    json: dict[str, Any]
    buffers: tuple[memoryview, ...]
    """Bytes of each entry of `json["buffers"]`, in order; empty where an entry has no data."""
    folder: Path
    """Folder that relative URIs are resolved in; nothing outside it is read."""
    is_binary: bool = False
    """The file is a GLB, whatever its suffix."""
    other_chunks: tuple[tuple[int, memoryview], ...] = ()
    """Type and bytes of the GLB chunks after JSON and BIN, which akd passes through."""


@dataclass(frozen=True)
class Asset:
    """Everything akd reads from a file."""

    path: Path
    format: str
    """`glb`, `gltf`, `obj`, `ply`, `stl`, `off`, `bvh` or `splat-ply`."""
    nodes: tuple[Node, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    materials: tuple[Material, ...] = ()
    images: tuple[Image, ...] = ()
    skins: tuple[SkinRecord, ...] = ()
    clips: tuple[ClipRecord, ...] = ()
    splats: SplatRecord | None = None
    problems: tuple[Problem, ...] = ()
    scene_roots: tuple[int, ...] = ()
    """Root nodes of the scene that is shown; nodes that no scene reaches are kept but not shown."""
    document: GltfDocument | None = None
    """The glTF file itself, which `akd.export` adds clips to. None for other formats."""
    extras: dict[str, Any] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget, repr=False, compare=False)
    """What reading has spent; later steps fork it."""

    @property
    def vertex_count(self) -> int:
        """Number of vertices over all meshes."""
        return sum(len(p.positions) for m in self.meshes for p in m.parts)

    @property
    def face_count(self) -> int:
        """Number of triangles over all meshes."""
        return sum(len(p.faces) for m in self.meshes for p in m.parts)
