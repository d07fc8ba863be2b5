"""Animations: every channel becomes a `Track`, or is left out and reported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from akd.asset.asset import AssetError, ClipRecord, Interpolation, Mesh, Node, Track, TrackPath
from akd.asset.gltf.accessors import Accessors
from akd.asset.gltf.fields import Fields, shown
from akd.asset.gltf.problems import ProblemLog

_COMPONENTS = {"translation": 3, "rotation": 4, "scale": 3}
_UNIT_TOLERANCE = 1e-2


def read_clips(
    root: Fields,
    accessors: Accessors,
    nodes: Sequence[Node],
    meshes: Sequence[Mesh],
    problems: ProblemLog,
) -> tuple[ClipRecord, ...]:
    """Return every animation. A channel that cannot be used costs that channel, not the file."""
    clips: list[ClipRecord] = []
    targets = _Targets(nodes, meshes)
    for entry in root.objects("animations", "animation"):
        samplers = entry.objects("samplers", "sampler")
        tracks: dict[tuple[int, str], Track] = {}
        for channel in entry.objects("channels", "channel"):
            try:
                track = _read_track(samplers, channel, accessors, targets, problems)
            except AssetError as error:
                problems.warn(channel.where, str(error), "the channel is left out")
                continue
            if track is None:
                continue
            key = (track.node, track.path)
            if key in tracks:
                what = f"moves the {track.path} of node {track.node} a second time"
                problems.warn(channel.where, what, "the first channel counts")
            else:
                tracks[key] = track
        if not tracks:
            problems.warn(entry.where, "has no channel that moves a node", "it is kept, empty")
        clips.append(ClipRecord(entry.name(), tuple(tracks.values())))
    return tuple(clips)


@dataclass(frozen=True)
class _Targets:
    """What can be animated, and by how many numbers."""

    nodes: Sequence[Node]
    meshes: Sequence[Mesh]

    def components(self, path: str, node: int, target: Fields) -> int:
        if path in _COMPONENTS:
            return _COMPONENTS[path]
        if path != "weights":
            raise target.refuse("path", "must be translation, rotation, scale or weights", path)
        mesh = self.nodes[node].mesh
        weights = None if mesh is None else self.meshes[mesh].morph_weights
        if weights is None:
            raise GltfError(target.where, f"node {node} must have morph targets")
        return len(weights)


def _read_track(
    samplers: Sequence[Fields],
    channel: Fields,
    accessors: Accessors,
    targets: _Targets,
    problems: ProblemLog,
) -> Track | None:
    target = channel.object("target")
    path = target.text("path")
    node = target.index("node", len(targets.nodes), "nodes")
    if node is None or path == "pointer":
        problems.note(channel.where, f"moves no node ({shown(path)})", "the channel is left out")
        return None
    components = targets.components(path, node, target)
    number = channel.index("sampler", len(samplers), "samplers")
    if number is None:
        raise channel.refuse("sampler", "must be there", None)
    sampler = samplers[number]
    times = _accessor(sampler, "input", accessors)[:, 0]
    values = _accessor(sampler, "output", accessors)
    interpolation = _interpolation(sampler)
    where = channel.where
    values = _shape(values, len(times), components, interpolation, sampler)
    times, values = _repair_keys(times, values, where, problems)
    if path == "rotation":
        values = _to_wxyz(values, interpolation, where, problems)
    return Track(node, _path(path), interpolation, times, values)


def _path(path: str) -> TrackPath:
    match path:
        case "translation" | "rotation" | "scale" | "weights":
            return path
    raise AssertionError(path)


def _interpolation(sampler: Fields) -> Interpolation:
    mode = sampler.text("interpolation", "LINEAR")
    match mode:
        case "STEP" | "LINEAR" | "CUBICSPLINE":
            return mode
    raise sampler.refuse("interpolation", "must be STEP, LINEAR or CUBICSPLINE", mode)


def _accessor(sampler: Fields, key: str, accessors: Accessors) -> np.ndarray:
    index = sampler.index(key, len(accessors), "accessors")
    if index is None:
        raise sampler.refuse(key, "must be there", None)
    return accessors.floats(index)


def _shape(
    values: np.ndarray, keys: int, components: int, interpolation: str, sampler: Fields
) -> np.ndarray:
    shape = (keys, 3, components) if interpolation == "CUBICSPLINE" else (keys, components)
    if values.size != np.prod(shape) or values.shape[1] not in (1, components):
        rule = f"must hold {np.prod(shape)} numbers for {keys} keys"
        raise sampler.refuse("output", rule, list(values.shape))
    return values.reshape(shape)


def _repair_keys(
    times: np.ndarray, values: np.ndarray, where: str, problems: ProblemLog
) -> tuple[np.ndarray, np.ndarray]:
    """Times that increase from zero or later, and finite values at each of them."""
    good = np.isfinite(times) & (times >= 0.0)
    good &= np.isfinite(values.reshape(len(times), -1)).all(axis=1)
    if not good.all():
        what = f"{int((~good).sum())} of {len(times)} keys are negative in time or not finite"
        problems.warn(where, what, "those keys are left out")
        times, values = times[good], values[good]
    if not len(times):
        raise GltfError(where, f"must have at least one usable key")
    if not (np.diff(times) > 0.0).all():
        problems.warn(
            where, "its times do not increase", "keys are sorted, the last of equals kept"
        )
        order = np.argsort(times, kind="stable")
        order = order[np.append(np.diff(times[order]) > 0.0, True)]
        times, values = times[order], values[order]
    return times, values


def _to_wxyz(
    values: np.ndarray, interpolation: str, where: str, problems: ProblemLog
) -> np.ndarray:
    values = values[..., (3, 0, 1, 2)]
    keys = values[:, 1] if interpolation == "CUBICSPLINE" else values
    length = np.linalg.norm(keys.astype(np.float64), axis=-1, keepdims=True)
    zero = length[:, 0] < 1e-6
    if zero.any():
        what = f"{int(zero.sum())} of {len(keys)} rotations have no length"
        problems.warn(where, what, "taken as no rotation")
        keys[zero], length[zero] = (1.0, 0.0, 0.0, 0.0), 1.0
    off = float(np.abs(length - 1.0).max(initial=0.0))
    if off > _UNIT_TOLERANCE:
        problems.warn(where, f"its rotations are up to {off:.3g} off unit length", "normalised")
    keys[:] = keys / length
    return values
