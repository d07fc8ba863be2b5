"""`GltfBuilder`: glTF files made by hand, whose every byte the tests know."""

import base64
import io
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}


def png(width: int = 2, height: int = 2, colour: tuple[int, int, int, int] = (255, 0, 0, 255)):
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGBA", (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def forged_png(width: int, height: int) -> bytes:
    """An image that claims a size and has no pixels to show for it."""
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(100))), (b"IEND", b""))
    data = b"\x89PNG\r\n\x1a\n"
    for kind, content in chunks:
        checksum = zlib.crc32(kind + content)
        data += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
    return data


class GltfBuilder:
    """Holds the JSON, open to any change, and one buffer that grows."""

    def __init__(self) -> None:
        self.json: dict[str, Any] = {"asset": {"version": "2.0"}}
        self.data = bytearray()

    def add(self, kind: str, **entry: Any) -> int:
        """Append an object to a top-level list; return its index."""
        self.json.setdefault(kind, []).append(entry)
        return len(self.json[kind]) - 1

    def view(self, data: bytes, **entry: Any) -> int:
        self.data.extend(b"\0" * (-len(self.data) % 4))
        offset = len(self.data)
        self.data.extend(data)
        return self.add("bufferViews", buffer=0, byteOffset=offset, byteLength=len(data), **entry)

    def accessor(self, values: Any, dtype: str = "f4", **entry: Any) -> int:
        array = np.asarray(values, "<" + dtype)
        array = array[:, None] if array.ndim == 1 else array.reshape(len(array), -1)
        view = self.view(array.tobytes())
        return self.add(
            "accessors",
            bufferView=view,
            componentType=CODES[dtype],
            count=len(array),
            type=KINDS[array.shape[1]],
            **entry,
        )

    def triangle(self, **primitive: Any) -> dict[str, Any]:
        """Return a primitive of one triangle in the plane z = 0."""
        position = self.accessor([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
        primitive.setdefault("attributes", {})["POSITION"] = position
        return primitive

    def show(self, *primitives: dict[str, Any], mesh: dict[str, Any] | None = None, **node: Any):
        """Add a mesh of primitives and a node that shows it; return the node's index."""
        index = self.add("meshes", primitives=list(primitives), **(mesh or {}))
        return self.add("nodes", mesh=index, **node)

    def glb(self, *extra: tuple[int, bytes]) -> bytes:
        document = dict(self.json)
        if self.data:
            document["buffers"] = [{"byteLength": len(self.data)}]
        return pack_glb(json.dumps(document).encode(), bytes(self.data), *extra)

    def gltf(self, uri: str | None = None) -> bytes:
        """Return the JSON, with the buffer in a data URI or wherever `uri` says it is."""
        document = dict(self.json)
        if self.data:
            if uri is None:
                payload = base64.b64encode(bytes(self.data)).decode()
                uri = f"data:application/octet-stream;base64,{payload}"
            document["buffers"] = [{"byteLength": len(self.data), "uri": uri}]
        return json.dumps(document).encode()

    def write(self, path: Path) -> Path:
        path.write_bytes(self.glb() if path.suffix == ".glb" else self.gltf())
        return path


def pack_glb(text: bytes, data: bytes = b"", *extra: tuple[int, bytes]) -> bytes:
    text += b" " * (-len(text) % 4)
    chunks = [(0x4E4F534A, text)]
    if data:
        chunks.append((0x004E4942, data + b"\0" * (-len(data) % 4)))
    chunks.extend(extra)
    body = b"".join(struct.pack("<II", len(c), kind) + c for kind, c in chunks)
    return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body


def sample() -> GltfBuilder:
    """A small file with a little of everything: skin, clip, morph, texture, colours, sparse."""
    builder = GltfBuilder()
    grid = np.stack(np.meshgrid(np.arange(3.0), np.arange(4.0)), axis=-1).reshape(-1, 2)
    positions = np.concatenate((grid, np.zeros((12, 1))), axis=1)
    corners = np.array([[0, 1, 4], [0, 4, 3]])
    faces = np.concatenate([corners + 3 * row + column for row in range(3) for column in range(2)])
    joints = np.zeros((12, 4), int)
    joints[6:, 0] = 1
    weights = np.tile([0.75, 0.25, 0.0, 0.0], (12, 1))
    sparse = {
        "count": 2,
        "indices": {"bufferView": builder.view(np.array([3, 7], "<u2").tobytes()),
                    "componentType": 5123},
        "values": {"bufferView": builder.view(np.ones((2, 3), "<f4").tobytes())},
    }  # fmt: skip
    target = builder.add("accessors", componentType=5126, count=12, type="VEC3", sparse=sparse)
    primitive = {
        "attributes": {
            "POSITION": builder.accessor(positions),
            "NORMAL": builder.accessor(np.tile([0.0, 0.0, 1.0], (12, 1))),
            "TEXCOORD_0": builder.accessor(grid * 1000, "u2", normalized=True),
            "COLOR_0": builder.accessor(np.full((12, 4), 200), "u1", normalized=True),
            "JOINTS_0": builder.accessor(joints, "u1"),
            "WEIGHTS_0": builder.accessor(weights),
        },
        "indices": builder.accessor(faces.reshape(-1), "u2"),
        "material": 0,
        "targets": [{"POSITION": target}],
    }
    builder.add("images", bufferView=builder.view(png()), mimeType="image/png")
    builder.add("samplers", wrapS=33071)
    builder.add("textures", source=0, sampler=0)
    info = {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 2]}}}
    builder.add("materials", name="skin", pbrMetallicRoughness={"baseColorTexture": info})
    builder.show(primitive, mesh={"weights": [0.5]}, skin=0, name="body")
    builder.add("nodes", name="hip", children=[2], translation=[0.0, 1.0, 0.0])
    turn = [0.0, 0.6, 0.0, 0.8]
    builder.add("nodes", name="knee", rotation=turn, scale=[1.0, 2.0, 1.0])
    identity = np.tile(np.eye(4).reshape(-1), (2, 1))
    builder.add("skins", joints=[1, 2], inverseBindMatrices=builder.accessor(identity), skeleton=1)
    times = builder.accessor([0.0, 0.5, 1.0])
    samplers = [
        {"input": times, "output": builder.accessor(np.zeros((3, 3)))},
        {"input": times, "output": builder.accessor([turn] * 3), "interpolation": "STEP"},
        {"input": times, "output": builder.accessor(np.zeros(9)), "interpolation": "CUBICSPLINE"},
    ]
    channels = [
        {"sampler": 0, "target": {"node": 1, "path": "translation"}},
        {"sampler": 1, "target": {"node": 2, "path": "rotation"}},
        {"sampler": 2, "target": {"node": 0, "path": "weights"}},
    ]
    builder.add("animations", name="wave", channels=channels, samplers=samplers)
    builder.add("scenes", nodes=[0, 1])
    builder.json["scene"] = 0
    return builder
