"""`add_clips`: the user's own document with animations added and nothing else changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Float32

from akd.asset.asset import GltfDocument, TrackPath
from akd.asset.gltf.fields import Fields
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.transform import continuous, read_transform
from akd.export.gltf.references import listed, make_room
from akd.motion.clip_data import ClipData, Keys, NodeTracks

_FLOAT = 5126
_TYPES: dict[TrackPath, str] = {
    "translation": "VEC3",
    "rotation": "VEC4",
    "scale": "VEC3",
    "weights": "SCALAR",
}
_LONGEST_NAME = 60


def add_clips(document: GltfDocument, clips: Sequence[ClipData]) -> GltfDocument:
    """Return a document that has these clips as well. The one given is not modified.

    Keys are in the file's own units and become LINEAR samplers on the file's own nodes. A node
    with a matrix that becomes animated gets the equivalent translation, rotation and scale, as
    glTF demands. A clip that moves nothing holds one node where it rests, because an animation
    must have a channel. Raises `ValueError` where a clip does not fit the document.
    """
    if not clips:
        return document
    root = make_room(document.json, "buffers", 1)
    root = make_room(root, "bufferViews", len(clips))
    root = make_room(root, "accessors", _most_accessors(clips))
    nodes, animations = listed(root, "nodes"), listed(root, "animations")
    data = _Data(
        accessors=listed(root, "accessors"),
        views=listed(root, "bufferViews"),
        buffer=len(document.buffers),
    )
    names = added_names(document, [clip.name for clip in clips])
    for clip, name in zip(clips, names, strict=True):
        tracks = clip.tracks if _has_keys(clip.tracks) else _hold_still(nodes, clip)
        for node in tracks:
            if not 0 <= node < len(nodes):
                raise ValueError(f"clip {clip.name!r}: there is no node {node} of {len(nodes)}")
            nodes[node] = _without_matrix(nodes[node])
        _check_morphs(root, nodes, clip)
        animations.append(_animation(clip, tracks, name, data))
    buffer = {"byteLength": data.length}
    changes = {
        "nodes": nodes,
        "animations": animations,
        "accessors": data.accessors,
        "bufferViews": data.views,
        "buffers": [*listed(root, "buffers"), buffer],
    }
    # A key that is there keeps its place.
    return replace(
        document,
        json={**root, **changes},
        buffers=(*document.buffers, memoryview(b"".join(data.parts))),
    )


def added_names(document: GltfDocument, names: Sequence[str]) -> list[str]:
    """Names that clips get when they are added: cut, and numbered where they are taken."""
    animations = listed(document.json, "animations")
    taken = {str(a.get("name", "")) for a in animations if isinstance(a, dict)}
    return [unique_name(name, taken) for name in names]


def unique_name(name: str, taken: set[str]) -> str:
    """The name, at most 60 characters long, numbered where it is taken. It is taken afterwards."""
    base = name.strip() or "clip"
    candidate, number = base[:_LONGEST_NAME].rstrip(), 1
    while candidate in taken:
        number += 1
        ending = f" {number}"
        candidate = base[: _LONGEST_NAME - len(ending)].rstrip() + ending
    taken.add(candidate)
    return candidate


class _Data:
    """What goes into the new buffer, and the accessors and views on it."""

    def __init__(self, *, accessors: list[Any], views: list[Any], buffer: int) -> None:
        self.accessors = accessors
        self.views = views
        self.buffer = buffer
        self.parts: list[bytes] = []
        self.length = 0
        self._times: dict[bytes, int] = {}
        self._view: dict[str, Any] = {}

    def open_view(self) -> None:
        """Start a view for what comes now. Floats keep everything aligned to four bytes."""
        self._view = {"buffer": self.buffer, "byteOffset": self.length, "byteLength": 0}
        self.views.append(self._view)

    def add(self, values: np.ndarray, kind: str, *, bounds: bool = False) -> int:
        """Append float32 values; return the index of their accessor."""
        raw = np.ascontiguousarray(values, dtype="<f4").tobytes()
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1,
            "byteOffset": self._view["byteLength"],
            "componentType": _FLOAT,
            "count": values.size if kind == "SCALAR" else len(values),
            "type": kind,
        }
        if bounds:
            accessor["min"], accessor["max"] = [float(values.min())], [float(values.max())]
        self.parts.append(raw)
        self.length += len(raw)
        self._view["byteLength"] += len(raw)
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def times(self, times: Float32[np.ndarray, "K"]) -> int:
        """The accessor of key times; one for all channels, of all clips, that share them."""
        key = times.tobytes()
        if key not in self._times:
            self._times[key] = self.add(times, "SCALAR", bounds=True)
        return self._times[key]


def _most_accessors(clips: Sequence[ClipData]) -> int:
    """No fewer accessors than the clips will need: two a channel, and a clip has at least one."""
    channels = sum(1 for clip in clips for track in clip.tracks.values() for _ in track.items())
    return 2 * (channels + len(clips))


def _has_keys(tracks: Mapping[int, NodeTracks]) -> bool:
    return any(True for track in tracks.values() for _ in track.items())


def _animation(
    clip: ClipData, tracks: Mapping[int, NodeTracks], name: str, data: _Data
) -> dict[str, Any]:
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []
    data.open_view()
    for node, properties in tracks.items():
        for path, keys in properties.items():
            times = clip.times if keys.times is None else keys.times
            values = keys.values
            if path == "rotation":
                values = _to_xyzw(values, f"clip {clip.name!r}, node {node}")
            sampler = {
                "input": data.times(times),
                "interpolation": "LINEAR",
                "output": data.add(values, _TYPES[path]),
            }
            channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
            samplers.append(sampler)
    animation: dict[str, Any] = {"name": name, "samplers": samplers, "channels": channels}
    if clip.extras:
        try:
            animation["extras"] = json.loads(json.dumps(dict(clip.extras), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ValueError(f"clip {clip.name!r}: extras must be JSON values: {error}") from None
    return animation


def _to_xyzw(values: Float[np.ndarray, "K 4"], where: str) -> Float[np.ndarray, "K 4"]:
    """Unit quaternions as glTF orders them, neighbours in one hemisphere."""
    wxyz = values.astype(np.float64)
    lengths = np.linalg.norm(wxyz, axis=1, keepdims=True)
    if (lengths < 1e-6).any():
        raise ValueError(f"{where}: rotations must be quaternions, got one of length zero")
    return continuous(wxyz / lengths)[:, [1, 2, 3, 0]]


def _without_matrix(node: dict[str, Any]) -> dict[str, Any]:
    """The node with its matrix, if it has one, taken apart in the same place."""
    if "matrix" not in node:
        return node
    translation, (w, x, y, z), scale = read_transform(Fields(node, ""), ProblemLog())
    parts = {
        "translation": [float(v) for v in translation],
        "rotation": [float(v) for v in (x, y, z, w)],
        "scale": [float(v) for v in scale],
    }
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "matrix":
            result.update(parts)
        elif key not in parts:
            result[key] = value
    return result


def _hold_still(nodes: list[Any], clip: ClipData) -> dict[int, NodeTracks]:
    """Keys that leave a node where it is, for the length of the clip."""
    if not nodes:
        raise ValueError(f"clip {clip.name!r}: the document has no node to animate")
    # A node without a matrix does not have to be rewritten for this.
    node = next((i for i, n in enumerate(nodes) if "matrix" not in n), 0)
    translation, _, _ = read_transform(Fields(nodes[node], ""), ProblemLog())
    return {node: NodeTracks(Keys(np.tile(translation, (len(clip.times), 1))))}


def _check_morphs(root: dict[str, Any], nodes: list[Any], clip: ClipData) -> None:
    """Weights must be one a morph target of the mesh that the node shows."""
    for node, tracks in clip.tracks.items():
        if tracks.weights is None:
            continue
        count = 0
        if "mesh" in nodes[node]:
            mesh = root["meshes"][int(nodes[node]["mesh"])]
            count = len(mesh["primitives"][0].get("targets", ()))
        if tracks.weights.values.shape[1] != count:
            raise ValueError(
                f"clip {clip.name!r}, node {node}: weights must be one for each of {count} morph "
                f"targets, got {tracks.weights.values.shape[1]}"
            )
