"""Key reduction: the fewest keys whose interpolation keeps every joint within a tolerance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from akd.export.settings import KEY_TOLERANCE
from akd.math import quaternion
from akd.motion.clip_data import ClipData, Keys, NodeTracks
from akd.motion.motion import Motion
from akd.rig.pose import Pose

_TRIES = 12
_SHORTEST_LEVER = 0.05
"""In body heights: skin hangs on joints that have no children too."""


def reduce_keys(clip: ClipData, motion: Motion, *, height: float) -> ClipData:
    """Drop the keys of a clip that interpolation replaces.

    Args:
        clip: Keys of `motion` on all of its frames.
        motion: What the clip shows, metres.
        height: Of the body, metres.

    Returns:
        The clip with fewer keys a property. Every joint stays within `KEY_TOLERANCE` body heights
        of where it was in every frame; without a height, all keys stay.
    """
    if not height > 0.0:
        return clip
    exact = motion.world()[..., :3, 3]
    lever = _levers(motion).clamp_min(_SHORTEST_LEVER * height)
    allowed = KEY_TOLERANCE * height
    for _ in range(_TRIES):
        kept = _kept_keys(clip, motion, lever, allowed)
        played = replace(motion, pose=_played(motion.pose, kept))
        error = float((played.world()[..., :3, 3] - exact).norm(dim=-1).max())
        if error <= KEY_TOLERANCE * height:
            return _with_keys(clip, kept)
        allowed *= 0.7  # errors add up along a limb
    return clip


def _levers(motion: Motion) -> Tensor:
    """How far the joints below each joint are from it, metres."""
    place = motion.world()[0, :, :3, 3]
    below = [list(motion.skeleton.subtree(j)) for j in range(len(place))]
    return torch.stack([(place[b] - place[j]).norm(dim=-1).max() for j, b in enumerate(below)])


_Kept = dict[tuple[int, str], list[int]]


def _kept_keys(clip: ClipData, motion: Motion, lever: Tensor, allowed: float) -> _Kept:
    """Frames at which each property needs a key, to stay within `allowed` metres by itself."""
    kept: _Kept = {}
    scale = motion.parent_scale()
    for joint, tracks in clip.tracks.items():
        turn = allowed / float(lever[joint])
        shift = allowed / max(float(scale[joint]), 1e-30)  # a parent may be scaled to nothing
        limits = {
            "translation": shift, "rotation": turn, "scale": turn, "weights": KEY_TOLERANCE,
        }  # fmt: skip
        for path, keys in tracks.items():
            if len(keys.values) == len(clip.times):
                values = (
                    motion.morphs[joint]
                    if path == "weights"
                    else getattr(motion.pose, path)[:, joint]
                )
                kept[joint, path] = _needed(values.double(), limits[path], turns=path == "rotation")
    return kept


def _needed(values: Tensor, limit: float, *, turns: bool) -> list[int]:
    """Douglas-Peucker over time: split at the worst frame until all are within the limit."""
    kept, segments = {0, len(values) - 1}, [(0, len(values) - 1)]
    while segments:
        first, last = segments.pop()
        if last - first < 2:
            continue
        own = values[first : last + 1]
        line = _interpolated(own, [0, last - first], turns=turns)
        error = quaternion.geodesic(line, own) if turns else (line - own).norm(dim=-1)
        worst = int(error.argmax())
        if float(error[worst]) > limit:
            kept.add(first + worst)
            segments += [(first, first + worst), (first + worst, last)]
    return sorted(kept)


def _interpolated(values: Tensor, kept: list[int], *, turns: bool) -> Tensor:
    """Values at every frame from those at the kept ones."""
    at = torch.tensor(kept)
    frame = torch.arange(len(values))
    after = torch.searchsorted(at, frame, right=True).clamp(1, max(len(kept) - 1, 1))
    a, b = at[after - 1], at[after.clamp_max(len(kept) - 1)]
    t = ((frame - a) / (b - a).clamp_min(1)).to(values)
    if turns:
        return quaternion.slerp(values[a], values[b], t)
    return torch.lerp(values[a], values[b], t[:, None])


def _played(pose: Pose, kept: _Kept) -> Pose:
    """The pose at every frame as the kept keys play it."""
    parts = {p: getattr(pose, p).clone() for p in ("translation", "rotation", "scale")}
    for (joint, path), frames in kept.items():
        if path != "weights":
            values = parts[path][:, joint].double()
            parts[path][:, joint] = _interpolated(values, frames, turns=path == "rotation").to(
                parts[path]
            )
    return Pose(**parts)


def _with_keys(clip: ClipData, kept: _Kept) -> ClipData:
    tracks = {
        joint: NodeTracks(
            **{
                path: _chosen(keys, clip.times, kept[joint, path])
                if (joint, path) in kept
                else keys
                for path, keys in properties.items()
            }
        )
        for joint, properties in clip.tracks.items()
    }
    return replace(clip, tracks=tracks)


def _chosen(keys: Keys, times: np.ndarray, frames: list[int]) -> Keys:
    return Keys(keys.values[frames], times[frames])
