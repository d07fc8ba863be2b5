"""`bake_clips`: clips with a key on every frame for every joint.

For programs that interpolate otherwise than glTF does: Blender interpolates the components of a
quaternion, and leaves what a clip does not key where the clip before had it.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from akd.asset.asset import Asset, AssetError, ClipRecord, GltfDocument, TrackPath
from akd.export.gltf.clips import add_clips
from akd.motion.clip import sample_track
from akd.motion.clip_data import ClipData, Keys, NodeTracks
from akd.motion.grid import OFF_FRAME
from akd.motion.motion import MAX_VALUES

_LATE = 1e-4
"""Frames by which the last key comes late: Blender drops one that rounding put before its frame."""


def bake_clips(asset: Asset, fps: float) -> GltfDocument:
    """The document of an asset, with its clips sampled at `fps` from zero on.

    Its end gets a frame of its own where it is `OFF_FRAME` or more after one.

    Joints of skins and nodes that some clip moves are keyed; nodes with a matrix cannot be.

    Raises `AssetError` where a clip is too long to be sampled.
    """
    document = asset.document
    assert document is not None
    if not asset.clips:
        return document
    moved = {track.node for clip in asset.clips for track in clip.tracks}
    moved |= {int(joint) for skin in asset.skins for joint in skin.joints}
    moved -= {index for index, node in enumerate(asset.nodes) if node.is_matrix}
    rest = {key: value for key, value in document.json.items() if key != "animations"}
    clips = [_bake(asset, clip, sorted(moved), fps) for clip in asset.clips]
    return add_clips(replace(document, json=rest), clips)


def _bake(asset: Asset, clip: ClipRecord, moved: list[int], fps: float) -> ClipData:
    last = (clip.end - clip.start) * fps
    if (last + 1.0) * len(moved) * 10 > MAX_VALUES:
        raise AssetError(
            f"{asset.path.name}: clip {clip.name!r} is too long to be sampled: {last:.0f} frames"
        )
    frames = np.arange(math.ceil(last - OFF_FRAME) + 1)
    at = clip.start + frames / fps
    tracks = {(track.node, track.path): track for track in clip.tracks}

    def keys(node: int, path: TrackPath) -> Keys | None:
        if (track := tracks.get((node, path))) is not None:
            return Keys(sample_track(track, at))
        return None if path == "weights" else Keys(_held(getattr(asset.nodes[node], path)), first)

    first = np.zeros(1, np.float32)
    times = frames / fps
    times[1:][-1:] += _LATE / fps
    paths: tuple[TrackPath, ...] = ("translation", "rotation", "scale", "weights")
    made = {node: NodeTracks(*(keys(node, path) for path in paths)) for node in moved}
    return ClipData(clip.name, times.astype(np.float32), made)


def _held(value: Float[np.ndarray, "C"]) -> Float[np.ndarray, "1 C"]:
    return np.asarray(value, dtype=np.float64)[None]
