"""Clips of a character by name."""

from __future__ import annotations

from akd.motion.clip import motion_from_clip
from akd.motion.motion import Motion
from akd.rig.character import Character

Clip = Motion | str | None
"""A motion, the name of one of the file's clips, or None for the only one."""


def find_motion(character: Character, clip: Clip = None) -> Motion:
    """A clip of the character's file as a motion.

    Raises:
        ValueError: There is no such clip, or none was named and there are several.
    """
    if isinstance(clip, Motion):
        return clip
    clips = {found.name: found for found in character.asset.clips}
    names, file = ", ".join(map(repr, clips)), character.asset.path
    if not clips:
        raise ValueError(f"{file}: has no clip")
    if clip is None and len(clips) > 1:
        raise ValueError(f"{file}: has several clips, choose one with --clip: {names}")
    name = next(iter(clips)) if clip is None else clip
    if name not in clips:
        raise ValueError(f"{file}: there is no clip {name!r}: it has {names}")
    return motion_from_clip(character, clips[name])
