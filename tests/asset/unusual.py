"""Files as exporters write them that differ from a plain one: the same fox in other words, and
foxes in company. Each function changes a `GltfBuilder` that holds the plain file."""

import copy
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.asset.gltf_builder import CODES, KINDS, GltfBuilder

_WIDTHS = {kind: width for width, kind in KINDS.items()}
_DTYPES = {code: dtype for dtype, code in CODES.items()}
Change = Callable[[GltfBuilder], object]


def open_glb(path: Path) -> GltfBuilder:
    """A GLB file, open to changes."""
    data, builder = path.read_bytes(), GltfBuilder()
    length = struct.unpack("<I", data[12:16])[0]
    builder.json = json.loads(data[20 : 20 + length])
    builder.data = bytearray(data[28 + length :])
    return builder


def values(file: GltfBuilder, index: int) -> np.ndarray:
    """What an accessor holds."""
    about = file.json["accessors"][index]
    view = file.json["bufferViews"][about["bufferView"]]
    dtype, width = np.dtype("<" + _DTYPES[about["componentType"]]), _WIDTHS[about["type"]]
    start = view.get("byteOffset", 0) + about.get("byteOffset", 0)
    flat = np.frombuffer(bytes(file.data), dtype, about["count"] * width, start)
    return flat.reshape(about["count"], width).copy()


def part(file: GltfBuilder) -> dict[str, Any]:
    return file.json["meshes"][0]["primitives"][0]


def attributes(file: GltfBuilder) -> dict[str, int]:
    return part(file)["attributes"]


def skin(file: GltfBuilder) -> dict[str, Any]:
    return file.json["skins"][0]


def samplers(file: GltfBuilder) -> list[dict[str, Any]]:
    return file.json["animations"][0]["samplers"]


def tops(file: GltfBuilder) -> list[int]:
    return file.json["scenes"][0]["nodes"]


def hold(file: GltfBuilder, **node: Any) -> None:
    """Put everything under one node."""
    file.json["scenes"][0]["nodes"] = [file.add("nodes", children=tops(file), **node)]


def matrix(node: dict[str, Any]) -> np.ndarray:
    """parent_from_node of a node with translation, rotation and scale."""
    x, y, z, w = node.get("rotation", (0.0, 0.0, 0.0, 1.0))
    made = np.eye(4)
    made[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    made[:3, :3] *= node.get("scale", (1.0, 1.0, 1.0))
    made[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return made


def sparse(file: GltfBuilder) -> None:
    """Positions as differences from nothing."""
    points = values(file, attributes(file)["POSITION"])
    places = np.arange(len(points), dtype="<u2")
    changed = {
        "count": len(points),
        "indices": {"bufferView": file.view(places.tobytes()), "componentType": 5123},
        "values": {"bufferView": file.view(points.astype("<f4").tobytes())},
    }
    attributes(file)["POSITION"] = file.add(
        "accessors", componentType=5126, count=len(points), type="VEC3", sparse=changed
    )


def quantized(file: GltfBuilder) -> None:
    """Positions as integers, which the inverse bind matrices undo: gltfpack's way."""
    points = values(file, attributes(file)["POSITION"])
    low, step = points.min(axis=0), float(np.ptp(points, axis=0).max()) / 16383
    padded = np.zeros((len(points), 4), "<i2")
    padded[:, :3] = np.round((points - low) / step)
    attributes(file)["POSITION"] = file.add(
        "accessors", bufferView=file.view(padded.tobytes(), byteStride=8), componentType=5122,
        count=len(points), type="VEC3",
    )  # fmt: skip
    back = np.diag([step, step, step, 1.0])
    back[:3, 3] = low
    stored = values(file, skin(file)["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    made = (stored.astype(np.float64) @ back).transpose(0, 2, 1)
    skin(file)["inverseBindMatrices"] = file.accessor(made.reshape(-1, 16))
    file.json["extensionsUsed"] = file.json["extensionsRequired"] = ["KHR_mesh_quantization"]


def quantized_keys(file: GltfBuilder) -> None:
    for sampler in samplers(file):
        keys = values(file, sampler["output"])
        if keys.shape[1] == 4:
            whole = np.round(np.clip(keys, -1, 1) * 32767)
            sampler["output"] = file.accessor(whole, "i2", normalized=True)


def eight_influences(file: GltfBuilder) -> None:
    """Every weight in two halves."""
    own = attributes(file)
    joints, weights = values(file, own["JOINTS_0"]), values(file, own["WEIGHTS_0"])
    own["JOINTS_1"], own["WEIGHTS_1"] = file.accessor(joints, "u2"), file.accessor(weights / 2)
    own["WEIGHTS_0"] = file.accessor(weights / 2)


def strip(file: GltfBuilder) -> None:
    """Triangles as one strip, with degenerate ones between them."""
    faces = values(file, part(file)["indices"]).reshape(-1, 3)
    order = faces[:, [0, 0, 0, 1, 2, 2]].reshape(-1)
    part(file).update(indices=file.accessor(order, "u4"), mode=5)


def no_indices(file: GltfBuilder) -> None:
    """Every triangle with vertices of its own."""
    order, own = values(file, part(file).pop("indices"))[:, 0], attributes(file)
    for name, index in list(own.items()):
        about = file.json["accessors"][index]
        own[name] = file.accessor(
            values(file, index)[order], _DTYPES[about["componentType"]],
            normalized=about.get("normalized", False),
        )  # fmt: skip


def two_skins(file: GltfBuilder) -> None:
    """Half of the triangles on a second skin with the same joints in another order."""
    other = copy.deepcopy(skin(file))
    other["joints"].reverse()
    inverse = values(file, other["inverseBindMatrices"])
    other["inverseBindMatrices"] = file.accessor(inverse[::-1])
    joints = values(file, attributes(file)["JOINTS_0"]).astype(int)
    faces = values(file, part(file)["indices"]).reshape(-1, 3)
    half = len(faces) // 2
    second = copy.deepcopy(part(file))
    second["indices"] = file.accessor(faces[half:].reshape(-1), "u4")
    second["attributes"]["JOINTS_0"] = file.accessor(len(other["joints"]) - 1 - joints, "u2")
    part(file)["indices"] = file.accessor(faces[:half].reshape(-1), "u4")
    tops(file).append(file.show(second, skin=file.add("skins", **other)))


def moved_mesh(file: GltfBuilder) -> None:
    """The node of a skinned mesh lies elsewhere, which must not count."""
    next(n for n in file.json["nodes"] if "skin" in n)["translation"] = [3.0, 4.0, 5.0]


def matrices(file: GltfBuilder) -> None:
    """All nodes with matrices, those that move too."""
    for node in file.json["nodes"]:
        given = matrix(node)
        for key in ("translation", "rotation", "scale"):
            node.pop(key, None)
        node["matrix"] = given.T.reshape(-1).tolist()


def cubic(file: GltfBuilder) -> None:
    """Keys with tangents of zero, many enough to stay near straight lines."""
    for sampler in samplers(file):
        keys = values(file, sampler["output"])
        none = np.zeros_like(keys)
        made = np.stack((none, keys, none), axis=1).reshape(-1, keys.shape[1])
        sampler.update(output=file.accessor(made), interpolation="CUBICSPLINE")


def second_scene(file: GltfBuilder) -> None:
    file.json["scenes"].insert(0, {"name": "empty"})
    file.json["scene"] = 1


def lost_skeleton(file: GltfBuilder) -> None:
    skin(file)["skeleton"] = 9999


def camera_and_light(file: GltfBuilder) -> None:
    file.json["extensionsUsed"] = ["KHR_lights_punctual"]
    file.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "point"}]}}
    lens = file.add("cameras", type="perspective", perspective={"yfov": 1.0, "znear": 0.1})
    light = {"KHR_lights_punctual": {"light": 0}}
    tops(file).append(file.add("nodes", name="Camera", camera=lens, translation=[7.0, 5.0, 6.0]))
    tops(file).append(file.add("nodes", name="Sun", extensions=light, translation=[4.0, 9.0, 0.0]))


def ground_plane(file: GltfBuilder) -> None:
    """A floor of 100 m, as whole scenes are exported."""
    corners = file.accessor([[-50, 0, -50], [50, 0, -50], [50, 0, 50], [-50, 0, 50]])
    faces = file.accessor([0, 2, 1, 0, 3, 2], "u2")
    floor = {"attributes": {"POSITION": corners}, "indices": faces}
    tops(file).append(file.show(floor, name="Plane"))


def stray_vertex(file: GltfBuilder) -> None:
    """A vertex far away that no triangle has."""
    own = attributes(file)
    for name, index in list(own.items()):
        about, old = file.json["accessors"][index], values(file, index)
        more = np.full_like(old[:1], 1000) if name == "POSITION" else old[:1]
        own[name] = file.accessor(
            np.concatenate((old, more)), _DTYPES[about["componentType"]],
            normalized=about.get("normalized", False),
        )  # fmt: skip


def scaled_to_nothing(file: GltfBuilder) -> None:
    hold(file, name="hidden", scale=[0.0, 0.0, 0.0])


def two_foxes(file: GltfBuilder) -> None:
    """A second one of the same mesh, three metres aside."""
    count, more = len(file.json["nodes"]), copy.deepcopy(file.json["nodes"])
    other = copy.deepcopy(skin(file))
    other.pop("skeleton", None)
    other["joints"] = [joint + count for joint in other["joints"]]
    index = file.add("skins", **other)
    for node in more:
        if "children" in node:
            node["children"] = [child + count for child in node["children"]]
        if "skin" in node:
            node["skin"] = index
    file.json["nodes"] += more
    aside = [top + count for top in tops(file)]
    tops(file).append(file.add("nodes", name="aside", children=aside, translation=[3.0, 0.0, 0.0]))


SAME: tuple[Change, ...] = (
    sparse, quantized, quantized_keys, eight_influences, strip, no_indices, two_skins, moved_mesh,
    matrices, cubic, second_scene, lost_skeleton, camera_and_light, ground_plane, stray_vertex,
)  # fmt: skip
"""What changes nothing about the fox."""
