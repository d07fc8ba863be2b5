"""Between the clips of a file and `Motion`, both ways, without loss.

A file may key every property at its own times, in steps or with cubic curves. A `Motion` has one
list of times and is played linearly. Taking the union of all keys changes nothing about linear
curves; a step becomes two keys as close together as times can be; a cubic curve is cut until the
straight pieces are within `_TOLERANCE` of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from akd.asset.asset import AssetError, ClipRecord, Track
from akd.math import quaternion
from akd.math.spline import hermite
from akd.motion.clip_data import ClipData, Keys, NodeTracks
from akd.motion.motion import MAX_VALUES, Motion
from akd.rig.bind import skeleton_of
from akd.rig.character import Character
from akd.rig.pose import Pose
from akd.rig.units import FileUnits

_TOLERANCE = 2e-6
"""How far a straight piece may leave a cubic curve: radians, factors, or body heights."""
_NOISE, _SCALE_NOISE = 1.5e-6, 5e-6
"""Noise of a constant property after decomposing float32 matrices: up to 1.2e-6 of the
body's height and of its distance from the origin were seen on translations, 2e-6 on factors."""
_MOST_PIECES = 1024
_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
_TOGETHER = 2**18
"""Poses of a node that are read at a time."""


def motion_from_clip(character: Character, clip: ClipRecord) -> Motion:
    """The motion of every node of the character's file, in metres.

    Raises `AssetError` where the clip has more keys than can be held.
    """
    height = max(character.height / character.units.metres_per_unit, 1e-12)
    times = _key_times(clip, height)
    joints = len(character.skeleton)
    if len(times) * joints * 10 > MAX_VALUES:
        raise AssetError(
            f"{character.asset.path.name}: clip {clip.name!r} has {len(times)} key times on "
            f"{joints} nodes, more than {MAX_VALUES // (10 * max(joints, 1))}: resample it first"
        )
    nodes = character.asset.nodes
    if not nodes:
        raise AssetError(f"{character.asset.path}: has no node to animate")
    morphs = {
        t.node: torch.tensor(sample_track(t, times), dtype=torch.float32)
        for t in clip.tracks
        if t.path == "weights"
    }
    return Motion(
        character.skeleton, torch.from_numpy(times), _local_poses(character, clip, times),
        name=clip.name, morphs=morphs,
    )  # fmt: skip


def _local_poses(character: Character, clip: ClipRecord, times: Float[np.ndarray, "T"]) -> Pose:
    """Local transforms of every node in metres, float32. Some nodes at a time: the file's numbers
    have twice the bytes, and copies are made of them."""
    nodes, frames = character.asset.nodes, len(times)
    made = Pose(*(torch.empty(frames, len(nodes), width) for width in _WIDTHS.values()))
    together = max(1, _TOGETHER // frames)
    for first in range(0, len(nodes), together):
        some = range(first, min(first + together, len(nodes)))
        values = {
            path: np.tile(
                np.reshape([getattr(nodes[n], path) for n in some], (-1, width)), (frames, 1, 1)
            )
            for path, width in _WIDTHS.items()
        }
        for track in clip.tracks:
            if track.node in some and track.path != "weights":
                values[track.path][:, track.node - first] = sample_track(track, times)
        pose = Pose(*(torch.from_numpy(v) for v in values.values()))
        pose = character.units.pose_in(pose.continuous())
        for path in _WIDTHS:
            getattr(made, path)[:, some.start : some.stop] = getattr(pose, path)
    return made


def clip_from_motion(
    character: Character, motion: Motion, *, extras: Mapping[str, Any] | None = None
) -> ClipData:
    """Keys for the character's file, in its own units, of every property that leaves its rest."""
    rest = skeleton_of(character.asset).rest
    return clip_of_pose(motion, character.units, rest, character.height, extras=extras)


def clip_of_pose(
    motion: Motion,
    units: FileUnits,
    rest: Pose,
    height: float,
    *,
    extras: Mapping[str, Any] | None = None,
) -> ClipData:
    """Keys of every property that leaves `rest` (file units) of a body `height` metres tall.

    One that is constant has keys at its ends only; one that stays at rest has none.
    """
    pose = units.pose_out(motion.pose.to(dtype=torch.float64)).continuous()
    rest = rest.to(dtype=torch.float64)
    times = motion.times.to(torch.float32).numpy(force=True)
    if times[0] < 0:
        times = times - times[0]

    near = _translation_noise(motion, height) / units.metres_per_unit
    noise = _SCALE_NOISE * rest.scale.abs().amax(-1)
    columns = (
        _keys(pose.translation, rest.translation, times, _apart, near),
        _keys(pose.rotation, rest.rotation, times, quaternion.geodesic, 1e-6),
        _keys(pose.scale, rest.scale, times, _apart, noise),
    )
    tracks: dict[int, NodeTracks] = {}
    for joint, found in enumerate(zip(*columns, strict=True)):
        morph = motion.morphs.get(joint)
        weights = None
        if morph is not None:
            (weights,) = _keys(morph.double()[:, None], None, times, _apart, 0.0)
        if weights is not None or any(keys is not None for keys in found):
            tracks[joint] = NodeTracks(*found, weights)
    return ClipData(motion.name, times, tracks, dict(extras or {}))


def _translation_noise(motion: Motion, height: float) -> Float[Tensor, "J"]:
    """Rounding of each joint's own translation; that of the world counts, whatever its parents'
    scale is."""
    reach = float(motion.world()[..., :3, 3].abs().amax())
    scale = motion.parent_scale().double()
    return _NOISE * max(height + reach, 1e-12) / torch.where(scale > 0.0, scale, 1.0)


def _keys(
    values: Float[Tensor, "T J C"],
    still: Float[Tensor, "J C"] | None,
    times: Float[np.ndarray, "T"],
    distance: Callable[[Tensor, Tensor], Tensor],
    near: float | Float[Tensor, "J"],
) -> list[Keys | None]:
    """Keys of a property of each joint; None for one that stays where it is `still`."""
    moves = (distance(values, values[:1]) > near).any(dim=0).tolist()
    leaves = [True] * len(moves)
    if still is not None:
        leaves = (distance(values[0], still) > near).tolist()
    every = values.numpy(force=True)
    ends = [0, -1] if len(times) > 1 else [0]
    return [
        Keys(every[:, joint])
        if moves[joint]
        else Keys(every[ends, joint], times[ends])
        if leaves[joint]
        else None
        for joint in range(len(moves))
    ]


def _apart(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).abs().amax(-1)


def sample_track(track: Track, times: Float[np.ndarray, "T"]) -> Float[np.ndarray, "T C"]:
    """Values of a track at given times, float64, held outside its keys. Rotations are unit wxyz."""
    keys = np.asarray(track.times, dtype=np.float64)
    values = np.asarray(track.values, dtype=np.float64)
    at = np.asarray(times, dtype=np.float64)
    if np.array_equal(keys, at):
        result = values[:, 1] if track.interpolation == "CUBICSPLINE" else values
        return _unit(result) if track.path == "rotation" else result
    before = np.clip(np.searchsorted(keys, at, side="right") - 1, 0, len(keys) - 1)
    after = np.minimum(before + 1, len(keys) - 1)
    span = keys[after] - keys[before]
    u = np.clip((at - keys[before]) / np.where(span > 0, span, 1.0), 0.0, 1.0)[:, None]
    if track.interpolation == "STEP":
        result = values[before]
    elif track.interpolation == "CUBICSPLINE":
        result = _cubic(values, before, after, span[:, None], u)
    elif track.path == "rotation":
        a, b = (torch.from_numpy(values[i]) for i in (before, after))
        a, b = quaternion.normalize(a), quaternion.normalize(b)
        return quaternion.slerp(a, b, torch.from_numpy(u[:, 0])).numpy()
    else:
        result = values[before] + u * (values[after] - values[before])
    return _unit(result) if track.path == "rotation" else result


def _unit(rotations: Float[np.ndarray, "T 4"]) -> Float[np.ndarray, "T 4"]:
    lengths = np.linalg.norm(rotations, axis=1, keepdims=True)
    return np.where(lengths > 1e-12, rotations / np.maximum(lengths, 1e-12), [1.0, 0, 0, 0])


def _cubic(
    values: Float[np.ndarray, "K 3 C"],
    before: np.ndarray,
    after: np.ndarray,
    span: np.ndarray,
    u: np.ndarray,
) -> Float[np.ndarray, "T C"]:
    """The glTF cubic spline: values with in- and out-tangents per second."""
    start, end = values[before, 1], values[after, 1]
    out_slope, in_slope = span * values[before, 2], span * values[after, 0]
    parts = (torch.from_numpy(x) for x in (start, out_slope, end, in_slope, u))
    return hermite(*parts).numpy()


def _key_times(clip: ClipRecord, height: float) -> Float[np.ndarray, "T"]:
    """All times at which some curve of the clip has a corner, float32, increasing."""
    times = [np.zeros(0, np.float32)]
    for track in clip.tracks:
        keys = np.asarray(track.times, dtype=np.float32)
        times.append(keys)
        if track.interpolation == "STEP":
            times.append(np.nextafter(keys[1:], np.float32(-np.inf)))
        elif track.interpolation == "CUBICSPLINE":
            times.append(_cuts(track, height if track.path == "translation" else 1.0))
    union = np.unique(np.concatenate(times))
    return union if len(union) else np.zeros(1, np.float32)


def _cuts(track: Track, unit: float) -> Float[np.ndarray, "N"]:
    """Times between keys at which a cubic is cut: a piece of width h strays by |f''| h^2 / 8."""
    keys = np.asarray(track.times, dtype=np.float64)
    values = np.asarray(track.values, dtype=np.float64)
    cuts = []
    for k in range(len(keys) - 1):
        span = keys[k + 1] - keys[k]
        start, end = values[k, 1], values[k + 1, 1]
        slope0, slope1 = span * values[k, 2], span * values[k + 1, 0]
        bend = np.maximum(
            np.abs(-6 * start - 4 * slope0 + 6 * end - 2 * slope1),
            np.abs(6 * start + 2 * slope0 - 6 * end + 4 * slope1),
        ).max(initial=0.0)
        pieces = math.ceil(math.sqrt(float(bend) / (8.0 * _TOLERANCE * unit)))
        pieces = min(max(pieces, 1), _MOST_PIECES)
        cuts.append(np.linspace(keys[k], keys[k + 1], pieces + 1)[1:-1].astype(np.float32))
    return np.concatenate(cuts) if cuts else np.zeros(0, np.float32)
