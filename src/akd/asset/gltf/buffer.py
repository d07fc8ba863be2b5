"""`BufferBuilder`: a buffer added to a document, with a view and an accessor for every array."""

from __future__ import annotations

from typing import Any

import numpy as np

VERTICES, INDICES = 34962, 34963
_COMPONENTS = {"u1": 5121, "u2": 5123, "u4": 5125, "f4": 5126}
_KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class BufferBuilder:
    """Collects arrays and images, aligned to four bytes.

    `buffer` is the index of the buffer in its document; its accessors and views are appended to
    the lists given.
    """

    def __init__(
        self,
        *,
        buffer: int = 0,
        accessors: list[dict[str, Any]] | None = None,
        views: list[dict[str, Any]] | None = None,
    ) -> None:
        self.buffer = buffer
        self.accessors = [] if accessors is None else accessors
        self.views = [] if views is None else views
        self.parts: list[bytes] = []
        self.length = 0

    def add(self, values: np.ndarray, target: int | None = None, *, bounds: bool = False) -> int:
        """Append the rows of an array; return the index of their accessor."""
        accessor: dict[str, Any] = {
            "bufferView": self.add_bytes(np.ascontiguousarray(values).tobytes(), target),
            "componentType": _COMPONENTS[values.dtype.str[1:]],
            "count": len(values),
            "type": _KINDS[values.shape[1]],
        }
        if bounds:
            accessor["min"] = values.min(axis=0).tolist()
            accessor["max"] = values.max(axis=0).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def add_faces(self, faces: np.ndarray, vertices: int) -> int:
        """Append triangles [F, 3] over `vertices` vertices; return the index of their accessor."""
        # The largest number of a type is not an index but cuts strips.
        kind = np.uint16 if vertices < 2**16 else np.uint32
        return self.add(faces.astype(kind).reshape(-1, 1), INDICES)

    def add_influences(
        self, joints: np.ndarray, weights: np.ndarray, joint_type: type
    ) -> dict[str, int]:
        """Append joints and weights [V, 4n]; return the accessors of the attributes they make."""
        attributes: dict[str, int] = {}
        for index in range(joints.shape[1] // 4):
            four = slice(4 * index, 4 * index + 4)
            attributes[f"JOINTS_{index}"] = self.add(joints[:, four].astype(joint_type), VERTICES)
            attributes[f"WEIGHTS_{index}"] = self.add(weights[:, four], VERTICES)
        return attributes

    def add_bytes(self, raw: bytes | memoryview, target: int | None = None) -> int:
        """Append bytes; return the index of their view."""
        view: dict[str, Any] = {
            "buffer": self.buffer,
            "byteOffset": self.length,
            "byteLength": len(raw),
        }
        if target is not None:
            view["target"] = target
        self.parts.append(bytes(raw) + b"\0" * (-len(raw) % 4))
        self.length += len(self.parts[-1])
        self.views.append(view)
        return len(self.views) - 1

    def joined(self) -> memoryview:
        """The bytes of the buffer."""
        return memoryview(b"".join(self.parts))
