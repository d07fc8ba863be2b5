"""Clips of a character by name."""

from __future__ import annotations

from akd.base.constants import FPS_RANGE
from akd.motion.clip import motion_from_clip
from akd.motion.clip_names import clip_labels, find_clip
from akd.motion.motion import Motion
from akd.rig.character import Character

Clip = Motion | str | None
"""A motion, the name of one of the file's clips, or None for the only one."""


def check_fps(fps: float | None) -> None:
    """Raise `ValueError` where a clip cannot have this frame rate; None is the default one."""
    low, high = FPS_RANGE
    if fps is not None and not low <= fps <= high:
        raise ValueError(f"fps must be from {low} to {high}, got {fps:g}")


def find_motion(character: Character, clip: Clip = None) -> Motion:
    """A clip of the character's file as a motion.

    Raises:
        ValueError: There is no such clip, or none was named and there are several.
    """
    if isinstance(clip, Motion):
        return clip
    clips = character.asset.clips
    if clip is None and len(clips) > 1:
        names = ", ".join(map(repr, clip_labels(clips)))
        raise ValueError(
            f"{character.asset.path}: has several clips, choose one with --clip: {names}"
        )
    found = find_clip(character, clip) if clip is not None or not clips else clips[0]
    return motion_from_clip(character, found)
