"""KHR_draco_mesh_compression, through DracoPy where it is installed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer, Shaped

from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, GltfError

_EXTENSION = "KHR_draco_mesh_compression"
_HAS_METADATA = 0x8000


@dataclass(frozen=True)
class _Unpacked:
    attributes: dict[int, Shaped[np.ndarray, "V C"]]
    """By the identity that the compressed data gives them."""
    indices: Integer[np.ndarray, "n 1"]


class DracoDecoder:
    """Decompresses primitives into the accessors that they name, each blob once."""

    def __init__(self, accessors: Accessors) -> None:
        self._accessors = accessors
        self._unpacked: dict[int, _Unpacked] = {}

    def supply(self, part: Fields) -> None:
        """Give a primitive's accessors their elements, if it is compressed."""
        packed = part.extension(_EXTENSION)
        if packed is None:
            return
        view = packed.index("bufferView", self._accessors.view_count, "buffer views")
        if view is None:
            raise packed.refuse("bufferView", "must be there", None)
        attributes, identities = part.object("attributes"), packed.object("attributes")
        if view not in self._unpacked:
            if not _is_installed():
                if self._has_fallback(attributes):
                    return
                what = "is compressed with Draco, which needs DracoPy: pip install 'akd[draco]'"
                raise GltfError(part.where, what)
            self._unpacked[view] = self._unpack(packed, view)
        unpacked = self._unpacked[view]
        for name in identities.values:
            index = attributes.index(name, len(self._accessors), "accessors")
            identity = identities.integer(name)
            if index is None or identity not in unpacked.attributes:
                rule = f"must be one of {sorted(unpacked.attributes)}"
                raise identities.refuse(name, rule, identity)
            self._accessors.supply(index, unpacked.attributes[identity])
        index = part.index("indices", len(self._accessors), "accessors")
        if index is not None:
            self._accessors.supply(index, unpacked.indices)

    def _unpack(self, packed: Fields, view: int) -> _Unpacked:
        import DracoPy

        data = bytes(self._accessors.view_bytes(view))
        vertices, faces = _claimed_counts(data, packed.where)
        # A few bytes can claim any size. Draco takes some 25 bytes a face while it works.
        self._accessors.budget.charge(64 * (vertices + faces), packed.where)
        try:
            mesh = DracoPy.decode(data)
            arrays = {a["unique_id"]: np.asarray(a["data"]) for a in mesh.attributes}
            indices = np.asarray(mesh.faces).reshape(-1, 1)
        except Exception as error:  # DracoPy raises several kinds of its own.
            line = " ".join(str(error).split())
            raise GltfError(packed.where, f"cannot be decompressed: {line}") from error
        self._accessors.budget.charge(sum(a.nbytes for a in arrays.values()), packed.where)
        shaped = {i: a.reshape(len(a), -1) if len(a) else a for i, a in arrays.items()}
        return _Unpacked(shaped, indices)

    def _has_fallback(self, attributes: Fields) -> bool:
        """Whether the file also holds the primitive uncompressed."""
        index = attributes.index("POSITION", len(self._accessors), "accessors")
        return index is not None and self._accessors.has_data(index)


def _is_installed() -> bool:
    try:
        import DracoPy  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        return False
    return True


def _claimed_counts(data: bytes, where: str) -> tuple[int, int]:
    """Vertices and faces that the header of a Draco 2.2 mesh claims to have."""
    kind, method = data[7:8], data[8:9]
    if data[:7] != b"DRACO\x02\x02" or kind != b"\x01" or method not in (b"\x00", b"\x01"):
        raise GltfError(where, f"must be a Draco 2.2 mesh, got {data[:9]!r}")
    if int.from_bytes(data[9:11], "little") & _HAS_METADATA:
        raise GltfError(where, "must carry no Draco metadata, but does")
    if method == b"\x00":
        faces, offset = _varint(data, 11)
        vertices, _ = _varint(data, offset)
    else:
        vertices, offset = _varint(data, 12)
        faces, _ = _varint(data, offset)
    return vertices, faces


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """An integer in groups of seven bits, the lowest first, and where the next one begins."""
    value = 0
    for shift in range(0, 35, 7):
        if offset >= len(data):
            break
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
    return value, offset
