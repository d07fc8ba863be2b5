"""`Accessors`: the arrays of a glTF file, as views of its bytes wherever that is possible."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Float, Integer, Shaped

from akd.asset.asset import Budget, GltfDocument
from akd.asset.gltf.fields import Fields, GltfError

_TYPES: Final = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
_COMPONENTS: Final = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_INDEX_TYPES: Final = (5121, 5123, 5125)
_MAX_ACCESSORS: Final = 1_000_000
"""Every channel of every clip may have its own."""


class Accessors:
    """Decodes the accessors of one document, each at most once."""

    def __init__(self, document: GltfDocument, budget: Budget) -> None:
        root = Fields(document.json, "")
        self._buffers = document.buffers
        self._entries = root.objects("accessors", "accessor", limit=_MAX_ACCESSORS)
        self._views = root.objects("bufferViews", "buffer view", limit=_MAX_ACCESSORS)
        self._raw: dict[int, np.ndarray] = {}
        self._floats: dict[int, np.ndarray] = {}
        self.budget = budget

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def view_count(self) -> int:
        """Number of buffer views."""
        return len(self._views)

    def supply(self, index: int, values: np.ndarray) -> None:
        """Give an accessor the elements that an extension keeps for it in its own way."""
        entry, components = self._entries[index], _COMPONENTS[self.kind(index)]
        shape = (entry.integer("count"), components)
        if values.shape != shape:
            raise GltfError(entry.where, f"must have shape {shape}, its data has {values.shape}")
        dtype = _component_type(entry, tuple(_TYPES))
        self.budget.charge(values.size * dtype.itemsize, entry.where)
        array = np.array(values, dtype, order="C")
        array.flags.writeable = False
        self._raw[index] = array

    def kind(self, index: int) -> str:
        """Return `SCALAR`, `VEC2` ... `MAT4`."""
        entry = self._entries[index]
        kind = entry.text("type")
        if kind not in _COMPONENTS:
            raise entry.refuse("type", f"must be one of {', '.join(_COMPONENTS)}", kind)
        return kind

    def count(self, index: int) -> int:
        """Return the number of elements that the accessor claims to have."""
        return self._entries[index].integer("count")

    def is_normalised(self, index: int) -> bool:
        """Whether its integers stand for fractions of their type's largest value."""
        return self._entries[index].flag("normalized", False)

    def has_data(self, index: int) -> bool:
        """Whether its elements are in a buffer; they are zeros, or compressed, where not."""
        return self._entries[index].has("bufferView")

    def raw(self, index: int) -> Shaped[np.ndarray, "count components"]:
        """Return the elements as they are stored, read-only, without a copy where possible."""
        if index not in self._raw:
            self._raw[index] = self._decode(self._entries[index], self.kind(index))
        return self._raw[index]

    def floats(self, index: int) -> Float[np.ndarray, "count components"]:
        """Return the elements as float32, normalised integers brought to 0..1 or -1..1."""
        if index not in self._floats:
            raw = self.raw(index)
            entry = self._entries[index]
            if raw.dtype == np.float32:
                self._floats[index] = raw
            else:
                self.budget.charge(raw.size * 4, entry.where)
                self._floats[index] = _to_float(raw, normalised=self.is_normalised(index))
                self._floats[index].flags.writeable = False
        return self._floats[index]

    def floats_once(self, index: int) -> Float[np.ndarray, "count components"]:
        """Return the same for one who copies them at once: nothing is kept for the next."""
        if index in self._floats:
            return self._floats[index]
        raw = self._raw.get(index)
        if raw is None:
            raw = self._decode(self._entries[index], self.kind(index))
        if raw.dtype == np.float32:
            return raw
        return _to_float(raw, normalised=self.is_normalised(index))

    def integers(self, index: int) -> Integer[np.ndarray, "count components"]:
        """Return the elements of an accessor that must hold unsigned integers."""
        raw = self.raw(index)
        if raw.dtype.kind != "u":
            entry = self._entries[index]
            raise entry.refuse("componentType", "must be unsigned", entry.integer("componentType"))
        return raw

    def view_bytes(self, index: int) -> memoryview:
        """Return the bytes of a buffer view."""
        view = self._views[index]
        buffer = view.index("buffer", len(self._buffers), "buffers")
        if buffer is None:
            raise view.refuse("buffer", "must be there", None)
        offset, length = view.integer("byteOffset", 0), view.integer("byteLength", minimum=1)
        available = len(self._buffers[buffer])
        if offset + length > available:
            raise GltfError(
                view.where,
                f"must end inside buffer {buffer} of {available} bytes, "
                f"got byteOffset {offset} and byteLength {length}",
            )
        return self._buffers[buffer][offset : offset + length]

    def _decode(self, entry: Fields, kind: str) -> np.ndarray:
        count, components = entry.integer("count"), _COMPONENTS[kind]
        dtype = _component_type(entry, tuple(_TYPES))
        self.budget.charge(count * components * dtype.itemsize, entry.where)
        if entry.has("bufferView"):
            array = self._strided(entry, dtype, count, components)
        else:
            array = np.zeros((count, components), dtype)
        if entry.has("sparse"):
            if entry.has("bufferView"):
                self.budget.charge(array.nbytes, entry.where)
                array = array.copy()
            self._apply_sparse(entry.object("sparse"), array)
        array.flags.writeable = False
        return array

    def _strided(
        self, entry: Fields, dtype: np.dtype, count: int, components: int, *, tight: bool = False
    ) -> np.ndarray:
        index = entry.index("bufferView", len(self._views), "buffer views")
        if index is None:
            raise entry.refuse("bufferView", "must be there", None)
        data = self.view_bytes(index)
        size = dtype.itemsize * components
        stride = size if tight else self._views[index].integer("byteStride", size, minimum=1)
        offset = entry.integer("byteOffset", 0)
        if stride < size:
            raise GltfError(entry.where, f"byteStride must be at least {size}, got {stride}")
        if count and offset + stride * (count - 1) + size > len(data):
            raise GltfError(
                entry.where,
                f"must end inside its buffer view of {len(data)} bytes, "
                f"got {count} elements of {size} bytes, {stride} apart, from {offset}",
            )
        if not count:
            return np.zeros((0, components), dtype)
        array = np.ndarray((count, components), dtype, data, offset, (stride, dtype.itemsize))
        if not array.flags.aligned or stride % dtype.itemsize:
            # The format forbids it, and many who take arrays from us could not cope.
            self.budget.charge(count * size, entry.where)
            array = np.array(array, order="C")
        return array

    def _apply_sparse(self, sparse: Fields, base: np.ndarray) -> None:
        """Overwrite those elements for which the file has other values."""
        count = sparse.integer("count")
        if count > len(base):
            raise sparse.refuse("count", f"must be at most {len(base)}", count)
        indices, values = sparse.object("indices"), sparse.object("values")
        where = _component_type(indices, _INDEX_TYPES)
        rows = self._strided(indices, where, count, 1, tight=True)[:, 0]
        if count and int(rows.max()) >= len(base):
            raise GltfError(
                indices.where,
                f"must be below the accessor's count of {len(base)}, got {int(rows.max())}",
            )
        base[rows] = self._strided(values, base.dtype, count, base.shape[1], tight=True)


def _component_type(entry: Fields, allowed: tuple[int, ...]) -> np.dtype:
    code = entry.integer("componentType")
    if code not in allowed:
        raise entry.refuse("componentType", f"must be one of {', '.join(map(str, allowed))}", code)
    return _TYPES[code]


def _to_float(raw: np.ndarray, *, normalised: bool) -> np.ndarray:
    result = raw.astype(np.float32)
    if normalised:
        result /= np.float32(np.iinfo(raw.dtype).max)
        if raw.dtype.kind == "i":
            # -128 and -127 both mean -1.
            np.maximum(result, np.float32(-1.0), out=result)
    return result
