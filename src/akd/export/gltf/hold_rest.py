"""`hold_rest`: clips that key every joint, for programs that keep a joint where it was last.

In glTF, what a clip does not key is at rest. Blender leaves it as the clip before had it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from akd.asset.asset import Asset, GltfDocument
from akd.export.gltf.references import listed, make_room

_FLOAT = 5126


def hold_rest(asset: Asset) -> GltfDocument:
    """The document of an asset, with one key at rest for all that a clip leaves to the rest pose.

    Joints of skins and nodes that some clip moves are keyed; nodes with a matrix cannot be.
    """
    document = asset.document
    assert document is not None
    animations = listed(document.json, "animations")
    moved = {track.node for clip in asset.clips for track in clip.tracks}
    moved |= {int(joint) for skin in asset.skins for joint in skin.joints}
    moved -= {index for index, node in enumerate(asset.nodes) if node.is_matrix}
    if not animations or len(animations) != len(asset.clips) or not moved:
        return document
    rest = _rest_values(asset, sorted(moved))
    root = make_room(document.json, "buffers", 1)
    root = make_room(root, "bufferViews", 1)
    root = make_room(root, "accessors", len(rest) + len(animations))
    accessors, views = listed(root, "accessors"), listed(root, "bufferViews")
    starts = np.array([clip.start for clip in asset.clips], np.float32)
    values = np.concatenate([starts, *(value for *_, value in rest)]).astype("<f4")
    first, offset = len(accessors), 0
    for width in (*(1 for _ in starts), *(len(value) for *_, value in rest)):
        accessor: dict[str, Any] = {
            "bufferView": len(views), "byteOffset": 4 * offset, "componentType": _FLOAT,
            "count": 1, "type": "SCALAR" if width == 1 else f"VEC{width}",
        }  # fmt: skip
        if width == 1:
            accessor["min"] = accessor["max"] = [float(values[offset])]
        accessors.append(accessor)
        offset += width
    for index, animation in enumerate(animations):
        keyed = {(track.node, track.path) for track in asset.clips[index].tracks}
        missing = [i for i, (node, path, _) in enumerate(rest) if (node, path) not in keyed]
        samplers, channels = list(animation["samplers"]), list(animation["channels"])
        for i in missing:
            node, path, _ = rest[i]
            channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
            samplers.append({"input": first + index, "output": first + len(starts) + i})
        animations[index] = {**animation, "samplers": samplers, "channels": channels}
    changes = {
        "accessors": accessors,
        "animations": animations,
        "bufferViews": [*views, {"buffer": len(document.buffers), "byteLength": values.nbytes}],
        "buffers": [*listed(root, "buffers"), {"byteLength": values.nbytes}],
    }
    return replace(
        document,
        json={**root, **changes},
        buffers=(*document.buffers, memoryview(values.tobytes())),
    )


def _rest_values(asset: Asset, nodes: list[int]) -> list[tuple[int, str, np.ndarray]]:
    """Node, path and value (rotations as glTF orders them) of everything that can be keyed."""
    found: list[tuple[int, str, np.ndarray]] = []
    for index in nodes:
        node = asset.nodes[index]
        found += [
            (index, "translation", node.translation),
            (index, "rotation", np.roll(node.rotation, -1)),
            (index, "scale", node.scale),
        ]
    return found
