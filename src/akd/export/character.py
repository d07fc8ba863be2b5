"""A character's own file with motions added to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from akd.asset.asset import AssetError, Problem
from akd.export.gltf.clips import add_clips, added_names
from akd.export.gltf.write import write_glb
from akd.export.reduce import reduce_keys
from akd.export.settings import KeyChoice
from akd.motion.clip import clip_from_motion
from akd.motion.motion import Motion
from akd.rig.character import Character
from akd.rig.size import HEIGHT_KEY


def clip_names(character: Character, motions: Sequence[Motion]) -> list[str]:
    """Names of the clips that `write_motions` adds: cut, and numbered where the file has one of
    that name already. In BVH a clip has the motion's name."""
    document, names = character.asset.document, [motion.name for motion in motions]
    return names if document is None else added_names(document, names)


def write_motions(
    character: Character,
    motions: Sequence[Motion],
    path: Path,
    *,
    extras: Mapping[str, Any] | None = None,
    keys: KeyChoice = "every",
    alone: bool = False,
) -> tuple[Problem, ...]:
    """Write the file that the character came from, with a clip for each motion, as GLB.

    Everything else in the file stays as it is. `extras` (where the motion came from) and the
    body's height go to every clip. With reduced `keys` joints stay within `KEY_TOLERANCE` body
    heights. With `alone` the file's own clips are left out. Returns what could not be packed, such
    as an image that was missing already.
    """
    document = character.asset.document
    if document is None:
        raise AssetError(
            f"{character.asset.path.name}: a clip can only be added to a glTF file, "
            f"and this is {character.asset.format}"
        )
    if alone:
        rest = {key: value for key, value in document.json.items() if key != "animations"}
        document = replace(document, json=rest)
    # The name of the character's own file may have decided its height.
    extras = {**(extras or {}), HEIGHT_KEY: character.height}
    clips = [clip_from_motion(character, motion, extras=extras) for motion in motions]
    if keys == "reduced":
        clips = [
            reduce_keys(clip, motion, height=character.height)
            for clip, motion in zip(clips, motions, strict=True)
        ]
    return write_glb(add_clips(document, clips), path)
