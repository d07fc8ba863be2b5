"""Files of bodies that are hardly bodies: chains of any number of joints, with or without faces."""

import json
import struct
from pathlib import Path

from tests.distill.tube import write_tube


def write_chain(path: Path, joints: int, *, value: str = "0") -> Path:
    """A BVH file of `joints` joints, one above the other, with two frames of a value."""
    lines = [
        "HIERARCHY",
        "ROOT j0",
        "{",
        "OFFSET 0 0 0",
        "CHANNELS 3 Zrotation Xrotation Yrotation",
    ]
    for k in range(1, joints):
        lines += [f"JOINT j{k}", "{", "OFFSET 0 1 0", "CHANNELS 3 Zrotation Xrotation Yrotation"]
    lines += ["End Site", "{", "OFFSET 0 1 0", "}", *["}"] * joints]
    frame = " ".join([value] * (3 * joints))
    lines += ["MOTION", "Frames: 2", "Frame Time: 0.1", frame, frame]
    path.write_text("\n".join(lines) + "\n")
    return path


def write_points(path: Path) -> Path:
    """A GLB of a skinned tube whose mesh is a set of points, without faces."""
    write_tube(path)
    data = path.read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    document = json.loads(data[20 : 20 + length])
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            primitive["mode"] = 0
            del primitive["indices"]
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = b"glTF" + struct.pack("<II", 2, 20 + len(text) + len(rest))
    path.write_bytes(head + struct.pack("<I", len(text)) + b"JSON" + text + rest)
    return path
