"""Clips of an FBX file: its animation stacks, sampled on frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from akd.asset.asset import ClipRecord, Track, TrackPath
from akd.asset.fbx.scene import FbxScene
from akd.asset.gltf.problems import ProblemLog
from akd.asset.gltf.transform import continuous

_DEFAULT_FPS = 30.0
_MOST_SAMPLES = 4_000_000
"""Of all nodes and frames of a file: each takes a microsecond or two."""
_STILL = 1e-7
_COLUMNS: dict[TrackPath, slice] = {
    "translation": slice(0, 3),
    "rotation": slice(3, 7),
    "scale": slice(7, 10),
}


def read_clips(fbx: FbxScene, problems: ProblemLog) -> tuple[ClipRecord, ...]:
    """Every stack as a clip with a key on each of the file's frames.

    FBX has curves for Euler angles with pivots; only their samples are translations, rotations and
    scales.
    """
    fps = fbx.fps if 1.0 <= fbx.fps <= 240.0 else _DEFAULT_FPS
    clips: list[ClipRecord] = []
    left = _MOST_SAMPLES
    for stack in fbx.listed(fbx.scene.anim_stacks):
        where = f"animation {stack.name!r}"
        begin, end = _range(fbx, stack)
        if not (np.isfinite((begin, end)).all() and end > begin):
            problems.note(where, "has no duration", "it is left out")
            continue
        frames = int((end - begin) * fps + 1.5)
        left -= frames * len(fbx.nodes)
        if left < 0:
            what = f"has {frames} frames, with which the file has more than {_MOST_SAMPLES} poses"
            problems.warn(where, what, "it is left out")
            continue
        fbx.budget.charge(40 * frames * len(fbx.nodes), where)
        times = np.arange(frames) / fps
        tracks = _read_tracks(fbx, fbx.keep(stack.anim), begin + times, times.astype(np.float32))
        if tracks:
            clips.append(ClipRecord(stack.name or "clip", tracks))
        else:
            problems.note(where, "moves nothing", "it is left out")
    return tuple(clips)


def _range(fbx: FbxScene, stack: Any) -> tuple[float, float]:
    """First and last second of a stack; where it states none, of the keys of all curves."""
    begin, end = float(stack.time_begin), float(stack.time_end)
    if end > begin:
        return begin, end
    curves = fbx.listed(fbx.scene.anim_curves)
    times = [float(time) for curve in curves for time in (curve.min_time, curve.max_time)]
    return min(times, default=0.0), max(times, default=0.0)


def _read_tracks(
    fbx: FbxScene,
    anim: Any,
    at: Float[np.ndarray, "T"],
    times: Float[np.ndarray, "T"],
) -> tuple[Track, ...]:
    """Tracks of what differs from the rest pose in some frame."""
    import ufbx

    tracks: list[Track] = []
    for index, node in enumerate(fbx.nodes[1:]):
        samples = np.array(
            [_numbers(ufbx.evaluate_transform(anim, node, float(time))) for time in at]
        )
        rest = np.array(_numbers(node.local_transform))
        if np.abs(samples - rest).max() <= _STILL or not np.isfinite(samples).all():
            continue
        for path, columns in _COLUMNS.items():
            given = samples[:, columns]
            if np.abs(given - rest[columns]).max() <= _STILL:
                continue
            match path:
                case "translation":
                    values = fbx.points_in(given)
                case "rotation":
                    values = continuous(fbx.rotations_in(given))
                case _:
                    values = fbx.scales_in(given)
            tracks.append(Track(index, path, "LINEAR", times, values.astype(np.float32)))
    return tuple(tracks)


def _numbers(transform: Any) -> tuple[float, ...]:
    return (*transform.translation, *transform.rotation, *transform.scale)
