"""A character's motions in the formats that were asked for, side by side in one folder."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from akd.export.bvh import write_bvh
from akd.export.character import write_motions
from akd.export.formats import VIDEO_FORMATS, files_of
from akd.export.settings import KeySettings
from akd.motion.grid import on_grid, without_loop_frame
from akd.motion.motion import Motion
from akd.motion.root_motion import in_place
from akd.rig.character import Character

_VIDEO_FPS = 24.0


def key_motions(
    character: Character, motions: Mapping[str, Motion], keys: KeySettings, *, stay: bool = False
) -> dict[str, Motion]:
    """The motions on whole frames at one rate; with `stay`, without their root motion."""
    rig, made = character.control_rig, {}
    for name, motion in motions.items():
        keyed = on_grid(motion, keys.fps)
        if stay:
            keyed = in_place(rig, keyed)
        if keys.loop_frame == "omit":
            keyed = without_loop_frame(rig, keyed, height=character.height)
        made[name] = keyed
    return made


def write_clip_files(
    character: Character,
    motions: Mapping[str, Motion],
    out: Path,
    *,
    formats: Sequence[str],
    keys: KeySettings,
    stem: str = "motion",
    alone: bool = False,
    extras: Mapping[str, Any] | None = None,
) -> list[Path]:
    """Write motions that `key_motions` returned, as `formats.files_of` names the files.

    Args:
        character: Whose motions.
        motions: By the names of their files.
        out: Folder to write to.
        formats: Out of glb, bvh, usd, fbx, mp4, gif and webp.
        keys: How the motions are keyed.
        stem: Name of the files that hold all motions: GLB and FBX.
        alone: Leave the character's own clips out of GLB and FBX.
        extras: Where the motions came from, for the clips of the GLB.

    Returns:
        The files that were written.
    """
    with tempfile.TemporaryDirectory() as folder:
        glb = (out if "glb" in formats else Path(folder)) / f"{stem}.glb"
        if "glb" in formats or "fbx" in formats:
            write_motions(
                character, list(motions.values()), glb, extras=extras, keys=keys.keys, alone=alone
            )
        if "fbx" in formats:
            from akd.export.fbx import write_fbx

            write_fbx(glb, out / f"{stem}.fbx", fps=keys.fps)
    for name, motion in motions.items():
        if "bvh" in formats:
            write_bvh(
                motion, out / f"{name}.bvh", joints=body_joints(character), fps=keys.fps,
                scale=character.units.units_per_metre,
            )  # fmt: skip
        if "usd" in formats:
            from akd.export.usd import write_usd

            write_usd(character, motion, out / f"{name}.usda", fps=keys.fps)
        if films := [kind for kind in VIDEO_FORMATS if kind in formats]:
            from akd.scene.film import film_motion

            video = film_motion(character, motion, fps=_VIDEO_FPS)
            for kind in films:
                video.write(out / f"{name}.{kind}")
    return [out / name for name in files_of(formats, motions, stem=stem)]


def body_joints(character: Character) -> list[int] | None:
    """The joints of the body, without whatever else the file holds; None where there is none."""
    parents = character.anatomy.body.parents
    return [j for j in range(len(character.skeleton)) if parents.get(j) is not None] or None
